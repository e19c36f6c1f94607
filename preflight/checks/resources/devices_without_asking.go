package resources

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var devicesWithoutAsking = &check.Check{
	Name:     "devices-without-asking",
	Title:    "a container takes its node's GPUs without asking for one",
	Remedy:   "Ask for the GPUs under limits, or write NVIDIA_VISIBLE_DEVICES: void.",
	Severity: finding.Warning, Since: "0.1",
	Run: func(p *check.Pass) {
		for r, e := range facts.EachVariable(p.Job) {
			value, ok := facts.Literal(e.EnvVar)
			if !ok || e.Name != "NVIDIA_VISIBLE_DEVICES" || slices.Contains([]string{"", "void", "none"}, value) || r.Pod.Partial || r.Pod.GPUs().N > 0 || facts.Overwritten(p.Job, r, e.In, e.Name) {
				continue
			}
			if p.Operator.HidesGPUs && p.Operator.Part(r.Name) == kinds.Launcher || len(e.In.Resources.Claims) > 0 {
				continue // the operator sets it to nothing there
			}
			if slices.ContainsFunc(r.Pod.Requests.Names(), func(n corev1.ResourceName) bool { return job.AcceleratorUnit(n) != job.NotAccelerator }) {
				continue
			}
			p.Reportf(e.At, "NVIDIA_VISIBLE_DEVICES is %q in %s, which asks for no GPU: it sees those that other pods of its node hold", value, facts.Whose(e.In.Name, r.Name))
		}
	},
}
