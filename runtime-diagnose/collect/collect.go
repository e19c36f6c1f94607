// Package collect reads everything about one job that a diagnosis can use: the object, the pods
// that belong to it, what stands between, events, nodes and logs — from a cluster (Cluster) or
// from a bundle of saved evidence (Open). It judges nothing, writes nothing to the cluster, and
// reads no namespace but the job's own, for events of nodes, default, and for the workload of an operator
// that leaves a job alone, all of them, by its name.
//
// What cannot be read is a sentence in Case.Missing, not an error: a diagnosis from half of the
// evidence is better than none, if it says so. Start reading at Cluster.Case.
package collect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/words"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/keep"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/ledger"
)

// Cluster reads from the API server. It is safe for concurrent use.
type Cluster struct {
	Kube    kubernetes.Interface
	Dynamic dynamic.Interface
	Mapper  meta.RESTMapper
	// Snapshot is the view of the cluster, for why a job waits; nil: unknown.
	Snapshot func() *cluster.Snapshot
	// Kept answers with what was kept of the job's containers before their pods went; it knows
	// which are still present. nil: the ConfigMap beside the job is read.
	Kept func(ctx context.Context, of job.Ref, present map[types.UID]bool) (*keep.Set, error)
	// Text answers with a log of an ended container as ReadLog read it before; nil: it is not held.
	// A nil func holds none.
	Text func(of job.Ref, key keep.Key) []byte
	// Suspect says that the end of a log names a failure, so that the rest is read too; nil: never.
	Suspect func(tail []byte) bool
	Limits  Limits
	// Shared is what the diagnoses of several jobs share; nil: each asks for itself.
	Shared *Shared
	// NoPods says that what follows pods has none of a namespace that a selector selects; nil: nothing does. A job that waits
	// for its operator is looked at again and again, and for each list the API server goes through all pods of the namespace.
	NoPods func(ctx context.Context, namespace string, s labels.Selector) bool
	// Asker is who asks, as sentences name them: "you"; empty: an account that reads for others.
	Asker string
	// Beyond says that pods of other jobs may be named to whoever asks: they are read with that user's own rights.
	Beyond bool
	// Followed are the Events of all namespaces; nil: they are asked for.
	Followed *Followed
	// Now is the clock; nil: the system's.
	Now func() time.Time
}

// Limits bounds what is read of one job. Zero values mean the defaults in parentheses.
type Limits struct {
	Pods       int   // whose logs are read whole; of the others the end is (64)
	Parallel   int   // logs read at the same time (16)
	HeadBytes  int64 // of each log (256 KiB)
	TailBytes  int64 // of each log (1 MiB)
	TailLines  int64 // looked for them in so many lines, which pass the API server (5000)
	TotalBytes int64 // of all logs (64 MiB)
}

func (l Limits) withDefaults() Limits {
	if l.Pods <= 0 {
		l.Pods = 64
	}
	if l.Parallel <= 0 {
		l.Parallel = 16
	}
	if l.HeadBytes <= 0 {
		l.HeadBytes = 256 << 10
	}
	if l.TailBytes <= 0 {
		l.TailBytes = 1 << 20
	}
	if l.TailLines <= 0 {
		l.TailLines = 5000
	}
	if l.TotalBytes <= 0 {
		l.TotalBytes = 64 << 20
	}
	return l
}

