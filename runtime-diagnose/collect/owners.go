package collect

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// owners decides which pods belong to the job: labels can be copied and two kinds can have jobs
// of one name, so the chain of controllers has to end at the job's UID.
//
//	PyTorchJob, TFJob … → Pod          Job → Pod          JobSet → Job → Pod
//	TrainJob → JobSet → Job → Pod      MPIJob v2 → Job → Pod (launcher)
//	Framework → ConfigMap → Pod         RayJob → RayCluster → Pod, RayJob → Job → Pod (submitter)
//	LeaderWorkerSet → StatefulSet → Pod (leader) → StatefulSet → Pod (worker)
type owners struct {
	r       *reading
	belongs map[types.UID]bool // what is known; the job itself is true
	between map[types.UID]*unstructured.Unstructured
}

// longestChain is that of a worker of a LeaderWorkerSet.
const longestChain = 5

// passable are the kinds that may stand between a job and its pods. Anything else ends a chain
// without being asked for, because Signalbox may not read it.
var passable = []schema.GroupKind{
	{Group: "batch", Kind: "Job"},
	{Group: "jobset.x-k8s.io", Kind: "JobSet"},
	{Group: "ray.io", Kind: "RayCluster"},
	{Group: "apps", Kind: "StatefulSet"},
	{Kind: "Pod"}, // the leader of a group owns what makes its workers
}

func newOwners(r *reading) *owners {
	o := &owners{r: r, belongs: map[types.UID]bool{}, between: map[types.UID]*unstructured.Unstructured{}}
	o.belongs[r.object.GetUID()] = true
	// A Framework's pods belong to the ConfigMap of its attempt, which need not be read: the
	// status names its UID (frameworkcontroller d6e7078, pkg/apis/frameworkcontroller/v1/types.go).
	if uid, ok, err := unstructured.NestedString(r.object.Object, "status", "attemptStatus", "configMapUID"); ok && err == nil && uid != "" {
		o.belongs[types.UID(uid)] = true
	}
	return o
}

// own says whether the pod's controllers lead to the job.
func (o *owners) own(ctx context.Context, p *corev1.Pod) bool {
	return o.leads(ctx, metav1.GetControllerOf(p), longestChain)
}

func (o *owners) leads(ctx context.Context, ref *metav1.OwnerReference, left int) bool {
	if ref == nil || left == 0 {
		return false
	}
	if known, ok := o.belongs[ref.UID]; ok {
		return known
	}
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil || !slices.Contains(passable, schema.GroupKind{Group: gv.Group, Kind: ref.Kind}) {
		o.belongs[ref.UID] = false
		return false
	}
	u, err := o.r.get(ctx, ref.APIVersion, ref.Kind, o.r.object.GetNamespace(), ref.Name)
	if err != nil {
		if !apierrors.IsNotFound(err) {
			o.r.missing(ref.Kind+" "+ref.Name, err)
		}
		o.belongs[ref.UID] = false
		return false
	}
	if u.GetUID() != ref.UID { // replaced since: another object of that name
		o.belongs[ref.UID] = false
		return false
	}
	return o.add(ctx, u, left-1)
}

// add decides about an object between and keeps it if it belongs to the job.
func (o *owners) add(ctx context.Context, u *unstructured.Unstructured, left int) bool {
	if known, ok := o.belongs[u.GetUID()]; ok {
		return known
	}
	yes := o.leads(ctx, metav1.GetControllerOf(u), left)
	o.belongs[u.GetUID()] = yes
	if yes && u.GetKind() != "Pod" { // that one is read with the others
		o.between[u.GetUID()] = u
	}
	return yes
}

// objects are those between the job and its pods, the runtimes it names and its pod groups, in a
// fixed order.
func (o *owners) objects() []*unstructured.Unstructured {
	return slices.SortedFunc(maps.Values(o.between), func(a, b *unstructured.Unstructured) int {
		return cmp.Or(cmp.Compare(a.GetKind(), b.GetKind()), cmp.Compare(a.GetName(), b.GetName()))
	})
}

