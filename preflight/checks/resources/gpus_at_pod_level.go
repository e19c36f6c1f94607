package resources

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var gpusAtPodLevel = &check.Check{
	Name:     "gpus-at-pod-level",
	Title:    "GPUs are asked for the pod, and no container gets one",
	Remedy:   "Indent resources so that it belongs to the container.",
	Severity: finding.Error, Since: "0.1",
	Eclipses: []string{"unknown-field", "pod-value-refused"},
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		if r.Pod.Spec.Resources == nil {
			return
		}
		amounts := job.ResourcesOf(r.Pod.Spec.Resources.Limits)
		for name, n := range job.ResourcesOf(r.Pod.Spec.Resources.Requests) {
			amounts[name] = max(amounts[name], n)
		}
		for _, name := range amounts.Names() {
			if n := amounts[name]; job.AcceleratorUnit(name) != job.NotAccelerator && n > 0 {
				p.Reportf(r.Pod.At("resources"), "resources of the %s pod as a whole ask for %d %s, but take only cpu, memory and huge pages: its containers get none", r.Name, n, name)
				break
			}
		}
	}),
}
