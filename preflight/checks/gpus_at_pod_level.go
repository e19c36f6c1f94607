package checks

import (
	"fmt"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var gpusAtPodLevel = &check.Check{
	Name:     "gpus-at-pod-level",
	Title:    "GPUs are asked for the pod, and no container gets one",
	Doc:      readme("gpus-at-pod-level"),
	Remedy:   "Indent resources so that it belongs to the container.",
	Severity: finding.Error, Since: "0.1",
	Eclipses: []string{"unknown-field"},
	Run: func(p *check.Pass) error {
		for i := range p.Job.Roles {
			r := &p.Job.Roles[i]
			if r.Pod.Spec.Resources == nil {
				continue
			}
			amounts := job.ResourcesOf(r.Pod.Spec.Resources.Limits)
			for name, n := range job.ResourcesOf(r.Pod.Spec.Resources.Requests) {
				amounts[name] = max(amounts[name], n)
			}
			for _, name := range amounts.Names() {
				if n := amounts[name]; job.AcceleratorUnit(name) != job.NotAccelerator && n > 0 {
					p.Report(finding.Finding{
						Path:    r.Pod.At("resources"),
						Message: fmt.Sprintf("%d %s are asked for the pod of %s as a whole, which takes only cpu, memory and huge pages: its containers get %d", n, name, r.Name, 0),
					})
					break
				}
			}
		}
		return nil
	},
}
