package operators

import (
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var rayEntrypointMissing = &check.Check{
	Name:     "ray-entrypoint-missing",
	Title:    "a RayJob says nothing that the cluster is to run",
	Remedy:   "Write the command as entrypoint, or submissionMode InteractiveMode where somebody submits it by hand.",
	Severity: finding.Error, Since: "0.2",
	Kinds: []string{"RayJob.ray.io"},
	Run: func(p *check.Pass) {
		mode, _ := facts.Text(p.Job, "spec.submissionMode")
		entrypoint, _ := facts.Text(p.Job, "spec.entrypoint")
		// A submitter of one's own may have a command of its own.
		if mode == "InteractiveMode" || strings.TrimSpace(entrypoint) != "" || p.Job.Field("spec.submitterPodTemplate") != nil {
			return
		}
		p.Reportf("spec.entrypoint", "entrypoint is not written: the cluster starts, and nothing is submitted to it")
	},
}
