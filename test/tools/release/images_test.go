package main

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

var at = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// tiny is a program of no dependencies, its sources copied to a folder of their own.
func tiny(t *testing.T) release {
	t.Helper()
	root := filepath.Join(t.TempDir(), "sources")
	if err := os.CopyFS(root, os.DirFS(filepath.Join("testdata", "tiny"))); err != nil {
		t.Fatal(err)
	}
	return release{root: root, program: "./cmd/tiny", version: "1.2.3", platforms: []string{"linux/amd64", "linux/arm64"}, at: at}
}

func digestOf(t *testing.T, r release) string {
	t.Helper()
	made, err := r.images(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	digest, err := made.index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest.String()
}

func TestTwoBuildsGiveOneDigest(t *testing.T) {
	first, second := digestOf(t, tiny(t)), digestOf(t, tiny(t)) // in other folders
	if first != second {
		t.Errorf("two builds of one source are %s and %s", first, second)
	}
	other := tiny(t)
	other.version = "1.2.4"
	if digestOf(t, other) == first {
		t.Error("another version has the same digest")
	}
}

// pulled is what a runtime of a platform would get from a registry.
func pulled(t *testing.T, r release, platform v1.Platform) (v1.Image, v1.IndexManifest) {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.WithReferrersSupport(true), registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	made, err := r.images(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	to, err := name.ParseReference(strings.TrimPrefix(server.URL, "http://")+"/signalbox:"+r.version, name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	if err := made.push(to); err != nil {
		t.Fatal(err)
	}
	image, err := remote.Image(to, remote.WithPlatform(platform))
	if err != nil {
		t.Fatal(err)
	}
	digest, err := image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	referrers, err := remote.Referrers(to.Context().Digest(digest.String()))
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := referrers.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	return image, *manifest
}

// unpack lays the layers over each other in a folder, as a runtime does.
func unpack(t *testing.T, image v1.Image) string {
	t.Helper()
	root := t.TempDir()
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	layers := mutate.Extract(image)
	defer layers.Close()
	for in := tar.NewReader(layers); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return root
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || !h.ModTime.Equal(at) {
			t.Errorf("%s is of %d:%d, from %s", h.Name, h.Uid, h.Gid, h.ModTime)
		}
		path := filepath.Join(root, filepath.FromSlash(h.Name))
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, h.FileInfo().Mode().Perm())
		} else {
			var text []byte
			if text, err = io.ReadAll(in); err == nil {
				err = os.WriteFile(path, text, h.FileInfo().Mode().Perm())
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Signalbox itself, for the machine that runs the test: pushed, pulled, unpacked, and run with nothing but
// its layers, as the user that the image names.
func TestTheImageRunsFromItsLayers(t *testing.T) {
	here := v1.Platform{OS: "linux", Architecture: runtime.GOARCH}
	r := release{root: filepath.Join("..", "..", ".."), program: "./cmd/signalbox", version: "0.0.1-test", platforms: []string{here.String()}, at: at}
	image, referrers := pulled(t, r, here)
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.Config.User != nonroot || config.Config.Labels["org.opencontainers.image.version"] != r.version || config.Architecture != runtime.GOARCH {
		t.Errorf("the image is of user %q for %s, labels %v", config.Config.User, config.Architecture, config.Config.Labels)
	}
	if len(referrers.Manifests) != 1 || referrers.Manifests[0].ArtifactType != sbomType {
		t.Errorf("the image is referred to by %+v; want one SBOM", referrers.Manifests)
	}

	root := unpack(t, image)
	authorities, err := os.ReadFile(filepath.Join(root, "etc", "ssl", "certs", "ca-certificates.crt"))
	if err != nil {
		t.Fatal(err)
	}
	if !x509.NewCertPool().AppendCertsFromPEM(authorities) || bytes.Count(authorities, []byte("BEGIN CERTIFICATE")) < 100 {
		t.Errorf("the bundle holds %d certificates", bytes.Count(authorities, []byte("BEGIN CERTIFICATE")))
	}
	var parts spdxDocument
	text, err := os.ReadFile(filepath.Join(root, "usr", "share", "sbom", "signalbox.spdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &parts); err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, p := range parts.Packages {
		if ids[p.ID] {
			t.Errorf("two packages are called %s", p.ID)
		}
		ids[p.ID] = true
	}
	for _, r := range parts.Relationships {
		if !ids[r.To] || r.From != parts.ID && !ids[r.From] {
			t.Errorf("%s %s %s names what is not there", r.From, r.Type, r.To)
		}
	}
	if !strings.Contains(string(text), "pkg:golang/k8s.io/client-go@v") || !strings.Contains(string(text), "pkg:golang/std@") {
		t.Error("the SBOM lacks client-go or the standard library")
	}

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	program := exec.CommandContext(ctx, filepath.Join(root, "signalbox"), "version")
	program.Env = config.Config.Env
	if os.Getuid() == 0 { // nothing of this machine is within its reach
		for dir := root; dir != "/" && dir != os.TempDir(); dir = filepath.Dir(dir) {
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		program.Path, program.Args, program.Dir = config.Config.Entrypoint[0], append(config.Config.Entrypoint, "version"), config.Config.WorkingDir
		program.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	}
	said, err := program.CombinedOutput()
	if err != nil || !strings.Contains(string(said), r.version) {
		t.Errorf("the program says %q, %v; want its version %s", said, err, r.version)
	}
}

func TestAWrongPlatformIsNamed(t *testing.T) {
	r := tiny(t)
	r.platforms = []string{"linux/amd46"}
	if _, err := r.images(t.Context()); err == nil || !strings.Contains(err.Error(), "linux/amd46") {
		t.Errorf("got %v", err)
	}
}
