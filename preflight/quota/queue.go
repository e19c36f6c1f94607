package quota

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

var namespaceKind = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}

// kueueKinds are the groups of kinds that Kueue queues by itself
// (https://kueue.sigs.k8s.io/docs/tasks/run/, integrations of v0.15).
var kueueKinds = map[string]bool{
	"batch": true, "kubeflow.org": true, "jobset.x-k8s.io": true, "trainer.kubeflow.org": true, "ray.io": true, "leaderworkerset.x-k8s.io": true,
}

// defaulted is the gang with the queue that Kueue fills in where a job names none: the
// LocalQueue called default, if the namespace has one
// (https://kueue.sigs.k8s.io/docs/tasks/manage/enforce_job_management/setup_default_local_queue/).
func defaulted(s *cluster.Snapshot, g gang.Gang) gang.Gang {
	if g.Queue != "" || s.Rules() == nil || !kueueKinds[g.Self.Group] || s.LocalQueue(g.Namespace, defaultQueue) == nil {
		return g
	}
	g.InKueue(defaultQueue)
	return g
}

const defaultQueue = "default"

// queue asks the queue of the gang. A gang with pods has been let in, and so has a stored one that Kueue has resumed: what it was
// let in with is in what the queue holds.
func (o *check) queue() {
	if o.gang.Queue == "" || o.started() || o.gang.System == gang.Kueue && o.gang.Exists && !o.gang.Paused {
		return
	}
	switch o.gang.System {
	case gang.Kueue:
		if o.gang.QueueOfPods {
			o.queueOfPods()
			return
		}
		o.kueue()
	case gang.Volcano:
		o.volcano()
	case gang.T9k:
		o.t9k()
	case gang.KAI:
		o.note("the queue %s of KAI is not judged", o.gang.Queue)
	default:
	}
}

// started says that some pod of the gang exists.
func (o *check) started() bool {
	return slices.ContainsFunc(o.exist, func(n int) bool { return n > 0 })
}

// mostHeld is how many queues that the view holds are named where it does not hold the job's: one of them may be meant.
const mostHeld = 3

// missingQueue reports a queue that does not exist, if the view would hold it.
func (o *check) missingQueue(gk schema.GroupKind, namespace, name string) {
	if !o.s.Holds(cluster.ResourceOf(gk.WithVersion(""))) {
		held := ""
		if names := o.s.NamesOf(gk, namespace); len(names) > 0 && len(names) <= mostHeld {
			held = " (" + strings.Join(names, ", ") + " was)"
		}
		const what = "the %s %s was not read%s; what it allows is not known"
		if name == defaultQueue && (gk == cluster.VolcanoKind || gk == cluster.T9kQueueKind) { // jobs that name none are in it, and it limits nothing by default
			o.note(what, gk.Kind, name, held)
			return
		}
		o.doubt(what, gk.Kind, name, held)
		return
	}
	if why := o.s.WhyUnread(gk, namespace, name); why != "" {
		o.doubt("what the %s %s allows is not known: %s", gk.Kind, name, why)
		return
	}
	if _, there := o.s.Lookup(namespaceKind, "", namespace); namespace != "" && there == job.Absent {
		o.doubt("the namespace %s was not read; whether it has a %s %s is not known", namespace, gk.Kind, name)
		return
	}
	message := "it does not exist"
	if namespace != "" {
		message += " in namespace " + namespace
	}
	o.add(Violation{
		Rule: RuleQueueMissing, When: Never, Kind: gk.Kind, Namespace: namespace, Name: name,
		Path: "metadata.name", At: o.gang.At, Message: message, Others: o.s.NamesOf(gk, namespace),
	})
}

// closedQueue reports a queue that takes no jobs now.
func (o *check) closedQueue(kind, namespace, name string, path job.Path, format string, args ...any) {
	o.add(Violation{
		Rule: RuleQueueClosed, When: Now, Kind: kind, Namespace: namespace, Name: name,
		Path: path, At: o.gang.At, Message: fmt.Sprintf(format, args...),
	})
}

// demands are what each group asks for, for all the pods that it cannot do without.
func (o *check) demands() []job.Resources {
	out := make([]job.Resources, len(o.gang.Groups))
	for i := range o.gang.Groups {
		requests, _ := amountsOf(o.s, &o.gang.Groups[i].Pod)
		out[i] = requests
	}
	return out
}

// queuedDemands are the demands as Kueue counts them, by the templates of the job: what the operator adds to the pods is in
// none (https://github.com/kubernetes-sigs/kueue/blob/v0.19.0/pkg/controller/jobs/kubeflow/kubeflowjob/kubeflowjob_controller.go,
// PodSets).
func (o *check) queuedDemands() []job.Resources {
	out := o.demands()
	for i := range o.gang.Groups {
		pod := o.gang.Groups[i].Pod
		if len(pod.Injected) == 0 {
			continue
		}
		pod.Spec.InitContainers = slices.DeleteFunc(slices.Clone(pod.Spec.InitContainers), func(c corev1.Container) bool { return slices.Contains(pod.Injected, c.Name) })
		out[i], _ = amountsOf(o.s, &pod)
	}
	return out
}

// least is how much of a resource those pods ask for that have to start together: all of
// them, or the ones that ask for least where fewer may start.
func (o *check) least(each []job.Resources, name corev1.ResourceName) int64 {
	order := make([]int, len(each))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(each[a][name], each[b][name]) })
	left := int64(math.MaxInt64)
	if o.gang.MinMembers > 0 {
		left = int64(o.gang.MinMembers)
	}
	sum := int64(0)
	for _, i := range order {
		pods := min(left, o.wanted(i))
		sum = saturate.Add(sum, saturate.Mul(each[i][name], pods))
		left -= pods
	}
	return sum
}

// queueAmounts compares the gang with what a queue may hold and holds, by resource.
// Resources that the queue does not name are not limited.
func (o *check) queueAmounts(kind, namespace, name string, hard, used job.Resources, known bool, path job.Path) {
	each := o.demands()
	for _, r := range hard.Names() {
		asked := o.least(each, r)
		l := Violation{
			Rule: RuleQueueQuota, Kind: kind, Namespace: namespace, Name: name, Resource: string(r),
			Asked: asked, Used: used[r], Hard: hard[r], Path: path.Key(string(r)),
		}
		l.At = o.largest(each, r)
		f := func(n int64) string { return job.Format(r, n) }
		switch {
		case asked == 0:
			continue
		case asked > hard[r]:
			l.When = Never
			l.Message = fmt.Sprintf("%s; the queue may hold %s", o.asksFor(each, r, f(asked)), f(hard[r]))
		case known && saturate.Add(used[r], asked) > hard[r]:
			l.When = Now
			l.Message = fmt.Sprintf("%s beside %s in use; the queue may hold %s", o.asksFor(each, r, f(asked)), f(used[r]), f(hard[r]))
		default:
			continue
		}
		o.add(l)
	}
}
