package redact

import (
	"strings"
	"sync"
)

// hit is a gate that stands in a text.
type hit struct {
	at   int
	gate uint16 // among all
	// Where its rule found nothing and says what it looked at, from and up to where that is. While that stays as it is, the rule need not be
	// asked again.
	from, read int
}

// mostHits is how many gates of a text are noted. In one that has more, each round looks for them anew.
const mostHits = 1 << 10

func newScan() *scan { return &scan{read: make([]int, len(rules)), hits: make([]hit, 0, 16)} }

// scans are used again: most lines in which a gate stands hold no secret either.
var scans = sync.Pool{New: func() any { return newScan() }}

// shown is how many bytes of a text stand outside of "[masked]". A round leaves fewer of them, or is the last: so it ends.
func shown(text string) int { return len(text) - len(masked)*strings.Count(text, masked) }

// settle masks until there is nothing more to mask: what is masked may bring a name beside a value.
func settle(text string) string { return settleFrom(text, opening.next(text, 0)) }

// settleFrom is settle of a text of which it is known where the first gate stands; -1: none does, and no rule has to be asked.
func settleFrom(text string, gate int) string {
	if gate < 0 {
		return text
	}
	s := scans.Get().(*scan)
	hidden := s.settle(text, gate)
	s.out = strings.Builder{} // what was masked is kept alone
	scans.Put(s)
	return hidden
}

// settle is settleFrom of a text in which a gate stands. What is masked is a part of s.out.
func (s *scan) settle(text string, gate int) string {
	s.begin(text)
	s.hits, s.more = s.hits[:0], false
	s.look(gate)
	for before := len(text) + 1; shown(text) < before; {
		spans := merged(s.spans)
		if len(spans) == 0 {
			break
		}
		before = shown(text)
		text = s.without(spans)
		s.again(text, spans)
	}
	s.text = ""
	return text
}

// begin begins a pass over a text.
func (s *scan) begin(text string) {
	s.text = text
	s.spans = s.spans[:0]
	s.runs = s.runs[:0]
	s.words = s.words[:0]
	s.noEnd, s.held, s.tail.to = false, notLooked, -1
	for _, rule := range s.asked {
		s.read[rule] = 0
	}
	s.asked = s.asked[:0]
}

// look asks all rules whose gates stand at a place or behind it. As next does, it looks at six grams in eight bytes.
func (s *scan) look(at int) {
	text := s.text
	for ; at+8 <= len(text); at += 6 {
		w := eight(text[at:])
		if opening.begin(w) {
			s.standAt(at)
		}
		if opening.begin(w >> 8) {
			s.standAt(at + 1)
		}
		if opening.begin(w >> 16) {
			s.standAt(at + 2)
		}
		if opening.begin(w >> 24) {
			s.standAt(at + 3)
		}
		if opening.begin(w >> 32) {
			s.standAt(at + 4)
		}
		if opening.begin(w >> 40) {
			s.standAt(at + 5)
		}
	}
	for ; at+3 <= len(text); at++ {
		if opening.begin(three(text[at:])) {
			s.standAt(at)
		}
	}
}

// standAt asks the rules of the gates that stand at a place, and notes them.
func (s *scan) standAt(at int) {
	text := s.text[at:]
	first := firstOf(text)
	for i := opening.first(gram(first)); opening.all[i].of != 0; i++ {
		if !opening.all[i].is(first, text) {
			continue
		}
		h := hit{at: at, gate: i}
		s.ask(&h)
		if len(s.hits) == mostHits {
			s.more = true
			continue
		}
		s.hits = append(s.hits, h)
	}
}

// ask asks the rule of a gate, unless it has read beyond it.
func (s *scan) ask(h *hit) {
	switch g := &opening.all[h.gate]; {
	case g.form != nil:
		byForm(s, g.form, h.at)
	case h.at >= s.read[g.rule]:
		s.looked = -1
		read := g.find(s, h.at)
		if s.looked >= 0 {
			h.from, h.read = s.looked, read
		}
		s.reads(g.rule, read)
	}
}

// reads notes up to where a rule has read.
func (s *scan) reads(rule, to int) {
	if s.read[rule] == 0 {
		s.asked = append(s.asked, rule)
	}
	s.read[rule] = to
}

// without is the text with spans of it masked, written behind what is in s.out already; where it has no room, that begins anew.
func (s *scan) without(spans []span) string {
	out := &s.out
	if size := len(s.text) + len(masked)*len(spans); out.Cap()-out.Len() < size {
		room := max(size, out.Cap())
		out.Reset()
		out.Grow(room)
	}
	from, at := out.Len(), 0
	for _, masks := range spans {
		out.WriteString(s.text[at:masks.from])
		out.WriteString(masked)
		at = masks.to
	}
	out.WriteString(s.text[at:])
	return out.String()[from:]
}

// again is the pass over a text in which spans were masked. No gate has a bracket, and none that could be one stands in "[masked]", so those
// that stand in it now are those of the text before that stand outside of the spans.
func (s *scan) again(text string, spans []span) {
	if s.more {
		s.begin(text)
		s.hits, s.more = s.hits[:0], false
		s.look(0)
		return
	}
	// The spans are those of the scan, which begins anew: what is left of the hits is found first.
	left, next, shift := s.hits[:0], 0, 0
	for _, h := range s.hits {
		for next < len(spans) && spans[next].to <= h.at {
			shift += len(masked) - (spans[next].to - spans[next].from)
			next++
		}
		if next < len(spans) && spans[next].from < h.at+len(opening.all[h.gate].text) {
			continue // it is masked, or a part of it
		}
		if next > 0 && spans[next-1].to >= h.from || next < len(spans) && spans[next].from <= h.read {
			h.from, h.read = 0, 0
		}
		h.at += shift
		if h.read > 0 {
			h.from, h.read = h.from+shift, h.read+shift
		}
		left = append(left, h)
	}
	s.hits = left
	s.begin(text)
	for i := range s.hits {
		switch h := &s.hits[i]; {
		case h.read == 0:
			s.ask(h)
		case h.at >= s.read[opening.all[h.gate].rule]:
			s.reads(opening.all[h.gate].rule, h.read)
		}
	}
}
