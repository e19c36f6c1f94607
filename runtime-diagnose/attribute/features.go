package attribute

import (
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/gang"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/rank"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Feature is one thing about a candidate that speaks for or against it.
type Feature uint8

// The features. What each means is in the table below.
const (
	Precise Feature = iota
	General
	Symptom
	Cascade
	Weak
	Mild
	AfterOrder
	LastResort
	BareEnd
	Killed
	Platform
	LauncherFirst
	Raised
	OfOthers
	Superseded
	AfterAnother
	BeforeOthers
	Alone
	AllButOne
	Everywhere
	Attested
	CameBack
	NearEnd
	NewLine
	KnownLine
	PointedAt
	features // how many there are
)

// about is what a feature is called, what it says, and the points from which fitting starts: those of
// somebody who has read a few hundred failures, before any was counted.
var about = [features]struct {
	slug, doc string
	start     int
}{
	Precise:       {"precise", "its signature names a cause that one can act on", 45},
	General:       {"general", "its signature says that the program failed, and little about why", 30},
	Symptom:       {"symptom", "its signature names what happened last", 15},
	Cascade:       {"cascade", "its signature says that somebody else failed first", -90},
	Weak:          {"weak", "runs that end well print it as well", -8},
	Mild:          {"mild", "its own program calls it a warning, or information", -8},
	AfterOrder:    {"after-order", "its log says before it that somebody ordered the end, and why", -20},
	LastResort:    {"last-resort", "no signature knows it; its program calls it an error", -5},
	BareEnd:       {"bare-end", "an exit code, and no word of why", -6},
	Killed:        {"killed", "a signal ended its container", 0},
	Platform:      {"platform", "the platform reports it, not a program about itself", 4},
	LauncherFirst: {"launcher-first", "a launcher names it as the first failure of its group", 2},
	Raised:        {"raised", "it ends a traceback", 0},
	OfOthers:      {"of-others", "it complains of other members", 0},
	Superseded:    {"superseded", "another candidate explains it by what it is", -70},
	AfterAnother:  {"after-another", "another member's candidate was surely before it", 0},
	BeforeOthers:  {"before-others", "it was surely before every other member's candidate", 0},
	Alone:         {"alone", "of three members and more, one says it", 0},
	AllButOne:     {"all-but-one", "of three members and more, all but one say it", 0},
	Everywhere:    {"everywhere", "of three members and more, all say it", 0},
	Attested:      {"attested", "evidence of another kind says the same", 0},
	CameBack:      {"came-back", "another attempt ended with it as well", 0},
	NearEnd:       {"near-end", "it stands near the end of its log", 0},
	NewLine:       {"new-line", "the last good run did not print it", 2},
	KnownLine:     {"known-line", "the last good run printed it, and ended well", -12},
	PointedAt:     {"pointed-at", "the candidate that leads points at it", 3},
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

// fewest is how many members it takes before one or all of them mean something.
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
	s := c.Sighting
	switch s.Signature.DepthOf() {
	case signature.Precise:
		f.add(true, Precise)
	case signature.General:
		f.add(true, General)
	default:
		f.add(true, Symptom)
	}
	f.add(s.Signature.Role == signature.Cascade, Cascade)
	f.add(s.Signature.Weak, Weak)
	f.add(s.Mild, Mild)
	f.add(s.Signature.LastResort, LastResort)
	f.add(BareEndOf(&s), BareEnd)
	f.add(s.Item.Kind == evidence.Exit && !gang.DecidedItself(&s), Killed)
	f.add(s.Platform, Platform)
	f.add(s.First, LauncherFirst)
	f.add(s.Raised, Raised)
	f.add(gang.OfOthers(&s), OfOthers)
	f.add(s.Item.Kind == evidence.Log && s.Item.Source.Line > 0 && s.FromEnd < nearEnd, NearEnd)
	if in.Baseline != nil && s.Item.Kind == evidence.Log {
		known, isNew := in.Baseline(&s)
		f.add(known, KnownLine)
		f.add(isNew, NewLine)
	}
	if in.Members >= fewest {
		n := in.Spread(&s)
		f.add(n == 1, Alone)
		f.add(n == in.Members-1, AllButOne)
		f.add(n >= in.Members, Everywhere)
	}
	f.add(slices.ContainsFunc(s.Also, func(i evidence.Item) bool {
		return i.Source.Attempt != s.Item.Source.Attempt && sameMember(i.Source, s.Item.Source)
	}), CameBack)
	in.compared(f, c, all)
	return f
}

// compared adds the features that a candidate has beside the others.
func (in *Input) compared(f found, c *Candidate, all []Candidate) {
	first, others := true, 0
	for i := range all {
		o := &all[i]
		if o == c {
			continue
		}
		f.add(o.Signature.ID != c.Signature.ID && slices.Contains(o.Signature.Hides, c.Signature.ID), Superseded, o.Item.ID)
		f.add(orders(&o.Sighting) && sameLog(o.Item.Source, c.Item.Source) && o.Item.Source.Line < c.Item.Source.Line, AfterOrder, o.Item.ID)
		f.add(o.Signature.Category == c.Signature.Category && o.Item.Kind != c.Item.Kind && !o.Explained, Attested, o.Item.ID)
		if o.Veto != "" || gang.PlaceOf(o.Item.Source) == gang.PlaceOf(c.Item.Source) || gang.PlaceOf(o.Item.Source) == "" {
			continue
		}
		others++
		switch in.when(o.Item, c.Item) {
		case -1:
			f.add(true, AfterAnother, o.Item.ID)
			first = false
		case 0:
			first = false
		}
	}
	f.add(first && others > 0 && gang.PlaceOf(c.Item.Source) != "", BeforeOthers)
}

// orders says that somebody ordered the end, and gave a reason: what a program says after that is of no account.
func orders(s *rank.Sighting) bool {
	return s.Signature.Category == "sigterm-preempted" && s.Item.Kind == evidence.Log && s.Facts["reason"] != ""
}

func sameMember(a, b evidence.Source) bool { return gang.PlaceOf(a) == gang.PlaceOf(b) }

// BareEndOf says that a sighting is an exit code that says nothing of why, or only what a line of the log
// says better.
func BareEndOf(s *rank.Sighting) bool {
	return s.Item.Kind == evidence.Exit && (s.FromLog || s.Signature.DepthOf() == signature.Symptom)
}
