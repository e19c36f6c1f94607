package signature

import (
	"math"
	"strings"
)

// View is one reader's view of a catalog: it looks less often for what it has seen often. A log that says one thing a million
// times has said it after the first few, and telling that a line says nothing new must not cost more than reading it. It is
// not safe for concurrent use.
type View struct {
	c     *Catalog
	calm  bool    // signs that training advances are not looked for
	until []int32 // by signature: up to this line it is no reason to look at one
	quiet []int32 // by literal: up to this line none that lists it is
	again []int   // by signature: lines with one of its literals that were not looked at because it was said just above
	line  []int32 // by signature: the last of these lines
	lines int32   // asked about

	heard           func(lit int32) bool // is hear
	suspect, counts bool                 // what is known of the line that is asked about

	text   string  // of the line that was asked about last
	found  []int32 // the literals in it
	asked  folded  // it with small letters, if it
	folded bool    // is that already
	end    folded  // the part of it that is matched
	room   []owner // of the candidates
}

// NewView looks for everything.
func (c *Catalog) NewView() *View {
	n := len(c.all)
	v := &View{c: c, until: make([]int32, n), again: make([]int, n), line: make([]int32, n), quiet: make([]int32, len(c.owners))}
	v.heard = func(lit int32) bool {
		v.hear(lit)
		return true
	}
	return v
}

// advance says that a signature only shows that training goes on: every other line of a log does.
func (s *Signature) advance() bool { return s.Category == HealthyCategory && s.DepthOf() < Precise }

// Calm stops looking for signs that training advances, or begins again.
func (v *View) Calm(calm bool) {
	if v.calm != calm {
		v.calm, v.text = calm, "" // what was found in the last line was looked for otherwise
	}
}

// IsCalm says that signs that training advances are not looked for.
func (v *View) IsCalm() bool { return v.calm }

// SaidAbove is how many lines a signature that was seen often is no reason to look at. What a log says so close below the same
// can tell nothing else: fewer lines than these show that a program went on.
const SaidAbove = 7

// Enough says that a signature was seen often enough: on the next lines it still matches where they are looked at for the
// sake of another one, but is no reason to look.
func (v *View) Enough(s *Signature) {
	i, ok := v.c.places[s]
	if !ok {
		return
	}
	v.until[i] = v.lines + SaidAbove
	for _, lit := range v.c.matchers[i].literals {
		v.settle(lit)
	}
}

// Heard says that a signature was seen often, and just above.
func (v *View) Heard(s *Signature) bool {
	i, ok := v.c.places[s]
	return ok && v.lines <= v.until[i]
}

// Afresh looks for everything again.
func (v *View) Afresh() {
	clear(v.until)
	clear(v.quiet)
	v.text = ""
}

func (v *View) settle(lit int32) {
	v.quiet[lit] = math.MaxInt32
	for _, o := range v.c.owners[lit] {
		v.quiet[lit] = min(v.quiet[lit], v.until[o.signature])
	}
}

// Suspects says whether a line may say something new.
func (v *View) Suspects(text string) bool {
	suspect, _ := v.ask(text)
	return suspect
}

// Matters says whether a line may say something new, or holds CountsNodes.
func (v *View) Matters(text string) bool {
	suspect, counts := v.ask(text)
	return suspect || counts
}

// Found is Matters of a text in which Catalog.Search has found literals.
func (v *View) Found(text string, literals []int32) bool {
	v.begin(text)
	for _, lit := range literals {
		if !v.calm || !v.c.advances[lit] {
			v.hear(lit)
		}
	}
	return v.suspect || v.counts
}

func (v *View) ask(text string) (suspect, counts bool) {
	finder := v.c.literals
	if v.calm {
		finder = v.c.calm()
	}
	v.begin(text)
	finder.find(text, v.heard)
	return v.suspect, v.counts
}

func (v *View) begin(text string) {
	v.lines++
	v.text, v.found, v.folded, v.suspect, v.counts = text, v.found[:0], false, false, false
}

// hear takes a literal that stands in the line. Of one that is suspect all are taken: it will be matched.
func (v *View) hear(lit int32) {
	if v.found = append(v.found, lit); v.suspect {
		return
	}
	if v.lines <= v.quiet[lit] {
		v.count(lit)
		return
	}
	v.counts = v.counts || lit == v.c.counts
	for _, o := range v.c.owners[lit] {
		if v.lines <= v.until[o.signature] {
			continue
		}
		if v.suspect = v.c.matchers[o.signature].may(v.small(), o.alternative); v.suspect {
			return
		}
	}
}

// small is the line that was asked about with small letters.
func (v *View) small() *folded {
	if !v.folded {
		v.asked.set(v.text)
		v.folded = true
	}
	return &v.asked
}

// match takes what is known of a text that is the end of the line that was asked about, as a line without its
// prefix is.
func (v *View) match(skip func(int32) bool, text string, kinds []Kind) []Match {
	if text == "" || !strings.HasSuffix(v.text, text) {
		return v.c.match(skip, text, kinds)
	}
	v.room = v.c.candidates(v.room[:0], v.found)
	v.end = *v.small()
	v.end.text = v.end.text[len(v.end.text)-len(text):]
	return v.c.matchAmong(v.room, skip, text, &v.end, kinds)
}

// MayMatch is Gate.MayMatch of a text in any case, which takes less time where it is the end of the line that was asked
// about.
func (v *View) MayMatch(g Gate, text string) bool {
	if text == "" || !strings.HasSuffix(v.text, text) || v.small().beyond {
		return g.MayMatch(strings.ToLower(text))
	}
	return g.holds(v.small(), len(v.text)-len(text))
}

// count notes that a line was left aside.
func (v *View) count(lit int32) {
	for _, o := range v.c.owners[lit] {
		if s := o.signature; v.lines <= v.until[s] && v.line[s] != v.lines {
			v.line[s] = v.lines
			v.again[s]++
		}
	}
}

// Again is on how many lines a signature that was heard often, and just above, would have been looked for: lines with one
// of its literals, nearly all of which say the same once more.
func (v *View) Again(s *Signature) int {
	i, ok := v.c.places[s]
	if !ok {
		return 0
	}
	return v.again[i]
}

// Match finds the signatures that are looked for.
func (v *View) Match(text string, kinds ...Kind) []Match {
	return v.match(func(s int32) bool { return v.calm && v.c.all[s].advance() }, text, kinds)
}

// MatchNew is Match without those that were seen often, and just above.
func (v *View) MatchNew(text string, kinds ...Kind) []Match {
	return v.match(func(s int32) bool { return v.lines <= v.until[s] || v.calm && v.c.all[s].advance() }, text, kinds)
}
