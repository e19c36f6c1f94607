package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/test/bench/filled"
)

// page is docs/benchmarks-webhook.md.
type page struct {
	size     filled.Size
	settings settings
	load     string // averages at the start
	rows     []row
}

type row struct {
	name string
	figures
}

func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(text))[:3], ", ")
}

func ms(seconds float64) string   { return fmt.Sprintf("%.1f ms", seconds*1e3) }
func wall(d time.Duration) string { return ms(d.Seconds()) }
func (p page) parts() string {
	return map[bool]string{true: "the webhook alone", false: "webhook and controller"}[p.settings.onlyWebhook]
}
func share(part, whole float64) float64 { return 100 * part / max(whole, 1) }

// String is the page.
func (p page) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# What the webhook costs

`+"`make bench-webhook`"+` fills a real API server, creates jobs without a webhook, with one that says
yes to everything and looks at nothing, with Gatekeeper and with Signalbox, and writes this page.
The API server asks all webhooks by HTTP/1.1, as it does behind a Service.
API server, etcd, the webhook (one replica; Signalbox: %s) and those who create the jobs share the processors of one machine: where
the load average is above their number, all times are too long. The garbage of the API server, which holds all pods, takes these
processors ten seconds to collect, with a webhook or without: it is collected before each part and each third of the steady rate.

Measured on %s, on %d processors, at a load average of %s; %d nodes, %d pods, %d claims; a burst of %d jobs, then %g a
second for %s.

## What people wait

From the call to the answer of `+"`create`"+`, as the client measures it.

| | burst: all done after | p50 | p99 | steady: p50 | p99 | created | not created | steady: CPU of the API server a job | processors busy |
|---|---|---|---|---|---|---|---|---|---|
`, p.parts(), time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), p.load, p.size.Nodes, p.size.Nodes*p.size.PodsPerNode, p.size.Claims,
		p.settings.burst, p.settings.rate, p.settings.lasts)
	for _, r := range p.rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %d | %d | %s | %.0f %% |\n", r.name, wall(r.burst.took), wall(r.burst.at(.5)), wall(r.burst.at(.99)),
			wall(r.steady.at(.5)), wall(r.steady.at(.99)), r.burst.created+r.steady.created, r.burst.refused+r.steady.refused,
			ms(r.steady.server/float64(max(1, r.steady.created))), share(r.steady.busy, r.steady.took.Seconds()*float64(runtime.NumCPU())))
	}
	b.WriteString(`
## The webhook, as the API server measures it

` + "`" + hookMetric + "`" + `: connection, TLS, review and answer. Its first bucket ends at 5 ms;
quantiles within a bucket are in proportion, as Prometheus says them, and the mean is exact.

| | | calls | mean | p50 | p99 | at most 5 ms | failed open | not checked | CPU of its process a call |
|---|---|---|---|---|---|---|---|---|---|
`)
	for _, r := range p.rows {
		for _, of := range []struct {
			name string
			part
		}{{"burst", r.burst}, {"steady", r.steady}} {
			h := of.hook
			if h.n == 0 {
				continue
			}
			fmt.Fprintf(&b, "| %s | %s | %.0f | %s | %s | %s | %.1f %% | %.0f | %.0f | %s |\n", r.name, of.name, h.n, ms(h.sum/h.n),
				ms(h.quantile(.5)), ms(h.quantile(.99)), share(h.within(.005), 1), of.failed, of.unchecked, ms(of.cpu/h.n))
		}
	}
	for _, r := range p.rows {
		if r.idle.peak > 0 {
			fmt.Fprintf(&b, "\nMemory %s before jobs came: %s.\n", r.name, r.idle)
		}
		if r.memory.peak > 0 {
			fmt.Fprintf(&b, "\nMemory %s at its peak: %.0f MiB; in the end %.0f, of which %.0f are the program's file.\n", r.name, r.memory.peak, r.memory.now, r.memory.file)
		}
		if r.steady.asked > 0 {
			fmt.Fprintf(&b, "\nSignalbox called the API server %.1f times a job at the steady rate.\n", r.steady.asked/max(1, r.steady.hook.n))
		}
	}
	if !p.settings.gatekeeper {
		b.WriteString("\nGatekeeper is not part of this run.\n")
		return b.String()
	}
	b.WriteString(`
Signalbox runs all its checks, the fit of the gang on these nodes, and the policies of its library. Gatekeeper (its own manager,
built from source, with the operations webhook, status and generate) runs one template of three rules, which Signalbox has as policies: a label that a
job must carry, registries that images come from, GPUs that a job may ask for. It knows nothing of nodes, quotas or operators, and
its webhook is narrowed to the kinds of Signalbox' webhook; as installed it is asked about every object.
`)
	return b.String()
}
