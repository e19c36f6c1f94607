// Package attribute decides which of what was seen is the cause. What cannot be one is vetoed; every other
// candidate has features, each feature has points in one table (see Weights), and the candidate with the
// most points is the answer. How sure that is follows from its score, from the margin to the next candidate
// that is independent of it, and from the number of independent sources.
//
// It reads nothing and finds nothing: observations, their times and what became of them come from the
// stages before, and no stage after it chooses another cause. Start reading at Decide.
package attribute

import (
	"cmp"
	"slices"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Input is what is known of a job when its cause is looked for.
type Input struct {
	Seen []evidence.Observation
	// Failed says that something else shows that the job failed: only then weak signatures count.
	Failed bool
	// When orders two items of different places by time: -1, 1, or 0 where that is not sure. Nil:
	// times within gang.Skew of each other are not ordered.
	When func(a, b evidence.Item) int
	// Members is how many take part; Spread is how many of them say what a candidate says.
	Members int
	Spread  func(*evidence.Observation) int
	// Category is that of the answer that a candidate would be; nil: its signature's.
	Category func(*evidence.Observation) string
	// IsMember says that a place is one of those that take part; nil: every place is.
	IsMember func(place string) bool
	// Follow is asked once about the candidate that leads: a complaint about another member points at that
	// one, a bare exit code at the line that was new in its log. What is pointed at stands where the one
	// stands that points at it. Nil: nothing is.
	Follow func(lead *evidence.Observation) (evidence.Observation, bool)
	// Table is the points; nil: Weights.
	Table *Table
}

// Candidate is one thing that may be the cause.
type Candidate struct {
	evidence.Observation
	Category string // of the answer that it would be; empty: it cannot be told
	Score    int
	Because  []Reason // what the score is made of, in the order of the table
	Veto     string   // why it cannot be the cause, whatever its score; empty: it can
	Position int      // among all by time: of equal scores the first one counts

	by     *evidence.Observation // the candidate that points at it; nil: none does
	placed bool
}

// Reason is one feature of a candidate.
type Reason struct {
	Feature Feature
	Points  int
	Cites   []evidence.ID
	More    int // that it rests on as well and does not cite
}

// Answer is the candidates, judged.
type Answer struct {
	Cause      *Candidate             // nil: nothing that was seen can be one
	Candidates []Candidate            // the best first; those that are vetoed last
	Effects    []evidence.Observation // what the cause explains, by time
	Rivals     []evidence.Observation // candidates as good as the cause that nothing sets apart from it
	Aside      []evidence.Observation // context, and what was over
	Confidence Confidence             // in the cause; zero without one
}

// Decide finds the cause.
func Decide(in Input) Answer {
	var a Answer
	var all []Candidate
	merged := in.merge(in.Seen)
	failed := in.Failed || slices.ContainsFunc(merged, showsFailure)
	for _, s := range merged {
		switch {
		case s.Over, s.Signature.Role == signature.Context, besideOnly(&s) && !failed:
			a.Aside = append(a.Aside, s)
		default:
			all = append(all, Candidate{Observation: s})
		}
	}
	slices.SortStableFunc(all, func(x, y Candidate) int { return in.byTime(&x.Observation, &y.Observation) })
	in.score(all)
	if in.Follow != nil && len(all) > 0 && all[0].Veto == "" {
		lead := all[0].Observation
		if to, ok := in.Follow(&lead); ok {
			at := slices.IndexFunc(all, func(c Candidate) bool { return says(&c.Observation, &to) })
			if at < 0 {
				at, all = len(all), append(all, Candidate{Observation: to})
			}
			all[at].by, all[at].Signature = &lead, to.Signature // the one pointed at may be one by that alone
			in.score(all)
		}
	}
	a.Candidates = all
	if len(all) > 0 && all[0].Veto == "" {
		a.Cause = &all[0]
	}
	for i := range all {
		c := &all[i]
		switch {
		case c == a.Cause:
		case a.Cause != nil && in.rival(a.Cause, c):
			a.Rivals = append(a.Rivals, c.Observation)
		default:
			a.Effects = append(a.Effects, c.Observation)
		}
	}
	slices.SortStableFunc(a.Effects, func(x, y evidence.Observation) int { return in.byTime(&x, &y) })
	if a.Cause != nil {
		a.Confidence = in.confidence(&a)
	}
	return a
}

// score gives every candidate its points and puts the best first. Of equal ones it is the one that came
// first, and that the file and the line put first where times do not tell.
func (in *Input) score(all []Candidate) {
	table := &weights
	if in.Table != nil {
		table = in.Table
	}
	for i := range all {
		c := &all[i]
		c.Veto, c.Category = veto(c), c.Signature.Category
		if in.Category != nil {
			c.Category = in.Category(&c.Observation)
		}
		if !c.placed {
			c.Position, c.placed = i, true
		}
	}
	lift(all)
	for i := range all {
		c := &all[i]
		has := in.featuresOf(c, all)
		c.Score, c.Because = 0, nil
		for _, f := range Features() {
			cites, ok := has[f]
			if !ok {
				continue
			}
			if len(cites) == 0 {
				cites = []evidence.ID{c.Item.ID}
			}
			c.Score += table[f]
			c.Because = append(c.Because, Reason{f, table[f], cites[:min(len(cites), mostCited)], max(0, len(cites)-mostCited)})
		}
	}
	for i := range all {
		if c := &all[i]; c.by != nil {
			stand(c, all, table)
		}
	}
	slices.SortStableFunc(all, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(min(len(a.Veto), 1), min(len(b.Veto), 1)), cmp.Compare(b.Score, a.Score), cmp.Compare(a.Position, b.Position))
	})
}

