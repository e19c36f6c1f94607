package containers

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var containerNameInvalid = &check.Check{
	Name:     "container-name-invalid",
	Title:    "a container has no name that the API takes",
	Remedy:   "Name the container with lower-case letters, digits and dashes.",
	Severity: finding.Error, Refuses: true, Since: "0.1",
	Eclipses: []string{"container-name-missing"},
	Run: func(p *check.Pass) {
		facts.EachContainer(p.Job, func(r *job.Role, c *corev1.Container, rel job.Path) {
			_, _, templated := job.Placeholder(c.Name)
			if templated || len(validation.IsDNS1123Label(c.Name)) == 0 {
				return
			}
			p.Reportf(r.Pod.At(rel), "%s has a container named %q; a name is 1 to 63 lower-case letters, digits and dashes", r.Name, c.Name)
		})
	},
}
