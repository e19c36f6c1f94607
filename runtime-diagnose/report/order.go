package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

// whatBehind names the ranks that the others waited for.
func (d *draft) whatBehind() string {
	if d.Waited == nil || len(d.Waited.Behind) == 0 {
		return ""
	}
	behind := d.Waited.Behind
	text := fmt.Sprintf("Rank %d", behind[0])
	if n := len(behind) - 1; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("%s: %s.", text, d.Waited.Why)
}

func (d *draft) isMember(place string) bool {
	_, ok := d.at[place]
	return ok
}

// sayOrder says how it is known which member went first, and what became of the others.
func (d *draft) sayOrder(r *Report) {
	defer func() { r.Members = d.Members }()
	for i := range d.Members {
		m := &d.Members[i]
		b := d.Clocks.Ahead(m.Clock)
		m.Ahead, m.Sign = (b.Low+b.High)/2, d.Marks.States[m.Place].Sign.At
	}
	root := d.root
	if root == nil || r.Verdict == Healthy {
		return
	}
	first := map[string]bool{}
	for _, item := range append([]evidence.Item{root.Item}, root.Also...) {
		place := item.Source.Place()
		first[place] = true
		if k, ok := d.at[place]; ok && item.Carried && item.At.Equal(d.Members[k].Sign) {
			d.Members[k].Carried = true
		}
	}
	for i := range d.Members {
		if m := &d.Members[i]; first[m.Place] {
			m.First, m.Says = true, root.Signature.Title
		}
	}
	if len(d.Members) < 2 {
		return
	}
	r.Followers = d.followers(first)
	if !d.isMember(root.Item.Source.Place()) {
		return
	}
	r.Order = d.order(root, first)
}

func (d *draft) order(root *evidence.Observation, first map[string]bool) *Order {
	o := &Order{}
	at := timeline.Moment{Clock: root.Item.Clock, At: root.Item.At}
	last, bound := d.latest(root.Item)
	next, nextAt, troubled, plain := "", timeline.Moment{}, 0, 0
	for _, m := range d.Members {
		state, known := d.Marks.States[m.Place]
		if first[m.Place] || !known || !m.Failed && state.First.At.IsZero() {
			continue
		}
		troubled += 1 + m.Alike
		if state.Own {
			plain++
		}
		if !state.First.At.IsZero() && (next == "" || d.Clocks.Order(state.First, nextAt) < 0 || state.First.At.Before(nextAt.At) && d.Clocks.Order(nextAt, state.First) >= 0) {
			next, nextAt = m.Place, state.First
		}
	}
	if troubled == 0 {
		return nil
	}
	if gap := d.Clocks.Gap(last, nextAt); next != "" && gap > 0 {
		o.Ahead = gap
	}
	later, give, dated := d.Clocks.Between(at, nextAt)
	o.Skew = 2 * give
	most := later + give
	if l, g, ok := d.Clocks.Between(last, nextAt); dated && ok { // the same, unless only bounds are known
		later, give = (most+l-g)/2, (most-l+g)/2
	}
	only := root.Signature.Role == signature.Root && root.Signature.DepthOf() > signature.Symptom && plain == 0
	others := fmt.Sprintf("the other %d", troubled)
	if troubled == 1 {
		others = "the other one"
	}
	switch {
	case d.Waited != nil && (root.Signature == timeline.Awaited || root.Signature == timeline.Desync):
		o.Why = "The others complain, and none of them says why; they waited for it."
	case only && o.Ahead > 0:
		o.Why = fmt.Sprintf("It alone names a cause of its own, at least %s before %s showed any sign.", words.Short(o.Ahead), others)
	case only && dated && !bound && most > 0:
		o.Why = fmt.Sprintf("It alone names a cause of its own, at most %s before %s showed any sign%s: its line has no time, and the last one above it is %s.",
			words.Short(most), others, ofClocks(give), at.At.UTC().Format("15:04:05"))
	case only:
		o.Why = fmt.Sprintf("It alone names a cause of its own; %s only went after it or say%s that somebody was gone.", others, words.Verb(troubled))
	case o.Ahead > 0:
		o.Why = fmt.Sprintf("It was first, at least %s before %s.", words.Short(o.Ahead), next)
	case dated && !bound:
		o.Why = "Its line has no time, only one above it has, so times do not show who was first."
		o.Decide = d.decides()
	case dated:
		o.Why = fmt.Sprintf("%s came %s, give or take %s: times do not show which was first.", next, laterBy(later), words.Short(give))
		o.Decide = d.decides()
	default:
		o.Why = undated(at, nextAt) + ", so times do not show who was first."
		o.Decide = d.decides()
	}
	o.Known = only || o.Ahead > 0
	return o
}

