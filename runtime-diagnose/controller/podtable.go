package controller

import (
	"encoding/binary"
	"errors"
	"hash/maphash"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podTable holds the pods of jobs in a few pieces of flat memory, and finds them by their name and by the labels that name
// their job. A cluster has a hundred thousand of them, which as objects of their own are half a million for the garbage
// collector to look at in each of its cycles. It is not safe for concurrent use. Make it with newPodTable.
type podTable struct {
	keys  map[string]bool // labels by which pods name their job
	seed  maphash.Seed
	mask  uint64 // of hashes
	slots []podSlot
	free  []int32             // slots
	named map[uint64]int32    // the first slot whose name has a hash
	ofJob map[jobWord][]int32 // slots
	words wordTable
	text  textTable
	room  []byte // where a record is written before it is held
}

// podSlot is where a pod is.
type podSlot struct {
	text piece // its record; without a size: there is none
	next int32 // the next slot whose name has the same hash; -1: none
}

// jobWord is a label that names a job, in a namespace; both are words.
type jobWord struct{ namespace, label uint32 }

func newPodTable(keys map[string]bool) *podTable {
	return &podTable{keys: keys, seed: maphash.MakeSeed(), mask: math.MaxUint64, named: map[uint64]int32{}, ofJob: map[jobWord][]int32{}, words: wordTable{ids: map[string]uint32{}}}
}

// podRecord is a pod as it is held: words of its namespace, node, owners and labels, where its name is in the text, the text of
// a packedPod.
type podRecord struct {
	namespace, node, owners uint32
	labels                  []uint32
	nameAt, nameLen, status uint64
	text                    []byte
}

func (r *podRecord) name() []byte { return r.text[r.nameAt:][:r.nameLen] }

// set adds or replaces a pod; before is the one that it replaces, nil where there was none.
func (t *podTable) set(p *packedPod) (before *corev1.Pod) {
	before = t.drop(p.namespace.Value(), p.name())
	r := podRecord{
		namespace: t.words.take(p.namespace.Value()), node: t.words.take(p.node.Value()), owners: t.words.take(p.owners.Value()),
		nameAt: uint64(p.nameAt), nameLen: uint64(p.nameLen), status: uint64(p.status),
	}
	var room [16]uint32
	r.labels = room[:0]
	var ofJob []jobWord
	for key, value := range p.labels.All() {
		word := t.words.take(labelWord(key, value))
		if r.labels = append(r.labels, word); t.keys[key] {
			ofJob = append(ofJob, jobWord{r.namespace, word})
		}
	}
	t.room = r.append(t.room[:0], p.text)
	slot := podSlot{text: t.text.add(t.room), next: -1}
	hash := t.hash(r.namespace, p.name())
	if first, there := t.named[hash]; there {
		slot.next = first
	}
	var at int32
	if n := len(t.free); n > 0 {
		at, t.free = t.free[n-1], t.free[:n-1]
		t.slots[at] = slot
	} else {
		at = int32(len(t.slots))
		t.slots = append(t.slots, slot)
	}
	t.named[hash] = at
	for _, of := range ofJob {
		t.ofJob[of] = append(t.ofJob[of], at)
	}
	t.text.compact(t.pieces)
	return before
}

// pieces are all records, which may be moved.
func (t *podTable) pieces(yield func(*piece) bool) {
	for i := range t.slots {
		if s := &t.slots[i].text; s.size > 0 && !yield(s) {
			return
		}
	}
}

// drop takes a pod out; nil: it was not there.
func (t *podTable) drop(namespace, name string) *corev1.Pod {
	at, before := t.find(namespace, name)
	if at < 0 {
		return nil
	}
	r := t.record(at)
	out := t.pod(&r)
	hash := t.hash(r.namespace, name)
	switch next := t.slots[at].next; {
	case before >= 0:
		t.slots[before].next = next
	case next >= 0:
		t.named[hash] = next
	default:
		delete(t.named, hash)
	}
	for _, word := range r.labels {
		of := jobWord{r.namespace, word}
		if list, there := t.ofJob[of]; there {
			if list = slices.DeleteFunc(list, func(of int32) bool { return of == at }); len(list) == 0 {
				delete(t.ofJob, of)
			} else {
				t.ofJob[of] = list
			}
		}
		t.words.leave(word)
	}
	t.words.leave(r.owners)
	t.words.leave(r.node)
	t.words.leave(r.namespace)
	t.text.drop(t.slots[at].text)
	t.slots[at] = podSlot{next: -1}
	t.free = append(t.free, at)
	return out
}

// get is a pod; nil: it is not there.
func (t *podTable) get(namespace, name string) *corev1.Pod {
	at, _ := t.find(namespace, name)
	if at < 0 {
		return nil
	}
	r := t.record(at)
	return t.pod(&r)
}

// labelled are the pods of a namespace with a label that names their job, in no order.
func (t *podTable) labelled(namespace, key, value string) (out []*corev1.Pod) {
	in, known := t.words.ids[namespace]
	label, there := t.words.ids[labelWord(key, value)]
	if !known || !there {
		return nil
	}
	for _, at := range t.ofJob[jobWord{in, label}] {
		r := t.record(at)
		out = append(out, t.pod(&r))
	}
	return out
}

// all are the pods of which a function, nil for any, wants the namespace.
func (t *podTable) all(wanted func(namespace string) bool) (out []*corev1.Pod) {
	for at := range t.slots {
		if t.slots[at].text.size == 0 {
			continue
		}
		if r := t.record(int32(at)); wanted == nil || wanted(t.words.text(r.namespace)) {
			out = append(out, t.pod(&r))
		}
	}
	return out
}

// names are those of all pods.
func (t *podTable) names() (out []podName) {
	for at := range t.slots {
		if t.slots[at].text.size > 0 {
			out = append(out, t.nameOf(int32(at)))
		}
	}
	return out
}

type podName struct{ namespace, name string }

// at is the pod of a slot, nil where that has none; more is false behind the last slot.
func (t *podTable) at(slot int) (p *corev1.Pod, more bool) {
	if slot >= len(t.slots) {
		return nil, false
	}
	if t.slots[slot].text.size == 0 {
		return nil, true
	}
	r := t.record(int32(slot))
	return t.pod(&r), true
}

// nameOf is the name of the pod of a slot.
func (t *podTable) nameOf(slot int32) podName {
	r := t.record(slot)
	return podName{t.words.text(r.namespace), string(r.name())}
}

// find is the slot of a pod, and the one before it of the same hash; -1: there is none.
func (t *podTable) find(namespace, name string) (at, before int32) {
	in, known := t.words.ids[namespace]
	at, there := t.named[t.hash(in, name)]
	if !known || !there {
		return -1, -1
	}
	for before = -1; at >= 0; before, at = at, t.slots[at].next {
		if r := t.record(at); r.namespace == in && string(r.name()) == name {
			return at, before
		}
	}
	return -1, -1
}

func (t *podTable) hash(namespace uint32, name string) uint64 {
	return (maphash.String(t.seed, name) + uint64(namespace)*0x9e3779b97f4a7c15) & t.mask
}

// labelWord is a label as one word; neither part of one holds "=".
func labelWord(key, value string) string { return key + "=" + value }

func (r *podRecord) append(to []byte, text string) []byte {
	for _, n := range []uint64{uint64(r.namespace), uint64(r.node), uint64(r.owners), r.nameAt, r.nameLen, r.status, uint64(len(r.labels))} {
		to = binary.AppendUvarint(to, n)
	}
	for _, label := range r.labels {
		to = binary.AppendUvarint(to, uint64(label))
	}
	return append(to, text...)
}

// record reads what append has written; its text is the table's.
func (t *podTable) record(at int32) (r podRecord) {
	text := t.text.of(t.slots[at].text)
	next := func() uint64 {
		n, size := binary.Uvarint(text)
		text = text[size:]
		return n
	}
	r.namespace, r.node, r.owners = uint32(next()), uint32(next()), uint32(next())
	r.nameAt, r.nameLen, r.status = next(), next(), next()
	r.labels = make([]uint32, next())
	for i := range r.labels {
		r.labels[i] = uint32(next())
	}
	r.text = text
	return r
}

// pod is the pod of a record, which shares nothing with the table but words.
func (t *podTable) pod(r *podRecord) *corev1.Pod {
	out, common := &corev1.Pod{}, metav1.ObjectMeta{}
	if err := errors.Join(out.ObjectMeta.Unmarshal(r.text[:r.status]), out.Status.Unmarshal(r.text[r.status:]), common.Unmarshal([]byte(t.words.text(r.owners)))); err != nil { // what Marshal wrote can be read
		out = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: string(r.name())}}
	}
	out.Namespace, out.Spec.NodeName, out.OwnerReferences = t.words.text(r.namespace), t.words.text(r.node), common.OwnerReferences
	if len(r.labels) > 0 {
		out.Labels = make(map[string]string, len(r.labels))
	}
	for _, word := range r.labels {
		key, value := labelOf(t.words.text(word))
		out.Labels[key] = value
	}
	return out
}
