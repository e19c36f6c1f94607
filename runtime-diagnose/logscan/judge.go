package logscan

import (
	"hash/maphash"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// How many texts are remembered that were judged lately, and of how many bytes one may be.
const (
	mostJudged    = 512
	longestJudged = 1000
)

// judged is a text and what it matches: a program says the same again and again, and all its ranks say it at once.
type judged struct {
	text      string
	calm      bool                   // signs that training advances were not looked for
	scheduled bool                   // below a scheduler's message
	known     []*signature.Signature // that match the text itself
	matches   []signature.Match
}

// texts are those that were judged lately; each has its place by a hash, and another one takes it.
type texts struct {
	seed maphash.Seed
	at   []*judged
}

// matchesOf is what a line matches; onlyNew passes over what was seen often, and just above. What a line without a
// traceback matches depends on its text alone.
func (r *logReader) matchesOf(l *reduce.Line, text string, onlyNew bool) []signature.Match {
	match := r.view.Match
	if onlyNew {
		match = r.view.MatchNew
	}
	if l.Trace != nil || len(text) > longestJudged || r.options.forgets {
		return r.judge(l, text, match)
	}
	if r.texts.at == nil {
		r.texts = texts{maphash.MakeSeed(), make([]*judged, mostJudged)}
	}
	calm, scheduled := r.view.IsCalm(), r.scheduling.Number > 0
	at := &r.texts.at[maphash.String(r.texts.seed, text)%mostJudged]
	if j := *at; j != nil && j.text == text && j.calm == calm && j.scheduled == scheduled && !(onlyNew && slices.ContainsFunc(j.known, r.view.Heard)) {
		r.room = append(r.room[:0], j.matches...) // the caller may change it
		return r.room
	}
	j := &judged{text: text, calm: calm, scheduled: scheduled}
	j.matches = r.judge(l, text, func(text string, kinds ...evidence.Kind) []signature.Match {
		found := match(text, kinds...)
		for _, m := range found {
			j.known = append(j.known, m.Signature)
		}
		return found
	})
	if onlyNew {
		return j.matches
	}
	*at = j
	r.room = append(r.room[:0], j.matches...)
	return r.room
}

// judge is what a line matches, by whatever it may be known.
func (r *logReader) judge(l *reduce.Line, text string, match func(string, ...evidence.Kind) []signature.Match) []signature.Match {
	matches := r.notScaled(text, match(text, r.kinds()...))
	if l.Trace != nil {
		matches = slices.DeleteFunc(matches, leastOfAll)
	}
	if l.Trace == nil {
		matches = slices.DeleteFunc(matches, onlyNamed)
	}
	if l.Trace != nil && !slices.ContainsFunc(matches, explainsMore) {
		matches = append(matches, r.inOtherWords(l.Trace.Message)...)
	}
	if !slices.ContainsFunc(matches, namesCause) {
		if l.Trace == nil && (slices.ContainsFunc(matches, isGeneric) || strings.Contains(text, pythonNumber) || begins(text, checked)) {
			matches = append(matches, r.inOtherWords(text)...)
		}
		if l.Trace == nil && slices.ContainsFunc(matches, isGeneric) && !slices.ContainsFunc(matches, namesCause) {
			matches = append(matches, r.byNative(text)...)
		}
		matches = append(matches, r.byChildEnd(text)...)
	} else if onlyFailedChecks(text, matches) {
		if by := r.byNative(text); len(by) > 0 {
			matches = append(slices.DeleteFunc(matches, namesCause), by...)
		}
	}
	if l.Trace != nil && !slices.ContainsFunc(matches, explainsMore) {
		matches = append(matches, r.byNative(l.Trace.Message)...)
	}
	if l.Trace != nil && !slices.ContainsFunc(matches, explainsMore) {
		// Where no signature knows the words, the library that raised them tells what it was busy with.
		matches = append(matches, match(strings.Clone(l.Trace.Frame), evidence.Frame)...)
	}
	if l.Trace != nil && !slices.ContainsFunc(matches, explainsMore) {
		matches = append(matches, r.byRaiser(*l)...)
	}
	if l.Trace != nil && !slices.ContainsFunc(matches, says) {
		if generic := r.catalog.ByID(genericException); generic != nil {
			matches = append(matches, signature.Match{Signature: generic, Facts: map[string]string{"type": strings.Clone(l.Trace.Type)}})
		}
	}
	r.bySubject(*l, text, matches)
	return matches
}
