// Command created measures what one created job costs `signalbox serve`, webhook and controller: processor time and garbage,
// from the review over the watch to what follows. A stand-in answers as an API server does, with the nodes, pods and claims
// of a large cluster, so that the processors are Signalbox' own. Several programs are measured in turn, round after round.
//
//	go run ./test/bench/created -programs old/signalbox,bin/signalbox
//
// It judges nothing: a busy machine is slower. Start reading at measure.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/test/bench/filled"
	"github.com/signalbox-dev/signalbox/test/cluster"
	"github.com/signalbox-dev/signalbox/test/line"
	"github.com/signalbox-dev/signalbox/test/resident"
)

// settings are the flags.
type settings struct {
	size               filled.Size
	programs           string
	rate               float64
	lasts, idle, after time.Duration
	rounds, burst      int
	job                string
	cpu, allocs        string
	verbose            bool
}

func main() {
	var s settings
	flag.IntVar(&s.size.Nodes, "nodes", 5000, "nodes")
	flag.IntVar(&s.size.PodsPerNode, "pods-per-node", 20, "pods on each")
	flag.IntVar(&s.size.Claims, "claims", 20000, "volume claims, each with its volume")
	flag.StringVar(&s.programs, "programs", "bin/signalbox", "`programs`, separated by commas, each measured in every round")
	flag.Float64Var(&s.rate, "rate", 165, "jobs a second")
	flag.DurationVar(&s.lasts, "for", 15*time.Second, "how long")
	flag.DurationVar(&s.idle, "idle", 8*time.Second, "how long before, to know what it costs to be there")
	flag.DurationVar(&s.after, "after", 15*time.Second, "how long afterwards: what a job costs later is its cost, too")
	flag.IntVar(&s.rounds, "rounds", 3, "rounds")
	flag.IntVar(&s.burst, "burst", 0, "jobs that are created at once, before the others: how many of them are not checked whole")
	flag.StringVar(&s.job, "job", "", "`file` of the job; empty: config/samples/pytorchjob.yaml")
	flag.StringVar(&s.cpu, "cpuprofile", "", "`file` for a profile of the last program while jobs are created, in the last round")
	flag.StringVar(&s.allocs, "allocprofile", "", "`file` for a profile of all that the last program has allocated, in the last round; FILE.before is one from before the jobs (go tool pprof -base)")
	flag.BoolVar(&s.verbose, "v", false, "show the log of the programs, and what they asked the API server")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, s); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// figures are what one measurement came to, a job.
type figures struct {
	cpu, idle        float64 // milliseconds; of a second without jobs
	bytes, collected float64 // KiB of garbage; collections of all
	p50, p99         time.Duration
	peak, now        float64 // MiB resident: at most, and when the last job has been created
}

func run(ctx context.Context, s settings) error {
	root, err := line.Repository()
	if err != nil {
		return err
	}
	if s.job == "" {
		s.job = filepath.Join(root, "config", "samples", "pytorchjob.yaml")
	}
	text, err := os.ReadFile(s.job)
	if err != nil {
		return err
	}
	var sample map[string]any
	if err := yaml.Unmarshal(text, &sample); err != nil {
		return err
	}
	all := world(s.size)
	programs := strings.Split(s.programs, ",")
	came := map[string][]figures{}
	for round := range s.rounds {
		for i, program := range programs {
			last := round == s.rounds-1 && i == len(programs)-1
			f, err := measure(ctx, s, program, sample, last, func() (*standIn, error) { return newStandIn(all...) })
			if err != nil {
				return fmt.Errorf("%s: %w", program, err)
			}
			fmt.Printf("%-40s cpu %.3f ms a job (%.1f ms a second before), garbage %.0f KiB a job, %.0f collections, p50 %s, p99 %s, %.0f MiB at most and %.0f under load\n",
				program, f.cpu, f.idle, f.bytes, f.collected, f.p50.Round(10*time.Microsecond), f.p99.Round(10*time.Microsecond), f.peak, f.now)
			came[program] = append(came[program], f)
		}
	}
	for _, program := range programs {
		of := func(get func(figures) float64) float64 {
			var all []float64
			for _, f := range came[program] {
				all = append(all, get(f))
			}
			slices.Sort(all)
			return all[len(all)/2]
		}
		fmt.Printf("median of %d: %-40s cpu %.3f ms a job, garbage %.0f KiB a job, p50 %.2f ms, p99 %.2f ms, %.0f MiB at most and %.0f under load\n", s.rounds, program,
			of(func(f figures) float64 { return f.cpu }), of(func(f figures) float64 { return f.bytes }), of(func(f figures) float64 { return f.p50.Seconds() * 1e3 }),
			of(func(f figures) float64 { return f.p99.Seconds() * 1e3 }), of(func(f figures) float64 { return f.peak }), of(func(f figures) float64 { return f.now }))
	}
	return nil
}

