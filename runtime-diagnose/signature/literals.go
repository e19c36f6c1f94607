package signature

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strings"
)

// A literal is found by sampling: wherever a long enough literal stands, one of its grams (so
// many bytes in a row) begins at a place that is a multiple of step. So only the grams at
// those places are looked up in a set of bits, and most of a log is left behind at that. Longer
// literals are found by longer grams, which other text seldom holds. docs/adr tells what else
// was measured.
const (
	longGram   = 8 // literals of 11 bytes and more
	middleGram = 4 // of 7 to 10
	wideStep   = 4
	shortGram  = 3 // of 4 to 6
	shortStep  = 2

	shortestLong   = longGram + wideStep - 1
	shortestMiddle = middleGram + wideStep - 1

	// LeastLiteral is how short a literal may be, in bytes.
	LeastLiteral = shortGram + shortStep - 1

	longBits = 19 // of the hash of a long gram: so many have one that fewer bits let others pass
	gramBits = 17 // and of a shorter one: 16 KiB of bits a class, which stay in the first cache
	nearBits = 18 // of the hash of a gram and what stands beside it
	heads    = 12 // bits of the hash that choose where the entries of a gram begin
)

// finder finds which of many literals occur in a text. Letters are compared without case
// (ASCII) unless the literal has a capital. It is immutable; memory is some 100 bytes a literal.
type finder struct {
	literals            []string // folded where they are compared so
	exact               []bool
	long, middle, short class
	longSet             [1 << longBits / 64]uint64 // of grams
	middleSet, shortSet gramSet
}

// gramSet are bits of the hashes of grams.
type gramSet [1 << gramBits / 64]uint64

// class holds the grams of the literals of one range of lengths.
type class struct {
	gram   int                  // bytes of one
	beside int                  // bytes on one side of it: literals have them in front of it, or else behind it
	first  [1<<heads + 1]uint32 // by the highest bits of the hash: where entries begin
	tags   []uint32             // of the entries: the bits of the hash below those
	all    []entry              // by hash
	near   []uint64             // bits of the hashes of grams with what stands beside them: other text holds the same grams
}

// entry says that a gram stands at an offset of a literal.
type entry struct {
	hash    uint64 // of the gram
	probe   uint64 // eight bytes of the literal, as far from the gram as they can be, or all of a shorter one
	mask    uint64 // those of the eight that are the literal's
	literal int32
	offset  int32
	probeAt int32
	length  int32
}

// newFinder finds all literals but those that are left out; they keep their indices.
func newFinder(literals []string, left func(literal int32) bool) *finder {
	f := &finder{
		long:   class{gram: longGram, beside: (shortestLong - longGram + 1) / 2},
		middle: class{gram: middleGram, beside: (shortestMiddle - middleGram + 1) / 2},
		short:  class{gram: shortGram, beside: (LeastLiteral - shortGram + 1) / 2},
	}
	for _, l := range literals {
		exact := hasCapital(l)
		if !exact {
			l = folded7(l)
		}
		f.literals, f.exact = append(f.literals, l), append(f.exact, exact)
	}
	seen := countGrams(f.literals)
	for i, l := range f.literals {
		switch {
		case left(int32(i)):
		case len(l) >= shortestLong:
			f.long.add(l, int32(i), wideStep, seen)
		case len(l) >= shortestMiddle:
			f.middle.add(l, int32(i), wideStep, seen)
		default:
			f.short.add(l, int32(i), shortStep, seen)
		}
	}
	for _, c := range []*class{&f.long, &f.middle, &f.short} {
		c.index(f.literals)
	}
	for _, e := range f.long.all {
		f.longSet[e.hash>>(64-longBits)>>6] |= 1 << (e.hash >> (64 - longBits) & 63)
	}
	f.middleSet.add(f.middle.all)
	f.shortSet.add(f.short.all)
	return f
}