// Case reads what there is about a job. The case is usable even beside an error: the error says
// that the pods could not be listed or that ctx ended, so that nothing follows from the
// absence of anything.
func (c *Cluster) Case(ctx context.Context, k *kinds.Kind, u *unstructured.Unstructured) (diagnose.Case, error) {
	r := &reading{Cluster: c, kind: k, object: u, limits: c.Limits.withDefaults()}
	r.out = diagnose.Case{Kind: k, Now: time.Now()}
	if c.Now != nil {
		r.out.Now = c.Now()
	}
	if c.Snapshot != nil {
		r.out.Cluster = c.Snapshot()
	}
	r.owners = newOwners(r)
	r.readJob(ctx)
	r.out.State = kinds.StateOf(k, u, r.out.Job)
	r.readBetween(ctx)
	err := r.readPods(ctx)
	r.readKept(ctx)
	r.readGood(ctx)
	r.adoptPods()
	r.readPodGroups(ctx)
	r.readT9kQueue(ctx)
	r.readGroups(ctx)
	r.readWorkloads(ctx)
	r.readDevices(ctx)
	r.readNodes(ctx)
	r.readEvents(ctx)
	r.readNodesOfEvicted(ctx)
	r.readNodeEvents(ctx)
	r.readLogs(ctx)
	r.readOperator(ctx)
	r.out.Objects = r.owners.objects()
	r.readPreemptors(ctx)
	r.sayBarred()
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return r.out, fmt.Errorf("read evidence of %s %s/%s: %w", k.Name, u.GetNamespace(), u.GetName(), err)
	}
	return r.out, nil
}

// reading is one call of Case.
type reading struct {
	*Cluster
	kind   *kinds.Kind
	object *unstructured.Unstructured
	limits Limits
	owners *owners
	out    diagnose.Case
	barred []string // what the asker may not read

	keptPods []*corev1.Pod // seen before they went, and some that are still there
	keptEnds []keep.End
	keptAt   map[keep.Key]int          // index in keptEnds
	present  map[types.UID]*corev1.Pod // pods of the API server
	standing map[string]*corev1.Pod    // pods of the case by their place in the job
}

func (r *reading) missing(what string, err error) {
	if apierrors.IsForbidden(err) {
		r.barred = append(r.barred, what)
		return
	}
	r.out.Missing = append(r.out.Missing, words.OneLine(words.VisibleLine(fmt.Sprintf("%s: %v", what, err)), longestMissing))
}

// longestMissing is where what a server says of a refusal is cut: it may say anything.
const longestMissing = 1000

// mostBarred bounds what is named of what the asker may not read.
const mostBarred = 6

// sayBarred says what the asker may not read, in one sentence for all of it that one right would open: the API server's own is
// as long for each. Pods come first, because without them nothing else says how the job is; nodes, which no role of a
// namespace opens, stand apart.
func (r *reading) sayBarred() {
	slices.SortStableFunc(r.barred, func(a, b string) int {
		return cmp.Compare(map[bool]int{true: 0, false: 1}[a == "pods"], map[bool]int{true: 0, false: 1}[b == "pods"])
	})
	r.out.Barred = slices.Compact(r.barred)
	inside := slices.DeleteFunc(slices.Clone(r.out.Barred), ofNodes)
	nodes := slices.DeleteFunc(slices.Clone(r.out.Barred), func(what string) bool { return !ofNodes(what) })
	r.sayBarredFrom(nodes, "nodes are in no namespace, so a ClusterRole with get and list on nodes is needed, and a ClusterRoleBinding")
	r.sayBarredFrom(inside, "a role with get and list in namespace "+r.object.GetNamespace()+" is needed, such as the ClusterRole view")
}

// ofNodes says whether what is missing is a node, or the list of them.
func ofNodes(what string) bool { return what == "nodes" || strings.HasPrefix(what, "node ") }

// sayBarredFrom says what may not be read without a right.
func (r *reading) sayBarredFrom(all []string, needed string) {
	if len(all) == 0 {
		return
	}
	named := strings.Join(append([]string{""}, all[1:min(len(all), mostBarred)]...), ", nor ")
	if n := len(all) - mostBarred; n > 0 {
		named += fmt.Sprintf(", and %d more", n)
	}
	r.out.Missing = append(r.out.Missing, fmt.Sprintf("%s: %s may not read this%s; %s", all[0], cmp.Or(r.Asker, "this account"), named, needed))
}

func (r *reading) ref() job.Ref {
	u := r.object
	return job.Ref{
		Kind: r.kind.API(), APIVersion: u.GetAPIVersion(), Namespace: u.GetNamespace(), Name: u.GetName(), UID: string(u.GetUID()),
	}
}

