package whatif

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/internal/assign"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// MostSetsTried is how many sets of holders a question about them tries at most; what was not tried
// is not claimed.
const MostSetsTried = 600

// Holder is what holds room and ends as a whole: a job, the pods of one controller, or a pod that
// has none.
type Holder struct {
	Kind      string   `json:"kind"`
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	Pods      int      `json:"pods"`
	Devices   int64    `json:"devices"`         // accelerators that its pods ask for
	Nodes     []string `json:"nodes"`           // that they are on, by name
	Marks     []string `json:"marks,omitempty"` // why it may be the one to end: a notebook, on its way out
	Pod       string   `json:"-"`               // one of its pods

	Since *time.Time `json:"since,omitempty"` // when it started; the pods of a view do not say, so a shell asks its object
}

// Departure is a set of holders without whose pods a gang fits; it was tried.
type Departure struct {
	Holders  []Holder        // by namespace and name; empty: there is none, and Reason says why
	Smallest bool            // no set of fewer holders will do: each was tried
	Plan     []fit.Placement // where the gang goes then
	Reason   string
}

// Holders says whose end would let a gang start that does not fit now: as few holders as can be
// found, and whether it is certain that there are none fewer. All pods that may end count, also
// those of services and notebooks; pods that belong to their node do not.
func Holders(ctx context.Context, s *cluster.Snapshot, g gang.Gang, was fit.Result) Departure {
	return HoldersWithin(ctx, s, g, was, MostSetsTried)
}

// HoldersWithin is Holders with another number of sets to try.
func HoldersWithin(ctx context.Context, s *cluster.Snapshot, g gang.Gang, was fit.Result, tries int) Departure {
	switch {
	case was.Verdict == fit.Fits:
		return Departure{Reason: "it fits as it is: nobody has to end"}
	case was.Verdict == fit.TooBig:
		return Departure{Reason: "it would not fit on the idle cluster: nobody's end makes room"}
	case s == nil || was.Verdict != fit.Full && was.Verdict != fit.Fragmented:
		return Departure{Reason: "whether it fits is not known, so who is in its way is not known either"}
	}
	q := newHolders(s, g, was, fit.NewBudget(tries*fit.Steps), tries)
	if !q.budget.Until(ctx) {
		return Departure{Reason: q.budget.Why()}
	}
	found := q.search(holderOf)
	if found == nil {
		reason := "no set of running jobs and pods was found whose end makes room"
		if why := q.budget.Why(); why != "" {
			reason += ": " + why
		} else if q.made >= tries {
			reason += " among those that were tried"
		}
		return Departure{Reason: reason}
	}
	out := Departure{Smallest: q.smallest, Plan: q.plan}
	for _, j := range found {
		out.Holders = append(out.Holders, j.holder())
	}
	slices.SortFunc(out.Holders, func(a, b Holder) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name), strings.Compare(a.Kind, b.Kind))
	})
	return out
}

// holders looks for a small set of holders in whose place a gang fits.
type holders struct {
	s           *cluster.Snapshot
	gang        gang.Gang
	budget      *fit.Budget
	jobs        []*runningJob
	store       *cluster.Store      // the view once more, to take pods from
	lacks       corev1.ResourceName // what there is too little of; empty: that is not known
	tries, made int
	smallest    bool
	plan        []fit.Placement // of the last set that will do
}

func newHolders(s *cluster.Snapshot, g gang.Gang, was fit.Result, b *fit.Budget, tries int) *holders {
	q := &holders{s: s, gang: fit.InParts(s, g), budget: b, tries: tries}
	if len(was.Shortfall) > 0 {
		q.lacks = was.Shortfall[0].Resource
	}
	return q
}

