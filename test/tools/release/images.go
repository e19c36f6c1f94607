package main

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// release says what is built.
type release struct {
	root      string // of the sources
	program   string // the package in it
	version   string
	platforms []string
	revision  string    // the commit; empty: the sources are of none
	at        time.Time // of everything that has a time
}

// image is what runs on one platform.
type image struct {
	platform v1.Platform
	v1.Image
	sbom []byte
}

// images are those of all platforms under one digest.
type images struct {
	index v1.ImageIndex
	all   []image
}

// nonroot is the user that distroless images have under this number, and that the Deployment asks for.
const nonroot = "65532:65532"

// images builds the program for every platform. What decides the bytes is in the sources: the module
// cache is checked against go.sum, paths are trimmed, files have the time of the commit.
func (r *release) images(ctx context.Context) (images, error) {
	out := images{index: mutate.IndexMediaType(empty.Index, types.OCIImageIndex)}
	for _, word := range r.platforms {
		platform, err := v1.ParsePlatform(strings.TrimSpace(word))
		if err != nil {
			return out, fmt.Errorf("read platform %q: %w", word, err)
		}
		i, err := r.image(ctx, *platform)
		if err != nil {
			return out, fmt.Errorf("make the image for %s: %w", platform, err)
		}
		out.all = append(out.all, i)
		out.index = mutate.AppendManifests(out.index, mutate.IndexAddendum{Add: i.Image, Descriptor: v1.Descriptor{Platform: platform}})
	}
	annotated, ok := mutate.Annotations(out.index, r.labels()).(v1.ImageIndex)
	if !ok {
		return out, fmt.Errorf("annotate the index: %T is none", out.index)
	}
	out.index = annotated
	return out, nil
}

func (r *release) image(ctx context.Context, platform v1.Platform) (image, error) {
	out := image{platform: platform}
	binary, err := r.binary(ctx, platform)
	if err != nil {
		return out, err
	}
	if out.sbom, err = r.sbom(platform, binary); err != nil {
		return out, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	for _, l := range []struct {
		what  string
		files []file
	}{
		{"certificates and the user", []file{
			{"etc/passwd", 0o644, []byte("nonroot:x:65532:65532:nonroot:/:/sbin/nologin\n")},
			{"etc/group", 0o644, []byte("nonroot:x:65532:\n")},
			{"etc/ssl/certs/ca-certificates.crt", 0o644, roots()},
		}},
		{"the program", []file{{"signalbox", 0o755, binary}}},
		{"what the program is made of", []file{{"usr/share/sbom/signalbox.spdx.json", 0o644, out.sbom}}},
	} {
		layer, err := r.layer(l.files)
		if err != nil {
			return out, err
		}
		base, err = mutate.Append(base, mutate.Addendum{
			Layer: layer, MediaType: types.OCILayer,
			History: v1.History{Created: v1.Time{Time: r.at}, CreatedBy: "test/tools/release", Comment: l.what},
		})
		if err != nil {
			return out, err
		}
	}
	config, err := base.ConfigFile()
	if err != nil {
		return out, err
	}
	config = config.DeepCopy()
	config.Architecture, config.OS, config.Variant, config.Created = platform.Architecture, platform.OS, platform.Variant, v1.Time{Time: r.at}
	config.Config = v1.Config{
		User: nonroot, WorkingDir: "/", Entrypoint: []string{"/signalbox"}, Labels: r.labels(),
		Env: []string{"PATH=/", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"},
	}
	out.Image, err = mutate.ConfigFile(base, config)
	return out, err
}

// labels are those of the OCI image specification (annotations.md).
func (r *release) labels() map[string]string {
	out := map[string]string{
		"org.opencontainers.image.title":       "signalbox",
		"org.opencontainers.image.description": "Will this training job run, and if it did not, why?",
		"org.opencontainers.image.url":         "https://github.com/signalbox-dev/signalbox",
		"org.opencontainers.image.source":      "https://github.com/signalbox-dev/signalbox",
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.version":     r.version,
		"org.opencontainers.image.created":     r.at.Format(time.RFC3339),
	}
	if r.revision != "" {
		out["org.opencontainers.image.revision"] = r.revision
	}
	return out
}

// binary is the program for a platform, static, the same wherever it is built.
func (r *release) binary(ctx context.Context, platform v1.Platform) ([]byte, error) {
	dir, err := os.MkdirTemp("", "signalbox-release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "program")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-mod=readonly",
		"-ldflags", "-s -w -buildid= -X github.com/signalbox-dev/signalbox/cmd/signalbox/internal/build.Version="+r.version, "-o", path, r.program)
	build.Dir = r.root
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOOS="+platform.OS, "GOARCH="+platform.Architecture)
	if said, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build %s: %w\n%s", r.program, err, said)
	}
	return os.ReadFile(path)
}

// roots are the certificates of Mozilla's programme, as the Go project packs them: which ones, go.sum says.
func roots() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a buffer takes everything
	}
	return out.Bytes()
}

type file struct {
	path string
	mode int64
	text []byte
}

// layer holds files and the folders above them, all of root's and of one time.
func (r *release) layer(files []file) (v1.Layer, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	made := map[string]bool{}
	for _, f := range files {
		parts := strings.Split(f.path, "/")
		for i := 1; i < len(parts); i++ {
			folder := strings.Join(parts[:i], "/") + "/"
			if made[folder] {
				continue
			}
			made[folder] = true
			if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: folder, Mode: 0o755, ModTime: r.at, Format: tar.FormatPAX}); err != nil {
				return nil, err
			}
		}
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.path, Mode: f.mode, Size: int64(len(f.text)), ModTime: r.at, Format: tar.FormatPAX}); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.text); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	text := out.Bytes()
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }, tarball.WithMediaType(types.OCILayer))
}

// sbomType is what an SPDX document in JSON is called (https://www.iana.org/assignments/media-types/application/spdx+json).
const sbomType = "application/spdx+json"

// push writes the index under its name, and what each image is made of as an artifact that refers to it.
func (i images) push(to name.Reference, options ...remote.Option) error {
	if err := remote.WriteIndex(to, i.index, options...); err != nil {
		return err
	}
	for _, one := range i.all {
		subject, err := partial.Descriptor(one.Image)
		if err != nil {
			return err
		}
		artifact := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), sbomType)
		artifact, err = mutate.AppendLayers(artifact, static.NewLayer(one.sbom, sbomType))
		if err != nil {
			return err
		}
		referring, ok := mutate.Subject(artifact, *subject).(v1.Image)
		if !ok {
			return fmt.Errorf("refer to %s: %T is no image", subject.Digest, artifact)
		}
		digest, err := referring.Digest()
		if err != nil {
			return err
		}
		if err := remote.Write(to.Context().Digest(digest.String()), referring, options...); err != nil {
			return err
		}
	}
	return nil
}
