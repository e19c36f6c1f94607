package signature

import "strings"

// Ear is one reader's view of a catalog: it hears fewer signatures the longer it listens. A log
// that says one thing a million times has said it after the first few, and telling that a line
// says nothing new must not cost more than reading it. It is not safe for concurrent use.
type Ear struct {
	c     *Catalog
	calm  bool    // signs that training advances are not listened for
	full  []bool  // by signature: heard often enough to be no reason to look at a line
	quiet []bool  // by literal: all that list it are full
	again []int   // by signature: lines with one of its literals that nobody looked at because it is full
	line  []int32 // by signature: the last of these lines
	lines int32   // asked about

	text   string  // of the line that was asked about last
	found  []int32 // the literals in it
	asked  folded  // it with small letters, if it
	folded bool    // is that already
	end    folded  // the part of it that is matched
	room   []owner // of the candidates
}

// NewEar hears everything.
func (c *Catalog) NewEar() *Ear {
	n := len(c.all)
	return &Ear{c: c, full: make([]bool, n), again: make([]int, n), line: make([]int32, n), quiet: make([]bool, len(c.owners))}
}

// advance says that a signature only shows that training goes on: every other line of a log does.
func (s *Signature) advance() bool { return s.Category == HealthyCategory && s.DepthOf() < Precise }

// Calm stops listening for signs that training advances, or begins again.
func (e *Ear) Calm(calm bool) {
	if e.calm != calm {
		e.calm, e.text = calm, "" // what was found in the last line was looked for otherwise
	}
}

// Enough says that a signature was heard often enough: it still matches on lines that are looked
// at for the sake of another one, but is no reason to look.
func (e *Ear) Enough(s *Signature) {
	for i, other := range e.c.all {
		if other != s || e.full[i] {
			continue
		}
		e.full[i] = true
		for _, l := range e.c.matchers[i].literals {
			e.settle(int(e.c.index[l]))
		}
	}
}

func (e *Ear) settle(lit int) {
	e.quiet[lit] = true
	for _, o := range e.c.owners[lit] {
		e.quiet[lit] = e.quiet[lit] && e.full[o.signature]
	}
}

// Suspects says whether a line may say something new.
func (e *Ear) Suspects(text string) bool {
	suspect, _ := e.ask(text)
	return suspect
}

// Hears says whether a line may say something new, or holds CountsNodes.
func (e *Ear) Hears(text string) bool {
	suspect, counts := e.ask(text)
	return suspect || counts
}

func (e *Ear) ask(text string) (suspect, counts bool) {
	e.lines++
	finder := e.c.literals
	if e.calm {
		finder = e.c.calm()
	}
	e.text, e.found, e.folded = text, e.found[:0], false
	finder.find(text, func(lit int32) bool {
		if e.found = append(e.found, lit); suspect {
			return true // it will be matched, and the rest of it is known then
		}
		if e.quiet[lit] {
			e.count(lit)
			return true
		}
		counts = counts || lit == e.c.counts
		for _, o := range e.c.owners[lit] {
			if e.full[o.signature] {
				continue
			}
			if suspect = e.c.matchers[o.signature].may(e.small(), o.alternative); suspect {
				break
			}
		}
		return true
	})
	return suspect, counts
}

// small is the line that was asked about with small letters.
func (e *Ear) small() *folded {
	if !e.folded {
		e.asked.set(e.text)
		e.folded = true
	}
	return &e.asked
}

// match takes what is known of a text that is the end of the line that was asked about, as a line without its
// prefix is.
func (e *Ear) match(skip func(int32) bool, text string, kinds []Kind) []Match {
	if text == "" || !strings.HasSuffix(e.text, text) {
		return e.c.match(skip, text, kinds)
	}
	e.room = e.c.candidates(e.room[:0], e.found)
	e.end = *e.small()
	e.end.text = e.end.text[len(e.end.text)-len(text):]
	return e.c.matchAmong(e.room, skip, text, &e.end, kinds)
}

// count notes that a line was left aside.
func (e *Ear) count(lit int32) {
	for _, o := range e.c.owners[lit] {
		if s := o.signature; e.full[s] && e.line[s] != e.lines {
			e.line[s] = e.lines
			e.again[s]++
		}
	}
}

// Again is on how many lines a signature that was heard often enough would have been looked for:
// lines with one of its literals, nearly all of which say the same once more.
func (e *Ear) Again(s *Signature) int {
	for i, other := range e.c.all {
		if other == s {
			return e.again[i]
		}
	}
	return 0
}

// Match finds the signatures that the ear listens for.
func (e *Ear) Match(text string, kinds ...Kind) []Match {
	return e.match(func(s int32) bool { return e.calm && e.c.all[s].advance() }, text, kinds)
}

// MatchNew is Match without those that were heard often enough.
func (e *Ear) MatchNew(text string, kinds ...Kind) []Match {
	return e.match(func(s int32) bool { return e.full[s] || e.calm && e.c.all[s].advance() }, text, kinds)
}
