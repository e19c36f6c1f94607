package containers

import (
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var containerNameMissing = &check.Check{
	Name:     "container-name-missing",
	Title:    "no container has the name that the operator looks for",
	Remedy:   "Give the container that trains the name that the operator looks for.",
	Severity: finding.Error, Refuses: true, Since: "0.1",
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		if c, _ := r.Trainer(); c != nil || r.Container == "" || len(r.Pod.Spec.Containers) == 0 {
			return
		}
		var names []string
		for _, c := range r.Pod.Spec.Containers {
			names = append(names, strconv.Quote(c.Name))
		}
		p.Reportf(r.Pod.At("containers"), "%s has no container named %q, which the operator requires; it has %s", r.Name, r.Container, strings.Join(names, ", "))
	}),
}
