package collect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
)

// podGroups are the kinds of gang that schedulers wait for, and how a pod names its own.
var podGroups = []struct {
	apiVersions []string // newest first: the first that is served is read
	of          func(*corev1.Pod) string
}{
	// kubernetes-sigs/scheduler-plugins v0.34, apis/scheduling/v1alpha1/types.go
	{[]string{"scheduling.x-k8s.io/v1alpha1"}, label("scheduling.x-k8s.io/pod-group")},
	// volcano.sh/apis v1.13, pkg/apis/scheduling/v1beta1/labels.go
	{[]string{"scheduling.volcano.sh/v1beta1"}, annotation("scheduling.k8s.io/group-name")},
	{[]string{"scheduling.volcano.sh/v1beta1"}, annotation("scheduling.volcano.sh/group-name")},
	// T9k manual, src/modules/scheduling
	{[]string{"scheduler.tensorstack.dev/v1beta1"}, label("scheduler.tensorstack.dev/group-name")},
	// Kubernetes 1.36 and 1.37 (k8s.io/api scheduling/v1alpha2, v1alpha3 and v1beta1; core/v1 PodSchedulingGroup)
	{[]string{"scheduling.k8s.io/v1beta1", "scheduling.k8s.io/v1alpha3", "scheduling.k8s.io/v1alpha2"}, schedulingGroup},
}

func label(key string) func(*corev1.Pod) string {
	return func(p *corev1.Pod) string { return p.Labels[key] }
}

func annotation(key string) func(*corev1.Pod) string {
	return func(p *corev1.Pod) string { return p.Annotations[key] }
}

func schedulingGroup(p *corev1.Pod) string {
	if g := p.Spec.SchedulingGroup; g != nil && g.PodGroupName != nil {
		return *g.PodGroupName
	}
	return ""
}

// readPodGroups reads the groups the pods name, where the cluster serves them.
func (r *reading) readPodGroups(ctx context.Context) {
	for _, g := range podGroups {
		names := map[string]bool{}
		for i := range r.out.Pods {
			if name := g.of(&r.out.Pods[i]); name != "" {
				names[name] = true
			}
		}
		for _, name := range sortedKeys(names) {
			r.readBeside(ctx, g.apiVersions, "PodGroup", name)
		}
	}
	r.readNativeWorkloads(ctx)
}

// nativeWorkload is what holds the groups of Kubernetes 1.35. Pods name it in a field that later
// versions do not have, so it is read where the job is written
// (https://github.com/kubernetes/kubernetes/blob/v1.35.0/staging/src/k8s.io/api/scheduling/v1alpha1/types.go).
var nativeWorkload = []string{"scheduling.k8s.io/v1alpha1"}

func (r *reading) readNativeWorkloads(ctx context.Context) {
	names := map[string]bool{}
	for _, g := range gang.Of(r.out.Job).Groups {
		if g.Workload != "" {
			names[g.Workload] = true
		}
	}
	for _, name := range sortedKeys(names) {
		r.readBeside(ctx, nativeWorkload, workloadKind, name)
	}
}

// readBeside reads one object of the job's namespace in the first version that the cluster serves, and
// keeps it beside the job. One of a kind that is not served is missing.
func (r *reading) readBeside(ctx context.Context, apiVersions []string, kind, name string) {
	var last error
	for _, apiVersion := range apiVersions {
		u, err := r.get(ctx, apiVersion, kind, r.object.GetNamespace(), name)
		if err == nil {
			u.SetAPIVersion(apiVersion)
			u.SetKind(kind)
			r.owners.between[u.GetUID()] = u
			return
		}
		if last = err; !meta.IsNoMatchError(err) {
			break
		}
	}
	switch {
	case last == nil:
	case meta.IsNoMatchError(last):
		group, _, _ := strings.Cut(apiVersions[0], "/")
		r.missing(kind+" "+name, fmt.Errorf("the cluster serves no %s of %s", kind, group))
	default:
		r.missing(kind+" "+name, last)
	}
}

// workloads are the objects by which Kueue holds and admits a job. It labels each with the UID of
// the job that asked (https://kueue.sigs.k8s.io/docs/reference/labels-and-annotations/).
var workloads = []string{"kueue.x-k8s.io/v1beta2", "kueue.x-k8s.io/v1beta1"}

const (
	workloadKind = "Workload"
	jobUIDLabel  = "kueue.x-k8s.io/job-uid"
	queueLabel   = "kueue.x-k8s.io/queue-name"
)

// queued says whether Kueue may hold the job: by a queue that it, or what it was made into, names, or, where Kueue takes
// all jobs (manageJobsWithoutQueueName), by suspending it. Of any other job there is no Workload to miss.
func (r *reading) queued() bool {
	names := func(u *unstructured.Unstructured) bool { return u.GetLabels()[queueLabel] != "" }
	if names(r.object) || r.out.State.Phase == kinds.Suspended || r.out.Job != nil && r.out.Job.Suspended {
		return true
	}
	for _, u := range r.owners.between {
		if suspended, _, _ := unstructured.NestedBool(u.Object, "spec", "suspend"); suspended || names(u) {
			return true
		}
	}
	return false
}

// readWorkloads reads what Kueue says of the job, or of the objects between it and its pods: why
// it is held, evicted or preempted. A cluster without Kueue has none.
func (r *reading) readWorkloads(ctx context.Context) {
	unknown := 0
	defer func() {
		if unknown == len(workloads) && r.queued() {
			r.out.Absent = append(r.out.Absent, control.NoKueue)
		}
	}()
	for _, apiVersion := range workloads {
		gv, _ := schema.ParseGroupVersion(apiVersion)
		m, err := r.mapping(schema.GroupKind{Group: gv.Group, Kind: workloadKind}, gv.Version)
		if err != nil {
			if meta.IsNoMatchError(err) {
				unknown++
			}
			continue
		}
		uids := []string{string(r.object.GetUID())}
		for uid, u := range r.owners.between {
			if u.GetKind() == "JobSet" { // of a TrainJob; the Jobs below are admitted with it
				uids = append(uids, string(uid))
			}
		}
		slices.Sort(uids)
		list, err := r.Dynamic.Resource(m.Resource).Namespace(r.object.GetNamespace()).List(ctx, metav1.ListOptions{
			LabelSelector: jobUIDLabel + " in (" + strings.Join(uids, ",") + ")",
		})
		if err != nil {
			if r.queued() {
				r.missing("Workloads", err)
			}
			return
		}
		for i := range list.Items {
			u := &list.Items[i]
			u.SetAPIVersion(apiVersion)
			u.SetKind(workloadKind)
			r.owners.between[u.GetUID()] = u
		}
		return
	}
}
