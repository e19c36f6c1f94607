package resources

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

var gpusHeldBySleep = &check.Check{
	Name:     "gpus-held-by-sleep",
	Title:    "the command sleeps without end and holds GPUs",
	Remedy:   "Start the training itself, or debug with activeDeadlineSeconds set.",
	Severity: finding.Warning, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return !o.Has(kinds.Launcher) },
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		gpus := r.Pod.GPUs()
		all := facts.CommandsOf(p.Job, r)
		if gpus.N == 0 || len(all) == 0 || r.Replicas.Max == 0 || facts.HasDeadline(p.Job) {
			return
		}
		if last := lastOf(all); sleepsForEver(last) || loops(all) {
			p.Reportf(last.At[0], "%q is the last command in %s, with %s %s held until the job is deleted", strings.Join(last.Words, " "), facts.PodsOf(r), saturate.Text(saturate.Mul(gpus.N, int64(r.Replicas.Max))), gpus.Resource)
		}
	}),
}

// lastOf is the command that a container ends with, without what only starts it: exec sleep infinity. A shell that waits
// does so for the one before.
func lastOf(all []kinds.Command) kinds.Command {
	last := all[len(all)-1]
	if len(all) > 1 && len(last.Words) == 1 && last.Words[0] == "wait" {
		last = all[len(all)-2]
	}
	for len(last.Words) > 1 && slices.Contains([]string{"exec", "nohup", "env"}, path.Base(last.Words[0])) {
		last.Words, last.At = last.Words[1:], last.At[1:]
	}
	return last
}

// loops says whether a script is nothing but a loop that sleeps: while true; do sleep 60; done.
func loops(all []kinds.Command) bool {
	return len(all) == 2 && len(all[0].Words) == 1 && slices.Contains([]string{"true", ":", "false"}, all[0].Words[0]) && path.Base(all[1].Words[0]) == "sleep"
}

// sleepsForEver says whether a command waits for a day or more: sleep infinity, sleep 365d,
// tail -f /dev/null.
func sleepsForEver(c kinds.Command) bool {
	if len(c.Words) < 2 {
		return false
	}
	last := c.Words[len(c.Words)-1]
	switch path.Base(c.Words[0]) {
	case "tail":
		return last == "/dev/null"
	case "sleep":
		if last == "inf" || last == "infinity" {
			return true
		}
		if days, ok := strings.CutSuffix(last, "d"); ok {
			n, isNumber := facts.AtLeastOne(days)
			return isNumber && n >= 1
		}
		if !strings.ContainsAny(last, "smh") {
			last += "s"
		}
		d, err := time.ParseDuration(last)
		return err == nil && d >= 24*time.Hour
	}
	return false
}
