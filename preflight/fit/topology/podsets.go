package topology

import (
	"iter"
	"math/bits"
	"slices"
)

// podSetSet is a set of pod sets, by their number in a stage. Sets of one rule set are equally long.
type podSetSet []uint64

func newPodSetSet(podSets int) podSetSet { return make(podSetSet, (podSets+63)/64) }

func (s podSetSet) has(i int) bool { return s[i/64]>>(i%64)&1 == 1 }

func (s podSetSet) add(i int) { s[i/64] |= 1 << (i % 64) }

func (s podSetSet) equal(o podSetSet) bool { return slices.Equal(s, o) }

func (s podSetSet) empty() bool {
	return !slices.ContainsFunc(s, func(word uint64) bool { return word != 0 })
}

// meets says whether two sets have a pod set in common.
func (s podSetSet) meets(o podSetSet) bool {
	for at, word := range s {
		if word&o[at] != 0 {
			return true
		}
	}
	return false
}

// holds says whether all pod sets of another set are in the set.
func (s podSetSet) holds(o podSetSet) bool {
	for at, word := range o {
		if word&^s[at] != 0 {
			return false
		}
	}
	return true
}

func (s podSetSet) join(o podSetSet) {
	for at, word := range o {
		s[at] |= word
	}
}

// with is the set of those that are in either.
func (s podSetSet) with(o podSetSet) podSetSet {
	out := slices.Clone(s)
	out.join(o)
	return out
}

// and is the set of those that are in both.
func (s podSetSet) and(o podSetSet) podSetSet {
	out := slices.Clone(s)
	for at, word := range o {
		out[at] &= word
	}
	return out
}

// without is the set of those that are not in the other.
func (s podSetSet) without(o podSetSet) podSetSet {
	out := slices.Clone(s)
	for at, word := range o {
		out[at] &^= word
	}
	return out
}

// all are the pod sets of the set.
func (s podSetSet) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for at, word := range s {
			for ; word != 0; word &= word - 1 {
				if !yield(at*64 + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}

// podsOf adds up the pods of the pod sets of a set.
func (s podSetSet) podsOf(counts []int32) (n int32) {
	for at, word := range s {
		for ; word != 0; word &= word - 1 {
			n += counts[at*64+bits.TrailingZeros64(word)]
		}
	}
	return n
}