// measure starts a program, has jobs created and ends it.
func measure(ctx context.Context, s settings, program string, sample map[string]any, profiled bool, prepare func() (*standIn, error)) (f figures, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	api, err := prepare()
	if err != nil {
		return f, err
	}
	server := httptest.NewUnstartedServer(api)
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.CloseClientConnections()
	box, err := start(ctx, s, program, server.URL)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, box.end()) }()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: insecure(), MaxIdleConnsPerHost: 64}}
	url := "https://" + box.webhook + "/validate"
	api.changed = func(job map[string]any) { _ = ask(client, url, "UPDATE", job, job) }

	number := 0
	create := func() (time.Duration, error) {
		number++
		job := created(sample, number, fmt.Sprintf("job-%05d", number))
		begun := time.Now()
		if err := ask(client, url, "CREATE", job, nil); err != nil {
			return 0, err
		}
		took := time.Since(begun)
		return took, api.store("ADDED", job)
	}
	for range 30 { // connections and caches are warm
		if _, err := create(); err != nil {
			return f, err
		}
	}
	if err := box.rest(ctx); err != nil {
		return f, err
	}
	if s.burst > 0 {
		if err := burst(ctx, s.burst, box, url, func() map[string]any {
			number++
			return created(sample, number, fmt.Sprintf("job-%05d", number))
		}, api); err != nil {
			return f, err
		}
	}
	before := box.look(ctx)
	if err := pause(ctx, s.idle); err != nil {
		return f, err
	}
	begun := box.look(ctx)
	f.idle = (begun.cpu - before.cpu) / s.idle.Seconds() * 1e3
	if profiled && s.allocs != "" {
		if err := box.profile(ctx, "allocs", s.allocs+".before"); err != nil {
			return f, err
		}
	}
	if profiled && s.cpu != "" {
		go func() {
			_ = box.profile(ctx, fmt.Sprintf("profile?seconds=%d", int((s.lasts+s.after).Seconds())-1), s.cpu)
		}()
	}
	var mu sync.Mutex
	var each []time.Duration
	var wrong error
	var running sync.WaitGroup
	tick, n := time.NewTicker(time.Duration(float64(time.Second)/s.rate)), int(s.rate*s.lasts.Seconds())
	defer tick.Stop()
	for range n {
		<-tick.C
		mu.Lock()
		number++
		i := number
		mu.Unlock()
		running.Go(func() {
			job := created(sample, i, fmt.Sprintf("job-%05d", i))
			at := time.Now()
			err := ask(client, url, "CREATE", job, nil)
			took := time.Since(at)
			err = errors.Join(err, api.store("ADDED", job))
			mu.Lock()
			defer mu.Unlock()
			each, wrong = append(each, took), errors.Join(wrong, err)
		})
	}
	running.Wait()
	if wrong != nil {
		return f, wrong
	}
	f.now = resident.Of(box.cmd.Process.Pid, "VmRSS")
	if err := pause(ctx, s.after); err != nil {
		return f, err
	}
	end := box.look(ctx)
	spent := end.cpu - begun.cpu - f.idle/1e3*end.at.Sub(begun.at).Seconds()
	f.cpu, f.bytes, f.collected = spent/float64(n)*1e3, (end.bytes-begun.bytes)/float64(n)/1024, end.collections-begun.collections
	slices.Sort(each)
	f.p50, f.p99, f.peak = each[len(each)/2], each[len(each)*99/100], resident.PeakOf(box.cmd.Process.Pid)
	if profiled && s.allocs != "" {
		err = box.profile(ctx, "allocs", s.allocs)
	}
	if s.verbose {
		fmt.Fprintln(os.Stderr, api.asked)
	}
	return f, err
}

// burst has so many jobs created at once, as an API server asks: it keeps 25 connections (k8s.io/client-go/transport, cache.go).
func burst(ctx context.Context, n int, box *box, url string, next func() map[string]any, api *standIn) error {
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: insecure(), MaxIdleConnsPerHost: 25}}
	before := box.look(ctx)
	took, errs := make([]time.Duration, n), make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		job := next()
		all.Go(func() {
			at := time.Now()
			errs[i] = ask(client, url, "CREATE", job, nil)
			took[i] = time.Since(at)
			errs[i] = errors.Join(errs[i], api.store("ADDED", job))
		})
	}
	all.Wait()
	after := box.look(ctx)
	slices.Sort(took)
	var not []string
	for _, reason := range slices.Sorted(maps.Keys(after.unchecked)) {
		if more := after.unchecked[reason] - before.unchecked[reason]; more > 0 {
			not = append(not, fmt.Sprintf("%.0f (%s)", more, reason))
		}
	}
	fmt.Printf("of %d jobs at once %s were not checked; answered after %s in the median and %s at most, cpu %.2f ms a job\n",
		n, cmp.Or(strings.Join(not, ", "), "none"), took[n/2].Round(time.Millisecond), took[n-1].Round(time.Millisecond), (after.cpu-before.cpu)/float64(n)*1e3)
	return errors.Join(errs...)
}

