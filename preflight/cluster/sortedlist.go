package cluster

import (
	"iter"
	"slices"
	"strings"
)

// Name tells things of one kind apart, in the order in which they are listed.
type Name struct{ Namespace, Name, Version string }

func (n Name) compare(o Name) int {
	if c := strings.Compare(n.Namespace, o.Namespace); c != 0 {
		return c
	}
	if c := strings.Compare(n.Name, o.Name); c != 0 {
		return c
	}
	return strings.Compare(n.Version, o.Version)
}

// sortedList holds values in the order of their names. What was shared stays as it is: a
// block is copied before it is written to, so that a change costs O(blockItems) and a copy
// of the whole O(values/blockItems).
type sortedList[V any] struct {
	blocks []*itemBlock[V]
	owned  []bool // by block: not shared; nil: all are shared
	size   int
}

// itemBlock holds its values itself: a look at one is a look at memory, and most of what finding
// one costs.
type itemBlock[V any] struct {
	n   int
	all [blockItems]item[V]
}

func (b *itemBlock[V]) items() []item[V] { return b.all[:b.n] }

// insert puts a value in; there is room.
func (b *itemBlock[V]) insert(at int, it item[V]) {
	copy(b.all[at+1:b.n+1], b.all[at:b.n])
	b.all[at] = it
	b.n++
}

func (b *itemBlock[V]) remove(at int) {
	copy(b.all[at:], b.all[at+1:b.n])
	b.n--
	b.all[b.n] = item[V]{}
}

type item[V any] struct {
	name  Name
	value V
}

// blockItems is how many values a block holds at most. One change copies a block, and the first
// one after a snapshot a pointer for each block: of 20,000 values and a hundred changes between
// two snapshots, blocks of 8 to 16 copy least.
const blockItems = 16

// find is where a name is, or would be.
func (l *sortedList[V]) find(name Name) (block, at int, ok bool) {
	// The block before the first one that begins behind the name.
	low, high := 0, len(l.blocks)
	for low < high {
		if middle := (low + high) / 2; l.blocks[middle].all[0].name.compare(name) <= 0 {
			low = middle + 1
		} else {
			high = middle
		}
	}
	block = max(0, low-1)
	if len(l.blocks) == 0 {
		return 0, 0, false
	}
	items := l.blocks[block].items()
	low, high = 0, len(items)
	for low < high {
		middle := (low + high) / 2
		switch c := items[middle].name.compare(name); {
		case c == 0:
			return block, middle, true
		case c < 0:
			low = middle + 1
		default:
			high = middle
		}
	}
	return block, low, false
}

func (l *sortedList[V]) Get(name Name) (value V, ok bool) {
	if l == nil {
		return value, false
	}
	block, at, ok := l.find(name)
	if ok {
		value = l.blocks[block].all[at].value
	}
	return value, ok
}

// own makes a block writable.
func (l *sortedList[V]) own(block int) *itemBlock[V] {
	if l.owned == nil {
		l.blocks, l.owned = slices.Clone(l.blocks), make([]bool, len(l.blocks))
	}
	if !l.owned[block] {
		mine := *l.blocks[block]
		l.blocks[block] = &mine
		l.owned[block] = true
	}
	return l.blocks[block]
}

// set adds or replaces a value; before is the one that it replaces.
func (l *sortedList[V]) set(name Name, value V) (before V, replaced bool) {
	if len(l.blocks) == 0 {
		first := &itemBlock[V]{}
		first.insert(0, item[V]{name, value})
		l.blocks, l.owned, l.size = []*itemBlock[V]{first}, []bool{true}, 1
		return before, false
	}
	at, i, ok := l.find(name)
	b := l.own(at)
	if ok {
		before, b.all[i] = b.all[i].value, item[V]{name, value}
		return before, true
	}
	if b.n == blockItems {
		// What arrives in order fills the blocks: the last one is not halved.
		half := blockItems / 2
		if at == len(l.blocks)-1 && i == blockItems {
			half = blockItems
		}
		rest := &itemBlock[V]{}
		rest.n = copy(rest.all[:], b.all[half:])
		clear(b.all[half:])
		b.n = half
		l.blocks, l.owned = slices.Insert(l.blocks, at+1, rest), slices.Insert(l.owned, at+1, true)
		if i >= half {
			b, i = rest, i-half
		}
	}
	b.insert(i, item[V]{name, value})
	l.size++
	return before, false
}

// drop takes a value out.
func (l *sortedList[V]) drop(name Name) (before V, ok bool) {
	at, i, ok := l.find(name)
	if !ok {
		return before, false
	}
	b := l.own(at)
	before = b.all[i].value
	b.remove(i)
	if b.n == 0 {
		l.blocks, l.owned = slices.Delete(l.blocks, at, at+1), slices.Delete(l.owned, at, at+1)
	}
	l.size--
	return before, true
}

// share is the list as it is now, for others to keep.
func (l *sortedList[V]) share() *sortedList[V] {
	l.owned = nil
	return &sortedList[V]{blocks: l.blocks, size: l.size}
}

// from are the values from a name on.
func (l *sortedList[V]) from(name Name) iter.Seq2[Name, V] {
	return func(yield func(Name, V) bool) {
		if l == nil || len(l.blocks) == 0 {
			return
		}
		at, i, _ := l.find(name)
		for ; at < len(l.blocks); at, i = at+1, 0 {
			for _, it := range l.blocks[at].items()[i:] {
				if !yield(it.name, it.value) {
					return
				}
			}
		}
	}
}

// in are the values of a namespace.
func (l *sortedList[V]) in(namespace string) iter.Seq2[Name, V] {
	return func(yield func(Name, V) bool) {
		for name, value := range l.from(Name{Namespace: namespace}) {
			if name.Namespace != namespace || !yield(name, value) {
				return
			}
		}
	}
}

// called are the values of one name, in all its versions.
func (l *sortedList[V]) called(namespace, name string) iter.Seq2[Name, V] {
	return func(yield func(Name, V) bool) {
		for n, value := range l.from(Name{Namespace: namespace, Name: name}) {
			if n.Namespace != namespace || n.Name != name || !yield(n, value) {
				return
			}
		}
	}
}

// all are the values.
func (l *sortedList[V]) all() iter.Seq2[Name, V] { return l.from(Name{}) }

func (l *sortedList[V]) length() int {
	if l == nil {
		return 0
	}
	return l.size
}
