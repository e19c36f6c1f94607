package whatif

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// How many running jobs are looked at: those that are taken away together until the gang
// fits, and those that are tried alone.
const (
	mostDeparting = 16
	mostAlone     = 16
)

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
	d := &completions{s: s, gang: fit.InParts(s, g), budget: fit.NewBudget(8 * fit.Steps)}
	if !d.budget.Until(ctx) {
		return ""
	}
	d.list()
	if len(d.jobs) == 0 {
		return ""
	}
	d.copy()
	jobs, plan := d.search()
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
	return fmt.Sprintf("fits once %s%s (%s)", what, atLatest(jobs, left), plan)
}

// completions looks for running jobs in whose place a gang would fit.
type completions struct {
	s      *cluster.Snapshot
	gang   gang.Gang
	budget *fit.Budget
	jobs   []*runningJob // the one that holds most first
	store  *cluster.Store

	scratch corev1.Pod // of own
}

// runningJob is the pods that have a node and carry the name of one job.
type runningJob struct {
	kind            string // empty: nobody asked
	namespace, name string
	pods            []*cluster.Pod
	devices         int64 // accelerators they hold
}

// list finds the jobs of others that run.
func (d *completions) list() {
	d.jobs = d.group(func(p *cluster.Pod) (kind, name string) {
		_, name, _ = kinds.JobOf(p.Labels())
		return "", name
	})
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
func (d *completions) namesake(j *runningJob) bool {
	return j.namespace == d.gang.Namespace && j.name == d.gang.Name
}

// own says whether a pod is one of the gang's.
func (d *completions) own(p *cluster.Pod) bool {
	if d.gang.Own == nil || p.Namespace() != d.gang.Namespace {
		return false
	}
	_, own := d.gang.Own(p.Metadata(&d.scratch))
	return own
}

// copy is the view once more, to take pods from.
func (d *completions) copy() {
	d.store = d.s.Fork()
	for _, n := range d.s.Nodes() {
		d.store.SetNode(n.Object())
	}
	for _, in := range d.s.PodLists() {
		for p := range in.All() {
			d.store.KeepPod(p)
		}
	}
}

// search takes the largest jobs away until the gang fits, gives back those it can do
// without, and looks for one that is smaller where one was enough.
func (d *completions) search() (jobs []*runningJob, plan string) {
	jobs = d.jobs[:min(mostDeparting, len(d.jobs))]
	count := 1
	for ; ; count++ {
		if count > len(jobs) {
			return nil, ""
		}
		if plan = d.without(jobs[:count]...); plan != "" {
			break
		}
	}
	jobs = slices.Clone(jobs[:count])
	for i := 0; i < len(jobs) && len(jobs) > 1; {
		fewer := slices.Delete(slices.Clone(jobs), i, i+1)
		if p := d.without(fewer...); p != "" {
			jobs, plan = fewer, p
		} else {
			i++
		}
	}
	if len(jobs) > 1 {
		return jobs, plan
	}
	smallest := slices.Clone(d.jobs)
	slices.Reverse(smallest)
	for _, j := range smallest[:min(mostAlone, len(smallest))] {
		if j.devices > jobs[0].devices || j == jobs[0] {
			break
		}
		if p := d.without(j); p != "" {
			return []*runningJob{j}, p
		}
	}
	return jobs, plan
}

// without is where the gang goes once some jobs have ended; empty: it does not fit then.
func (d *completions) without(jobs ...*runningJob) (plan string) {
	if r, fits := d.solved(jobs); fits {
		plan = r.PlanText()
	}
	return plan
}