// stand gives a candidate that is pointed at the features of the one that points at it.
func stand(c *Candidate, all []Candidate, table *Table) {
	at := slices.IndexFunc(all, func(o Candidate) bool { return o.by == nil && says(&o.Observation, c.by) })
	if at < 0 || all[at].Score+table[PointedAt] < c.Score {
		return
	}
	c.Because = append(slices.Clone(all[at].Because), Reason{PointedAt, table[PointedAt], []evidence.ID{c.by.Item.ID}, 0})
	c.Score = all[at].Score + table[PointedAt]
}

// says that two sightings are one: of the same evidence, and of the same signature.
func says(a, b *evidence.Observation) bool {
	return a.Item.ID == b.Item.ID && a.Signature.ID == b.Signature.ID
}

// mostCited is how many others a feature cites; of more it is said how many.
const mostCited = 4

// besideOnly says that an observation counts only beside a failure seen elsewhere: a weak one, and what confirms a cause and is
// about a node, where others run that may have brought it about.
func besideOnly(s *evidence.Observation) bool {
	return s.Signature.Weak || s.Platform && s.Signature.Role == signature.Confirmation && s.Item.Source.Pod == "" && s.Item.Source.Node != ""
}

// showsFailure says that something went wrong beside what runs that end well print as well. A member that was told to stop
// had gone on until then.
func showsFailure(s evidence.Observation) bool {
	return !s.Over && !besideOnly(&s) && s.Signature.Role != signature.Context && s.Signature.SaysOf() != signature.ToldToStop
}

// rival says that nothing sets another candidate apart from the cause: it is of another kind and as deep,
// it was not seen by another way, and times do not show which was first.
func (in *Input) rival(cause, c *Candidate) bool {
	otherKind := c.Signature.Category != cause.Signature.Category || c.Signature.ID == genericException && cause.Signature.ID == genericException && c.Facts["type"] != cause.Facts["type"]
	explained := slices.ContainsFunc(c.Because, func(b Reason) bool { return b.Feature == Superseded || b.Feature == LessSpecific })
	if c.Veto != "" || explained || c.Signature.Role != signature.Root || !otherKind ||
		c.Signature.Weak != cause.Signature.Weak || c.Platform != cause.Platform || c.Signature.DepthOf() < cause.Signature.DepthOf() {
		return false
	}
	if cause.Item.At.IsZero() || c.Item.At.IsZero() {
		return cause.Item.Source.File != c.Item.Source.File || cause.Item.Source.Pod != c.Item.Source.Pod
	}
	return in.when(cause.Item, c.Item) == 0 && cause.Item.Source.Pod != c.Item.Source.Pod
}
