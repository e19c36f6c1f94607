package cluster

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
)

// Labels are the labels of a pod, by key. They implement labels.Labels. The zero value has none.
type Labels struct {
	of *labelSet // a pointer, so that to be handed on as labels.Labels takes no memory
}

// labelSet is labels: those of a template, but for some that say something else. A map of five takes 340 bytes.
type labelSet struct {
	template *podTemplate // never nil
	own      []Label      // by key; they stand for those of the template with the same keys
}

var (
	noTemplate podTemplate
	noLabels   = labelSet{template: &noTemplate}
)

func (l Labels) set() *labelSet { return cmp.Or(l.of, &noLabels) }

// LabelsOf are labels that stand in a map.
func LabelsOf(m map[string]string) Labels {
	if len(m) == 0 {
		return Labels{}
	}
	return Labels{&labelSet{template: &noTemplate, own: appendLabels(make([]Label, 0, len(m)), m)}}
}

// each are the labels in the order of their keys.
func (s *labelSet) each(yield func(Label) bool) {
	own := s.own
	for _, label := range s.template.labels {
		for ; len(own) > 0 && own[0].Value()[0] <= label.Value()[0]; own = own[1:] {
			if own[0].Value()[0] == label.Value()[0] {
				label = own[0]
			} else if !yield(own[0]) {
				return
			}
		}
		if !yield(label) {
			return
		}
	}
	for _, label := range own {
		if !yield(label) {
			return
		}
	}
}

// has says that a label is among them. Equal labels are one, so that hardly any text is compared.
func (s *labelSet) has(label Label) bool {
	if slices.Contains(s.own, label) {
		return true
	}
	return slices.Contains(s.template.labels, label) && !slices.ContainsFunc(s.own, func(own Label) bool { return own.Value()[0] == label.Value()[0] })
}

func (s *labelSet) equal(o *labelSet) bool {
	if s.template == o.template {
		return slices.Equal(s.own, o.own)
	}
	var room, other [2 * fewKeys]Label
	return slices.Equal(slices.AppendSeq(room[:0], s.each), slices.AppendSeq(other[:0], o.each))
}

// Equal says that two pods have the same labels.
func (l Labels) Equal(o Labels) bool { return l.set().equal(o.set()) }

// Lookup is the value of a label, and whether it is there.
func (l Labels) Lookup(key string) (value string, there bool) {
	of := l.set()
	for _, list := range [...][]Label{of.own, of.template.labels} {
		if at, there := slices.BinarySearchFunc(list, key, func(has Label, key string) int { return strings.Compare(has.Value()[0], key) }); there {
			return list[at].Value()[1], true
		}
	}
	return "", false
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

// All are the labels, in the order of their keys.
func (l Labels) All() iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		for label := range l.set().each {
			if of := label.Value(); !yield(of[0], of[1]) {
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
	if of := l.set(); m == nil && len(of.own)+len(of.template.labels) > 0 {
		m = make(map[string]string, max(len(of.own), len(of.template.labels)))
	}
	maps.Insert(m, l.All())
	return m
}
