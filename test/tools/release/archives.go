package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// downloads is where the archives of a version will be.
const downloads = "https://github.com/signalbox-dev/signalbox/releases/download/v"

// archives writes an archive for each platform with the program, its manual and completions, the checksums of
// all, and the manifest by which krew installs kubectl signalbox.
func (r *release) archives(ctx context.Context, dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	shared, err := r.shared(ctx)
	if err != nil {
		return err
	}
	sums := map[string]string{}
	var entries []krewPlatform
	for _, word := range r.platforms {
		platform, err := v1.ParsePlatform(strings.TrimSpace(word))
		if err != nil {
			return fmt.Errorf("read platform %q: %w", word, err)
		}
		binary, err := r.binary(ctx, *platform)
		if err != nil {
			return err
		}
		parts, err := r.sbom(*platform, binary)
		if err != nil {
			return err
		}
		base, program, packed := fmt.Sprintf("signalbox_%s_%s_%s", r.version, platform.OS, platform.Architecture), "signalbox", tarred
		suffix := ".tar.gz"
		if platform.OS == "windows" {
			program, suffix, packed = "signalbox.exe", ".zip", zipped
		}
		text, err := packed(append([]file{{program, 0o755, binary}}, shared...), r.at)
		if err != nil {
			return fmt.Errorf("pack %s: %w", base, err)
		}
		for name, text := range map[string][]byte{base + suffix: text, base + ".spdx.json": parts} {
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
				return err
			}
			sums[name] = fmt.Sprintf("%x", sha256.Sum256(text))
		}
		entries = append(entries, krewPlatform{
			URI: downloads + r.version + "/" + base + suffix, SHA256: sums[base+suffix], Bin: program,
			Selector: krewSelector{map[string]string{"os": platform.OS, "arch": platform.Architecture}},
			Files:    []krewFile{{program, "."}, {"LICENSE", "."}},
		})
	}
	manifest, err := json.MarshalIndent(krew(r.version, entries), "", "  ") // JSON is YAML
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "signalbox.krew.yaml"), append(manifest, '\n'), 0o644); err != nil {
		return err
	}
	var lines strings.Builder
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&lines, "%s  %s\n", sums[name], name) // as sha256sum --check reads it
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(lines.String()), 0o644)
}

// shared is what every archive holds beside the program, made by the program itself on this machine.
func (r *release) shared(ctx context.Context) ([]file, error) {
	dir, err := os.MkdirTemp("", "signalbox-shared-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	binary, err := r.binary(ctx, v1.Platform{OS: runtime.GOOS, Architecture: runtime.GOARCH})
	if err != nil {
		return nil, err
	}
	program := filepath.Join(dir, "signalbox")
	if err := os.WriteFile(program, binary, 0o755); err != nil {
		return nil, err
	}
	said := func(args ...string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.at.Unix()))
		text, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("run signalbox %s: %w", strings.Join(args, " "), err)
		}
		return text, nil
	}
	var out []file
	for _, c := range []struct{ shell, name string }{{"bash", "signalbox.bash"}, {"zsh", "_signalbox"}, {"fish", "signalbox.fish"}, {"powershell", "signalbox.ps1"}} {
		text, err := said("completion", c.shell)
		if err != nil {
			return nil, err
		}
		out = append(out, file{"completions/" + c.name, 0o644, text})
	}
	// kubectl asks a program of this name what a plugin completes
	// (https://kubernetes.io/docs/reference/kubectl/generated/kubectl_plugin/).
	out = append(out, file{"completions/kubectl_complete-signalbox", 0o755, []byte("#!/bin/sh\nexec kubectl-signalbox __complete \"$@\"\n")})
	if _, err := said("man", filepath.Join(dir, "man")); err != nil {
		return nil, err
	}
	pages, err := filepath.Glob(filepath.Join(dir, "man", "*.1"))
	if err != nil {
		return nil, err
	}
	for _, page := range pages { // Glob sorts
		text, err := os.ReadFile(page)
		if err != nil {
			return nil, err
		}
		out = append(out, file{"man/man1/" + filepath.Base(page), 0o644, text})
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		text, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil {
			return nil, err
		}
		out = append(out, file{name, 0o644, text})
	}
	return out, nil
}

// tarred packs files the same way each time.
func tarred(files []file, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	squeezed := gzip.NewWriter(&out)
	w := tar.NewWriter(squeezed)
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.path, Mode: f.mode, Size: int64(len(f.text)), ModTime: at, Format: tar.FormatPAX}); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.text); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err := squeezed.Close()
	return out.Bytes(), err
}

func zipped(files []file, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.path, Method: zip.Deflate, Modified: at}
		h.SetMode(os.FileMode(f.mode))
		into, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := into.Write(f.text); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

// The parts of krew.googlecontainertools.github.com/v1alpha2 that are used
// (https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/).
type (
	krewPlugin struct {
		APIVersion string            `json:"apiVersion"`
		Kind       string            `json:"kind"`
		Metadata   map[string]string `json:"metadata"`
		Spec       krewSpec          `json:"spec"`
	}
	krewSpec struct {
		Version     string         `json:"version"`
		Homepage    string         `json:"homepage"`
		Short       string         `json:"shortDescription"`
		Description string         `json:"description"`
		Platforms   []krewPlatform `json:"platforms"`
	}
	krewPlatform struct {
		Selector krewSelector `json:"selector"`
		URI      string       `json:"uri"`
		SHA256   string       `json:"sha256"`
		Bin      string       `json:"bin"`
		Files    []krewFile   `json:"files"`
	}
	krewSelector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	}
	krewFile struct {
		From string `json:"from"`
		To   string `json:"to"`
	}
)

func krew(version string, platforms []krewPlatform) krewPlugin {
	return krewPlugin{
		APIVersion: "krew.googlecontainertools.github.com/v1alpha2", Kind: "Plugin", Metadata: map[string]string{"name": "signalbox"},
		Spec: krewSpec{
			Version: "v" + version, Homepage: "https://github.com/signalbox-dev/signalbox", Short: "Review training jobs, explain why they failed",
			Description: "Reviews distributed training jobs (PyTorchJob, TrainJob, MPIJob, JobSet …) before they run,\nsays whether the whole gang fits, and explains why jobs wait or failed.\n",
			Platforms:   platforms,
		},
	}
}