// readJob reads the object into the model. A spec that cannot be read is the first thing to say
// about a job, but its pods may still tell more.
func (r *reading) readJob(ctx context.Context) {
	j, err := r.kind.Read(r.object, r.got(ctx))
	if err != nil {
		r.missing("job spec", err)
	}
	if j == nil {
		j = &job.Job{Source: r.object}
	}
	if j.Ref.Name == "" {
		j.Ref = r.ref()
	}
	r.out.Job = j
}

// got answers what a reader wants to see: objects without a namespace, or in the job's own.
func (r *reading) got(ctx context.Context) kinds.Got {
	return func(w kinds.Want) (*unstructured.Unstructured, job.Presence) {
		if w.Namespace != "" && w.Namespace != r.object.GetNamespace() {
			return nil, job.Unknown
		}
		u, err := r.get(ctx, w.GVK.GroupVersion().String(), w.GVK.Kind, w.Namespace, w.Name)
		switch {
		case apierrors.IsNotFound(err):
			return nil, job.Absent
		case err != nil:
			r.missing(fmt.Sprintf("%s %s", w.GVK.Kind, w.Name), err)
			return nil, job.Unknown
		}
		r.owners.between[u.GetUID()] = u
		return u, job.Present
	}
}

func (r *reading) readPods(ctx context.Context) error {
	over := r.out.State.Phase == kinds.Succeeded || r.out.State.Phase == kinds.Failed // its last pod may be on its way to what follows pods
	for _, selector := range r.kind.Select(r.out.Job.Ref, r.object) {
		if r.NoPods != nil && !over && r.NoPods(ctx, r.object.GetNamespace(), selector) {
			continue
		}
		if err := r.readSelected(ctx, selector); err != nil {
			return err
		}
	}
	return nil
}

func (r *reading) readSelected(ctx context.Context, selector labels.Selector) error {
	options := metav1.ListOptions{LabelSelector: selector.String(), Limit: 500}
	for {
		page, err := r.Kube.CoreV1().Pods(r.object.GetNamespace()).List(ctx, options)
		if err != nil {
			r.missing("pods", err)
			return fmt.Errorf("list pods: %w", err)
		}
		for i := range page.Items {
			pod := &page.Items[i]
			for k := range pod.ManagedFields {
				pod.ManagedFields[k].FieldsV1 = nil // the manager and its time are evidence; the fields are a third of a pod
			}
			if r.owners.own(ctx, pod) {
				TrimStatuses(pod)
				r.out.Pods = append(r.out.Pods, *pod)
			}
		}
		if options.Continue = page.Continue; options.Continue == "" {
			return nil
		}
	}
}

// TrimStatuses leaves of a pod's containers one status each. The API server takes any number of them, under any name: whoever may
// write the status of a pod would have as many logs asked for.
func TrimStatuses(p *corev1.Pod) {
	if len(p.Spec.Containers) == 0 {
		return // it is trimmed already
	}
	has := map[string]bool{}
	for i := range p.Spec.InitContainers {
		has[p.Spec.InitContainers[i].Name] = true
	}
	for i := range p.Spec.Containers {
		has[p.Spec.Containers[i].Name] = true
	}
	first := func(c corev1.ContainerStatus) (drop bool) {
		drop = !has[c.Name]
		has[c.Name] = false
		return drop
	}
	p.Status.InitContainerStatuses = slices.DeleteFunc(p.Status.InitContainerStatuses, first)
	p.Status.ContainerStatuses = slices.DeleteFunc(p.Status.ContainerStatuses, first)
}

// readNodes reads the nodes the pods are on: one by one while they are few.
func (r *reading) readNodes(ctx context.Context) {
	const few = 16
	wanted := map[string]bool{}
	for i := range r.out.Pods {
		if name := r.out.Pods[i].Spec.NodeName; name != "" {
			wanted[name] = true
		}
	}
	r.readFormerNodes(ctx, wanted)
	if len(wanted) > few {
		all, err := r.Kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			r.missing("nodes", err)
			return
		}
		for i := range all.Items {
			if wanted[all.Items[i].Name] {
				r.out.Nodes = append(r.out.Nodes, all.Items[i])
				delete(wanted, all.Items[i].Name)
			}
		}
	}
	for i, name := range sortedKeys(wanted) { // those that the list did not hold may be new
		if i == few {
			r.missing("nodes", fmt.Errorf("%d of them are not listed; the first %d were asked for", len(wanted), few))
			return
		}
		node, err := r.node(ctx, name)
		switch {
		case apierrors.IsNotFound(err):
			r.out.Absent = append(r.out.Absent, control.NodeAbsent(name))
		case err != nil:
			r.missing("node "+name, err)
		default:
			r.out.Nodes = append(r.out.Nodes, *node)
		}
	}
}

