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
	server           float64         // seconds of processor time of the API server
	busy             float64         // seconds of processor time of everything on this machine
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

// add counts another histogram with the same bounds in.
func (h *histogram) add(g histogram) {
	if h.counts == nil {
		h.bounds, h.counts = g.bounds, make([]float64, len(g.counts))
	}
	for i, n := range g.counts {
		h.counts[i] += n
	}
	h.sum, h.n = h.sum+g.sum, h.n+g.n
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
	for i := range stretches {
		stretch, err := through(ctx, plane, b, func(p *part, note func(time.Duration, error)) error {
			return steadily(ctx, s, b, i, func(i int) {
				start := time.Now()
				err := create(fmt.Sprintf("steady-%d", i), i)
				note(time.Since(start), err)
			})
		})
		if err != nil {
			return out, err
		}
		out.steady.add(stretch)
	}
	slices.Sort(out.steady.each)
	if b != nil {
		out.memory = b.memory()
	}
	return out, nil
}

// stretches are what the steady rate is measured in: what the API server allocates in one of them has room beside what it
// holds, so that it collects no garbage meanwhile (collect).
const stretches = 3

// steadily calls a function at the steady rate, for one stretch.
func steadily(ctx context.Context, s settings, b *subject, stretch int, create func(i int)) error {
	profiled := make(chan error, 1)
	if b != nil && s.pprof != "" && stretch == 0 {
		go func() { profiled <- b.profile(ctx, int(s.lasts.Seconds()/stretches), s.pprof) }()
	} else {
		profiled <- nil
	}
	tick := time.NewTicker(time.Duration(float64(time.Second) / s.rate))
	defer tick.Stop()
	var all sync.WaitGroup
	n := int(s.rate * s.lasts.Seconds() / stretches)
	for i := range n {
		<-tick.C
		all.Go(func() { create(stretch*n + i) })
	}
	all.Wait()
	return <-profiled
}

// through is what came of one part.
func through(ctx context.Context, plane *cluster.Cluster, b *subject, do func(p *part, note func(time.Duration, error)) error) (p part, err error) {
	look := func() (p part, err error) {
		p.busy = busy()
		if p.server, err = serverTime(ctx, plane); err != nil || b == nil {
			return p, err
		}
		if p.hook, p.failed, err = hookTimes(ctx, plane.Clientset(), b.hook); err != nil {
			return p, err
		}
		p.unchecked, p.asked, err = b.says(ctx)
		p.cpu = b.cpu()
		return p, err
	}
	if err := collect(ctx, plane); err != nil {
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
	p.server, p.busy = after.server-before.server, after.busy-before.busy
	return p, err
}

// serverTime is the processor time of the API server, in seconds.
func serverTime(ctx context.Context, plane *cluster.Cluster) (float64, error) {
	raw, err := plane.Clientset().Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	return sum(string(raw), "process_cpu_seconds_total", ""), err
}

// busy is the processor time of everything on this machine since it started, in seconds (proc(5), stat: user, nice, system,
// idle, iowait, irq, softirq, in hundredths).
func busy() (seconds float64) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), "\n")
	for i, field := range strings.Fields(first) {
		if n, err := strconv.ParseFloat(field, 64); err == nil && i != 4 && i != 5 && i <= 7 {
			seconds += n / 100
		}
	}
	return seconds
}

// collect has the API server collect its garbage: a profile of its heap can ask for that (net/http/pprof, "gc").
func collect(ctx context.Context, plane *cluster.Cluster) error {
	if _, err := plane.Clientset().Discovery().RESTClient().Get().AbsPath("/debug/pprof/heap").Param("gc", "1").DoRaw(ctx); err != nil {
		return fmt.Errorf("have the API server collect its garbage: %w", err)
	}
	return nil
}

// add counts another part in.
func (p *part) add(q part) {
	p.created, p.refused, p.took = p.created+q.created, p.refused+q.refused, p.took+q.took
	p.each = append(p.each, q.each...)
	p.hook.add(q.hook)
	p.failed, p.unchecked, p.asked, p.cpu = p.failed+q.failed, p.unchecked+q.unchecked, p.asked+q.asked, p.cpu+q.cpu
	p.server, p.busy = p.server+q.server, p.busy+q.busy
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
