// Command demo shows Signalbox at work on a real control plane: it starts one, makes a
// cluster worth looking at, installs Signalbox from the project's own manifests, plays a
// few scenes with the real kubectl, and checks that every one of them showed what it should.
//
//	make demo          plays, then stays up for you to try
//	make demo ONCE=1   plays and ends; exit code 0 only if every expectation was seen
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fatih/color"
	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

func main() {
	once := flag.Bool("once", false, "end after the last scene")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	klog.SetLogger(logr.Discard()) // a watch that ends is begun anew, and is no part of a scene
	err := run(ctx, os.Stdout, *once)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "\nstopped; nothing is left running")
		os.Exit(130)
	default:
		fmt.Fprintf(os.Stderr, "demo: %v\n", err)
		if errors.Is(err, context.DeadlineExceeded) {
			fmt.Fprintln(os.Stderr, "demo: a part was not ready in time, as on a machine that is busy otherwise; make demo tries again")
		}
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, once bool) (err error) {
	start := time.Now()
	s, err := newStage(ctx, out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	for _, scene := range scenes {
		s.open(scene.title)
		if err := scene.play(ctx, s); err != nil {
			s.c.Keep()
			return fmt.Errorf("%s: %w (logs: %s)", scene.title, err, s.c.LogDir())
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	fmt.Fprintf(out, "\n%d of %d expectations seen in %s\n", s.seen, s.seen+len(s.missed), time.Since(start).Round(time.Second))
	for _, m := range s.missed {
		fmt.Fprintln(out, color.RedString("not seen: ")+m)
	}
	switch {
	case once && len(s.missed) > 0:
		s.c.Keep()
		return fmt.Errorf("%d expectations not seen (logs: %s)", len(s.missed), s.c.LogDir())
	case once:
		return nil
	}
	invite(out, s)
	select {
	case <-ctx.Done():
		return nil // how a visit ends
	case <-s.c.Done():
		return s.c.Err()
	}
}

// invite says how to go on by hand.
func invite(out io.Writer, s *stage) {
	fmt.Fprintf(out, `
The cluster stays up until Ctrl-C. In another terminal:

  export KUBECONFIG=%s PATH=%s:$PATH

  signalbox fit -f test/demo/scenes/pytorchjob.yaml
  signalbox diagnose pytorchjob/missing-module -n ml
  kubectl get pytorchjobs -n ml -o custom-columns='NAME:.metadata.name,HEALTHY:.metadata.annotations.signalbox\.dev/healthy,ERROR:.metadata.annotations.signalbox\.dev/error'
`, s.c.Kubeconfig(), filepath.Join(s.c.Root, "bin")+":"+filepath.Join(s.c.Root, "bin", "controlplane"))
}