// mostFormer bounds the nodes of earlier attempts that are read.
const mostFormer = 4

// readFormerNodes reads the nodes that the platform took from earlier attempts: what they run since shows
// whether they were upgraded. One that is gone says nothing.
func (r *reading) readFormerNodes(ctx context.Context, have map[string]bool) {
	before, err := ledger.Decode(r.object.GetAnnotations()[ledger.Annotation])
	if err != nil || len(r.out.Pods) == 0 {
		return
	}
	n, asked := 0, map[string]bool{}
	for _, a := range slices.Backward(before.Attempts) {
		if !a.Platform || a.Node == "" || a.Upgrade != "" || have[a.Node] || asked[a.Node] || n == mostFormer {
			continue
		}
		asked[a.Node] = true
		n++
		if node, err := r.node(ctx, a.Node); err == nil {
			r.out.Nodes = append(r.out.Nodes, *node)
		}
	}
}

// readNodesOfEvicted reads the nodes from which pods were taken for a taint and are gone. One that is gone, too, says nothing.
func (r *reading) readNodesOfEvicted(ctx context.Context) {
	for i, name := range control.EvictedFrom(r.out.Events, r.out.Pods) {
		if i == mostFormer {
			r.missing("nodes that pods were taken from", fmt.Errorf("there are more than %d; the rest was not read", mostFormer))
			return
		}
		if slices.ContainsFunc(r.out.Nodes, func(n corev1.Node) bool { return n.Name == name }) {
			continue
		}
		if node, err := r.node(ctx, name); err == nil {
			r.out.Nodes = append(r.out.Nodes, *node)
		}
	}
}

// readPreemptors reads who got the nodes of pods that were preempted. The scheduler names it by its UID, by which the
// API server finds nothing: it is looked for on the node, and where the asker may not list there, in the job's namespace.
// One that is gone, or that the asker may not see, stays a UID.
func (r *reading) readPreemptors(ctx context.Context) {
	if !r.Beyond {
		return
	}
	asked := map[string]bool{}
	for _, by := range control.Preemptors(r.out.Events, func(string) bool { return true }) {
		if asked[by.Node] || len(asked) == mostFormer {
			continue
		}
		asked[by.Node] = true
		on := metav1.ListOptions{FieldSelector: "spec.nodeName=" + by.Node}
		pods, err := r.Kube.CoreV1().Pods(metav1.NamespaceAll).List(ctx, on)
		if apierrors.IsForbidden(err) {
			pods, err = r.Kube.CoreV1().Pods(r.object.GetNamespace()).List(ctx, on)
		}
		for i := 0; err == nil && i < len(pods.Items); i++ {
			if p := &pods.Items[i]; by.Is(p.UID, p.Namespace, p.Name) {
				r.out.Objects = append(r.out.Objects, namedPod(p))
			}
		}
	}
}

// namedPod is a pod of another job: whose it is and its priority, and nothing else.
func namedPod(p *corev1.Pod) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"priorityClassName": p.Spec.PriorityClassName}}}
	u.SetAPIVersion("v1")
	u.SetKind("Pod")
	u.SetNamespace(p.Namespace)
	u.SetName(p.Name)
	u.SetUID(p.UID)
	u.SetOwnerReferences(p.OwnerReferences)
	if p.Spec.Priority != nil {
		_ = unstructured.SetNestedField(u.Object, int64(*p.Spec.Priority), "spec", "priority") // a number fits
	}
	return u
}

// sourced names a pod for messages.
func sourced(p *corev1.Pod, container string) string { return p.Name + "/" + container }
