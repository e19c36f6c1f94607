package whatif

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// mostHinted is how many sets of running jobs are tried for what is said beside every answer.
const mostHinted = 32

// Completions says which running jobs have to end before a gang that does not fit now
// does: as few as can be found, of those the smallest. It is proven: without their pods,
// the gang fits. Empty: the gang is not waiting for others, or no jobs were found.
//
// It looks at pods that carry the name of a job, costs O(pods), and is therefore not part
// of Fit. It also says when they end at the latest, where left (nil: it is not asked) knows how much of its time
// each of them has left: by its name; ok is false where nothing bounds it.
func Completions(ctx context.Context, s *cluster.Snapshot, g gang.Gang, was fit.Result, left func(namespace, name string) (bound Bound, ok bool)) string {
	if s == nil || was.Verdict != fit.Full && was.Verdict != fit.Fragmented {
		return ""
	}
	d := newHolders(s, g, was, fit.NewBudget(8*fit.Steps), mostHinted)
	if !d.budget.Until(ctx) {
		return ""
	}
	jobs := d.search(func(p *cluster.Pod) (kind, name string) {
		_, name, _ = kinds.JobOf(p.Labels())
		return "", name
	})
	if jobs == nil {
		return ""
	}
	names := make([]string, len(jobs))
	for i, j := range jobs {
		names[i] = j.namespace + "/" + j.name
		if d.namesake(j) {
			names[i] += " (another of this name)"
		}
	}
	slices.Sort(names)
	what := "the job " + names[0] + " ends"
	if len(names) > 1 {
		what = "the jobs " + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1] + " end"
	}
	return fmt.Sprintf("fits once %s%s (%s)", what, atLatest(jobs, left), fit.Result{Plan: d.plan}.PlanText())
}

// runningJob is the pods that have a node and carry the name of one job.
type runningJob struct {
	kind            string // empty: not asked
	namespace, name string
	pods            []*cluster.Pod
	devices         int64 // accelerators they hold
}

func (j *runningJob) add(p *cluster.Pod) {
	j.pods = append(j.pods, p)
	for _, a := range p.Requests() {
		if job.AcceleratorUnit(a.Name) != job.NotAccelerator {
			j.devices = saturate.Add(j.devices, a.N)
		}
	}
}

// namesake says whether a job that runs has the name of the one that is asked about: its pods are not the gang's, so it
// is an earlier one, or one of another kind.
func (q *holders) namesake(j *runningJob) bool {
	return j.namespace == q.gang.Namespace && j.name == q.gang.Name
}
