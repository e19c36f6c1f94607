// Command first runs a build, and keeps whoever waits for it company. Where the build is a long one it shows, first of
// all, what one line of a log means, because the little that this needs is built in seconds, and then how far the
// build is.
//
//	go run ./test/demo/first go build -o bin/signalbox ./cmd/signalbox
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/oneline"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// long is from how many modules and packages of others on a build is worth a scene: on a machine that has built before,
// only the project's own are built again.
const long = 10

const ours = "github.com/signalbox-dev/signalbox/"

const (
	log  = "examples/missing-module/worker-0.log"
	last = 5 // of its lines
)

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run is the build, whose go command and flags are args.
func run(w io.Writer, args []string) error {
	at := slices.Index(args, "build")
	if at < 1 || at == len(args)-1 {
		return errors.New("usage: first go build [flags] PACKAGE")
	}
	c := exec.Command(args[0], slices.Insert(slices.Clone(args[1:]), at, "-v")...)
	said, err := c.StderrPipe()
	if err != nil {
		return fmt.Errorf("read what the build says: %w", err)
	}
	if err := c.Start(); err != nil {
		return fmt.Errorf("start the build: %w", err)
	}
	b := build{w: w, now: time.Now, packages: func() int { return packages(args[0], args[len(args)-1]) }}
	b.watch(said)
	if err := c.Wait(); err != nil {
		return fmt.Errorf("build: %w", err)
	}
	return nil
}

// packages is how many there are to build for one, without those that this program was built of; 0: nobody knows.
func packages(goCommand, of string) int {
	count := func(of string) int {
		out, err := exec.Command(goCommand, "list", "-deps", of).Output()
		if err != nil {
			return 0
		}
		return bytes.Count(out, []byte("\n"))
	}
	return max(0, count(of)-count("./test/demo/first"))
}

// build is one that goes on.
type build struct {
	w        io.Writer
	now      func() time.Time
	packages func() int

	begun, compiles, told    time.Time
	downloads, built, others int // modules; packages; those of them that are not ours
	of                       int // packages; 0: nobody knows
}

// watch reads what go build -v says, the modules it downloads, the names of packages and the compiler's errors, and
// plays the scene when it has become clear that the build is a long one: before the downloads are over, and before
// anybody counts packages.
func (b *build) watch(said io.Reader) {
	b.begun = b.now()
	played := false
	for s := bufio.NewScanner(said); s.Scan(); {
		switch name := s.Text(); {
		case strings.HasPrefix(name, "go: downloading "):
			b.downloads++
		case strings.ContainsAny(name, " #:\t"):
			_, _ = fmt.Fprintln(b.w, name)
			continue
		default:
			if b.built == 0 {
				b.compiles = b.now()
			}
			if b.built++; !strings.HasPrefix(name, ours) {
				b.others++
			}
		}
		if !played && b.downloads+b.others >= long {
			played = true
			if err := scene(b.w); err != nil {
				_, _ = fmt.Fprintln(b.w, err)
			}
		}
		if played {
			b.tell()
		}
	}
	if played {
		_, _ = fmt.Fprintf(b.w, "signalbox is built: %s\n", b.now().Sub(b.begun).Round(time.Second))
	}
}

// tell says every ten seconds how far the build is, as though all packages took the same time. What is left is known
// once all modules are there: the first package is built after the last download.
func (b *build) tell() {
	now := b.now()
	if now.Sub(b.told) < 10*time.Second {
		return
	}
	b.told = now
	if b.built == 0 {
		_, _ = fmt.Fprintf(b.w, "building signalbox, once: %d modules downloaded, all packages to build\n", b.downloads)
		return
	}
	if b.of == 0 {
		b.of = b.packages()
	}
	left := ""
	if b.of > b.built {
		left = fmt.Sprintf(" of %d", b.of)
		if took := now.Sub(b.compiles); took > 0 {
			left += fmt.Sprintf(", about %s left", (took * time.Duration(b.of-b.built) / time.Duration(b.built)).Round(5*time.Second))
		}
	}
	_, _ = fmt.Fprintf(b.w, "building signalbox, once: %d packages%s\n", b.built, left)
}

// scene shows the end of a log, and what its decisive line means.
func scene(w io.Writer) error {
	text, err := os.ReadFile(log)
	if err != nil {
		return fmt.Errorf("read the example: %w", err)
	}
	lines := bytes.SplitAfter(bytes.TrimSpace(text), []byte("\n"))
	tail := lines[max(0, len(lines)-last):]
	catalog, err := signature.Builtin()
	if err != nil {
		return fmt.Errorf("read signatures: %w", err)
	}
	decisive := slices.IndexFunc(tail, func(l []byte) bool { return bytes.Contains(l, []byte("Error: ")) })
	if decisive < 0 {
		return fmt.Errorf("%s ends without an error", log)
	}
	_, _ = fmt.Fprintf(w, "\nWhat a program of seconds can say, while the whole one is built:\n\n$ tail -n %d %s\n%s\n", last, log, bytes.Join(tail, nil))
	said := strings.TrimSpace(string(tail[decisive]))
	_, _ = fmt.Fprintf(w, "\n$ signalbox explain --line %q\n", said)
	if err := oneline.Explain(w, catalog, said); err != nil {
		return fmt.Errorf("explain the line: %w", err)
	}
	_, _ = fmt.Fprintln(w)
	return nil
}
