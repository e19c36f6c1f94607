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
		facts.EachVariable(p.Job, func(r *job.Role, c *corev1.Container, e *corev1.EnvVar, at job.Path) {
			value, ok := facts.Literal(e)
			if !ok || e.Name != "NVIDIA_VISIBLE_DEVICES" || slices.Contains([]string{"", "void", "none"}, value) || r.Pod.Partial || r.Pod.GPUs().N > 0 || facts.Overwritten(p.Job, r, c, e.Name) {
				return
			}
			if p.Operator.HidesGPUs && p.Operator.Part(r.Name) == kinds.Launcher || len(c.Resources.Claims) > 0 {
				return // the operator sets it to nothing there
			}
			for name := range r.Pod.Requests {
				if job.AcceleratorUnit(name) != job.NotAccelerator {
					return
				}
			}
			p.Reportf(at, "NVIDIA_VISIBLE_DEVICES is %q in %s, which asks for no GPU: it sees those that other pods of its node hold", value, facts.Whose(c.Name, r.Name))
		})
	},
}
