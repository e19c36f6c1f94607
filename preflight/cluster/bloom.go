package cluster

import (
	"unique"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// NeededLabel is a label without which a pod is not looked at.
type NeededLabel struct {
	label Label
	hash  labelHash
}

func needed(key, value string) NeededLabel {
	return NeededLabel{unique.Make([2]string{key, value}), hashOf(key, value)}
}

// labelHash stands for a label and its value.
type labelHash uint64

// hashOf is FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/) of the two.
func hashOf(key, value string) labelHash {
	h := uint64(14695981039346656037)
	for _, s := range [...]string{key, "=", value} {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * 1099511628211
		}
	}
	return labelHash(h)
}

// bloomFilter says of labels that no pod of a block has them; a few times in a hundred it
// cannot say so though none has. It is a Bloom filter with two bits for each label.
type bloomFilter [64]uint64

const bloomBits = 64 * 64

func (h labelHash) bits() (a, b uint64) { return uint64(h) % bloomBits, uint64(h>>32) % bloomBits }

func (f *bloomFilter) add(h labelHash) {
	a, b := h.bits()
	f[a/64] |= 1 << (a % 64)
	f[b/64] |= 1 << (b % 64)
}

func (f *bloomFilter) has(h labelHash) bool {
	a, b := h.bits()
	return f[a/64]>>(a%64)&1 == 1 && f[b/64]>>(b%64)&1 == 1
}

// mayHold says whether some pod of the block may have every one of some labels.
func (b *block) mayHold(labels []NeededLabel) bool {
	if len(labels) == 0 {
		return true
	}
	f := b.labels.Load()
	if f == nil {
		f = &bloomFilter{}
		for _, p := range b.pods {
			for key, value := range p.Labels().All() {
				f.add(hashOf(key, value))
			}
		}
		b.labels.Store(f)
	}
	for _, l := range labels {
		if !f.has(l.hash) {
			return false
		}
	}
	return true
}

// hasAll says whether the pod has every one of some labels.
func (p *Pod) hasAll(labels []NeededLabel) bool {
	for _, l := range labels {
		if !p.has(l.label) {
			return false
		}
	}
	return true
}

// NeededBy are labels that whatever some selectors match has for certain.
func NeededBy(selectors ...labels.Selector) []NeededLabel {
	var out []NeededLabel
	for _, s := range selectors {
		requirements, _ := s.Requirements()
		for i := range requirements {
			r := &requirements[i]
			one := r.Operator() == selection.Equals || r.Operator() == selection.DoubleEquals || r.Operator() == selection.In
			if values := r.ValuesUnsorted(); one && len(values) == 1 {
				out = append(out, needed(r.Key(), values[0]))
			}
		}
	}
	return out
}

// Needed are labels that a pod must have.
func Needed(labels map[string]string) []NeededLabel {
	var out []NeededLabel
	for key, value := range labels {
		out = append(out, needed(key, value))
	}
	return out
}
