package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// builder knows where parts come from and where they go.
type builder struct {
	root string // of the repository
	out  string // bin/controlplane
}

// list prints one line per part.
func (b builder) list(w io.Writer, chosen []part) error {
	for _, p := range chosen {
		fresh, err := b.fresh(p)
		if err != nil {
			return err
		}
		state := "to build"
		if fresh {
			state = "up to date"
		}
		if _, err := fmt.Fprintf(w, "%-24s %-10s  %s\n", p.Name, state, p.Package); err != nil {
			return err
		}
	}
	return nil
}

// stale are the parts that are missing or were built from something else.
func (b builder) stale(chosen []part) ([]part, error) {
	var stale []part
	for _, p := range chosen {
		fresh, err := b.fresh(p)
		if err != nil {
			return nil, err
		}
		if !fresh {
			stale = append(stale, p)
		}
	}
	return stale, nil
}

func (b builder) fresh(p part) (bool, error) {
	want, err := b.stamp(p)
	if err != nil {
		return false, err
	}
	if _, err := os.Stat(filepath.Join(b.out, p.Name)); err != nil {
		return false, nil //nolint:nilerr // a program that cannot be seen is a program to build
	}
	got, err := os.ReadFile(b.stampFile(p))
	return err == nil && string(got) == want, nil
}

func (b builder) stampFile(p part) string { return filepath.Join(b.out, ".stamps", p.Name) }

// stamp names everything that decides what a build gives: sources, versions, flags, toolchain.
func (b builder) stamp(p part) (string, error) {
	h := sha256.New()
	_, _ = fmt.Fprintln(h, runtime.Version(), runtime.GOOS, runtime.GOARCH, args(p), p.Module, p.Copies)
	dir := filepath.Join(b.root, "test", p.Dir)
	for _, pattern := range []string{"go.mod", "go.sum", "*.go"} {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return "", err
		}
		for _, path := range paths {
			content, err := os.ReadFile(path)
			if err != nil {
				return "", fmt.Errorf("read source of %s: %w", p.Name, err)
			}
			_, _ = fmt.Fprintf(h, "%s %d\n%s", filepath.Base(path), len(content), content)
		}
	}
	return fmt.Sprintf("%x\n", h.Sum(nil)), nil
}

// args leave out the state of the repository (-buildvcs) and where the program goes: neither a commit nor another
// folder makes a part out of date.
func args(p part) []string {
	args := []string{"-trimpath", "-buildvcs=false", "-ldflags", strings.TrimSpace("-s -w " + p.LDFlags)}
	if p.Tags != "" {
		args = append(args, "-tags", p.Tags)
	}
	return append(args, p.Package)
}

// build writes beside the old program and renames at the end: a running one is not disturbed, and an
// interrupted build leaves nothing that looks finished.
func (b builder) build(ctx context.Context, p part) error {
	want, err := b.stamp(p)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(b.stampFile(p)), 0o755); err != nil {
		return err
	}
	fresh := filepath.Join(b.out, "."+p.Name+".new")
	defer func() { _ = os.Remove(fresh) }()
	if _, err := b.goTool(ctx, p, slices.Concat([]string{"build", "-o", fresh}, args(p))...); err != nil {
		return err
	}
	if err := b.copyFiles(ctx, p); err != nil {
		return err
	}
	if err := os.Rename(fresh, filepath.Join(b.out, p.Name)); err != nil {
		return err
	}
	return os.WriteFile(b.stampFile(p), []byte(want), 0o644)
}

func (b builder) goTool(ctx context.Context, p part, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = filepath.Join(b.root, "test", p.Dir)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", errors.New("interrupted")
		}
		return "", fmt.Errorf("go %s in %s: %w\n%s", args[0], cmd.Dir, err, errs.String())
	}
	return strings.TrimSpace(out.String()), nil
}

func (b builder) copyFiles(ctx context.Context, p part) error {
	if len(p.Copies) == 0 {
		return nil
	}
	dir, err := b.goTool(ctx, p, "list", "-m", "-f", "{{.Dir}}", p.Module)
	if err != nil {
		return err
	}
	for _, c := range p.Copies {
		paths, err := filepath.Glob(filepath.Join(dir, c.From))
		if err != nil {
			return err
		}
		if len(paths) == 0 {
			return fmt.Errorf("copy files: %s has none that match %s", p.Module, c.From)
		}
		to := filepath.Join(b.out, c.To)
		if err := os.MkdirAll(to, 0o755); err != nil {
			return err
		}
		for _, path := range paths {
			content, err := os.ReadFile(path)
			if err != nil {
				return fmt.Errorf("copy file: %w", err)
			}
			if err := os.WriteFile(filepath.Join(to, filepath.Base(path)), content, 0o644); err != nil {
				return fmt.Errorf("copy file: %w", err)
			}
		}
	}
	return nil
}
