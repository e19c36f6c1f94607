package attribute

import (
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/subject"
)

// Standing is how well a cause is supported.
type Standing string

// The standings, weakest first.
const (
	Hypothesis  Standing = "hypothesis"  // fits what was seen; other causes do too
	Supported   Standing = "supported"   // one source says so
	Established Standing = "established" // the platform says so, or two independent sources agree
)

// Confidence is what a standing follows from.
type Confidence struct {
	Standing Standing
	Margin   int // to the next candidate of another member and of another kind; see NoOther
	Sources  int // that say so independently of each other; the platform's word is worth two
}

// NoOther is the margin where there is no such candidate.
const NoOther = 1000

// From how many points on a candidate is supported, and by how many it has to be ahead of an independent
// one to be established.
const (
	supportedFrom   = 21
	establishedLead = 30
)

func (in *Input) confidence(a *Answer) Confidence {
	c := a.Cause
	out := Confidence{Standing: Supported, Margin: in.margin(a), Sources: in.sources(a)}
	switch {
	case c.Score < supportedFrom, c.Signature.DepthOf() == signature.Symptom, c.Signature.Role == signature.Cascade:
		out.Standing = Hypothesis
	case subject.Guessed(c.Signature):
		out.Standing = Hypothesis
	case c.Signature.ID == genericException && !c.Platform && c.Item.Kind == evidence.Log && !raisedByProgram(&c.Observation): // what a library had to say is not known
		out.Standing = Hypothesis
	case control.Unexplained(c.Signature):
		out.Standing = Hypothesis
	case c.Platform && control.Undecided(c.Line): // that it was refused is certain; which reason is to be lifted is not
	case out.Sources > 1 && out.Margin >= establishedLead:
		out.Standing = Established
	case c.Platform:
	case c.Signature.Weak, len(a.Rivals) > 0:
		out.Standing = Hypothesis
	}
	return out
}

// margin is how far the next candidate is behind that another member names for a reason of its own, of
// another kind, and that may have come before: where there is one, nothing is certain.
func (in *Input) margin(a *Answer) int {
	c := a.Cause
	place := c.Item.Source.Place()
	if place == "" {
		return NoOther
	}
	says := map[string]bool{place: true}
	for _, i := range c.Also {
		says[i.Source.Place()] = true
	}
	least := NoOther
	for i := range a.Candidates {
		o := &a.Candidates[i]
		if o == c || o.Veto != "" || o.Mild || o.Signature.Weak || o.Signature.Role != signature.Root || o.Signature.Category == c.Signature.Category {
			continue
		}
		elsewhere := slices.ContainsFunc(append([]evidence.Item{o.Item}, o.Also...), func(i evidence.Item) bool {
			other := i.Source.Place()
			return other != "" && !says[other] && (in.IsMember == nil || in.IsMember(other)) && in.when(c.Item, i) >= 0
		})
		if elsewhere {
			least = min(least, max(0, c.Score-o.Score))
		}
	}
	return least
}

// sources counts what says so: the platform's word is worth two; of what programs say, another member counts,
// and evidence of another kind. A failure that says little about why does not gain by being said
// twice: those that follow say the same as well.
func (in *Input) sources(a *Answer) int {
	c := a.Cause
	if c.Platform {
		return 2
	}
	if c.Signature.DepthOf() < signature.Precise {
		return 1
	}
	n := 1
	// What is no number any more on one member is none on all after the next all-reduce: that others say so as well is its
	// consequence.
	if c.Signature.Category != spreading && slices.ContainsFunc(c.Also, func(i evidence.Item) bool {
		return i.Source.Pod != c.Item.Source.Pod || i.Source.File != c.Item.Source.File
	}) {
		n++
	}
	if slices.ContainsFunc(a.Effects, func(e evidence.Observation) bool {
		return e.Signature.Category == c.Signature.Category && e.Item.Kind != c.Item.Kind
	}) {
		n++
	}
	return n
}

// spreading is the category of what collectives hand on to all members.
const spreading = "nan-loss"

// UnfamiliarLine is the signature of a line that no signature knows and that the program does not usually print.
const UnfamiliarLine = "unfamiliar-line"

// SaysLittle is an observation that names how its member ended, not why: a bare exit code, and what was new
// before it.
func SaysLittle(s *evidence.Observation) bool {
	return s.Signature.ID == UnfamiliarLine || s.Signature == control.AgainAndAgain || s.Signature == control.CrashLoop || s.Signature == control.ReplicaLost || s.Signature == control.ReplicaUnknown || s.Signature == control.GangUndecided || s.Item.Kind == evidence.Exit && s.Signature.DepthOf() == signature.Symptom
}

// BareExit is an exit code that is all that is known.
func BareExit(s *evidence.Observation) bool { return s.Item.Kind == evidence.Exit && SaysLittle(s) }

// installed are parts of paths of code that is not the program's own.
var installed = []string{"-packages/", `-packages\`, "/lib/python"}

// raisedByProgram says that the innermost frame of an exception is the program's own: what it says is of the program.
func raisedByProgram(s *evidence.Observation) bool {
	frame := s.Facts["frame"]
	return frame != "" && !slices.ContainsFunc(installed, func(part string) bool { return strings.Contains(frame, part) })
}
