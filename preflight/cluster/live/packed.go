package live

import (
	"fmt"
	"sync"
	"weak"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// PackedObject is a job, or another object of a kind that is not built in, as JSON: in one piece, into which the garbage
// collector does not look, it takes a third of what it does decoded. There are thousands of jobs, of which few are looked at
// in the same second. Make it with Pack.
type PackedObject struct {
	namespace, name, version string
	text                     string
	// decoded is the object as long as the garbage collector leaves it: most of what is asked about a job is asked when it changes.
	decoded weak.Pointer[unstructured.Unstructured]
}

// Pack packs an object, which must not be changed afterwards.
func Pack(u *unstructured.Unstructured) (*PackedObject, error) {
	room, _ := packRoom.Get().(*[]byte)
	defer packRoom.Put(room)
	text, err := AppendJSON((*room)[:0], u.Object)
	object := len(text)
	words := [...]string{u.GetNamespace(), u.GetName(), u.GetResourceVersion()}
	for _, word := range words { // behind the object, so that all is one piece
		text = append(text, word...)
	}
	if *room = text; cap(text) > mostPackRoom {
		*room = nil
	}
	if err != nil {
		return nil, fmt.Errorf("hold %s %s/%s: %w", u.GetKind(), u.GetNamespace(), u.GetName(), err)
	}
	all := string(text)
	out := &PackedObject{text: all[:object], decoded: weak.Make(u)}
	all = all[object:]
	for i, field := range [...]*string{&out.namespace, &out.name, &out.version} {
		*field, all = all[:len(words[i])], all[len(words[i]):]
	}
	return out, nil
}

// Name is what it is called.
func (o *PackedObject) Name() types.NamespacedName {
	return types.NamespacedName{Namespace: o.namespace, Name: o.name}
}

// Version is the resource version of the object.
func (o *PackedObject) Version() string { return o.version }

// packRoom is where objects are written before it is known how long they are.
var packRoom = sync.Pool{New: func() any { return new([]byte) }}

// mostPackRoom is the room that is kept for the next one.
const mostPackRoom = 64 << 10

// Object is the object itself, which must not be changed.
func (o *PackedObject) Object() *unstructured.Unstructured {
	if u := o.decoded.Value(); u != nil {
		return u
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON([]byte(o.text)); err != nil { // what MarshalJSON wrote can be read
		u.SetNamespace(o.namespace)
		u.SetName(o.name)
		u.SetResourceVersion(o.version)
	}
	return u
}

// Shown is the object itself, too.
func (o *PackedObject) Shown() metav1.Object { return o.Object() }

// GetObjectKind is that of nothing: only a cache sees it.
func (*PackedObject) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject is a copy of the object.
func (o *PackedObject) DeepCopyObject() runtime.Object {
	if u := o.decoded.Value(); u != nil {
		return u.DeepCopy()
	}
	return o.Object()
}

// GetObjectMeta is what a cache asks for.
func (o *PackedObject) GetObjectMeta() metav1.Object {
	return &PackedMeta{metav1.ObjectMeta{Namespace: o.namespace, Name: o.name, ResourceVersion: o.version}, o}
}

// Labels are those of the object.
func (o *PackedObject) Labels() map[string]string { return o.Object().GetLabels() }

// PackedMeta is what a cache asks for again and again: where an object belongs, whether an event is news, and, of
// those that it lists by labels, the labels.
type PackedMeta struct {
	metav1.ObjectMeta
	Of interface{ Labels() map[string]string }
}

// GetLabels reads them: not every caller that asks for a name wants them.
func (m *PackedMeta) GetLabels() map[string]string { return m.Of.Labels() }