// ofClocks says how much of a bound is there because clocks of several machines are compared; empty: nothing.
func ofClocks(give time.Duration) string {
	if give <= 0 {
		return ""
	}
	return fmt.Sprintf(" (%s of it, because their clocks may differ by so much)", words.Short(give))
}

// undated is why two moments cannot be compared.
func undated(at, next timeline.Moment) string {
	known := func(m timeline.Moment) bool { return !m.At.IsZero() && !evidence.IsAgeClock(m.Clock) }
	switch {
	case !known(next):
		return "Nothing that was read dates the others"
	case !known(at):
		return "Nothing that was read dates it"
	default:
		return "Its time and those of the others are of clocks that nothing compares"
	}
}

// latest is the latest that an item can have been: its time, and of a line without one, the last time in its log below
// it, else the end of its member; bound is false where nothing that was read bounds it.
func (d *draft) latest(item evidence.Item) (last timeline.Moment, bound bool) {
	if !item.Carried {
		return timeline.Moment{Clock: item.Clock, At: item.At}, true
	}
	k, ok := d.at[item.Source.Place()]
	if !ok {
		return timeline.Moment{}, false
	}
	switch m := &d.Members[k]; {
	case m.LastLine.After(item.At) && m.LastNumber > item.Source.Line:
		return timeline.Moment{Clock: item.Clock, At: m.LastLine}, true
	case m.Failed && !m.Ended.IsZero():
		return timeline.Moment{Clock: m.Clock, At: m.Ended}, true
	}
	return timeline.Moment{}, false
}

// decides is what would tell which member went first: the logs that were not read, of those that ended
// first.
func (d *draft) decides() string {
	var unread []*timeline.Member
	for i := range d.Members {
		if m := &d.Members[i]; m.Failed && !m.Read {
			unread = append(unread, m)
		}
	}
	if len(unread) == 0 {
		return ""
	}
	slices.SortStableFunc(unread, func(a, b *timeline.Member) int { return a.Ended.Compare(b.Ended) })
	text := "the log of " + unread[0].Place
	if at := unread[0].Ended; !at.IsZero() {
		text += ", which ended at " + at.UTC().Format("15:04:05")
	}
	if n := len(unread) - 1; n > 0 {
		text += fmt.Sprintf(" (and of %d more)", n)
	}
	return text + ", was not read; it would decide"
}

// notHeard names the members that may be the one the others waited for in a collective: they do not
// complain, have not ended, and nothing that they print was read. Empty where watchdogs tell which was
// behind, and where most were not heard.
func (d *draft) notHeard(root *evidence.Observation) string {
	if root.Signature.Category != timeline.Awaited.Category || root.Signature.Role != signature.Cascade || d.whatBehind() != "" {
		return ""
	}
	var silent []string
	unread := 0
	for i := range d.Members {
		m := &d.Members[i]
		if m.Read {
			continue
		}
		unread += 1 + m.Alike
		if !m.Failed && m.Done.IsZero() {
			silent = append(silent, m.Place)
		}
	}
	if len(silent) == 0 || 2*unread > timeline.Headcount(d.Members) {
		return ""
	}
	text := silent[0]
	if n := len(silent) - 1; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text + " may be who the others waited for: nothing that it printed was read; that would decide."
}

