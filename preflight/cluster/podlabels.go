package cluster

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"unique"
)

// Labels are the labels of a pod, in the order of their keys. A map of five takes 340 bytes, and a large cluster has a
// hundred thousand; of a label that many pods have, each pod holds a word. They implement labels.Labels. The zero value has
// none.
type Labels struct {
	all *[]Label // a pointer, so that to be handed on as labels.Labels takes no memory
}

// LabelsOf are labels that stand in a map.
func LabelsOf(m map[string]string) Labels {
	if len(m) == 0 {
		return Labels{}
	}
	all := roomFor(len(m))
	fillLabels(all, m)
	return Labels{all}
}

// fillLabels appends labels in the order of their keys.
func fillLabels(to *[]Label, m map[string]string) {
	var room [fewKeys]string
	for _, key := range sortedInto(room[:0], m) {
		*to = append(*to, unique.Make([2]string{key, m[key]}))
	}
}

// withLabels is an empty pod with its labels behind it: of two objects for each pod the garbage collector would have to look at
// both. Most pods have five, or seven with those of an operator.
func withLabels(m map[string]string) *Pod {
	var out *Pod
	var all *[]Label
	switch n := len(m); {
	case n == 0 || n > 7:
		return &Pod{labels: LabelsOf(m)}
	case n <= 3:
		of := &struct {
			pod  Pod
			list []Label
			room [3]Label
		}{}
		of.list, out, all = of.room[:0], &of.pod, &of.list
	case n <= 5:
		of := &struct {
			pod  Pod
			list []Label
			room [5]Label
		}{}
		of.list, out, all = of.room[:0], &of.pod, &of.list
	default:
		of := &struct {
			pod  Pod
			list []Label
			room [7]Label
		}{}
		of.list, out, all = of.room[:0], &of.pod, &of.list
	}
	fillLabels(all, m)
	out.labels = Labels{all}
	return out
}

// roomFor is an empty list with room for so many, which stands behind its own head: of two objects for each pod the garbage
// collector would have to look at both.
func roomFor(n int) *[]Label {
	switch {
	case n <= 3:
		of := &struct {
			list []Label
			room [3]Label
		}{}
		of.list = of.room[:0]
		return &of.list
	case n <= 5:
		of := &struct {
			list []Label
			room [5]Label
		}{}
		of.list = of.room[:0]
		return &of.list
	case n <= 7:
		of := &struct {
			list []Label
			room [7]Label
		}{}
		of.list = of.room[:0]
		return &of.list
	}
	all := make([]Label, 0, n)
	return &all
}

func (l Labels) list() []Label {
	if l.all == nil {
		return nil
	}
	return *l.all
}

// Equal says that two pods have the same labels.
func (l Labels) Equal(o Labels) bool { return slices.Equal(l.list(), o.list()) }

// Lookup is the value of a label, and whether it is there.
func (l Labels) Lookup(key string) (value string, there bool) {
	at, there := slices.BinarySearchFunc(l.list(), key, func(has Label, key string) int { return strings.Compare(has.Value()[0], key) })
	if !there {
		return "", false
	}
	return (*l.all)[at].Value()[1], true
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
		for _, has := range l.list() {
			if of := has.Value(); !yield(of[0], of[1]) {
				return
			}
		}
	}
}

// Map is the labels as a map of their own; nil: there are none.
func (l Labels) Map() map[string]string { return l.into(nil) }

// into is the labels in a map whose memory is used again; nil: there are none, or there was no map.
func (l Labels) into(m map[string]string) map[string]string {
	clear(m)
	if m == nil && len(l.list()) > 0 {
		m = make(map[string]string, len(l.list()))
	}
	maps.Insert(m, l.All())
	return m
}