// add takes the grams of the rarest run of as many offsets as there are remainders.
func (c *class) add(literal string, index int32, step int, seen map[string]int) {
	gram := c.gram
	best, least := 0, math.Inf(1)
	for at := 0; at+step-1+gram <= len(literal); at++ {
		often := 0.0
		for k := range step {
			often += commonness(literal[at+k:at+k+gram], seen)
		}
		if often < least {
			best, least = at, often
		}
	}
	for at := best; at < best+step; at++ {
		probe := literal[:min(len(literal), probed)]
		probeAt := 0
		if end := len(literal) - probed; end > 0 && at < end-at { // the gram is nearer to the beginning
			probe, probeAt = literal[end:], end
		}
		c.all = append(c.all, entry{
			hash: hashOf(gramOf(literal[at : at+gram])), literal: index, offset: int32(at), length: int32(len(literal)),
			probe: gramOf(probe), mask: ^uint64(0) >> (8 * (probed - len(probe))), probeAt: int32(probeAt),
		})
	}
}

func (c *class) index(literals []string) {
	slices.SortStableFunc(c.all, func(a, b entry) int { return cmp.Compare(a.hash, b.hash) })
	c.near = make([]uint64, 1<<nearBits/64)
	for _, e := range c.all {
		c.first[e.hash>>(64-heads)+1]++
		c.tags = append(c.tags, tagOf(e.hash))
		l, at, end := literals[e.literal], int(e.offset), int(e.offset)+c.gram
		near := uint64(0)
		if at >= c.beside {
			near = besideOf(e.hash, inFront|gramOf(l[at-c.beside:at]))
		} else {
			near = besideOf(e.hash, gramOf(l[end:end+c.beside]))
		}
		c.near[near>>6] |= 1 << (near & 63)
	}
	for i := range len(c.first) - 1 {
		c.first[i+1] += c.first[i]
	}
}

// inFront tells bytes in front of a gram from those behind it.
const inFront = 1 << 32

// besideOf hashes a gram, of which the hash is given, with the bytes on one side of it.
func besideOf(hash, bytes uint64) uint64 { return hashOf(hash^bytes) >> (64 - nearBits) }

// mayStand says that what stands beside a gram in a text may be of a literal.
func (c *class) mayStand(hash uint64, text string, at int) bool {
	if at >= c.beside {
		if h := besideOf(hash, inFront|gramOf(text[at-c.beside:at])); c.near[h>>6]>>(h&63)&1 != 0 {
			return true
		}
	}
	end := at + c.gram
	if end+c.beside > len(text) {
		return false
	}
	h := besideOf(hash, gramOf(text[end:end+c.beside]))
	return c.near[h>>6]>>(h&63)&1 != 0
}

// hashOf spreads a gram over the high bits (Fibonacci hashing).
func hashOf(gram uint64) uint64 { return gram * 0x9E3779B97F4A7C15 }

// probed is how many bytes one comparison takes.
const probed = 8

