package queueing

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/quota"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

var queueTimeLimit = &check.Check{
	Name:     "queue-time-limit",
	Title:    "the queue of the job lets no pod become older than a time",
	Remedy:   "Save checkpoints on a volume that stays, and go on from the last one; or name a queue with a longer maxDuration.",
	Severity: finding.Note, Since: "0.1",
	Needs: check.Objects,
	Run: func(p *check.Pass) {
		g := gang.Of(p.Job)
		most, written, limited := quota.MaxDuration(p.Cluster, g)
		if !limited {
			return
		}
		f := finding.Finding{Path: g.At, Message: fmt.Sprintf("queue %s lets no pod become older than %s (maxDuration); T9k then %s", g.Queue, written, atMaxDuration(p.Job.Ref, p.Operator.Hold))}
		if seconds, ok := facts.Number(p.Job, p.Operator.Deadline); ok && seconds > int64(most/time.Second) {
			f.Path, f.Severity = p.Operator.Deadline, finding.Warning
			f.Message = fmt.Sprintf("activeDeadlineSeconds is %d (%s) and is never reached: %s", seconds, words.Short(time.Duration(seconds)*time.Second), f.Message)
			f.Remedy = fmt.Sprintf("Write a deadline of at most %s, or name a queue with a longer maxDuration in %s.", written, g.At)
		}
		p.Report(f)
	},
}

// atMaxDuration is what T9k does with a pod that is too old: it changes what owns the pod where that can be held,
// else it deletes the pod (the manual of its administrators, "Duration Keeper").
func atMaxDuration(ref job.Ref, hold string) string {
	if group, _, _ := strings.Cut(ref.APIVersion, "/"); group != "batch.tensorstack.dev" && group != "batch" {
		return "deletes it"
	}
	return "sets " + cmp.Or(hold, "spec.suspend") + ", and the job stands still"
}
