package controller

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unique"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/cluster/live"
)

// What the cache holds, it holds packed: as the text that was read, a pod or a job takes a third of what it does
// decoded, in one piece into which the garbage collector does not look. A cluster has a hundred thousand pods and
// thousands of jobs, of which few are looked at in the same second.

// packed is what packedPod and live.PackedObject have in common.
type packed interface {
	runtime.Object
	Shown() metav1.Object // the object itself; it must not be changed
}

// packedPod is the metadata and the status of a pod as protobuf, but for what it has in common with others: the pods of a job
// differ in one label.
type packedPod struct {
	namespace, node unique.Handle[string]
	labels          cluster.Labels
	owners          unique.Handle[string] // as protobuf
	text            string                // the metadata, then the status
	status          uint32                // where that begins
	nameAt          uint32                // in the text, as is the version
	versionAt       uint32
	nameLen         uint16 // a name has 253 bytes at most, a version is a number
	versionLen      uint16
}

func (p *packedPod) name() string    { return p.text[p.nameAt:][:p.nameLen] }
func (p *packedPod) version() string { return p.text[p.versionAt:][:p.versionLen] }

func pack(p *corev1.Pod) (*packedPod, error) {
	own, common := p.ObjectMeta, metav1.ObjectMeta{OwnerReferences: p.OwnerReferences}
	own.Namespace, own.Labels, own.OwnerReferences = "", nil, nil
	text, err := own.Marshal()
	status, wrong := p.Status.Marshal()
	owners, bad := common.Marshal()
	if err := errors.Join(err, wrong, bad); err != nil {
		return nil, fmt.Errorf("hold pod %s/%s: %w", p.Namespace, p.Name, err)
	}
	out := &packedPod{
		namespace: unique.Make(p.Namespace), node: unique.Make(p.Spec.NodeName), labels: cluster.LabelsOf(p.Labels),
		owners: unique.Make(string(owners)), text: string(append(text, status...)), status: uint32(len(text)),
	}
	find := func(of string) (uint32, uint16) {
		return uint32(max(0, strings.Index(out.text, of))), uint16(len(of)) // every string of a message stands in it as it is
	}
	out.nameAt, out.nameLen = find(p.Name)
	out.versionAt, out.versionLen = find(p.ResourceVersion)
	return out, nil
}

func (p *packedPod) pod() *corev1.Pod {
	out, common := &corev1.Pod{}, metav1.ObjectMeta{}
	text := []byte(p.text)
	if err := errors.Join(out.ObjectMeta.Unmarshal(text[:p.status]), out.Status.Unmarshal(text[p.status:]), common.Unmarshal([]byte(p.owners.Value()))); err != nil { // what Marshal wrote can be read
		out = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: p.name(), ResourceVersion: p.version()}}
	}
	out.Namespace, out.Labels, out.OwnerReferences, out.Spec.NodeName = p.namespace.Value(), p.labels.Map(), common.OwnerReferences, p.node.Value()
	return out
}

// Shown is the pod itself.
func (p *packedPod) Shown() metav1.Object { return p.pod() }

// Labels are those of the pod.
func (p *packedPod) Labels() map[string]string { return p.labels.Map() }

// GetObjectKind is that of nothing: only the cache sees it.
func (*packedPod) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject is the pod itself: the cache hands out copies only.
func (p *packedPod) DeepCopyObject() runtime.Object { return p.pod() }

// GetObjectMeta is what a cache asks for.
func (p *packedPod) GetObjectMeta() metav1.Object {
	return &live.PackedMeta{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace.Value(), Name: p.name(), ResourceVersion: p.version()}, Of: p}
}

// packedInformer is an informer that holds objects packed, and shows them as they are.
type packedInformer struct{ toolscache.SharedIndexInformer }

func (i packedInformer) AddEventHandler(h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandler(unpacking{h})
}

func (i packedInformer) AddEventHandlerWithResyncPeriod(h toolscache.ResourceEventHandler, every time.Duration) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandlerWithResyncPeriod(unpacking{h}, every)
}

func (i packedInformer) AddEventHandlerWithOptions(h toolscache.ResourceEventHandler, o toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandlerWithOptions(unpacking{h}, o)
}

func (i packedInformer) AddIndexers(by toolscache.Indexers) error {
	out := toolscache.Indexers{}
	for name, values := range by {
		out[name] = func(object any) ([]string, error) { return values(unpacked(object)) }
	}
	return i.SharedIndexInformer.AddIndexers(out)
}

// unpacking is a handler that is told of the objects themselves.
type unpacking struct {
	to toolscache.ResourceEventHandler
}

func (h unpacking) OnAdd(object any, first bool) { h.to.OnAdd(unpacked(object), first) }
func (h unpacking) OnUpdate(before, after any)   { h.to.OnUpdate(unpacked(before), unpacked(after)) }
func (h unpacking) OnDelete(object any)          { h.to.OnDelete(unpacked(object)) }

func unpacked(object any) any {
	switch o := object.(type) {
	case packed:
		return o.Shown()
	case toolscache.DeletedFinalStateUnknown:
		o.Obj = unpacked(o.Obj)
		return o
	}
	return object
}
