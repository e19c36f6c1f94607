package resources

import (
	"regexp"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var visibleDevicesByHand = &check.Check{
	Name:     "visible-devices-by-hand",
	Title:    "the job shows its processes another number of GPUs than it holds",
	Remedy:   "Remove the variable: a container sees the GPUs it asked for, numbered from 0.",
	Severity: finding.Warning, Since: "0.1",
	Run: func(p *check.Pass) {
		for r, e := range facts.EachVariable(p.Job) {
			value, ok := facts.Literal(e.EnvVar)
			held := e.In.Resources.Limits["nvidia.com/gpu"]
			if !ok || e.Name != "CUDA_VISIBLE_DEVICES" || held.IsZero() || !deviceList.MatchString(value) {
				continue
			}
			if shown := int64(strings.Count(value, ",")) + 1; shown != held.Value() {
				p.Reportf(e.At, "CUDA_VISIBLE_DEVICES is %s, but %s holds %s nvidia.com/gpu: it sees only the ones that are listed", facts.Quoted(value), facts.Whose(e.In.Name, r.Name), held.String())
			}
		}
	},
}

var deviceList = regexp.MustCompile(`^[0-9]+(?:,[0-9]+)*$`)
