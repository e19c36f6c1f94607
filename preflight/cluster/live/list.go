package live

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
)

// podsAPage is how many pods are asked for at a time: neither side holds more of them whole.
const podsAPage = 1000

// Pods are all pods of a cluster, once, as a snapshot keeps them: of each what counts is kept before
// the next one is read. The client should speak protobuf (Connect), which is a fraction of JSON.
func Pods(ctx context.Context, kube kubernetes.Interface) ([]*cluster.Pod, error) {
	keep := keepPods()
	plain := &cache.ListWatch{ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		return kube.CoreV1().Pods(metav1.NamespaceAll).List(ctx, o)
	}}
	source := PodSource(kube, plain, keep)
	var out []*cluster.Pod
	for next := ""; ; {
		page, err := cache.ToListerWithContext(source).ListWithContext(ctx, metav1.ListOptions{Limit: podsAPage, Continue: next})
		if apierrors.IsResourceExpired(err) && next != "" {
			out, next = nil, "" // the listing took longer than the server remembers
			continue
		}
		if err != nil {
			return nil, err
		}
		if out, next, err = kept(out, page, keep); err != nil || next == "" {
			return out, err
		}
	}
}

// kept adds the pods of a page, and says where the next one begins.
func kept(to []*cluster.Pod, page runtime.Object, keep cache.TransformFunc) (out []*cluster.Pod, next string, err error) {
	switch page := page.(type) {
	case *heldPods:
		for _, o := range page.Items {
			if p, ok := o.(*heldPod); ok {
				to = append(to, p.pod)
			}
		}
		return to, page.Continue, nil
	case *corev1.PodList:
		for i := range page.Items {
			lean, err := keep(&page.Items[i])
			if err != nil {
				return nil, "", err
			}
			if p, ok := lean.(*heldPod); ok {
				to = append(to, p.pod)
			}
		}
		return to, page.Continue, nil
	}
	return to, "", nil
}
