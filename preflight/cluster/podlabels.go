package cluster

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"unique"
)

// Labels are the labels of a pod, in the order of their keys. A map of five takes 340 bytes, and a large cluster has a
// hundred thousand; of a label that many pods have, each pod holds a word. They implement labels.Labels.
type Labels []Label

// LabelsOf are labels that stand in a map.
func LabelsOf(m map[string]string) Labels {
	if len(m) == 0 {
		return nil
	}
	out := make(Labels, 0, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		out = append(out, unique.Make([2]string{key, m[key]}))
	}
	return out
}

// Lookup is the value of a label, and whether it is there.
func (l Labels) Lookup(key string) (value string, there bool) {
	at, there := slices.BinarySearchFunc(l, key, func(has Label, key string) int { return strings.Compare(has.Value()[0], key) })
	if !there {
		return "", false
	}
	return l[at].Value()[1], true
}

// Get is the value of a label; empty: it is not there, or has none.
func (l Labels) Get(key string) string {
	value, _ := l.Lookup(key)
	return value
}

// Has says that a label is there.
func (l Labels) Has(key string) bool {
	_, there := l.Lookup(key)
	return there
}

// All are the labels.
func (l Labels) All() iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		for _, has := range l {
			if of := has.Value(); !yield(of[0], of[1]) {
				return
			}
		}
	}
}

// Map is the labels as a map of their own; nil: there are none.
func (l Labels) Map() map[string]string {
	if len(l) == 0 {
		return nil
	}
	return maps.Collect(l.All())
}
