package quota

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// kueue asks Kueue's queues: do they exist, do they take jobs, and could their quota ever
// hold the gang, or hold it now.
func (o *check) kueue() {
	was := o.gang
	o.gang = was.AsQueued()
	defer func() { o.gang = was }()
	local := o.s.LocalQueue(o.gang.Namespace, o.gang.Queue)
	if local == nil && o.s.Unserved(cluster.ResourceOf(cluster.LocalKind.WithVersion(""))) {
		o.withoutKueue()
		return
	}
	if local == nil {
		o.missingQueue(cluster.LocalKind, o.gang.Namespace, o.gang.Queue)
		return
	}
	o.stopped("LocalQueue", o.gang.Namespace, o.gang.Queue, local.Spec.StopPolicy, &local.Status)
	name := local.Spec.ClusterQueue
	queue := o.s.Rules().Cluster[name]
	if queue == nil {
		o.missingQueue(cluster.ClusterKind, "", name)
		return
	}
	o.stopped("ClusterQueue", "", name, queue.Spec.StopPolicy, &queue.Status)
	o.namespaceSelected(name, queue)
	o.flavorsThere(name, queue)
	o.queuePriority()
	o.prebuilt()
	o.behind(name, queue)
	if checks := queue.Checks(); len(checks) > 0 {
		o.note("ClusterQueue %s admits a job when %s agrees: %s; what is said then is not known", name, words.Count(len(checks), "admission check", "admission checks"), strings.Join(checks, ", "))
		for _, check := range checks {
			o.checkActive(name, check)
			if controllerOf(o.s, check) == multiKueueCheck {
				o.doubt("the pods run in another cluster, which the admission check %s chooses (MultiKueue)", check)
			}
		}
	}
	if !wholeCohort(o.s, queue) {
		o.doubt("the cohort %s of ClusterQueue %s is not whole in the snapshot; what may be borrowed is not known", queue.Cohort(), name)
		return
	}
	tree := o.s.Rules().Tree
	if tree.Circle {
		o.doubt("cohorts are below each other; what ClusterQueue %s may borrow is not known", name)
		return
	}
	k := &clusterQueueCheck{check: o, name: name, queue: queue, node: tree.Queues[name], asks: o.queuedDemands()}
	if o.s.QuotaReserved(o.gang.Namespace, o.gang.UID) {
		o.note("the job's own Workload holds its quota in ClusterQueue %s", name)
		return
	}
	o.usageTold(k.node)
	for _, g := range o.gang.Groups {
		if len(g.Flavors) > 0 {
			o.inform("Kueue puts %s on the nodes of flavor %s", g.Name, strings.Join(g.Flavors, " and "))
		}
	}
	k.judge()
}

// withoutKueue is what a queue's name means where Kueue is not installed: it is a label that nothing reads, and of a
// suspended job nothing takes the suspension back
// (https://kueue.sigs.k8s.io/docs/tasks/run/jobs/: Kueue unsuspends the Job when it is admitted).
func (o *check) withoutKueue() {
	const none = "the cluster has no Kueue: its API has no LocalQueue"
	if !o.gang.Paused {
		o.note("%s, so the queue %s has no effect, and the job starts without one", none, o.gang.Queue)
		return
	}
	o.add(Violation{
		Rule: RuleQueueMissing, When: Never, Kind: cluster.LocalKind.Kind, Namespace: o.gang.Namespace, Name: o.gang.Queue, Path: "metadata.name", At: o.gang.At,
		Remedy:  "Leave out suspend and the name of the queue, or send the job to a cluster that has Kueue.",
		Message: none + ", so nothing ever resumes the suspended job; without suspend it would start, and the queue's name has no effect",
	})
}

// wholeCohort says whether all is in the view that a queue may borrow from.
func wholeCohort(s *cluster.Snapshot, queue *cluster.ClusterQueue) bool {
	holds := func(kind schema.GroupKind) bool { return s.Holds(cluster.ResourceOf(kind.WithVersion(""))) }
	return queue.Cohort() == "" || holds(cluster.ClusterKind) && holds(cluster.CohortKind)
}

// stopped reports a queue that was stopped, or whose status says that it is not active.
func (o *check) stopped(kind, namespace, name, policy string, status *cluster.QueueStatus) {
	if policy != "" && policy != "None" {
		o.closedQueue(kind, namespace, name, "spec.stopPolicy", "stopPolicy is %s; it admits no jobs until that is None", policy)
		return
	}
	if why := status.Inactive(); why != "" {
		o.closedQueue(kind, namespace, name, "status.conditions", "it is not active: %s", why)
	}
}

