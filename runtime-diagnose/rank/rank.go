// Package rank puts what was seen in order: causes before consequences, what happened
// first before what followed. It invents nothing: every candidate is a Sighting that
// carries its evidence. Start reading at Order.
package rank

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Sighting is one signature seen in one place.
type Sighting struct {
	Signature *signature.Signature
	Item      evidence.Item
	Line      string // the decisive line, masked
	Said      int    // where in Line that begins which the signature knows, in bytes
	Facts     map[string]string
	// Platform says that the platform itself reports it (a pod's status, an event), not a
	// program about itself.
	Platform bool
	// Over says that it was a passing state: what it blocked has happened since.
	Over bool
	// FromLog says that it is an exit code that somebody made from a line of the log.
	FromLog bool
	// First says that a launcher names it as the first failure of its group.
	First bool
	// Raised says that the line ends a traceback: somebody may have logged the same before.
	Raised bool
	// Mild says that the program itself calls the line a warning or information.
	Mild bool
	// Explained says that it only tells how its member ended, and something else tells why.
	Explained bool
	// Follower says that its member surely went after another one had failed, or was told to.
	Follower bool
	// Also holds the same sighting on other ranks or at other times.
	Also []evidence.Item
}

// Skew is how far clocks of two nodes may be apart before an order of events counts.
const Skew = 2 * time.Second

// Ranking is the sightings, judged.
type Ranking struct {
	Root    *Sighting  // nil: nothing seen can be a cause
	Effects []Sighting // what the root explains, by time
	Rivals  []Sighting // candidates as deep as the root that nothing sets apart from it
	Aside   []Sighting // context, and what was over
}

// Judge is how sightings are compared.
type Judge struct {
	// Failed says that something else shows that the job failed: only then weak signatures count.
	Failed bool
	// When orders two items of different places by time: -1, 1, or 0 where that is not sure. Nil:
	// times within Skew of each other are not ordered.
	When func(a, b evidence.Item) int
}

// Order judges sightings by times alone that are Skew apart.
func Order(seen []Sighting, failed bool) Ranking { return Judge{Failed: failed}.Order(seen) }

// Order judges sightings.
func (j Judge) Order(seen []Sighting) Ranking {
	var r Ranking
	var candidates []Sighting
	merged := j.Merge(seen)
	failed := j.Failed || slices.ContainsFunc(merged, showsFailure)
	for _, s := range merged {
		switch {
		case s.Over, s.Signature.Role == signature.Context, s.Signature.Weak && !failed:
			r.Aside = append(r.Aside, s)
		default:
			candidates = append(candidates, s)
		}
	}
	slices.SortStableFunc(candidates, func(a, b Sighting) int { return j.compare(&a, &b, candidates) })
	for i := range candidates {
		if canBeRoot(candidates[i]) {
			root := candidates[i]
			r.Root = &root
			candidates = slices.Delete(candidates, i, i+1)
			break
		}
	}
	for _, s := range candidates {
		if r.Root != nil && j.rival(*r.Root, s) {
			r.Rivals = append(r.Rivals, s)
			continue
		}
		r.Effects = append(r.Effects, s)
	}
	slices.SortStableFunc(r.Effects, func(a, b Sighting) int { return j.byTime(&a, &b) })
	return r
}

// when orders by time, where that is sure.
func (j Judge) when(a, b evidence.Item) int {
	if a.At.IsZero() || b.At.IsZero() {
		return 0
	}
	if j.When != nil {
		return j.When(a, b)
	}
	if d := a.At.Sub(b.At); d > Skew || d < -Skew {
		return cmp.Compare(d, 0)
	}
	return 0
}

func showsFailure(s Sighting) bool {
	return !s.Over && !s.Signature.Weak && s.Signature.Role != signature.Context
}

func canBeRoot(s Sighting) bool {
	return !s.Explained && (s.Signature.Role == signature.Root || s.Signature.Role == signature.Cascade)
}

// compare orders candidates: the better cause first. The order of the gates is the
// judgement of this package:
//
//  1. roots before cascades before confirmations and ends that something explains
//  2. what another candidate hides comes last
//  3. who went first before who followed: no depth makes up for being late
//  4. the deeper cause
//  5. what surely failed before what may be, or calls itself, a warning
//  6. what somebody says before a bare exit code
//  7. what the platform reports
//  8. what came first
func (j Judge) compare(a, b *Sighting, all []Sighting) int {
	return cmp.Or(
		cmp.Compare(roleOrder(a), roleOrder(b)),
		cmp.Compare(hidden(a, all), hidden(b, all)),
		cmp.Compare(boolOrder(a.Follower), boolOrder(b.Follower)),
		-cmp.Compare(a.Signature.DepthOf(), b.Signature.DepthOf()),
		cmp.Compare(boolOrder(a.Signature.Weak || a.Mild), boolOrder(b.Signature.Weak || b.Mild)),
		cmp.Compare(boolOrder(bareEnd(a)), boolOrder(bareEnd(b))),
		cmp.Compare(boolOrder(!a.Platform), boolOrder(!b.Platform)),
		j.byTime(a, b),
	)
}

