package launch

import (
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var rendezvousBackendUnknown = &check.Check{
	Name:     "rendezvous-backend-unknown",
	Title:    "torchrun does not know this kind of rendezvous",
	Remedy:   "Write c10d, unless the image brings a backend of its own.",
	Severity: finding.Warning, Since: "0.1",
	Run: func(p *check.Pass) {
		judge := func(at job.Path, name string) {
			if name == "" || job.Templated(name) || slices.Contains(rendezvousBackends, name) {
				return
			}
			p.Reportf(at, "torchrun has no rendezvous backend %q; it has %s%s", name, `"`+strings.Join(rendezvousBackends, `", "`)+`"`, check.DidYouMean(name, rendezvousBackends))
		}
		if elastic := p.Operator.Elastic; elastic != nil && elastic.Backend != "" {
			judge(elastic.Backend, facts.TextAt(p.Job, elastic.Backend))
		}
		for r := range p.Job.EachRole() {
			if l := &r.Launch; l.Program == "torchrun" && !l.Has("job-id") {
				judge(l.Path, l.Backend)
			}
		}
	},
}

// rendezvousBackends: pytorch v2.8 torch/distributed/elastic/rendezvous/registry.py.
var rendezvousBackends = []string{"c10d", "etcd", "etcd-v2", "static"}
