package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/capture"
)

// owners finds the job that a pod belongs to, in the caches: the top of the chain of controllers,
// because that is what a user submitted and what outlives the attempts below it.
type owners struct {
	cache  client.Reader
	served *served
}

// longestChain is Pod → Job → JobSet → TrainJob.
const longestChain = 4

func (o owners) of(ctx context.Context, p *corev1.Pod) (capture.Job, bool) {
	ref := metav1.GetControllerOf(p)
	if ref == nil {
		return capture.Job{}, false
	}
	if ref.Kind == "ConfigMap" {
		return o.framework(ctx, p, ref.UID)
	}
	if ref.Kind == "StatefulSet" {
		return o.leaderWorkerSet(ctx, p, ref.Name)
	}
	var found capture.Job
	for range longestChain {
		gv, err := schema.ParseGroupVersion(ref.APIVersion)
		if err != nil {
			break
		}
		k, gvk, ok := o.served.findGVK(gv.WithKind(ref.Kind))
		if !ok {
			break
		}
		u, ok := o.get(ctx, gvk, p.Namespace, ref.Name)
		if !ok || u.GetUID() != ref.UID {
			break
		}
		found = capture.Job{Kind: k, Ref: refOf(k, u)}
		if ref = metav1.GetControllerOf(u); ref == nil {
			break
		}
	}
	return found, found.Kind != nil
}

// framework is the Framework of a pod whose controller is the ConfigMap of an attempt
// (frameworkcontroller d6e7078, pkg/apis/frameworkcontroller/v1/types.go: configMapUID).
func (o owners) framework(ctx context.Context, p *corev1.Pod, attempt types.UID) (capture.Job, bool) {
	k, gvk, ok := o.served.find("Framework")
	if !ok || p.Labels[frameworkLabel] == "" {
		return capture.Job{}, false
	}
	u, ok := o.get(ctx, gvk, p.Namespace, p.Labels[frameworkLabel])
	if !ok {
		return capture.Job{}, false
	}
	uid, _, err := unstructured.NestedString(u.Object, "status", "attemptStatus", "configMapUID")
	return capture.Job{Kind: k, Ref: refOf(k, u)}, err == nil && uid == string(attempt)
}

// leaderWorkerSet is the set of a pod that a StatefulSet made, which is in no cache: that of the leaders is
// called as the set, each other one as its leader, and no pod is older than its set
// (sigs.k8s.io/lws v0.7.0 pkg/controllers: constructLeaderStatefulSetApplyConfiguration,
// constructWorkerStatefulSetApplyConfiguration).
func (o owners) leaderWorkerSet(ctx context.Context, p *corev1.Pod, madeBy string) (capture.Job, bool) {
	name := p.Labels[lwsLabel]
	k, gvk, ok := o.served.find("LeaderWorkerSet")
	if !ok || name == "" || madeBy != name && madeBy != name+"-"+p.Labels[lwsGroupLabel] {
		return capture.Job{}, false
	}
	u, ok := o.get(ctx, gvk, p.Namespace, name)
	if !ok || u.GetCreationTimestamp().After(p.CreationTimestamp.Time) {
		return capture.Job{}, false
	}
	return capture.Job{Kind: k, Ref: refOf(k, u)}, true
}

func (o owners) get(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string) (*unstructured.Unstructured, bool) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	err := o.cache.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, u)
	return u, err == nil
}

// gone says that a job is not there any more, or is on its way out.
func (o owners) gone(ctx context.Context, ref job.Ref) bool {
	_, gvk, ok := o.served.findGVK(schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind))
	if !ok {
		return false // unknown
	}
	u, ok := o.get(ctx, gvk, ref.Namespace, ref.Name)
	return !ok || string(u.GetUID()) != ref.UID || u.GetDeletionTimestamp() != nil
}

func refOf(k *kinds.Kind, u *unstructured.Unstructured) job.Ref {
	return job.Ref{Kind: k.API(), APIVersion: u.GetAPIVersion(), Namespace: u.GetNamespace(), Name: u.GetName(), UID: string(u.GetUID())}
}
