package live

import (
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var namespaceKind = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}

// mostAnnotation is how long an annotation may be to be kept. Indexes and task names of
// operators are shorter; whole manifests (kubectl's last-applied) are not.
const mostAnnotation = 128

// trimMeta keeps what readers look at.
func trimMeta(m *metav1.ObjectMeta) metav1.ObjectMeta {
	out := metav1.ObjectMeta{
		Name: m.Name, Namespace: m.Namespace, UID: m.UID, Labels: m.Labels,
		OwnerReferences: m.OwnerReferences, DeletionTimestamp: m.DeletionTimestamp, CreationTimestamp: m.CreationTimestamp,
	}
	for key, value := range m.Annotations {
		if len(value) <= mostAnnotation {
			metav1.SetMetaDataAnnotation(&out, key, value)
		}
	}
	return out
}

// keepNodes keeps of nodes what the fit counts; a heartbeat alone changes nothing of it. Of the
// conditions that is Ready, and whether there are any. What nodes have alike is held once.
func keepNodes() cache.TransformFunc {
	var mu sync.Mutex // as for pods
	words := words{}
	return func(object any) (any, error) {
		n, ok := object.(*corev1.Node)
		if !ok {
			return object, nil
		}
		mu.Lock()
		defer mu.Unlock()
		out := &corev1.Node{ObjectMeta: trimMeta(&n.ObjectMeta)}
		out.Name, out.Labels, out.Annotations = words.of(out.Name), words.ofMap(out.Labels), words.ofMap(out.Annotations) // one label is the name
		out.Spec.Taints, out.Spec.Unschedulable = n.Spec.Taints, n.Spec.Unschedulable
		out.Status.DeclaredFeatures = n.Status.DeclaredFeatures
		if out.Status.Allocatable = cluster.SharedAmounts(n.Status.Allocatable); len(n.Status.Allocatable) == 0 {
			out.Status.Capacity = cluster.SharedAmounts(n.Status.Capacity)
		}
		at := slices.IndexFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
		if at = max(at, 0); at < len(n.Status.Conditions) {
			c := &n.Status.Conditions[at]
			out.Status.Conditions = []corev1.NodeCondition{{Type: c.Type, Status: c.Status}}
		}
		return out, nil
	}
}

// heldPod is what counts of a pod, on its way into the store.
type heldPod struct{ pod *cluster.Pod }

// GetObjectMeta is what a queue asks for: the name.
func (p *heldPod) GetObjectMeta() metav1.Object {
	return &metav1.ObjectMeta{Namespace: p.pod.Namespace(), Name: p.pod.Name()}
}

// keepPods keeps of pods what takes room, what keeps others away, and whose they are.
// Commands and environments are dropped: they are large, and may hold what nobody else
// should see. So are annotations that no reader looks at: a network leaves some on every pod.
func keepPods() cache.TransformFunc {
	kept := append(kinds.PodAnnotations(), corev1.MirrorPodAnnotationKey)
	var mu sync.Mutex // an informer need not ask for one pod after the other
	words, lean := words{}, corev1.Pod{}
	return func(object any) (any, error) {
		p, ok := object.(*corev1.Pod)
		if !ok {
			return object, nil
		}
		mu.Lock()
		defer mu.Unlock()
		lean = *p
		defer lean.Reset()
		lean.Annotations = nil
		for _, key := range kept {
			if value, there := p.Annotations[key]; there && len(value) <= mostAnnotation {
				metav1.SetMetaDataAnnotation(&lean.ObjectMeta, key, value)
			}
		}
		lean.Labels, lean.Annotations = words.ofMap(lean.Labels), words.ofMap(lean.Annotations)
		if o := metav1.GetControllerOfNoCopy(p); o != nil {
			lean.OwnerReferences = []metav1.OwnerReference{{Kind: words.of(o.Kind), Name: words.of(o.Name), UID: types.UID(words.of(string(o.UID))), Controller: o.Controller}}
		}
		lean.Spec.PriorityClassName = words.of(lean.Spec.PriorityClassName)
		lean.Namespace, lean.Spec.NodeName = words.of(lean.Namespace), words.of(lean.Spec.NodeName)
		return &heldPod{cluster.PodOf(&lean)}, nil
	}
}

// words holds each word once, however many pods use it: every pod arrives with its own
// copies of labels and names.
type words map[string]string

