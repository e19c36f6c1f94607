package resources

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

var amountInWrongUnit = &check.Check{
	Name:     "amount-in-wrong-unit",
	Title:    "an amount makes sense in another unit only",
	Remedy:   "Write cores as 8 or 500m, and memory with Mi or Gi.",
	Severity: finding.Error, Since: "0.1",
	Eclipses: []string{"requests-above-limits", "pod-exceeds-every-node"},
	Run: func(p *check.Pass) {
		for r, c := range p.Job.EachContainer() {
			for list, amounts := range map[string]corev1.ResourceList{"requests": c.Resources.Requests, "limits": c.Resources.Limits} {
				at := func(name corev1.ResourceName) job.Path {
					return r.Pod.At(c.Rel.Child("resources", list).Key(string(name)))
				}
				if cpu, ok := amounts[corev1.ResourceCPU]; ok && cpu.CmpInt64(mostCores) > 0 {
					p.Reportf(at(corev1.ResourceCPU), "cpu%s of %s is %s cores; no machine has as many", beforeCores(cpu), facts.Whose(c.Name, r.Name), saturate.Text(cpu.Value()))
				}
				if memory, ok := amounts[corev1.ResourceMemory]; ok && list == "limits" && memory.Sign() > 0 && memory.CmpInt64(leastMemory) < 0 {
					p.Reportf(at(corev1.ResourceMemory), "memory %s of %s is %s; did you mean %q?", memory.String(), facts.Whose(c.Name, r.Name), inBytes(memory), strings.TrimRight(memory.String(), "m")+"Mi")
				}
			}
		}
	},
}

const (
	// mostCores is beyond the largest machine that anybody sells (1,920 logical cores, 2026).
	mostCores = 4096
	// leastMemory is below what a container runtime needs to start a process in
	// (runc refuses limits that its own process exceeds, some MiB).
	leastMemory = 1 << 20
)

// beforeCores is a quantity as its author wrote it, after a blank; empty where it is more than a
// quantity holds, which forgets it.
func beforeCores(q resource.Quantity) string {
	if saturate.Full(q.Value()) {
		return ""
	}
	return " " + q.String()
}

// inBytes is an amount of memory as a sentence gives it; m, which is a slip for M or Mi, means a
// thousandth.
func inBytes(memory resource.Quantity) string {
	if strings.HasSuffix(memory.String(), "m") {
		return "less than " + facts.Count(memory.Value(), "byte") + " (m means milli)"
	}
	return facts.Count(memory.Value(), "byte")
}