// box is a program that runs.
type box struct {
	cmd                     *exec.Cmd
	webhook, metrics, debug string
	folder                  string
}

// start starts a program against an API server and waits until it is ready.
func start(ctx context.Context, s settings, program, api string) (*box, error) {
	folder, err := os.MkdirTemp("", "created")
	if err != nil {
		return nil, err
	}
	b := &box{folder: folder}
	chain, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		return nil, err
	}
	var address [4]string
	for i := range address {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		address[i] = l.Addr().String()
		if err := l.Close(); err != nil {
			return nil, err
		}
	}
	b.webhook, b.metrics, b.debug = address[0], address[2], address[3]
	config, err := json.Marshal(map[string]any{
		"listen":       map[string]any{"webhook": address[0], "health": address[1], "metrics": address[2], "debug": address[3]},
		"certificates": map[string]any{"mode": "files", "dir": folder},
	})
	kubeconfig := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: %q, insecure-skip-tls-verify: true}}]\nusers: [{name: u, user: {token: t}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n", api)
	for name, text := range map[string][]byte{"tls.crt": chain, "tls.key": key, "config.yaml": config, "kubeconfig": []byte(kubeconfig)} {
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, name), text, 0o600))
	}
	if err != nil {
		return nil, err
	}
	b.cmd = exec.CommandContext(ctx, program, "serve", "--config", filepath.Join(folder, "config.yaml"), "--kubeconfig", filepath.Join(folder, "kubeconfig"))
	if s.verbose {
		b.cmd.Stderr = os.Stderr
	}
	if err := b.cmd.Start(); err != nil {
		return nil, err
	}
	for range 600 {
		if _, err = cluster.Get(ctx, "http://"+address[1]+"/readyz"); err == nil {
			return b, nil
		}
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return nil, errors.Join(err, b.end())
		}
	}
	return nil, errors.Join(err, b.end())
}

func (b *box) end() error {
	_ = b.cmd.Process.Kill()
	_ = b.cmd.Wait() // it was killed
	return os.RemoveAll(b.folder)
}

// look is what the process has used so far.
type look struct {
	at                      time.Time
	cpu, bytes, collections float64
	unchecked               map[string]float64 // things that it says it did not check, by reason
}

func (b *box) look(ctx context.Context) look {
	out := look{at: time.Now(), unchecked: map[string]float64{}}
	if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", b.cmd.Process.Pid)); err == nil { // proc(5): utime and stime in hundredths
		_, rest, _ := strings.Cut(string(text), ") ")
		if fields := strings.Fields(rest); len(fields) > 12 {
			user, _ := strconv.ParseFloat(fields[11], 64)
			system, _ := strconv.ParseFloat(fields[12], 64)
			out.cpu = (user + system) / 100
		}
	}
	text, _ := cluster.Get(ctx, "http://"+b.metrics+"/metrics")
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, _ := strconv.ParseFloat(value, 64)
		if strings.HasPrefix(name, "signalbox_admission_not_checked_total{") {
			out.unchecked[strings.TrimSuffix(strings.TrimPrefix(name, `signalbox_admission_not_checked_total{reason="`), `"}`)] = n
		}
		switch name {
		case "go_memstats_alloc_bytes_total":
			out.bytes = n
		case "go_gc_duration_seconds_count":
			out.collections = n
		}
	}
	return out
}

// rest waits until the program has read what there is: it uses little then.
func (b *box) rest(ctx context.Context) error {
	quiet := 0
	for last := b.look(ctx); quiet < 2; {
		if err := pause(ctx, 3*time.Second); err != nil {
			return err
		}
		now := b.look(ctx)
		if quiet++; now.cpu-last.cpu > 0.1 {
			quiet = 0
		}
		last = now
	}
	return nil
}

func (b *box) profile(ctx context.Context, what, file string) error {
	text, err := cluster.Get(ctx, "http://"+b.debug+"/debug/pprof/"+what)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

func pause(ctx context.Context, long time.Duration) error {
	select {
	case <-time.After(long):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
