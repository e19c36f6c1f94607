package attribute

import (
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/subject"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

// Feature is one thing about a candidate that speaks for or against it.
type Feature uint8

// The features. What each means is in the table below.
const (
	Precise Feature = iota
	General
	Cascade
	Weak
	Mild
	BareEnd
	Platform
	OfOthers
	Superseded
	LessSpecific
	Alone
	NearEnd
	PointedAt
	features // how many there are
)

// about is what a feature is called, what it says, and the points from which fitting starts: those of
// somebody who has read a few hundred failures, before any was counted.
var about = [features]struct {
	slug, doc string
	start     int
}{
	Precise:      {"precise", "its signature names a cause that one can act on", 45},
	General:      {"general", "its signature says that the program failed, and little about why", 30},
	Cascade:      {"cascade", "its signature says that somebody else failed first", -90},
	Weak:         {"weak", "runs that end well print it as well", -8},
	Mild:         {"mild", "its own program calls it a warning, or information", -8},
	BareEnd:      {"bare-end", "an exit code, and no word of why", -6},
	Platform:     {"platform", "the platform reports it, not a program about itself", 4},
	OfOthers:     {"of-others", "it complains of other members", 0},
	Superseded:   {"superseded", "another candidate explains it by what it is", -70},
	LessSpecific: {"less-specific", "another candidate's signature knows the same line more specifically", -20},
	Alone:        {"alone", "of three members and more, one says it", 0},
	NearEnd:      {"near-end", "it stands near the end of its log", 0},
	PointedAt:    {"pointed-at", "the candidate that leads points at it", 3},
}

// String is the feature's name, as the table prints it.
func (f Feature) String() string { return about[f].slug }

// GoName is the feature's name in the source: Precise, BareEnd.
func (f Feature) GoName() string {
	words := strings.Split(f.String(), "-")
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}

// Doc says what the feature means, as a clause.
func (f Feature) Doc() string { return about[f].doc }

// Features lists all of them, in the order of the table.
func Features() []Feature {
	out := make([]Feature, features)
	for i := range out {
		out[i] = Feature(i)
	}
	return out
}

// Table is the points of each feature.
type Table [features]int

// Start is the table from which fitting starts.
func Start() Table {
	var t Table
	for f := range t {
		t[f] = about[f].start
	}
	return t
}

// Weights is the table in use.
func Weights() Table { return weights }

// nearEnd is how many lines of a log are its end: a traceback, and what the launcher says after it.
const nearEnd = 60

// fewest is how many members it takes before one that says something else means something.
const fewest = 3

// found is the features of a candidate, with what shows them besides its own line.
type found map[Feature][]evidence.ID

func (f found) add(when bool, feature Feature, by ...evidence.ID) {
	if when {
		f[feature] = append(f[feature], by...)
	}
}

// featuresOf looks at one candidate among all.
func (in *Input) featuresOf(c *Candidate, all []Candidate) found {
	f := found{}
	s := c.Observation
	switch s.Signature.DepthOf() {
	case signature.Precise:
		f.add(true, Precise)
	case signature.General:
		f.add(true, General)
	}
	f.add(s.Signature.Role == signature.Cascade, Cascade)
	f.add(s.Signature.Weak, Weak)
	f.add(s.Mild, Mild)
	f.add(bareEnd(&s), BareEnd)
	f.add(s.Platform, Platform)
	f.add(timeline.OfOthers(&s), OfOthers)
	f.add(s.Item.Kind == evidence.Log && s.Item.Source.Line > 0 && s.FromEnd < nearEnd, NearEnd)
	f.add(in.Members >= fewest && in.Spread(&s) == 1, Alone)
	for i := range all {
		o := &all[i]
		if o == c {
			continue
		}
		known := subject.KnownAs(c.Signature)
		derived := signature.MoreSpecific(o.Signature.ID, known)
		f.add(derived && o.isOf(c.Item.ID), LessSpecific, o.Item.ID)
		f.add(!derived && o.Signature.ID != c.Signature.ID && slices.Contains(o.Signature.Hides, known), Superseded, o.Item.ID)
	}
	return f
}

// isOf says that a candidate stands for a line, its own or one that says the same.
func (c *Candidate) isOf(line evidence.ID) bool {
	return c.Item.ID == line || slices.ContainsFunc(c.Also, func(other evidence.Item) bool { return other.ID == line })
}

// bareEnd says that a sighting is an exit code that says nothing of why, or only what a line of the log
// says better.
func bareEnd(s *evidence.Observation) bool {
	return s.Item.Kind == evidence.Exit && (s.FromLog || s.Signature.DepthOf() == signature.Symptom)
}