// holderOf is what a pod ends with: its job, its controller, or itself.
func holderOf(p *cluster.Pod) (kind, name string) {
	if kind, name, _ = kinds.JobOf(p.Labels()); name != "" {
		if p.Owner().Name == name && p.Owner().Kind != "" {
			kind = p.Owner().Kind
		}
		return kind, name
	}
	if p.Owner().Name != "" {
		return p.Owner().Kind, p.Owner().Name
	}
	return "Pod", p.Name()
}

// notebookLabels are on the pods of notebooks: Kubeflow's controller sets the first on all
// (https://github.com/kubeflow/kubeflow/blob/master/components/notebook-controller/controllers/notebook_controller.go),
// JupyterHub's spawner the second (https://jupyterhub-kubespawner.readthedocs.io/en/latest/spawner.html).
var notebookLabels = map[string]string{"notebook-name": "", "component": "singleuser-server"}

// debugging says whether a pod is one that people work in by hand.
func debugging(p *cluster.Pod) bool {
	for key, value := range notebookLabels {
		if has, ok := p.Labels().Lookup(key); ok && (value == "" || has == value) {
			return true
		}
	}
	return p.Owner().Kind == "Notebook"
}

func (j *runningJob) holder() Holder {
	out := Holder{Kind: cmp.Or(j.kind, "Job"), Namespace: j.namespace, Name: j.name, Pods: len(j.pods), Devices: j.devices, Marks: j.marks()}
	out.Pod = j.pods[0].Name()
	for _, p := range j.pods {
		out.Nodes = append(out.Nodes, p.Node())
		out.Pod = min(out.Pod, p.Name())
	}
	slices.Sort(out.Nodes)
	out.Nodes = slices.Compact(out.Nodes)
	return out
}

// marks say why it may be the one to end.
func (j *runningJob) marks() (out []string) {
	if slices.ContainsFunc(j.pods, debugging) {
		out = append(out, "a notebook")
	}
	if !slices.ContainsFunc(j.pods, func(p *cluster.Pod) bool { return !p.Deleted() }) {
		out = append(out, "is being deleted already")
	}
	return out
}

// search finds a set of what pods end with that will do, leaves out of it what it can, and then tries all smaller sets.
func (q *holders) search(of func(*cluster.Pod) (kind, name string)) []*runningJob {
	if q.jobs = q.group(of); len(q.jobs) == 0 {
		return nil
	}
	q.store = q.s.Fork()
	for _, n := range q.s.Nodes() {
		q.store.SetNode(n.Object())
	}
	for _, in := range q.s.PodLists() {
		for p := range in.All() {
			q.store.KeepPod(p)
		}
	}
	slices.SortStableFunc(q.jobs, func(a, b *runningJob) int { return cmp.Compare(b.takes(q.lacks), a.takes(q.lacks)) })
	set := q.enough()
	if set == nil {
		return nil
	}
	set = q.thinned(set)
	plan := q.plan
	byMerit, marks := slices.Clone(q.jobs), make(map[*runningJob]int, len(q.jobs))
	for _, j := range q.jobs {
		marks[j] = len(j.marks())
	}
	slices.SortStableFunc(byMerit, func(a, b *runningJob) int {
		return cmp.Or(cmp.Compare(marks[b], marks[a]), cmp.Compare(a.devices, b.devices), cmp.Compare(len(a.pods), len(b.pods)))
	})
	for size := 1; size <= len(set); size++ {
		better, whole := q.ofSize(byMerit, size)
		q.smallest = whole || better != nil || size == len(set)
		if better != nil {
			return better
		}
		if !whole {
			break
		}
	}
	q.plan = plan
	return set
}

// takes is how much a holder has of a resource.
func (j *runningJob) takes(name corev1.ResourceName) (n int64) {
	for _, p := range j.pods {
		n = saturate.Add(n, p.Takes(name))
	}
	return n
}

// enough is the shortest beginning of the list that will do, to a power of two; nil: even the
// whole list will not.
func (q *holders) enough() []*runningJob {
	for size := 1; ; size *= 2 {
		set := q.jobs[:min(size, len(q.jobs))]
		if q.frees(set) {
			return set
		}
		if len(set) == len(q.jobs) || q.spent() {
			return nil
		}
	}
}