// namespaceSelected reports a namespace whose jobs a ClusterQueue does not take.
func (o *check) namespaceSelected(name string, queue *cluster.ClusterQueue) {
	selector, err := metav1.LabelSelectorAsSelector(queue.Spec.NamespaceSelector)
	if err != nil || selector.Empty() {
		return
	}
	namespace, there := o.s.Lookup(namespaceKind, "", o.gang.Namespace)
	if queue.Spec.NamespaceSelector != nil && there != job.Present {
		o.doubt("whether ClusterQueue %s takes jobs of namespace %s depends on labels that were not read", name, o.gang.Namespace)
		return
	}
	if there == job.Present && selector.Matches(labels.Set(namespace.GetLabels())) {
		return
	}
	what := "its namespaceSelector selects none"
	if queue.Spec.NamespaceSelector != nil {
		what = "its namespaceSelector is " + metav1.FormatLabelSelector(queue.Spec.NamespaceSelector)
	}
	o.add(Violation{
		Rule: RuleQueueMissing, When: Never, Kind: "ClusterQueue", Name: name, Path: "spec.namespaceSelector", At: o.gang.At,
		Message: fmt.Sprintf("it takes no jobs of namespace %s: %s", o.gang.Namespace, what),
	})
}

// clusterQueueCheck is one gang before one ClusterQueue.
type clusterQueueCheck struct {
	*check
	name  string
	queue *cluster.ClusterQueue
	node  *cluster.QuotaNode
	asks  []job.Resources // by group, one pod
}

// judge compares the gang with the quota, one resource group after the other: a group of
// pods takes all resources of a resource group from one flavor.
func (k *clusterQueueCheck) judge() {
	covered := k.covered()
	for i := range k.asks {
		for _, name := range k.asks[i].Names() {
			if !covered[name] && k.asks[i][name] > 0 && k.wanted(i) > 0 {
				k.doubt("ClusterQueue %s has no quota for %s; unless Kueue is configured to leave it out, the job is not admitted", k.name, name)
			}
		}
	}
	for at := range k.queue.Spec.ResourceGroups {
		k.group(at)
	}
}

// covered are the resources that the queue has a quota for. Where pods are among them, each asks for itself.
func (k *clusterQueueCheck) covered() map[corev1.ResourceName]bool {
	covered := map[corev1.ResourceName]bool{}
	for _, g := range k.queue.Spec.ResourceGroups {
		for _, name := range g.CoveredResources {
			covered[name] = true
		}
	}
	if covered[corev1.ResourcePods] {
		for i := range k.asks {
			k.asks[i] = maps.Clone(k.asks[i])
			k.asks[i][corev1.ResourcePods] = 1
		}
	}
	return covered
}

// sets are what the groups ask of one resource group, with the flavors that each may use; without is a group that may use
// none, or -1.
func (k *clusterQueueCheck) sets(at int) (sets []podSet, without int) {
	g := &k.queue.Spec.ResourceGroups[at]
	for i := range k.asks {
		set := podSet{group: i, asks: job.Resources{}}
		for _, name := range g.CoveredResources {
			// A pod set that asks for 0 of a resource, in writing, needs a flavor all the same.
			if n, said := k.asks[i][name]; said && n >= 0 && k.wanted(i) > 0 {
				set.asks[name] = saturate.Mul(n, k.wanted(i))
			}
		}
		if len(set.asks) == 0 {
			continue
		}
		for _, f := range g.Flavors {
			if k.refuses(f.Name, i) == takes {
				set.flavors = append(set.flavors, f.Name)
			}
		}
		if len(set.flavors) == 0 {
			return nil, i
		}
		sets = append(sets, set)
	}
	return sets, -1
}

// group compares the gang with one resource group.
func (k *clusterQueueCheck) group(at int) {
	sets, without := k.sets(at)
	if without >= 0 {
		k.noFlavor(at, without)
		return
	}
	for _, capacity := range []struct {
		when When
		of   func(cluster.FlavorResource) int64
	}{{Never, k.node.Most}, {Now, k.node.Left}} {
		search := newFlavorSearch(sets, capacity.of)
		switch fits := search.fits(0); {
		case search.budget == 0:
			k.doubt("whether ClusterQueue %s has quota for %s is not judged: its flavors can be dealt to them in more than %d ways", k.name, words.Count(len(sets), "role", "roles"), mostFlavorTries)
			return
		case !fits:
			k.over(at, sets, capacity.when)
			return
		}
	}
}

// refusal is why a flavor is not for pods.
type refusal int

const (
	takes        refusal = iota
	elsewhere            // by its labels and taints
	noTopology           // they ask for places near each other, and it knows none
	noLevel              // its topology has no such places
	topologyOnly         // it is for pods that ask for such places
)