// bareEnd is an exit code that says nothing of why, or only what a line of the log says better.
func bareEnd(s *Sighting) bool {
	return s.Item.Kind == evidence.Exit && (s.FromLog || s.Signature.DepthOf() == signature.Symptom)
}

func roleOrder(s *Sighting) int {
	switch {
	case s.Explained:
		return 2
	case s.Signature.Role == signature.Root:
		return 0
	case s.Signature.Role == signature.Cascade:
		return 1
	default:
		return 2
	}
}

func hidden(s *Sighting, all []Sighting) int {
	for i := range all {
		if all[i].Signature.ID != s.Signature.ID && slices.Contains(all[i].Signature.Hides, s.Signature.ID) {
			return 1
		}
	}
	return 0
}

// byTime is earlier first. Times that clocks do not set apart say nothing when they come from
// two places; then the file and the line decide, for the sake of one order.
func (j Judge) byTime(a, b *Sighting) int {
	sameLog := a.Item.Source.File == b.Item.Source.File && a.Item.Source.Pod == b.Item.Source.Pod &&
		a.Item.Source.Container == b.Item.Source.Container && a.Item.Source.Attempt == b.Item.Source.Attempt
	if sameLog && a.Item.Source.Line > 0 && b.Item.Source.Line > 0 {
		return cmp.Compare(a.Item.Source.Line, b.Item.Source.Line)
	}
	if sure := j.when(a.Item, b.Item); sure != 0 {
		return sure
	}
	return cmp.Or(
		-cmp.Compare(a.Item.Source.Attempt, b.Item.Source.Attempt),
		strings.Compare(string(a.Item.ID), string(b.Item.ID)),
	)
}

func (j Judge) rival(root, s Sighting) bool {
	if s.Explained || s.Follower != root.Follower || s.Signature.Role != signature.Root || s.Signature.Category == root.Signature.Category ||
		s.Signature.Weak != root.Signature.Weak || s.Platform != root.Platform ||
		s.Signature.DepthOf() < root.Signature.DepthOf() {
		return false
	}
	if root.Item.At.IsZero() || s.Item.At.IsZero() {
		return root.Item.Source.File != s.Item.Source.File || root.Item.Source.Pod != s.Item.Source.Pod
	}
	return j.when(root.Item, s.Item) == 0 && root.Item.Source.Pod != s.Item.Source.Pod
}

// Merge is Judge.Merge by times that are Skew apart.
func Merge(seen []Sighting) []Sighting { return Judge{}.Merge(seen) }

// Merge makes one sighting of equal ones: the same signature, however many ranks and
// times. The earliest stands for all, except that the one a launcher names as the first
// failure goes before, and that close by the one with more facts does: messages are printed
// in short and in long. Exceptions of two types are no copies of one message. The others are in Also.
func (j Judge) Merge(seen []Sighting) []Sighting {
	order := make([]*Sighting, len(seen)) // they are large, and may be many
	for i := range seen {
		order[i] = &seen[i]
	}
	// The order by time is none where times are within the skew: start from one that is.
	slices.SortStableFunc(order, func(a, b *Sighting) int {
		return cmp.Or(strings.Compare(string(a.Item.ID), string(b.Item.ID)), cmp.Compare(a.Item.Source.Line, b.Item.Source.Line),
			strings.Compare(a.Signature.ID, b.Signature.ID))
	})
	slices.SortStableFunc(order, j.byTime)
	var out []Sighting
	at := map[string]int{}
	for _, one := range order {
		s := *one
		key := s.Signature.ID + "\x00" + boolKey(s.Over) + boolKey(s.Platform) + boolKey(s.Explained) + boolKey(s.Follower)
		i, ok := at[key]
		if !ok {
			at[key] = len(out)
			s.Also = slices.Clone(s.Also)
			out = append(out, s)
			continue
		}
		mild := s.Mild && out[i].Mild
		s.Mild, out[i].Mild = mild, mild
		if speaksFor(s, out[i]) {
			s.Also = append(append([]evidence.Item{out[i].Item}, out[i].Also...), s.Also...)
			out[i] = s
			continue
		}
		out[i].Also = append(out[i].Also, s.Item)
	}
	return out
}

// closeBy is how many lines apart two copies of one message are printed.
const closeBy = 6

// oneTraceback is how long a traceback is between a logged error and its last line.
const oneTraceback = 120

func speaksFor(s, than Sighting) bool {
	if s.First != than.First {
		return s.First
	}
	a, b := s.Item.Source, than.Item.Source
	if a.Line == 0 || b.Line == 0 || a.File != b.File || a.Pod != b.Pod || a.Container != b.Container {
		return false
	}
	apart := max(a.Line-b.Line, b.Line-a.Line)
	if s.Raised != than.Raised {
		return s.Raised && apart <= oneTraceback
	}
	return apart <= closeBy && len(s.Facts) > len(than.Facts) && s.Facts["type"] == than.Facts["type"]
}

func boolOrder(b bool) int {
	if b {
		return 1
	}
	return 0
}

func boolKey(b bool) string {
	if b {
		return "1"
	}
	return "0"
}