// thinned leaves out of a set what it can do without, halves first, from the end.
func (q *holders) thinned(set []*runningJob) []*runningJob {
	set = slices.Clone(set)
	plan := q.plan
	for part := len(set) / 2; part >= 1; part /= 2 {
		for at := len(set) - part; at >= 0 && len(set) > part && !q.spent(); at -= part {
			if fewer := slices.Delete(slices.Clone(set), at, at+part); q.frees(fewer) {
				set, plan = fewer, q.plan
			}
		}
	}
	q.plan = plan
	return set
}

// ofSize is the first set of so many holders that will do; whole: every one was tried.
func (q *holders) ofSize(jobs []*runningJob, size int) (found []*runningJob, whole bool) {
	if subsets(len(jobs), size) > q.tries-q.made {
		return nil, false
	}
	at := make([]int, size)
	for i := range at {
		at[i] = i
	}
	set := make([]*runningJob, size)
	for {
		for i, j := range at {
			set[i] = jobs[j]
		}
		if q.frees(set) {
			return set, true
		}
		if q.budget.Over != "" {
			return nil, false
		}
		i := size - 1
		for i >= 0 && at[i] == len(jobs)-size+i {
			i--
		}
		if i < 0 {
			return nil, true
		}
		at[i]++
		for next := i + 1; next < size; next++ {
			at[next] = at[next-1] + 1
		}
	}
}

// subsets is the number of sets of size k among n.
func subsets(n, k int) int {
	out := int64(1)
	for i := range k {
		out = saturate.Mul(out, int64(n-i)) / int64(i+1)
	}
	return int(out)
}

func (q *holders) spent() bool { return q.made >= q.tries || q.budget.Over != "" }

// frees says whether the gang fits without some holders.
func (q *holders) frees(set []*runningJob) bool {
	if q.spent() {
		return false
	}
	q.made++
	r, ok := q.solved(set)
	if ok {
		q.plan = r.Plan
	}
	return ok
}

// group are the pods of others that have a node, by what they end with; of is empty for what is left out.
func (q *holders) group(of func(*cluster.Pod) (kind, name string)) []*runningJob {
	var out []*runningJob
	var scratch corev1.Pod
	seen := map[[3]string]*runningJob{}
	for namespace, in := range q.s.PodLists() {
		for p := range in.All() {
			if p.Node() == "" || p.Resident() || p.BelongsTo(&q.gang, &scratch) {
				continue
			}
			kind, name := of(p)
			if name == "" {
				continue
			}
			key := [3]string{namespace, kind, name}
			if seen[key] == nil {
				seen[key] = &runningJob{kind: kind, namespace: namespace, name: name}
				out = append(out, seen[key])
			}
			seen[key].add(p)
		}
	}
	slices.SortFunc(out, func(a, b *runningJob) int {
		return cmp.Or(cmp.Compare(b.devices, a.devices), cmp.Compare(len(b.pods), len(a.pods)), strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name), strings.Compare(a.kind, b.kind))
	})
	return out
}

// solved is the answer once some holders have ended, and whether the gang fits then.
func (q *holders) solved(jobs []*runningJob) (fit.Result, bool) {
	for _, j := range jobs {
		for _, p := range j.pods {
			q.store.DropPod(p.Namespace(), p.Name())
		}
	}
	done := q.budget.Try(assign.MostSteps)
	r, cycle := fit.Solve(q.store.Snapshot(q.s.Taken(), q.s.Incomplete()), q.gang, q.budget)
	cycle.Release()
	if !done() {
		r.Verdict = fit.Unknown
	}
	for _, j := range jobs {
		for _, p := range j.pods {
			q.store.KeepPod(p)
		}
	}
	return r, r.Verdict == fit.Fits && r.Wanted > 0
}
