package capacity

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

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

// labelFilter says of labels that no pod of a block has them; a few times in a hundred it
// cannot say so though none has. It is a Bloom filter with two bits for each label.
type labelFilter [64]uint64

const filterBits = 64 * 64

func (h labelHash) bits() (a, b uint64) { return uint64(h) % filterBits, uint64(h>>32) % filterBits }

func (f *labelFilter) add(h labelHash) {
	a, b := h.bits()
	f[a/64] |= 1 << (a % 64)
	f[b/64] |= 1 << (b % 64)
}

func (f *labelFilter) has(h labelHash) bool {
	a, b := h.bits()
	return f[a/64]>>(a%64)&1 == 1 && f[b/64]>>(b%64)&1 == 1
}

// mayHold says whether some pod of the block may have every one of some labels.
func (b *block) mayHold(labels []labelHash) bool {
	if len(labels) == 0 {
		return true
	}
	f := b.labels.Load()
	if f == nil {
		f = &labelFilter{}
		for _, p := range b.pods {
			for key, value := range p.labels {
				f.add(hashOf(key, value))
			}
		}
		b.labels.Store(f)
	}
	for _, h := range labels {
		if !f.has(h) {
			return false
		}
	}
	return true
}

// labelsOf are labels that whatever some selectors match has for certain.
func labelsOf(selectors ...labels.Selector) []labelHash {
	var out []labelHash
	for _, s := range selectors {
		requirements, _ := s.Requirements()
		for i := range requirements {
			r := &requirements[i]
			one := r.Operator() == selection.Equals || r.Operator() == selection.DoubleEquals || r.Operator() == selection.In
			if values := r.ValuesUnsorted(); one && len(values) == 1 {
				out = append(out, hashOf(r.Key(), values[0]))
			}
		}
	}
	return out
}

// hashesOf stand for labels.
func hashesOf(labels map[string]string) []labelHash {
	var out []labelHash
	for key, value := range labels {
		out = append(out, hashOf(key, value))
	}
	return out
}