// refuses says whether pods of a group may use a flavor: its taints are tolerated, what the pods say about its labels
// is true of them, and it knows the places that they ask for. Where all flavors of a queue know places, all its jobs
// ask for some. A flavor that is not in the view may be anything
// (https://github.com/kubernetes-sigs/kueue/blob/main/pkg/scheduler/flavorassigner/flavorassigner.go,
// checkFlavorForPodSets, and tas_flavorassigner.go, checkPodSetAndFlavorMatchForTAS).
func (k *clusterQueueCheck) refuses(name string, group int) refusal {
	flavor := k.s.Rules().Flavors[name]
	if flavor == nil {
		return takes
	}
	pod := unplaced(&k.gang.Groups[group])
	asks, knows := gang.TopologyRequested(pod), flavor.Spec.TopologyName != ""
	only := onlyKeys(&pod.Spec, flavor.Spec.NodeLabels)
	switch {
	case asks && !knows:
		return noTopology
	case knows && !asks && !k.topologies():
		return topologyOnly
	case knows && !k.hasLevels(flavor.Spec.TopologyName, gang.TopologyLevels(pod)):
		return noLevel
	case podspec.Untolerated(flavor.Spec.NodeTaints, slices.Concat(pod.Spec.Tolerations, flavor.Spec.Tolerations)) != nil,
		!podspec.Selects(&only)(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: flavor.Spec.NodeLabels}}):
		return elsewhere
	}
	return takes
}

// hasLevels says whether a topology has the levels that pods ask for; one that was not read may have any.
func (k *clusterQueueCheck) hasLevels(topology string, asked []string) bool {
	levels, known := k.levels(topology)
	return !known || !slices.ContainsFunc(asked, func(level string) bool { return !slices.Contains(levels, level) })
}

// topologies says whether all flavors of the queue know places, as far as they are in the view.
func (k *clusterQueueCheck) topologies() bool {
	for _, g := range k.queue.Spec.ResourceGroups {
		for _, f := range g.Flavors {
			if flavor := k.s.Rules().Flavors[f.Name]; flavor != nil && flavor.Spec.TopologyName == "" {
				return false
			}
		}
	}
	return true
}

// onlyKeys is what a pod says about some labels of nodes, and nothing else.
func onlyKeys(spec *corev1.PodSpec, keys map[string]string) corev1.PodSpec {
	out := corev1.PodSpec{NodeSelector: map[string]string{}}
	for key, value := range spec.NodeSelector {
		if _, ok := keys[key]; ok {
			out.NodeSelector[key] = value
		}
	}
	required := podspec.NodeAffinity(spec)
	if required == nil {
		return out
	}
	var terms []corev1.NodeSelectorTerm
	for _, t := range required.NodeSelectorTerms {
		var about []corev1.NodeSelectorRequirement
		for _, e := range t.MatchExpressions {
			if _, ok := keys[e.Key]; ok {
				about = append(about, e)
			}
		}
		if len(about) == 0 {
			return out // a term that says nothing about the labels leaves them free
		}
		terms = append(terms, corev1.NodeSelectorTerm{MatchExpressions: about})
	}
	if len(terms) > 0 {
		out.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms}}}
	}
	return out
}

// noFlavor reports pods that no flavor of a resource group takes.
func (k *clusterQueueCheck) noFlavor(at, group int) {
	g := &k.gang.Groups[group]
	var names []string
	why := elsewhere
	for _, f := range k.queue.Spec.ResourceGroups[at].Flavors {
		names, why = append(names, f.Name), max(why, k.refuses(f.Name, group))
	}
	flavors := words.Count(len(names), "flavor", "flavors") + ": " + strings.Join(names, ", ")
	text := map[refusal]string{
		elsewhere:    "node selector and tolerations of " + g.Name + " match none of its " + flavors,
		noTopology:   g.Name + " asks for places near each other, and none that it may use of its " + flavors + " has a topologyName",
		noLevel:      g.Name + " asks for places within one " + strings.Join(gang.TopologyLevels(unplaced(g)), " and one ") + ", and the Topology of none that it may use of its " + flavors + " has such a level",
		topologyOnly: g.Name + " asks for no topology, and all that it may use of its " + flavors + " are for jobs that do",
	}[why]
	k.add(Violation{
		Rule: RuleQueueQuota, When: Never, Kind: "ClusterQueue", Name: k.name, Role: g.Name, At: cmp.Or(k.gang.At, g.Path),
		Path:    job.Path("spec.resourceGroups").Index(at).Child("flavors"),
		Message: text,
	})
}