// get reads one object by version, kind and name.
func (r *reading) get(ctx context.Context, apiVersion, kind, namespace, name string) (*unstructured.Unstructured, error) {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return nil, err
	}
	m, err := r.mapping(schema.GroupKind{Group: gv.Group, Kind: kind}, gv.Version)
	if err != nil {
		return nil, err
	}
	return r.Dynamic.Resource(m.Resource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
}

// readBetween looks for what the operator created even where it could not create pods: a quota
// or a webhook that refuses pods is an event on the Job, not on the JobSet.
func (r *reading) readBetween(ctx context.Context) {
	jobs, sets := false, false
	switch r.kind.Name {
	case "TrainJob":
		jobs, sets = true, true
	case "JobSet", "MPIJob":
		jobs = true
	}
	namespace := r.object.GetNamespace()
	switch r.kind.Name {
	case "RayJob": // the Job that submits has its name
		r.readMade(ctx, "ray.io/v1", "RayCluster", r.text("status", "rayClusterName"))
		r.readMade(ctx, "batch/v1", "Job", r.object.GetName())
	case "LeaderWorkerSet": // what makes its leaders has its name
		r.readMade(ctx, "apps/v1", "StatefulSet", r.object.GetName())
	}
	if sets { // Trainer gives the JobSet its own name
		if u, err := r.get(ctx, "jobset.x-k8s.io/v1alpha2", "JobSet", namespace, r.object.GetName()); err == nil {
			r.owners.add(ctx, u, longestChain)
		} else if !apierrors.IsNotFound(err) {
			r.missing("JobSet "+r.object.GetName(), err)
		}
	}
	if !jobs {
		return
	}
	resource := schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
	options := metav1.ListOptions{LabelSelector: r.kind.Pods(r.out.Job.Ref).String(), Limit: jobPage}
	for range mostJobPages {
		list, err := r.Dynamic.Resource(resource).Namespace(namespace).List(ctx, options)
		if err != nil {
			r.missing("Jobs", err)
			return
		}
		for i := range list.Items {
			u := &list.Items[i]
			u.SetAPIVersion("batch/v1") // elements of a typed list may lack it
			u.SetKind("Job")
			r.owners.add(ctx, u, longestChain)
		}
		if options.Continue = list.GetContinue(); options.Continue == "" {
			return
		}
	}
	r.missing("Jobs", fmt.Errorf("there are more than %d of the job; the rest was not read", jobPage*mostJobPages))
}

// A job's Jobs are read in pages, and no more of them than this: a server that never ends its list would be asked for ever.
const (
	jobPage      = 500
	mostJobPages = 20
)

// mostGroups bounds of how many groups what makes the workers is asked for: why they cannot be made is the
// same for all.
const mostGroups = 64

// readGroups looks for what makes the workers of a LeaderWorkerSet: it has the name of their leader, and
// stands without pods where those are refused.
func (r *reading) readGroups(ctx context.Context) {
	if r.kind.Name != "LeaderWorkerSet" {
		return
	}
	groups := 0
	for i := range r.out.Pods {
		if role, _, ok := r.kind.Place(&r.out.Pods[i]); ok && role == "leader" {
			if groups++; groups <= mostGroups {
				r.readMade(ctx, "apps/v1", "StatefulSet", r.out.Pods[i].Name)
			}
		}
	}
	if groups > mostGroups {
		r.missing("StatefulSets of workers", fmt.Errorf("the job has %d groups; those of the first %d were read", groups, mostGroups))
	}
}

// readMade reads one object that the operator makes, if it is there.
func (r *reading) readMade(ctx context.Context, apiVersion, kind, name string) {
	if name == "" {
		return
	}
	u, err := r.get(ctx, apiVersion, kind, r.object.GetNamespace(), name)
	switch {
	case err == nil:
		r.owners.add(ctx, u, longestChain)
	case !apierrors.IsNotFound(err):
		r.missing(kind+" "+name, err)
	}
}

// text is a text of the job; empty: it is not there.
func (r *reading) text(path ...string) string {
	text, _, _ := unstructured.NestedString(r.object.Object, path...)
	return text
}

func sortedKeys(m map[string]bool) []string { return slices.Sorted(maps.Keys(m)) }
