package capacity

import (
	"iter"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// residents are the live pods of a namespace, in no order: there may be very many, and one
// of them changes all the time.
type residents struct {
	pods, queue [][]*Pod // in pieces; queue are those that wait

	index sync.Once
	bound map[string]bool // names of pods with a node; made when first asked for

	tally sync.Once
	count int           // of pods that wait
	sum   job.Resources // of what they ask for
}

// all are the pods.
func (r *residents) all() iter.Seq[*Pod] { return inPieces(r.pods) }

// waiting are the pods that wait for a place and are not being deleted.
func (r *residents) waiting() iter.Seq[*Pod] { return inPieces(r.queue) }

func inPieces(pieces [][]*Pod) iter.Seq[*Pod] {
	return func(yield func(*Pod) bool) {
		for _, piece := range pieces {
			for _, p := range piece {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// isBound says that a pod of that name has a node.
func (r *residents) isBound(name string) bool {
	r.index.Do(func() {
		r.bound = map[string]bool{}
		for p := range r.all() {
			if p.node != "" {
				r.bound[p.name] = true
			}
		}
	})
	return r.bound[name]
}

// asked are the pods that wait, and what they ask for in all.
func (r *residents) asked() (pods int, sum job.Resources) {
	r.tally.Do(func() {
		r.sum = job.Resources{}
		for p := range r.waiting() {
			r.count++
			for _, a := range p.requests {
				r.sum[a.name] = plus(r.sum[a.name], a.n)
			}
		}
	})
	return r.count, r.sum
}

// quarter is the live pods of a namespace in a ledger.
type quarter struct {
	all, waiting roster
	shown        *residents // nil: something has changed
}

// lodging is a pod in a ledger, and where it is in the lists of its namespace.
type lodging struct {
	pod     *Pod
	on      *berth // nil: none
	at      int32
	waiting int32 // -1: it does not
}

func (p *Pod) waits() bool { return p.node == "" && !p.deleted }

func (q *quarter) admit(p *Pod) *lodging {
	q.shown = nil
	to := &lodging{pod: p, at: q.all.add(p), waiting: -1}
	if p.waits() {
		to.waiting = q.waiting.add(p)
	}
	return to
}

// dismiss takes a pod out. The place of one that takes its place in a list changes.
func (q *quarter) dismiss(from *lodging, find func(*Pod) *lodging) {
	q.shown = nil
	if moved := q.all.remove(from.at); moved != nil {
		find(moved).at = from.at
	}
	if from.waiting >= 0 {
		if moved := q.waiting.remove(from.waiting); moved != nil {
			find(moved).waiting = from.waiting
		}
	}
}

// show is the quarter as it is now, for snapshots to keep.
func (q *quarter) show() *residents {
	if q.shown == nil {
		q.shown = &residents{pods: q.all.share(), queue: q.waiting.share()}
	}
	return q.shown
}

// rosterPiece is how many pods are copied where one of them changes.
const rosterPiece = 128

// roster is a list of pods in no order. Snapshots share its pieces; a piece that is shared
// is copied before it is written to, so that a change costs O(rosterPiece), not O(pods).
type roster struct {
	pieces [][]*Pod // full, but for the last
	own    []bool   // by piece: nobody shares it
	size   int32
}

// piece is the piece with place i, writable.
func (r *roster) piece(i int32) []*Pod {
	at := i / rosterPiece
	if !r.own[at] {
		r.pieces[at] = append(make([]*Pod, 0, rosterPiece), r.pieces[at]...)
		r.own[at] = true
	}
	return r.pieces[at]
}

func (r *roster) add(p *Pod) (at int32) {
	at = r.size
	r.size++
	if at%rosterPiece == 0 {
		r.pieces, r.own = append(r.pieces, nil), append(r.own, false)
	}
	r.pieces[at/rosterPiece] = append(r.piece(at), p)
	return at
}

// remove fills the place with the last pod, which it returns; nil if it was the last.
func (r *roster) remove(at int32) (moved *Pod) {
	r.size--
	last := r.piece(r.size)
	moved = last[len(last)-1]
	last[len(last)-1] = nil
	r.pieces[r.size/rosterPiece] = last[:len(last)-1]
	if len(last) == 1 {
		r.pieces, r.own = r.pieces[:len(r.pieces)-1], r.own[:len(r.own)-1]
	}
	if at == r.size {
		return nil
	}
	r.piece(at)[at%rosterPiece] = moved
	return moved
}

// share hands the pieces out; from now on they are copied before they are written to.
func (r *roster) share() [][]*Pod {
	clear(r.own)
	return slices.Clone(r.pieces)
}

// seen is the pod as Gang.Own sees it: its metadata, and its node. into is overwritten.
func (p *Pod) seen(into *corev1.Pod) *corev1.Pod {
	into.Namespace, into.Name, into.Labels, into.Annotations = p.namespace, p.name, p.labels, p.annotations
	into.Spec.NodeName = p.node
	return into
}
