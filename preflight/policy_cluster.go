package preflight

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// limits fills in what policies may know of the cluster and of the namespace, as far as a rule reads it.
func (in *Input) limits(j *job.Job, req Request, reads func(part string) bool) {
	view := req.Cluster
	if reads("request.namespace_annotations") && view != nil {
		if n, there := view.Lookup(namespaceKind, "", j.Ref.Namespace); there == job.Present {
			in.Request.NamespaceAnnotations = spoken(n.GetAnnotations())
		}
	}
	if reads("cluster.models") {
		in.Cluster.Models = modelsOf(view)
	}
	if reads("cluster.namespace_gpus") {
		in.Cluster.InUse = heldIn(view, j)
	}
	if reads("cluster.pools") {
		in.Cluster.Pools = poolsOf(view)
	}
	if reads(quotasPart) {
		in.Cluster.Quotas = quotasOf(view, j)
	}
	if reads("cluster.pending") {
		in.Cluster.Pending = pendingOf(view, j)
	}
}

var namespaceKind = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}

// unsaid are the parts of the request that are not known: in a shell, and where a job is reviewed that is stored already.
func unsaid(req Request) (out []Lack) {
	lack := func(why string, parts ...string) {
		for _, part := range parts {
			out = append(out, Lack{part, why})
		}
	}
	if asked(req).IsZero() {
		lack("nobody said when", "request.time", "request.date")
	}
	if req.User == "" {
		lack("who asks is not known (in a shell, --as says it)", "request.user", "request.groups")
	}
	if req.Namespace == nil || req.Supposed {
		lack("the namespace was not looked at", "request.namespace_labels")
	}
	there := job.Unknown
	if req.Cluster != nil {
		_, there = req.Cluster.Lookup(namespaceKind, "", req.Object.GetNamespace())
	}
	if there != job.Present {
		lack("the namespace was not looked at", "request.namespace_annotations")
	}
	return out
}

// unseen are the parts of the input of which the view does not hold the objects, as far as a rule
// reads them.
func unseen(view *cluster.Snapshot, j *job.Job, reads func(part string) bool) (out []Lack) {
	if j == nil || view == nil || view.Incomplete() != "" {
		return nil // nothing is asked, or the whole of it is lacking
	}
	if reads(quotasPart) {
		for _, why := range unseenQuotas(view, j) {
			out = append(out, Lack{quotasPart, why})
		}
	}
	if !view.PodsKnown() {
		for _, part := range []string{"cluster.namespace_gpus", "cluster.pending"} {
			out = append(out, Lack{part, "the pods of the cluster were not looked at"})
		}
	}
	return out
}

const quotasPart = "cluster.quotas"

// unseenQuotas are the reasons why quotasOf may lack a bound.
func unseenQuotas(view *cluster.Snapshot, j *job.Job) (out []string) {
	look := func(of schema.GroupKind) {
		if !view.Holds(cluster.ResourceOf(of.WithVersion(""))) {
			out = append(out, "the "+of.Kind+"s of the cluster were not looked at")
		}
	}
	look(cluster.QuotaKind)
	written, _ := view.Objects(cluster.QuotaKind, j.Ref.Namespace)
	read := 0
	for range cluster.In[cluster.Quota](view.Index(), cluster.QuotaKind, j.Ref.Namespace) {
		read++
	}
	if read < len(written) {
		out = append(out, "a ResourceQuota of the namespace could not be read")
	}
	if gang.Of(j).System != gang.Kueue {
		return out
	}
	look(cluster.LocalKind)
	look(cluster.ClusterKind)
	local, rules := view.LocalQueue(j.Ref.Namespace, j.Gang.Queue), view.Rules()
	switch {
	case local == nil:
		return append(out, unreadObject(view, cluster.LocalKind, j.Ref.Namespace, j.Gang.Queue)...)
	case rules.Cluster[local.Spec.ClusterQueue] == nil:
		return append(out, unreadObject(view, cluster.ClusterKind, "", local.Spec.ClusterQueue)...)
	case rules.Cluster[local.Spec.ClusterQueue].Cohort() != "":
		look(cluster.CohortKind)
	}
	if rules.Tree.Circle {
		out = append(out, "cohorts are below each other, so what ClusterQueue "+local.Spec.ClusterQueue+" has left is not known")
	}
	return out
}

// unreadObject says that an object is there and could not be read.
func unreadObject(view *cluster.Snapshot, of schema.GroupKind, namespace, name string) []string {
	objects, _ := view.Objects(of, namespace)
	if slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetName() == name }) {
		return []string{of.Kind + " " + name + " could not be read"}
	}
	return nil
}

// modelsOf are the models of GPU that the nodes name.
func modelsOf(view *cluster.Snapshot) []ModelFacts {
	sums := map[string]ModelFacts{}
	for _, g := range view.Alike(gpuProduct) {
		gpus := devicesOf(g.Allocatable)
		if gpus == 0 {
			continue
		}
		m := sums[g.Labels[gpuProduct]]
		m.Model, m.Nodes = g.Labels[gpuProduct], m.Nodes+g.Count
		m.GPUs = saturate.Add(m.GPUs, saturate.Mul(gpus, int64(g.Count)))
		sums[m.Model] = m
	}
	out := make([]ModelFacts, 0, len(sums))
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		out = append(out, sums[name])
	}
	return out
}