const (
	// mostWords bounds what is remembered; beyond that it begins anew.
	mostWords = 1 << 16
	// mostWord is how long a text is that is remembered, in bytes: no object is called by more, and the API server bounds no name
	// of an owner (k8s.io/apimachinery, pkg/api/validation/objectmeta.go, validateOwnerReference). What is remembered stays when the
	// pod is gone.
	mostWord = 253
)

func (w words) of(s string) string {
	if len(s) > mostWord {
		return s
	}
	if known, ok := w[s]; ok {
		return known
	}
	if len(w) >= mostWords {
		clear(w)
	}
	w[s] = s
	return s
}

func (w words) ofMap(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[w.of(k)] = w.of(v)
	}
	return out
}

func trimNamespace(object any) (any, error) {
	n, ok := object.(*corev1.Namespace)
	if !ok {
		return object, nil
	}
	return &corev1.Namespace{ObjectMeta: trimMeta(&n.ObjectMeta)}, nil
}

// namespaceObject is a namespace as snapshots hold objects.
func namespaceObject(n *corev1.Namespace) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(namespaceKind)
	u.SetName(n.Name)
	u.SetCreationTimestamp(n.CreationTimestamp)
	u.SetLabels(n.Labels)
	u.SetAnnotations(n.Annotations)
	return u
}

// trimObject drops what the API server keeps for itself and kubectl's copy of the object, and reads the rest.
func trimObject(object any) (any, error) {
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		return object, nil
	}
	unstructured.RemoveNestedField(u.Object, "metadata", "managedFields")
	unstructured.RemoveNestedField(u.Object, "metadata", "annotations", corev1.LastAppliedConfigAnnotation)
	return cluster.Hold(u), nil
}

// trimWebhooks keeps of a ValidatingWebhookConfiguration when its webhooks are called; their
// addresses and certificates are not looked at.
func trimWebhooks(object any) (any, error) {
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		return object, nil
	}
	return cluster.Hold(LeanWebhooks(u)), nil
}

// LeanWebhooks is a ValidatingWebhookConfiguration with nothing but what says when its webhooks
// are called.
func LeanWebhooks(u *unstructured.Unstructured) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{"apiVersion": u.GetAPIVersion(), "kind": u.GetKind()}}
	out.SetName(u.GetName())
	out.SetUID(u.GetUID())
	out.SetResourceVersion(u.GetResourceVersion())
	entries, _ := u.Object["webhooks"].([]any)
	var kept []any
	for _, e := range entries {
		hook, ok := e.(map[string]any)
		if !ok {
			continue
		}
		short := map[string]any{}
		for _, field := range []string{"name", "failurePolicy", "matchConditions", "namespaceSelector", "objectSelector", "rules"} {
			if v, there := hook[field]; there {
				short[field] = v
			}
		}
		kept = append(kept, short)
	}
	out.Object["webhooks"] = kept
	return out
}

// unchanged says that two versions of an object differ in nothing that was kept.
func unchanged(old, object any) bool {
	switch a := old.(type) {
	case *corev1.Node:
		b, ok := object.(*corev1.Node)
		return ok && sameMeta(&a.ObjectMeta, &b.ObjectMeta) &&
			a.Spec.Unschedulable == b.Spec.Unschedulable && sameTaints(a.Spec.Taints, b.Spec.Taints) &&
			sameAmounts(a.Status.Allocatable, b.Status.Allocatable) && sameAmounts(a.Status.Capacity, b.Status.Capacity) &&
			slices.Equal(a.Status.Conditions, b.Status.Conditions) && slices.Equal(a.Status.DeclaredFeatures, b.Status.DeclaredFeatures)
	case *heldPod:
		b, ok := object.(*heldPod)
		return ok && a.pod.Equal(b.pod)
	default:
		return false
	}
}

// sameMeta compares what trimMeta keeps of a node.
func sameMeta(a, b *metav1.ObjectMeta) bool {
	return a.UID == b.UID && maps.Equal(a.Labels, b.Labels) && maps.Equal(a.Annotations, b.Annotations) &&
		a.DeletionTimestamp.Equal(b.DeletionTimestamp)
}

func sameTaints(a, b []corev1.Taint) bool {
	return slices.EqualFunc(a, b, func(x, y corev1.Taint) bool { return x.Key == y.Key && x.Value == y.Value && x.Effect == y.Effect })
}

func sameAmounts(a, b corev1.ResourceList) bool {
	return maps.EqualFunc(a, b, func(x, y resource.Quantity) bool { return x.Cmp(y) == 0 })
}
