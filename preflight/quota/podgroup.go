package quota

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// groupMark is how a pod says that it waits for others, and where the group says for how many.
type groupMark struct {
	label, annotation string
	kinds             []schema.GroupVersionKind
	least             job.Path
}

// groupMarks are the gang schedulers whose groups are read. Sources:
// https://github.com/kubernetes-sigs/scheduler-plugins/blob/master/apis/scheduling/v1alpha1/types.go,
// https://github.com/volcano-sh/apis/blob/v1.13.0/pkg/apis/scheduling/v1beta1/labels.go, the
// T9k manual (src/modules/scheduling).
var groupMarks = []groupMark{
	{label: "scheduling.x-k8s.io/pod-group", kinds: []schema.GroupVersionKind{{Group: "scheduling.x-k8s.io", Version: "v1alpha1", Kind: "PodGroup"}}, least: "spec.minMember"},
	{annotation: "scheduling.k8s.io/group-name", kinds: volcanoGroups, least: "spec.minMember"},
	{annotation: "scheduling.volcano.sh/group-name", kinds: volcanoGroups, least: "spec.minMember"},
	{label: "scheduler.tensorstack.dev/group-name", kinds: []schema.GroupVersionKind{{Group: "scheduler.tensorstack.dev", Version: "v1beta1", Kind: "PodGroup"}}, least: "spec.minMember"},
}

var volcanoGroups = []schema.GroupVersionKind{{Group: "scheduling.volcano.sh", Version: "v1beta1", Kind: "PodGroup"}}

// nativeGroups are Kubernetes' own pod groups, newest first; their shape changed from
// release to release (https://github.com/kubernetes/kubernetes/blob/v1.37.0/staging/src/k8s.io/api/scheduling).
var nativeGroups = groupMark{
	kinds: []schema.GroupVersionKind{
		{Group: "scheduling.k8s.io", Version: "v1beta1", Kind: "PodGroup"},
		{Group: "scheduling.k8s.io", Version: "v1alpha3", Kind: "PodGroup"},
		{Group: "scheduling.k8s.io", Version: "v1alpha2", Kind: "PodGroup"},
	},
	least: "spec.schedulingPolicy.gang.minCount",
}

// namedGroup is a pod group that pods name.
type namedGroup struct {
	mark  groupMark
	name  string
	pods  int64
	first *gang.Group
}

// podGroups compares pod groups that the pods name, and that exist, with the number of pods.
// A group that does not exist may be made later.
func (o *check) podGroups() {
	var all []*namedGroup
	count := func(g *gang.Group, mark groupMark, name string) {
		if name == "" {
			return
		}
		at := slices.IndexFunc(all, func(n *namedGroup) bool {
			return n.name == name && n.mark.kinds[0] == mark.kinds[0] && n.mark.least == mark.least
		})
		if at < 0 {
			at, all = len(all), append(all, &namedGroup{mark: mark, name: name, first: g})
		}
		all[at].pods = saturate.Add(all[at].pods, int64(max(0, g.Count, g.Declared))) // those that have completed count, too
	}
	for i := range o.gang.Groups {
		g := &o.gang.Groups[i]
		for _, m := range groupMarks {
			count(g, m, cmp.Or(g.Pod.Labels[m.label], g.Pod.Annotations[m.annotation]))
		}
		if g.Workload != "" {
			m := groupMark{kinds: []schema.GroupVersionKind{gang.WorkloadKind}, least: job.Path("spec.podGroups").Named(g.WorkloadGroup).Child("policy", "gang", "minCount")}
			count(g, m, g.Workload)
		}
		if s := g.Pod.Spec.SchedulingGroup; s != nil && s.PodGroupName != nil {
			count(g, nativeGroups, *s.PodGroupName)
		}
	}
	for _, n := range all {
		o.podGroup(n)
	}
}

// podGroup compares one pod group with the pods that name it.
func (o *check) podGroup(n *namedGroup) {
	group := n.mark.find(o.s, o.gang.Namespace, n.name)
	if group == nil {
		return
	}
	v, _ := n.mark.least.Resolve(group.Object)
	if least, _ := job.Whole(v); least > n.pods {
		o.add(Violation{
			Rule: RuleMembers, When: Never, Kind: n.mark.kinds[0].Kind, Namespace: o.gang.Namespace, Name: n.name,
			Resource: "pods", Asked: n.pods, Hard: least, Path: n.mark.least, At: n.first.Path,
			Message: fmt.Sprintf("it waits for %d pods; the job has %d that name it", least, n.pods),
		})
	}
}

// members compares how many pods the job itself waits for with how many it has. Volcano starts its own Job by that number
// (https://github.com/volcano-sh/volcano/blob/master/pkg/webhooks/admission/jobs/validate/admit_job.go refuses it: "job
// 'minAvailable' should not be greater than total replicas in tasks"); what other kinds write counts only where their operator has a
// gang scheduler.
func (o *check) members() {
	least, has := o.gang.MinMembers, o.gang.Pods()
	if least <= has || has == 0 || o.started() {
		return
	}
	if o.gang.Self.Group != "batch.volcano.sh" {
		o.note("the job waits for %d pods and has %d: where its operator has a gang scheduler, it never starts", least, has)
		return
	}
	o.add(Violation{
		Rule: RuleMembers, When: Never, Kind: "Job", Namespace: o.gang.Namespace, Name: o.gang.Name,
		Resource: "pods", Asked: int64(has), Hard: int64(least), Path: "spec.minAvailable", At: "spec.minAvailable",
		Message: fmt.Sprintf("it waits for %d pods (minAvailable) and has %d, so it never starts", least, has),
	})
}

// find is a group of the mark; nil: it is not in the view.
func (m *groupMark) find(s *cluster.Snapshot, namespace, name string) *unstructured.Unstructured {
	for _, gvk := range m.kinds {
		if object, there := s.Lookup(gvk, namespace, name); there == job.Present {
			return object
		}
	}
	return nil
}

// NativeGroup is one of Kubernetes' own pod groups; nil: it is not in the view.
func NativeGroup(s *cluster.Snapshot, namespace, name string) *unstructured.Unstructured {
	return nativeGroups.find(s, namespace, name)
}