func devicesOf(amounts job.Resources) (n int64) {
	for name, amount := range amounts {
		if job.AcceleratorUnit(name) == job.Device {
			n = saturate.Add(n, max(0, amount))
		}
	}
	return n
}

// heldIn is how many GPUs the pods in the job's namespace hold, by model. Pods of the job itself
// are left out: it is they that are asked about.
func heldIn(view *cluster.Snapshot, j *job.Job) map[string]int64 {
	out := map[string]int64{}
	if view == nil || !view.PodsKnown() {
		return out
	}
	pods := view.PodLists()[j.Ref.Namespace]
	if pods == nil {
		return out
	}
	own := ownPods(j, view)
	for p := range pods.All() {
		if p.Node() == "" || own(p) {
			continue
		}
		model := ""
		if n := view.Node(p.Node()); n != nil {
			model = n.Labels[gpuProduct]
		}
		for _, a := range p.Requests() {
			if job.AcceleratorUnit(a.Name) == job.Device && a.N > 0 {
				out[model] = saturate.Add(out[model], a.N)
			}
		}
	}
	return out
}

// ownPods says of a pod whether it is the job's own.
func ownPods(j *job.Job, view *cluster.Snapshot) func(*cluster.Pod) bool {
	kind := kinds.For(j.Source.GroupVersionKind())
	if j.Ref.UID == "" || kind == nil || kind.Pods == nil {
		return func(*cluster.Pod) bool { return false }
	}
	selectors := kind.Select(j.Ref, j.Source)
	return func(p *cluster.Pod) bool {
		return slices.ContainsFunc(selectors, func(s labels.Selector) bool { return s.Matches(p.Labels()) }) && !anothers(kind, j.Ref, p.Controller(), view)
	}
}

// poolsOf are the nodes by model of GPU, type of machine and number of GPUs.
func poolsOf(view *cluster.Snapshot) []PoolFacts {
	sums := map[PoolFacts]int{}
	for _, g := range view.Alike(gpuProduct, corev1.LabelInstanceTypeStable) {
		sums[PoolFacts{Model: g.Labels[gpuProduct], Machine: g.Labels[corev1.LabelInstanceTypeStable], GPUsPerNode: devicesOf(g.Allocatable)}] += g.Count
	}
	out := make([]PoolFacts, 0, len(sums))
	for pool, nodes := range sums {
		pool.Nodes = nodes
		out = append(out, pool)
	}
	slices.SortFunc(out, func(a, b PoolFacts) int {
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.Machine, b.Machine), cmp.Compare(a.GPUsPerNode, b.GPUsPerNode))
	})
	return out
}

// quotasOf are the bounds on the job's namespace and on its queue.
func quotasOf(view *cluster.Snapshot, j *job.Job) []QuotaFacts {
	out := []QuotaFacts{}
	if view == nil {
		return out
	}
	for _, q := range cluster.In[cluster.Quota](view.Index(), cluster.QuotaKind, j.Ref.Namespace) {
		for _, name := range q.Names {
			hard, used := q.Hard[name], q.Used[name]
			out = append(out, QuotaFacts{Kind: "ResourceQuota", Name: q.Name, Resource: string(name), Hard: hard, Used: used, Left: hard - used})
		}
	}
	if gang.Of(j).System != gang.Kueue {
		return out
	}
	local := view.LocalQueue(j.Ref.Namespace, j.Gang.Queue)
	tree := view.Rules().Tree
	if local == nil || tree == nil || tree.Circle || tree.Queues[local.Spec.ClusterQueue] == nil {
		return out
	}
	node := tree.Queues[local.Spec.ClusterQueue]
	for _, b := range node.Bounds() {
		out = append(out, QuotaFacts{
			Kind: "ClusterQueue", Name: local.Spec.ClusterQueue, Flavor: b.Flavor, Resource: string(b.Resource),
			Hard: b.Nominal, Used: b.Used, Left: node.Left(b.FlavorResource),
		})
	}
	return out
}

// pendingOf are the pods of others that wait for a place.
func pendingOf(view *cluster.Snapshot, j *job.Job) (out PendingFacts) {
	if view == nil || !view.PodsKnown() {
		return out
	}
	lists := view.PodLists()
	for namespace, pods := range lists {
		if namespace == j.Ref.Namespace {
			continue
		}
		n, sum := pods.Asked()
		out.Jobs, out.Pods, out.GPUs = out.Jobs+pods.Waited(), out.Pods+n, saturate.Add(out.GPUs, devicesOf(sum))
	}
	own, owners := ownPods(j, view), map[cluster.Owner]bool{}
	if pods := lists[j.Ref.Namespace]; pods != nil {
		for p := range pods.Waiting(nil) {
			if own(p) {
				continue
			}
			out.NamespacePods++
			if owner := p.Owner(); owner == (cluster.Owner{}) {
				out.NamespaceJobs++
			} else {
				owners[owner] = true
			}
			for _, a := range p.Requests() {
				if job.AcceleratorUnit(a.Name) == job.Device {
					out.NamespaceGPUs = saturate.Add(out.NamespaceGPUs, max(0, a.N))
				}
			}
		}
	}
	out.NamespaceJobs += len(owners)
	out.Jobs, out.Pods, out.GPUs = out.Jobs+out.NamespaceJobs, out.Pods+out.NamespacePods, saturate.Add(out.GPUs, out.NamespaceGPUs)
	return out
}
