package containers

import (
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/signalbox-dev/signalbox/preflight/check"
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
		for r, c := range p.Job.EachContainer() {
			_, _, templated := job.Placeholder(c.Name)
			if templated || len(validation.IsDNS1123Label(c.Name)) == 0 {
				continue
			}
			p.Reportf(r.Pod.At(c.Rel), "%s has a container named %q; a name is 1 to 63 lower-case letters, digits and dashes", r.Name, c.Name)
		}
	},
}
