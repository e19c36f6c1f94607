package cluster

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// LabelHash stands for a label and its value.
type LabelHash uint64

// hashOf is FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/) of the two.
func hashOf(key, value string) LabelHash {
	h := uint64(14695981039346656037)
	for _, s := range [...]string{key, "=", value} {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * 1099511628211
		}
	}
	return LabelHash(h)
}

// bloomFilter says of labels that no pod of a block has them; a few times in a hundred it
// cannot say so though none has. It is a Bloom filter with two bits for each label.
type bloomFilter [64]uint64

const bloomBits = 64 * 64

func (h LabelHash) bits() (a, b uint64) { return uint64(h) % bloomBits, uint64(h>>32) % bloomBits }

func (f *bloomFilter) add(h LabelHash) {
	a, b := h.bits()
	f[a/64] |= 1 << (a % 64)
	f[b/64] |= 1 << (b % 64)
}

func (f *bloomFilter) has(h LabelHash) bool {
	a, b := h.bits()
	return f[a/64]>>(a%64)&1 == 1 && f[b/64]>>(b%64)&1 == 1
}

// mayHold says whether some pod of the block may have every one of some labels.
func (b *block) mayHold(labels []LabelHash) bool {
	if len(labels) == 0 {
		return true
	}
	f := b.labels.Load()
	if f == nil {
		f = &bloomFilter{}
		for _, p := range b.pods {
			for key, value := range p.labels.All() {
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

// HashesIn are labels that whatever some selectors match has for certain.
func HashesIn(selectors ...labels.Selector) []LabelHash {
	var out []LabelHash
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

// HashLabels stand for labels.
func HashLabels(labels map[string]string) []LabelHash {
	var out []LabelHash
	for key, value := range labels {
		out = append(out, hashOf(key, value))
	}
	return out
}