// followers folds the members that are not first by what they say last about themselves: the
// line that explains their end, else how they ended.
func (d *draft) followers(first map[string]bool) []Followers {
	says := map[string]*evidence.Observation{}
	for i := range d.Observations {
		s := &d.Observations[i]
		place := s.Item.Source.Place()
		if !isTold(s) || first[place] || s.Signature == control.CrashLoop { // which may have begun before
			continue
		}
		if old := says[place]; old == nil || explains(s) > explains(old) {
			says[place] = s
		}
	}
	at := map[string]int{}
	var out []Followers
	saying := func(text string) *Followers {
		k, ok := at[text]
		if !ok {
			k = len(out)
			at[text] = k
			out = append(out, Followers{Says: text})
		}
		return &out[k]
	}
	for i := range d.Members {
		m := &d.Members[i]
		when, carried := m.Ended, false
		switch s := says[m.Place]; {
		case first[m.Place]:
			continue
		case s != nil:
			m.Says = s.Signature.Title
			if !s.Item.At.IsZero() {
				when, carried = s.Item.At, s.Item.Carried
			}
		case m.Failed:
			m.Says = control.ExitRule(m.ExitCode).Title
		default:
			continue
		}
		f := saying(m.Says)
		f.Places = append(f.Places, m.Place)
		if f.First.IsZero() || !when.IsZero() && when.Before(f.First) {
			f.First, f.Carried = when, carried
		}
	}
	for i := range d.Groups {
		c := &d.Groups[i]
		if c.says(d.root, first) {
			continue
		}
		var s *evidence.Observation
		for k := range c.Told {
			if one := &c.Told[k]; isTold(one) && (s == nil || explains(one) > explains(s)) {
				s = one
			}
		}
		if s == nil {
			continue
		}
		f := saying(s.Signature.Title)
		f.Places = slices.Grow(f.Places, c.Count)
		for source := range c.Sources {
			f.Places = append(f.Places, source.Place())
		}
	}
	slices.SortStableFunc(out, func(a, b Followers) int {
		return cmp.Or(-cmp.Compare(len(a.Places), len(b.Places)), a.First.Compare(b.First), strings.Compare(a.Says, b.Says))
	})
	return out
}

// isTold says that a sighting is worth saying of a member.
func isTold(s *evidence.Observation) bool {
	return !s.Over && s.Signature.Role != signature.Context && !s.Signature.Weak
}

// explains ranks what a member says: a cause of its own, that another went away, that it was
// told to stop, how it ended.
func explains(s *evidence.Observation) int {
	switch {
	case s.Item.Kind == evidence.Exit && s.Signature.DepthOf() == signature.Symptom:
		return 1
	case s.Signature.Role == signature.Cascade:
		return 3
	case s.Signature.Role == signature.Confirmation:
		return 0
	case s.Signature.DepthOf() == signature.Symptom:
		return 2
	default:
		return 4
	}
}

func laterBy(d time.Duration) string {
	if d < 0 {
		return words.Short(-d) + " earlier"
	}
	return words.Short(d) + " later"
}

// mostKinds is how many kinds of ends one sentence tells; the others are counted.
const mostKinds = 3

// followersSentence is what became of the other members, in one sentence.
func followersSentence(all []Followers) string {
	var parts []string
	for _, f := range all[:min(len(all), mostKinds)] {
		parts = append(parts, fmt.Sprintf("%d × %s", len(f.Places), f.Says))
	}
	if n := len(all) - mostKinds; n > 0 {
		parts = append(parts, words.Count(n, "more kind", "more kinds"))
	}
	if len(parts) == 0 {
		return ""
	}
	return " The others: " + strings.Join(parts, "; ") + "."
}
