package lifecycle

import (
	"regexp"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

var frameworkWaitsForServers = &check.Check{
	Name:     "framework-waits-for-servers",
	Title:    "the framework waits for servers that never end",
	Remedy:   "Write minSucceededTaskCount for the workers: the number of their tasks.",
	Severity: finding.Warning, Since: "0.1",
	Kinds: []string{"Framework.frameworkcontroller.microsoft.com"},
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		servers, others := -1, 0
		for i := range p.Job.Roles {
			r := &p.Job.Roles[i]
			if least, _ := facts.Number(p.Job, r.Path.Child("frameworkAttemptCompletionPolicy", "minSucceededTaskCount")); least >= 1 {
				return
			}
			switch {
			case r.Replicas.Max == 0:
			case serverRole.MatchString(strings.ToLower(r.Name)):
				servers = i
			default:
				others = saturate.Add(others, r.Replicas.Max)
			}
		}
		if servers < 0 || others == 0 {
			return
		}
		r := &p.Job.Roles[servers]
		p.Reportf(r.Path, "no role has a minSucceededTaskCount of 1 or more: when the other %s have succeeded, %s of %s goes on serving, and the attempt never completes", facts.Count(others, "task"), facts.Count(r.Replicas.Max, "task"), r.Name)
	},
}

// serverRole are names of roles that serve the others for as long as they are there: the
// parameter servers of TensorFlow (their process joins and never returns) and MXNet.
var serverRole = regexp.MustCompile(`^(ps|pserver|paramserver|parameterserver|tensorboard)[0-9]*$`)