// over reports what of a resource group is short: the resource that lacks most, in share
// of what is asked.
func (k *clusterQueueCheck) over(at int, sets []podSet, when When) {
	capacity := k.node.Most
	if when == Now {
		capacity = k.node.Left
	}
	var worst Violation
	lack := math.Inf(-1)
	for _, name := range k.queue.Spec.ResourceGroups[at].CoveredResources {
		var asked, has, hard int64
		usable := map[string]bool{}
		for _, set := range sets {
			asked = saturate.Add(asked, set.asks[name])
			for _, f := range set.flavors {
				usable[f] = set.asks[name] > 0 || usable[f]
			}
		}
		var names []string
		for _, f := range k.queue.Spec.ResourceGroups[at].Flavors {
			if usable[f.Name] {
				names = append(names, f.Name)
				has = saturate.Add(has, max(0, capacity(cluster.FlavorResource{Flavor: f.Name, Resource: name})))
				hard = saturate.Add(hard, max(0, k.node.Most(cluster.FlavorResource{Flavor: f.Name, Resource: name})))
			}
		}
		if asked == 0 {
			continue
		}
		short := float64(asked-has) / float64(asked)
		if short <= lack {
			continue
		}
		lack = short
		where := k.largest(k.asks, name)
		worst = Violation{
			Rule: RuleQueueQuota, When: when, Kind: "ClusterQueue", Name: k.name, Resource: string(name), Asked: asked, Used: max(0, hard-has), Hard: hard,
			Path: job.Path("spec.resourceGroups").Index(at), At: cmp.Or(where, k.gang.At), Message: k.shortText(name, asked, has, names, when),
		}
	}
	k.add(worst) // one of the resources is asked for, else a flavor would have held them
}

// shortText says what of a resource there is in the flavors that the pods may use.
func (k *clusterQueueCheck) shortText(name corev1.ResourceName, asked, has int64, flavors []string, when When) string {
	f := func(n int64) string { return job.Format(name, n) }
	where := "in flavor " + strings.Join(flavors, ", ")
	if len(flavors) > 1 {
		where = "in flavors " + strings.Join(flavors, ", ")
	}
	borrowed := ""
	if c := k.queue.Cohort(); c != "" {
		borrowed = ", with what cohort " + c + " may lend"
	}
	text := k.asksFor(k.asks, name, f(asked)) + "; "
	if when == Never {
		text += fmt.Sprintf("the quota %s is %s%s", where, f(has), borrowed)
	} else { // reserved by workloads that are admitted, whether their pods run or not
		text += fmt.Sprintf("other workloads leave %s %s%s", f(has), where, borrowed)
	}
	if has >= asked {
		text += ", but no choice of one flavor for each role holds them all"
	}
	return text
}

// podSet is what one group asks of one resource group, in sum.
type podSet struct {
	group   int
	asks    job.Resources
	flavors []string // it may use
}

// mostFlavorTries bounds the search for flavors; real queues need a handful of steps.
const mostFlavorTries = 1 << 14

// flavorSearch looks for a flavor for every pod set.
type flavorSearch struct {
	sets     []podSet
	capacity func(cluster.FlavorResource) int64
	taken    map[cluster.FlavorResource]int64
	chosen   []string // a flavor for each set, where they fit
	budget   int      // 0: the search was not finished
}

func newFlavorSearch(sets []podSet, capacity func(cluster.FlavorResource) int64) *flavorSearch {
	return &flavorSearch{
		sets: sets, capacity: capacity, taken: map[cluster.FlavorResource]int64{}, chosen: make([]string, len(sets)), budget: mostFlavorTries,
	}
}

// fits says whether the pod sets from one on find flavors beside those before.
func (f *flavorSearch) fits(from int) bool {
	if from == len(f.sets) {
		return true
	}
	set := &f.sets[from]
	for _, name := range set.flavors {
		if f.budget--; f.budget <= 0 {
			f.budget = 0
			return true // not proven; the caller looks at the budget first
		}
		fits := true
		for r, n := range set.asks {
			fr := cluster.FlavorResource{Flavor: name, Resource: r}
			fits = fits && saturate.Add(f.taken[fr], n) <= max(0, f.capacity(fr)) // a queue in debt has nothing, not less
		}
		if !fits {
			continue
		}
		for r, n := range set.asks {
			f.taken[cluster.FlavorResource{Flavor: name, Resource: r}] += n
		}
		if f.fits(from + 1) {
			f.chosen[from] = name
			return true
		}
		for r, n := range set.asks {
			f.taken[cluster.FlavorResource{Flavor: name, Resource: r}] -= n
		}
	}
	return false
}
