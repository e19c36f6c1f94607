package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/test/bench/filled"
	"github.com/signalbox-dev/signalbox/test/cluster"
)

// figures are what a measurement came to.
type figures struct {
	burst, steady part
	idle, memory  memory // of the process behind the webhook: before jobs came (Signalbox alone), and in the end
}

// memory is what is resident of a process, in MiB.
type memory struct{ peak, now, file float64 }

func (m memory) String() string {
	return fmt.Sprintf("%.0f MiB at most and %.0f now, of which %.0f are the program's file", m.peak, m.now, m.file)
}

// part is a burst, or a steady rate.
type part struct {
	created, refused int
	took             time.Duration   // all of it
	each             []time.Duration // from the client's call to the answer
	hook             histogram       // as the API server measured the webhook
	failed           float64         // calls of the webhook that failed and were ignored
	unchecked, asked float64         // things that Signalbox says it did not check; its calls of the API server
	cpu              float64         // seconds of the process behind the webhook
}

// histogram is a cumulative histogram of seconds.
type histogram struct {
	bounds []float64
	counts []float64
	sum, n float64
}

// quantile is between the two bounds that it lies between, in proportion, as Prometheus says it.
func (h histogram) quantile(q float64) float64 {
	before, low := 0.0, 0.0
	for i, count := range h.counts {
		if count >= q*h.n && count > before {
			return low + (h.bounds[i]-low)*(q*h.n-before)/(count-before)
		}
		before, low = count, h.bounds[i]
	}
	return low
}

// within is the share that took no longer than a bound of the histogram.
func (h histogram) within(bound float64) float64 {
	if at := slices.Index(h.bounds, bound); at >= 0 && h.n > 0 {
		return h.counts[at] / h.n
	}
	return 0
}

func (h histogram) minus(before histogram) histogram {
	out := histogram{bounds: h.bounds, sum: h.sum - before.sum, n: h.n - before.n}
	for i, n := range h.counts {
		if i < len(before.counts) {
			n -= before.counts[i]
		}
		out.counts = append(out.counts, n)
	}
	return out
}

const (
	hookMetric = "apiserver_admission_webhook_admission_duration_seconds"
	openMetric = "apiserver_admission_webhook_fail_open_count"
	ofCreation = `operation="CREATE"`
)

// hookTimes is what the API server says of a webhook.
func hookTimes(ctx context.Context, kube kubernetes.Interface, hook string) (h histogram, failedOpen float64, err error) {
	raw, err := kube.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return h, 0, err
	}
	text, ofOurs := string(raw), fmt.Sprintf("name=%q", hook)
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, hookMetric+"_bucket{")
		if !ok || !strings.Contains(rest, ofCreation) || !strings.Contains(rest, ofOurs) {
			continue
		}
		_, le, _ := strings.Cut(rest, `le="`)
		le, _, _ = strings.Cut(le, `"`)
		bound, err := strconv.ParseFloat(le, 64)
		if err != nil || le == "+Inf" {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(rest[strings.LastIndexByte(rest, ' ')+1:]), 64)
		if err != nil {
			return h, 0, err
		}
		at, there := slices.BinarySearch(h.bounds, bound)
		if !there {
			h.bounds, h.counts = slices.Insert(h.bounds, at, bound), slices.Insert(h.counts, at, 0)
		}
		h.counts[at] += n // rejected="true" and "false" are series of their own
	}
	only := func(name string) (total float64) {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, name) && strings.Contains(line, ofCreation) {
				total += sum(line, name, ofOurs)
			}
		}
		return total
	}
	h.sum, h.n = only(hookMetric+"_sum"), only(hookMetric+"_count")
	return h, sum(text, openMetric, ofOurs), nil
}

// measure creates jobs: a burst, then a steady rate.
func measure(ctx context.Context, plane *cluster.Cluster, s settings, job *unstructured.Unstructured, b *subject) (out figures, err error) {
	config := plane.Config()
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return out, err
	}
	create := func(name string, i int) error {
		u := job.DeepCopy()
		u.SetName(name)
		_, err := objects.Resource(jobs).Namespace(filled.NamespaceOf(i)).Create(ctx, u, metav1.CreateOptions{})
		return err
	}
	for i := range 50 { // connections and caches are warm, as they are in a cluster that runs
		if err := create(fmt.Sprintf("first-%d", i), i); err != nil {
			return out, err
		}
	}
	if out.burst, err = through(ctx, plane, b, func(p *part, note func(time.Duration, error)) error {
		var all sync.WaitGroup
		for i := range s.burst {
			all.Go(func() {
				start := time.Now()
				err := create(fmt.Sprintf("burst-%d", i), i)
				note(time.Since(start), err)
			})
		}
		all.Wait()
		return nil
	}); err != nil {
		return out, err
	}
	out.steady, err = through(ctx, plane, b, func(p *part, note func(time.Duration, error)) error {
		var all sync.WaitGroup
		profiled := make(chan error, 1)
		if b != nil && s.pprof != "" {
			go func() { profiled <- b.profile(ctx, int(s.lasts.Seconds()/2), s.pprof) }()
		} else {
			profiled <- nil
		}
		tick := time.NewTicker(time.Duration(float64(time.Second) / s.rate))
		defer tick.Stop()
		for i := range int(s.rate * s.lasts.Seconds()) {
			<-tick.C
			all.Go(func() {
				start := time.Now()
				err := create(fmt.Sprintf("steady-%d", i), i)
				note(time.Since(start), err)
			})
		}
		all.Wait()
		return <-profiled
	})
	if b != nil {
		out.memory = b.memory()
	}
	return out, err
}

// through is what came of one part.
func through(ctx context.Context, plane *cluster.Cluster, b *subject, do func(p *part, note func(time.Duration, error)) error) (p part, err error) {
	look := func() (p part, err error) {
		if b == nil {
			return p, nil
		}
		if p.hook, p.failed, err = hookTimes(ctx, plane.Clientset(), b.hook); err != nil {
			return p, err
		}
		p.unchecked, p.asked, err = b.says(ctx)
		p.cpu = b.cpu()
		return p, err
	}
	before, err := look()
	if err != nil {
		return p, err
	}
	var mu sync.Mutex
	begun := time.Now()
	if err := do(&p, func(took time.Duration, err error) {
		mu.Lock()
		defer mu.Unlock()
		p.each = append(p.each, took)
		if p.created++; err != nil {
			p.created--
			if p.refused++; p.refused == 1 {
				fmt.Fprintln(os.Stderr, "the first that was not created:", err)
			}
		}
	}); err != nil {
		return p, err
	}
	p.took = time.Since(begun)
	slices.Sort(p.each)
	after, err := look()
	p.hook, p.failed, p.cpu = after.hook.minus(before.hook), after.failed-before.failed, after.cpu-before.cpu
	p.unchecked, p.asked = after.unchecked-before.unchecked, after.asked-before.asked
	return p, err
}

// at is a quantile of what clients waited.
func (p *part) at(q float64) time.Duration {
	if len(p.each) == 0 {
		return 0
	}
	return p.each[int(q*float64(len(p.each)-1))]
}

// sample is a job that is created again and again.
func sample(file string) (*unstructured.Unstructured, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(text, &u.Object); err != nil {
		return nil, err
	}
	u.SetLabels(map[string]string{"team": "speech"}) // as the policies want it
	return u, nil
}
