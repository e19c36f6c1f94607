// Command admission measures what Signalbox costs those who create jobs, on a real API server with the nodes, pods and
// claims of a large cluster: a burst and a steady rate, without a webhook and with it, in one run. How long the webhook
// takes is what the API server measured, TLS and connection included. It writes docs/benchmarks-webhook.md.
//
//	make bench-webhook
//
// It judges nothing: a busy machine is slower.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/signalbox-dev/signalbox/test/bench/filled"
	"github.com/signalbox-dev/signalbox/test/cluster"
	"github.com/signalbox-dev/signalbox/test/line"
)

// settings are the flags.
type settings struct {
	size        filled.Size
	burst       int
	rate        float64
	lasts       time.Duration
	page        string
	pprof, heap string
	onlyWebhook bool
	gatekeeper  bool
	yes         bool
	shell       bool
	earlier     string        // programs, separated by commas
	idle        time.Duration // before jobs come
	root        string
}

func main() {
	var s settings
	flag.IntVar(&s.size.Nodes, "nodes", 5000, "nodes")
	flag.IntVar(&s.size.PodsPerNode, "pods-per-node", 20, "pods on each")
	flag.IntVar(&s.size.Claims, "claims", 20000, "volume claims, each with its volume")
	flag.IntVar(&s.burst, "burst", 1028, "jobs that are created at once")
	flag.Float64Var(&s.rate, "rate", 165, "jobs a second after the burst")
	flag.DurationVar(&s.lasts, "for", time.Minute, "how long")
	flag.StringVar(&s.page, "page", "", "`file` to write the page to; empty: to standard output")
	flag.StringVar(&s.pprof, "cpuprofile", "", "`file` for a profile of Signalbox under the steady rate")
	flag.StringVar(&s.heap, "memprofile", "", "`file` for a profile of its memory at the end")
	flag.BoolVar(&s.onlyWebhook, "webhook-only", false, "leave the controller out; an installation runs both in one process")
	flag.BoolVar(&s.gatekeeper, "gatekeeper", true, "measure Gatekeeper, too; it is in bin/controlplane")
	flag.BoolVar(&s.yes, "yes", true, "measure a webhook that looks at nothing, too: what any webhook costs here")
	answers := flag.String("answer-yes", "", "be that webhook, at this `address,folder of a certificate`")
	flag.BoolVar(&s.shell, "shell", false, "only what check and fit in a shell cost: asked of the installation, and listing without one")
	flag.StringVar(&s.earlier, "earlier", "", "other `programs`, separated by commas: Signalbox as it was built before, each measured in the same way before this one")
	flag.DurationVar(&s.idle, "idle", 20*time.Second, "how long Signalbox is there before jobs come")
	flag.Parse()
	if *answers != "" {
		address, certs, _ := strings.Cut(*answers, ",")
		fmt.Fprintln(os.Stderr, answerYes(address, certs))
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, s); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s settings) (err error) {
	if s.root, err = line.Repository(); err != nil {
		return err
	}
	plane, err := cluster.Start(ctx, cluster.Options{
		Progress: os.Stderr, Patience: 10 * time.Minute,
		// Webhooks of an installation are behind a Service, which the API server asks by HTTP/1.1; at an address of this
		// machine it would use HTTP/2 (k8s.io/apiserver, pkg/util/webhook/client.go).
		// With 100,000 pods in memory, on two processors, one garbage collection of the API server takes ten seconds, in which
		// everything waits for a second, with a webhook or without; in a minute it would collect three times. It begins each
		// stretch with a heap that was just collected (collect), and has room for what it allocates in one.
		ExtraEnv:  map[string][]string{"kube-apiserver": {"DISABLE_HTTP2=1", "GOGC=300"}},
		ExtraArgs: map[string][]string{"kube-apiserver": {"--profiling"}},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	if err := plane.InstallCRDs(ctx, cluster.TrainingOperator|cluster.JobSet|cluster.Trainer); err != nil {
		return err
	}
	begun := time.Now()
	if err := filled.Fill(ctx, plane, s.size); err != nil {
		return fmt.Errorf("fill the API server: %w", err)
	}
	fmt.Fprintf(os.Stderr, "filled in %s\n", time.Since(begun).Round(time.Second))

	if s.shell {
		return shellOnly(ctx, plane, s)
	}
	job, err := sample(filepath.Join(s.root, "config", "samples", "pytorchjob.yaml"))
	if err != nil {
		return err
	}
	p := page{size: s.size, settings: s, load: load()}
	without, err := measure(ctx, plane, s, job, nil)
	if err != nil {
		return err
	}
	p.rows = append(p.rows, row{"without a webhook", without})
	if s.yes {
		with, err := measureYes(ctx, plane, s, job)
		if err != nil {
			return err
		}
		p.rows = append(p.rows, row{"with a webhook that looks at nothing", with})
	}
	if s.gatekeeper {
		with, err := measureGatekeeper(ctx, plane, s, job)
		if err != nil {
			return err
		}
		p.rows = append(p.rows, row{"with Gatekeeper", with})
	}
	programs := []string{filepath.Join(s.root, "bin", "signalbox")}
	if s.earlier != "" {
		programs = append(strings.Split(s.earlier, ","), programs...)
	}
	for i, program := range programs {
		name := "with Signalbox"
		if i < len(programs)-1 {
			name += " (" + program + ")"
		}
		of, err := measureSignalbox(ctx, plane, s, program, job)
		if err != nil {
			return err
		}
		p.rows = append(p.rows, row{name, of})
	}
	if s.page == "" {
		_, err = os.Stdout.WriteString(p.String())
		return err
	}
	return os.WriteFile(s.page, []byte(p.String()), 0o644)
}

// measureSignalbox installs a program, measures it and ends it.
func measureSignalbox(ctx context.Context, plane *cluster.Cluster, s settings, program string, job *unstructured.Unstructured) (out figures, err error) {
	if err := clear(ctx, plane); err != nil {
		return out, err
	}
	box, err := installSignalbox(ctx, plane, s, program)
	if err != nil {
		return out, err
	}
	select {
	case <-time.After(s.idle):
	case <-ctx.Done():
		return out, ctx.Err()
	}
	idle := box.memory()
	if out, err = measure(ctx, plane, s, job, box); err != nil {
		return out, err
	}
	out.idle = idle
	fmt.Fprintf(os.Stderr, "%s: %s before jobs came, %s in the end\n", program, idle, out.memory)
	if s.heap != "" {
		if err := box.heap(ctx, s.heap); err != nil {
			return out, err
		}
	}
	return out, plane.End("signalbox")
}

var jobs = schema.GroupVersionResource{Group: "kubeflow.org", Version: "v1", Resource: "pytorchjobs"}

// clear takes the jobs of the measurement before away.
func clear(ctx context.Context, plane *cluster.Cluster) error {
	objects, err := dynamic.NewForConfig(plane.Config())
	if err != nil {
		return err
	}
	for i := range filled.Namespaces {
		if err := objects.Resource(jobs).Namespace(filled.NamespaceOf(i)).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
			return fmt.Errorf("delete the jobs: %w", err)
		}
	}
	return nil
}
