// Command build makes the programs of the control plane that tests and the demo start, from Go modules
// alone, into bin/controlplane. It builds what is missing or out of date and says how long each part took;
// when everything is up to date it says nothing and does nothing.
//
//	go run ./test/controlplane/build            every part
//	go run ./test/controlplane/build etcd kwok  these parts
//	go run ./test/controlplane/build --list     what there is, and whether it is up to date
//
// Start reading at parts.go: the table says everything about a part.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	list := flag.Bool("list", false, "list the parts and whether they are up to date; build nothing")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *list, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, list bool, names []string) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	chosen, err := choose(names)
	if err != nil {
		return err
	}
	b := builder{root: root, out: filepath.Join(root, "bin", "controlplane")}
	if list {
		return b.list(os.Stdout, chosen)
	}
	stale, err := b.stale(chosen)
	if err != nil || len(stale) == 0 {
		return err
	}

	unlock, err := lock(filepath.Join(b.out, ".lock"))
	if err != nil {
		return err
	}
	defer unlock()
	// Somebody else may have built while we waited for the lock.
	if stale, err = b.stale(chosen); err != nil {
		return err
	}
	begun := time.Now()
	for i, p := range stale {
		done := announce(os.Stderr, fmt.Sprintf("[%d/%d] %s", i+1, len(stale), p.Name))
		err := b.build(ctx, p)
		done(err)
		if err != nil {
			return fmt.Errorf("build %s: %w", p.Name, err)
		}
	}
	if len(stale) > 1 {
		fmt.Fprintf(os.Stderr, "%d parts built in %s\n", len(stale), brief(time.Since(begun)))
	}
	return nil
}

// moduleRoot is the nearest folder upwards with a go.mod that is not one of the parts' own.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "test", "controlplane", "etcd", "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("find the repository: no folder upwards holds test/controlplane")
		}
	}
}

func choose(names []string) ([]part, error) {
	if len(names) == 0 {
		return slices.DeleteFunc(slices.Clone(parts), func(p part) bool { return p.Asked }), nil
	}
	var chosen []part
	for _, name := range names {
		i := slices.IndexFunc(parts, func(p part) bool { return p.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("choose parts: no part is called %q; there are %s", name, strings.Join(partNames(), ", "))
		}
		chosen = append(chosen, parts[i])
	}
	return chosen, nil
}

func partNames() []string {
	var names []string
	for _, p := range parts {
		names = append(names, p.Name)
	}
	return names
}

// lock waits until this process alone may write below bin/controlplane. The kernel lets go of the lock when
// the process ends, however it ends.
func lock(path string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		fmt.Fprintln(os.Stderr, "waiting for another build of the control plane")
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
		}
	}
	return func() { _ = f.Close() }, nil
}
