package controller

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
)

// packedPod is a pod as the cache holds it: as protobuf it takes a third of what the decoded one does, in one piece
// into which the garbage collector does not look. A cluster has a hundred thousand pods, of which few are looked at in
// the same second.
type packedPod struct {
	namespace, name, version string // parts of the text
	text                     string
}

func pack(p *corev1.Pod) (*packedPod, error) {
	text, err := p.Marshal()
	if err != nil {
		return nil, fmt.Errorf("hold pod %s/%s: %w", p.Namespace, p.Name, err)
	}
	out := &packedPod{text: string(text)}
	part := func(of string) string {
		at := max(0, strings.Index(out.text, of)) // every string of a message stands in it as it is
		return out.text[at : at+len(of)]
	}
	out.namespace, out.name, out.version = part(p.Namespace), part(p.Name), part(p.ResourceVersion)
	return out, nil
}

func (p *packedPod) pod() *corev1.Pod {
	out := &corev1.Pod{}
	if err := out.Unmarshal([]byte(p.text)); err != nil { // what Marshal wrote can be read
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: p.name, ResourceVersion: p.version}}
	}
	return out
}

// GetObjectKind is that of nothing: no one but the cache sees it.
func (*packedPod) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject is the pod itself: the cache hands out copies only.
func (p *packedPod) DeepCopyObject() runtime.Object { return p.pod() }

// GetObjectMeta is what a cache asks for: where the pod belongs, whether an event is news, and its labels.
func (p *packedPod) GetObjectMeta() metav1.Object {
	return &packedMeta{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: p.name, ResourceVersion: p.version}, of: p}
}

type packedMeta struct {
	metav1.ObjectMeta
	of *packedPod
}

// GetLabels reads them: not everyone who asks for a name wants them.
func (m *packedMeta) GetLabels() map[string]string { return m.of.pod().Labels }

// packedPods is an informer that holds packed pods, and shows pods.
type packedPods struct{ toolscache.SharedIndexInformer }

func (i packedPods) AddEventHandler(h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandler(unpacking{h})
}

func (i packedPods) AddEventHandlerWithResyncPeriod(h toolscache.ResourceEventHandler, every time.Duration) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandlerWithResyncPeriod(unpacking{h}, every)
}

func (i packedPods) AddEventHandlerWithOptions(h toolscache.ResourceEventHandler, o toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandlerWithOptions(unpacking{h}, o)
}

func (i packedPods) AddIndexers(by toolscache.Indexers) error {
	out := toolscache.Indexers{}
	for name, values := range by {
		out[name] = func(object any) ([]string, error) { return values(unpacked(object)) }
	}
	return i.SharedIndexInformer.AddIndexers(out)
}

// unpacking is a handler that is told of pods.
type unpacking struct {
	to toolscache.ResourceEventHandler
}

func (h unpacking) OnAdd(object any, first bool) { h.to.OnAdd(unpacked(object), first) }
func (h unpacking) OnUpdate(before, after any)   { h.to.OnUpdate(unpacked(before), unpacked(after)) }
func (h unpacking) OnDelete(object any)          { h.to.OnDelete(unpacked(object)) }

func unpacked(object any) any {
	switch o := object.(type) {
	case *packedPod:
		return o.pod()
	case toolscache.DeletedFinalStateUnknown:
		o.Obj = unpacked(o.Obj)
		return o
	}
	return object
}
