// Command diagnose measures how long Signalbox takes to say why a large job failed, on a real
// control plane: from the word Failed on the job to the annotation that names the cause, without
// a language model, and a shell's diagnosis of a job with more pods than are read whole. Nodes,
// pods and their logs are kwok's; the statuses that a kubelet and an operator would write are
// written here, so that nothing but Signalbox is measured.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/signalbox-dev/signalbox/test/cluster"
	"github.com/signalbox-dev/signalbox/test/line"
)

// settings are the flags.
type settings struct {
	pods, rounds, shell int
	logBytes            int
}

func main() {
	var s settings
	flag.IntVar(&s.pods, "pods", 512, "pods of the gang that fails")
	flag.IntVar(&s.rounds, "rounds", 20, "jobs that fail, one after the other; the 95th percentile of fewer than 20 is the worst")
	flag.IntVar(&s.shell, "shell-pods", 1000, "pods of the job that the shell diagnoses; 0: skip")
	flag.IntVar(&s.logBytes, "log-bytes", 256<<10, "bytes of the log of each pod")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, s, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s settings, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "signalbox-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	log, err := newLog(dir, s.logBytes)
	if err != nil {
		return err
	}
	var nodes []cluster.Node
	for i := range nodeCount {
		nodes = append(nodes, cluster.GPUNode(nodeName(i), "NVIDIA-H100-80GB-HBM3", 8))
	}
	l, err := line.Start(ctx, line.Options{
		Parts: cluster.Kwok | cluster.ControllerManager, Nodes: nodes, Progress: os.Stderr, KwokConfig: []string{log.config},
		// The pace of an installation, not that of a demo.
		Settings: map[string]any{"diagnosis": map[string]any{}, "llm": map[string]any{}},
	})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			l.Keep()
			fmt.Fprintln(os.Stderr, "logs are kept in", l.LogDir())
		}
		err = errors.Join(err, l.Stop())
	}()
	w, err := newWorld(ctx, l, log)
	if err != nil {
		return err
	}
	if err := w.measure(ctx, s, out); err != nil {
		return err
	}
	if s.shell == 0 {
		return nil
	}
	d, memory, text, err := w.shell(ctx, "large", s.shell)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d pods in a shell: %s, at most %.0f MiB resident\n%s", s.shell, d.Round(time.Millisecond), memory, text)
	return nil
}

// warm is a gang that is not measured: with it the controller finds the kind, which was installed after
// it had started and which it looks for every ten seconds.
const warm = 8

// measure has gangs fail, one after the other.
func (w *world) measure(ctx context.Context, s settings, out io.Writer) error {
	if _, _, err := w.gang(ctx, "warm", warm); err != nil {
		return err
	}
	var took []time.Duration
	var all []map[string]time.Duration
	for round := range s.rounds {
		d, used, err := w.gang(ctx, fmt.Sprintf("gang-%d", round), s.pods)
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "round %d: %s; processor time since the first pod ended: %s\n", round+1, d.Round(time.Millisecond), spent(used))
		took, all = append(took, d), append(all, used)
	}
	if len(took) == 0 {
		return nil
	}
	slices.Sort(took)
	fmt.Fprintf(out, "%d pods, %d bytes of log each: from Failed to the annotation in %d rounds: median %s, p95 %s (%d of %d took no longer), most %s\n",
		s.pods, s.logBytes, s.rounds, at(took, 50), at(took, 95), rank(len(took), 95), len(took), at(took, 100))
	fmt.Fprintf(out, "processor time of one round, from the end of the first pod on, medians: %s\n", spent(medians(all)))
	fmt.Fprintf(out, "memory at most: %s\n", memory())
	return nil
}

// at is a percentile of sorted times: the smallest that so many of a hundred do not exceed.
func at(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[rank(len(sorted), percent)-1].Round(time.Millisecond)
}

// rank is how many of n are at least so many of a hundred.
func rank(n, percent int) int { return max(1, (n*percent+99)/100) }