// load is the eight bytes of a text from a place on.
func load(text string, at int) uint64 {
	s := text[at : at+probed]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// tagOf tells grams apart whose hashes have the same head: all but the lowest of the other bits.
func tagOf(hash uint64) uint32 { return uint32(hash >> (64 - heads - 32)) }

// caseless sets the bit that tells small letters from capitals. It makes other bytes alike
// too, which only costs a comparison.
const caseless = 0x2020202020202020

func gramOf(s string) uint64 {
	var g uint64
	for i := range len(s) {
		g |= uint64(s[i]|0x20) << (8 * i)
	}
	return g
}

// find calls hit for literals that occur in the text until it returns false; one that occurs
// twice may be told twice. One load of eight bytes serves all three classes.
func (f *finder) find(text string, hit func(literal int32) bool) {
	i := 0
	for ; i+8 <= len(text); i += wideStep {
		g := load(text, i) | caseless
		if h := hashOf(g) >> (64 - longBits); f.longSet[h>>6]>>(h&63)&1 != 0 && !f.verify(&f.long, g, text, i, hit) {
			return
		}
		if s := g & shortMask; f.shortSet.has(s) && !f.verify(&f.short, s, text, i, hit) {
			return
		}
		if s := g >> (8 * shortStep) & shortMask; f.shortSet.has(s) && !f.verify(&f.short, s, text, i+shortStep, hit) {
			return
		}
		if g &= 1<<(8*middleGram) - 1; f.middleSet.has(g) && !f.verify(&f.middle, g, text, i, hit) {
			return
		}
	}
	if i+middleGram <= len(text) {
		if g := gramOf(text[i : i+middleGram]); f.middleSet.has(g) && !f.verify(&f.middle, g, text, i, hit) {
			return
		}
	}
	for ; i+shortGram <= len(text); i += shortStep {
		if g := gramOf(text[i : i+shortGram]); f.shortSet.has(g) && !f.verify(&f.short, g, text, i, hit) {
			return
		}
	}
}

// shortMask leaves a short gram of a longer one.
const shortMask = 1<<(8*shortGram) - 1

func (s *gramSet) add(entries []entry) {
	for _, e := range entries {
		s[e.hash>>(64-gramBits)>>6] |= 1 << (e.hash >> (64 - gramBits) & 63)
	}
}

func (s *gramSet) has(gram uint64) bool {
	h := hashOf(gram) >> (64 - gramBits)
	return s[h>>6]>>(h&63)&1 != 0
}

// verify compares the literals that have the gram where it stands in the text.
func (f *finder) verify(c *class, gram uint64, text string, at int, hit func(int32) bool) bool {
	hash := hashOf(gram)
	if !c.mayStand(hash, text, at) {
		return true
	}
	head, tag := hash>>(64-heads), tagOf(hash)
	for i := int(c.first[head]); i < int(c.first[head+1]); i++ {
		if c.tags[i] != tag { // most grams that pass are others: that is seen without the entries, which lie far apart
			continue
		}
		e := &c.all[i]
		from := at - int(e.offset)
		if from < 0 || from+int(e.length) > len(text) {
			continue
		}
		if p := from + int(e.probeAt); p+probed <= len(text) && (load(text, p)|caseless)&e.mask != e.probe {
			continue
		}
		l := f.literals[e.literal]
		if part := text[from : from+len(l)]; f.exact[e.literal] && part == l || !f.exact[e.literal] && equalFolded(part, l) {
			if !hit(e.literal) {
				return false
			}
		}
	}
	return true
}

// equalFolded compares a text with a folded literal of the same length.
func equalFolded(text, folded string) bool {
	for i := range len(folded) {
		if foldASCII(text[i]) != folded[i] {
			return false
		}
	}
	return true
}

func foldASCII(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

// folded7 is the string with its ASCII letters small.
func folded7(s string) string { return string(appendFolded(nil, s)) }

// appendFolded adds a text with its ASCII letters small, eight bytes at a time.
func appendFolded(to []byte, s string) []byte {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	at := 0
	for ; at+probed <= len(s); at += probed {
		w := load(s, at)
		low := w &^ high
		capitals := (low + (0x80-'A')*ones) &^ (low + (0x80-'Z'-1)*ones) &^ w & high
		to = binary.LittleEndian.AppendUint64(to, w|capitals>>2)
	}
	for ; at < len(s); at++ {
		to = append(to, foldASCII(s[at]))
	}
	return to
}

func hasCapital(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return 'A' <= r && r <= 'Z' })
}

// often are the bytes of logs, more frequent ones first, folded; what is not in it is rare.
// Counted over public training logs; the order matters, not the share.
const often = " etaoinsrld0c1u2mp.g_:/3h4-fb5y6798,kvw=x()[]\"'"

// commonness estimates how often a gram occurs: the product of shares that fall as the ranks
// of the bytes grow, times how many literals hold the gram, for literals are words of logs.
func commonness(gram string, seen map[string]int) float64 {
	p := 1.0
	for i := range len(gram) {
		rank := strings.IndexByte(often, foldASCII(gram[i]))
		if rank < 0 {
			rank = 2 * len(often)
		}
		p *= 1 / float64(rank+4)
	}
	return p * float64(1+seen[folded7(gram[:min(len(gram), middleGram)])])
}

// countGrams counts the middle and short grams of all literals.
func countGrams(literals []string) map[string]int {
	seen := map[string]int{}
	for _, l := range literals {
		l = folded7(l)
		for i := range len(l) {
			for _, n := range []int{middleGram, shortGram} {
				if i+n <= len(l) {
					seen[l[i:i+n]]++
				}
			}
		}
	}
	return seen
}
