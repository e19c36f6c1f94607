package cluster

import (
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// PodList is the live pods of a namespace as a snapshot has them, in no order: there may be very many, and one
// of them changes all the time.
type PodList struct {
	pods, queue []*block // queue are those that wait

	index sync.Once
	bound map[string]bool // names of pods with a node; made when first asked for

	tally  sync.Once
	count  int           // of pods that wait
	owners int           // of those
	sum    job.Resources // of what they ask for
}

// All are the pods.
func (r *PodList) All() iter.Seq[*Pod] { return inBlocks(r.pods, nil) }

// With are the pods that have some labels. Most blocks in which none has them are not looked into.
func (r *PodList) With(labels []NeededLabel) iter.Seq[*Pod] { return inBlocks(r.pods, labels) }

// Waiting are the pods that wait for a place and are not being deleted; with labels, as in With.
func (r *PodList) Waiting(labels []NeededLabel) iter.Seq[*Pod] { return inBlocks(r.queue, labels) }

func inBlocks(blocks []*block, labels []NeededLabel) iter.Seq[*Pod] {
	return func(yield func(*Pod) bool) {
		for _, b := range blocks {
			if !b.mayHold(labels) {
				continue
			}
			for _, p := range b.pods {
				if p.hasAll(labels) && !yield(p) {
					return
				}
			}
		}
	}
}

// isBound says that a pod of that name has a node.
func (r *PodList) isBound(name string) bool {
	r.index.Do(func() {
		r.bound = map[string]bool{}
		for p := range r.All() {
			if p.node != "" {
				r.bound[p.name] = true
			}
		}
	})
	return r.bound[name]
}

// Asked are the pods that wait, and what they ask for in all.
func (r *PodList) Asked() (pods int, sum job.Resources) {
	r.tallied()
	return r.count, r.sum
}

// Waited are the controllers whose pods wait; a pod without one counts as its own.
func (r *PodList) Waited() int {
	r.tallied()
	return r.owners
}

func (r *PodList) tallied() {
	r.tally.Do(func() {
		r.sum = job.Resources{}
		owners := map[Owner]bool{}
		for p := range r.Waiting(nil) {
			if r.count++; p.Owner() == (Owner{}) {
				r.owners++
			} else {
				owners[p.Owner()] = true
			}
			for _, a := range p.Requests() {
				r.sum[a.Name] = saturate.Add(r.sum[a.Name], a.N)
			}
		}
		r.owners += len(owners)
	})
}

// namespacePods is the live pods of a namespace in a store.
type namespacePods struct {
	named        map[string]podEntry
	all, waiting podBlocks
	shown        *PodList // nil: something has changed
}

// podEntry is a pod in a store, and where it is in the lists of its namespace.
type podEntry struct {
	pod     *Pod
	at      int32
	waiting int32 // -1: it does not
}

func (p *Pod) waits() bool { return p.node == "" && !p.deleted }

// get is a pod by its name; nil: it is not there.
func (q *namespacePods) get(name string) *Pod {
	if q == nil {
		return nil
	}
	return q.named[name].pod
}

func (q *namespacePods) add(p *Pod) {
	q.shown = nil
	to := podEntry{pod: p, at: q.all.add(p), waiting: -1}
	if p.waits() {
		to.waiting = q.waiting.add(p)
	}
	q.named[p.name] = to
}

// drop takes a pod out. The place of one that takes its place in a list changes.
func (q *namespacePods) drop(p *Pod) {
	q.shown = nil
	from := q.named[p.name]
	delete(q.named, p.name)
	if moved := q.all.remove(from.at); moved != nil {
		to := q.named[moved.name]
		to.at = from.at
		q.named[moved.name] = to
	}
	if from.waiting < 0 {
		return
	}
	if moved := q.waiting.remove(from.waiting); moved != nil {
		to := q.named[moved.name]
		to.waiting = from.waiting
		q.named[moved.name] = to
	}
}

// show is the pods as they are now, for snapshots to keep.
func (q *namespacePods) show() *PodList {
	if q.shown == nil {
		q.shown = &PodList{pods: q.all.share(), queue: q.waiting.share()}
	}
	return q.shown
}

// blockSize is how many pods are copied where one of them changes.
const blockSize = 128

// podBlocks is a list of pods in no order. Snapshots share its blocks; a block that is shared
// is copied before it is written to, so that a change costs O(blockSize), not O(pods).
type podBlocks struct {
	blocks []*block // full, but for the last
	own    []bool   // by block: it is not shared
	size   int32
}

// block is a number of pods, and which labels they have.
type block struct {
	pods   []*Pod
	labels atomic.Pointer[bloomFilter] // made when first asked for, which is after the block was shared
}

// block is the block with place i, writable.
func (r *podBlocks) block(i int32) *block {
	at := i / blockSize
	if !r.own[at] {
		r.blocks[at] = &block{pods: append(make([]*Pod, 0, blockSize), r.blocks[at].pods...)}
		r.own[at] = true
	}
	return r.blocks[at]
}

func (r *podBlocks) add(p *Pod) (at int32) {
	at = r.size
	r.size++
	if at%blockSize == 0 {
		r.blocks, r.own = append(r.blocks, &block{pods: make([]*Pod, 0, blockSize)}), append(r.own, true)
	}
	b := r.block(at)
	b.pods = append(b.pods, p)
	return at
}

// remove fills the place with the last pod, which it returns; nil if it was the last.
func (r *podBlocks) remove(at int32) (moved *Pod) {
	r.size--
	last := r.block(r.size)
	end := len(last.pods) - 1
	moved = last.pods[end]
	last.pods[end] = nil
	if last.pods = last.pods[:end]; end == 0 {
		r.blocks, r.own = r.blocks[:len(r.blocks)-1], r.own[:len(r.own)-1]
	}
	if at == r.size {
		return nil
	}
	r.block(at).pods[at%blockSize] = moved
	return moved
}

// share hands the blocks out; from now on they are copied before they are written to.
func (r *podBlocks) share() []*block {
	clear(r.own)
	return slices.Clone(r.blocks)
}

// Metadata is the pod as Gang.Own sees it: its metadata, and its node. into is overwritten, its labels and its owner included: of
// many pods one is made.
func (p *Pod) Metadata(into *corev1.Pod) *corev1.Pod {
	into.Namespace, into.Name, into.Labels, into.Annotations = p.Namespace(), p.name, p.Labels().into(into.Labels), p.annotations
	into.OwnerReferences = into.OwnerReferences[:0]
	if p.Owner() != (Owner{}) {
		into.OwnerReferences = append(into.OwnerReferences, p.Controller())
	}
	into.Spec.NodeName = p.node
	return into
}

// BelongsTo says whether the pod is one of a gang's own; scratch is overwritten, as in Metadata.
func (p *Pod) BelongsTo(g *gang.Gang, scratch *corev1.Pod) bool {
	if g.Own == nil || p.Namespace() != g.Namespace {
		return false
	}
	_, own := g.Own(p.Metadata(scratch))
	return own
}

// Controller is the owner as a pod refers to it.
func (p *Pod) Controller() metav1.OwnerReference {
	o := p.Owner()
	return metav1.OwnerReference{Kind: o.Kind, Name: o.Name, UID: types.UID(o.UID), Controller: &isController}
}

var isController = true // whose address is written where a pointer is asked for
