package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// packed are the files of a .tar.gz.
func packed(t *testing.T, path string) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for in := tar.NewReader(plain); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if out[h.Name], err = io.ReadAll(in); err != nil {
			t.Fatal(err)
		}
	}
}

func TestArchivesHoldWhatTheirManifestsSay(t *testing.T) {
	here := runtime.GOOS + "/" + runtime.GOARCH
	r := release{root: filepath.Join("..", "..", ".."), program: "./cmd/signalbox", version: "0.0.1-test", platforms: []string{here}, at: at}
	dir := filepath.Join(t.TempDir(), "dist")
	if err := r.archives(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	archive := fmt.Sprintf("signalbox_0.0.1-test_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH)
	files := packed(t, filepath.Join(dir, archive))
	for _, want := range []string{"signalbox", "LICENSE", "README.md", "completions/signalbox.bash", "completions/_signalbox", "completions/kubectl_complete-signalbox", "man/man1/signalbox.1", "man/man1/signalbox-check.1"} {
		if len(files[want]) == 0 {
			t.Errorf("the archive lacks %s", want)
		}
	}
	if !bytes.Contains(files["man/man1/signalbox-check.1"], []byte("--snapshot")) || !bytes.Contains(files["man/man1/signalbox.1"], []byte("Nov 2026")) {
		t.Errorf("the manual is of another program or day:\n%.400s", files["man/man1/signalbox.1"])
	}

	sums, err := os.Open(filepath.Join(dir, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	defer sums.Close()
	var listed []string
	for lines := bufio.NewScanner(sums); lines.Scan(); {
		sum, name, _ := strings.Cut(lines.Text(), "  ")
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || fmt.Sprintf("%x", sha256.Sum256(text)) != sum {
			t.Errorf("%s is not what its checksum says: %v", name, err)
		}
		listed = append(listed, name)
	}
	if !slices.Contains(listed, archive) || len(listed) != 2 {
		t.Errorf("checksums are of %v", listed)
	}

	var plugin krewPlugin
	text, err := os.ReadFile(filepath.Join(dir, "signalbox.krew.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &plugin); err != nil {
		t.Fatal(err)
	}
	if len(plugin.Spec.Platforms) != 1 || !strings.HasSuffix(plugin.Spec.Platforms[0].URI, "/"+archive) || !strings.HasPrefix(plugin.Spec.Version, "v") {
		t.Fatalf("krew is told %+v", plugin.Spec)
	}
	for _, f := range plugin.Spec.Platforms[0].Files {
		if files[f.From] == nil {
			t.Errorf("krew is told of %s, which the archive lacks", f.From)
		}
	}
	whole, err := os.ReadFile(filepath.Join(dir, archive))
	if err != nil {
		t.Fatal(err)
	}
	if plugin.Spec.Platforms[0].SHA256 != fmt.Sprintf("%x", sha256.Sum256(whole)) {
		t.Error("krew is told another checksum")
	}
}
