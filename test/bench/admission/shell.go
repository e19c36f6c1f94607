package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/signalbox-dev/signalbox/test/bench/filled"
	"github.com/signalbox-dev/signalbox/test/cluster"
)

// question is a command line of the shell and what its answers cost.
type question struct {
	args   []string
	median time.Duration
	peak   float64 // MiB resident
	said   string  // the first line
}

// askShell runs check and fit as a user would: what the answer costs whoever waits for it.
func askShell(ctx context.Context, plane *cluster.Cluster, s settings, how string) ([]question, error) {
	job := filepath.Join(plane.Dir(), "job.yaml")
	text, err := os.ReadFile(filepath.Join(s.root, "config", "samples", "pytorchjob.yaml"))
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(job, text, 0o600); err != nil {
		return nil, err
	}
	var out []question
	for _, command := range []string{"check", "fit"} {
		q, err := timed(ctx, plane, s, command, job, "-n", filled.NamespaceOf(0), how)
		if err != nil {
			return nil, err
		}
		out = append(out, q)
	}
	return out, nil
}

// timed runs one command line a few times.
func timed(ctx context.Context, plane *cluster.Cluster, s settings, args ...string) (question, error) {
	q := question{args: args}
	var took []time.Duration
	for range 5 {
		cmd := exec.CommandContext(ctx, filepath.Join(s.root, "bin", "signalbox"), args...)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+plane.Kubeconfig())
		begun := time.Now()
		said, err := cmd.CombinedOutput() // the exit code is an answer
		if cmd.ProcessState == nil {
			return q, err // it did not start
		}
		took = append(took, time.Since(begun))
		q.said, _, _ = strings.Cut(string(said), "\n")
		if use, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			q.peak = max(q.peak, float64(use.Maxrss)/1024)
		}
	}
	slices.Sort(took)
	q.median = took[len(took)/2]
	fmt.Fprintf(os.Stderr, "%s: %s in the median of %v, %.0f MiB at most: %s\n", strings.Join(args, " "), q.median.Round(time.Millisecond), took, q.peak, q.said)
	return q, nil
}

// shellOnly measures the shell alone, without an installation and with one.
func shellOnly(ctx context.Context, plane *cluster.Cluster, s settings) error {
	if _, err := askShell(ctx, plane, s, "--ask=never"); err != nil {
		return err
	}
	if _, err := timed(ctx, plane, s, "get", "jobs", "-A"); err != nil {
		return err
	}
	if _, err := installSignalbox(ctx, plane, s, filepath.Join(s.root, "bin", "signalbox")); err != nil {
		return err
	}
	_, err := askShell(ctx, plane, s, "--ask=auto")
	return err
}
