package diagnose

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/familiar"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/logscan"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/recovery"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/report"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

// What is looked at of an inconclusive job: logs, lines of each from its end, events. A model is shown no more
// than a few hundred lines.
const (
	mostNomineeLogs   = 8
	mostNomineeEvents = 32
	nomineeWithin     = 200 // lines above the end: native stacks and tear-downs take that many
)

// nominees are the lines that somebody may take for the cause where the rules are inconclusive, each with why it
// cannot be, or with what speaks for it, and how much else there is.
func (d *diagnosis) nominees(ctx context.Context, r *Result) (out []report.Nominee, untested report.Untested) {
	if !d.options.Nominees || r.Verdict != Inconclusive {
		return nil, untested
	}
	n := nominator{diagnosis: d, printed: d.printedBy(ctx), says: map[evidence.ID]*evidence.Observation{}}
	for i := range d.sightings {
		n.says[d.sightings[i].Item.ID] = &d.sightings[i]
	}
	excerpts := n.excerpts(r)
	untested.Logs = max(0, len(excerpts)-mostNomineeLogs)
	for _, e := range excerpts[:len(excerpts)-untested.Logs] {
		for i := range e.Lines {
			if strings.TrimSpace(e.Lines[i].Text) != "" {
				out = append(out, n.line(e, i))
			}
		}
	}
	events, more := n.events()
	untested.Events = more
	return append(out, events...), untested
}

// nominator tests lines; every answer is one of the rules.
type nominator struct {
	*diagnosis
	printed map[string]familiar.Lines // by place, of members that were read for it
	says    map[evidence.ID]*evidence.Observation
}

// excerpts are those of the members that failed, the cause's first.
func (n *nominator) excerpts(r *Result) []Excerpt {
	rank := func(e Excerpt) int {
		m := n.member(e.Source.Place())
		switch {
		case r.Root != nil && e.Source.Place() == r.Root.Source.Place():
			return 0
		case m == nil || m.Failed:
			return 1
		}
		return 2
	}
	out := slices.Clone(r.Excerpts)
	slices.SortStableFunc(out, func(a, b Excerpt) int { return cmp.Compare(rank(a), rank(b)) })
	return out
}

func (n *nominator) member(place string) *timeline.Member {
	if i, ok := n.at[place]; ok {
		return &n.all[i]
	}
	return nil
}

func (n *nominator) line(e Excerpt, i int) report.Nominee {
	item := e.Item(i)
	body := bodyOf(e.Lines[i].Text)
	if why := cmp.Or(n.known(item.ID), n.notOpen(e, i, body), n.ofFollower(item.Source), n.contradicted(item)); why != "" {
		return report.Nominee{Item: item, Why: why}
	}
	supports, why := n.comparisons(item.Source, body)
	if why == "" && n.platformSays(body) {
		supports = append(supports, "the platform repeats it")
	}
	return report.Nominee{Item: item, Why: why, Supports: supports, Suspect: recovery.Wrong(body)}
}

// known says what the rules have decided of a line already.
func (n *nominator) known(id evidence.ID) string {
	s := n.says[id]
	if s == nil || n.root != nil && s.Signature == n.root.Signature {
		return ""
	}
	for i := range n.answer.Candidates {
		if c := &n.answer.Candidates[i]; c.Item.ID == id && c.Veto != "" {
			return fmt.Sprintf("signature %s knows it, and it is not the cause: %s", s.Signature.ID, c.Veto)
		}
	}
	if s.Over {
		return "it was survived"
	}
	return fmt.Sprintf("signature %s knows it, and it does not say why", s.Signature.ID)
}

// notOpen says that what a line tells of was over, or never happened.
func (n *nominator) notOpen(e Excerpt, i int, body string) string {
	t := n.track(e.Source)
	if !hasForm(body) {
		return "it has no words"
	}
	if t == nil || t.Pasted {
		return ""
	}
	if word := n.wordOf(e.Source); word == control.Past {
		return "it is of a life of its container that another one has followed"
	} else if word == control.EndedWell || t.Ended {
		return "its program ended well"
	}
	number := e.Lines[i].Number
	steps, last := 0, int64(-1)
	for k, s := range t.Steps.Recent {
		if s.Line > number && (s.Number != last || s.Number < 0 && k > 0) {
			steps++
		}
		last = s.Number
	}
	most := logscan.StepsSurvived
	if recovery.Mild(body) || recovery.TriesAgain(body) || n.triedAgain(e, i) {
		most = logscan.StepsSurvivedMild
	}
	switch {
	case steps >= most:
		return fmt.Sprintf("it was survived: training went on for %d step%s after it", steps, words.S(steps))
	case t.LastNumber-number > nomineeWithin:
		return fmt.Sprintf("%d lines follow it in its log", t.LastNumber-number)
	}
	return ""
}

// triedAgain says that a program says close below a line that it goes on.
func (n *nominator) triedAgain(e Excerpt, i int) bool {
	for _, l := range e.Lines[i+1:] {
		if l.Number-e.Lines[i].Number > logscan.SaidBelow {
			break
		}
		if recovery.TriesAgain(bodyOf(l.Text)) {
			return true
		}
	}
	return false
}

// hasForm says whether a line can be compared with others.
func hasForm(body string) bool {
	var l familiar.Lines
	l.Add(body)
	return l.Len() > 0
}

func (n *nominator) track(s evidence.Source) *logscan.Course {
	for i := range n.logs.Courses {
		if t := &n.logs.Courses[i]; (Excerpt{Source: t.Source}).Of(s) {
			return t
		}
	}
	return nil
}

func (n *nominator) wordOf(s evidence.Source) control.Word {
	var pod *control.Pod
	for i := range n.seen.Pods {
		if n.seen.Pods[i].Name == s.Pod {
			pod = &n.seen.Pods[i]
		}
	}
	for i := range n.Logs {
		if (Excerpt{Source: n.Logs[i].Source}).Of(s) {
			return logscan.LastWord(pod, &n.Logs[i], n.Case)
		}
	}
	return control.Open
}

// ofFollower says that another member went first.
func (n *nominator) ofFollower(s evidence.Source) string {
	place := s.Place()
	m, mark := n.member(place), n.marks.States[place]
	switch {
	case m == nil:
		return ""
	case !m.Failed && !n.onlyLogs():
		return "its member had not failed"
	case mark.Told:
		return "its member was told to stop"
	case mark.Lost && !mark.Own:
		return "its member says that another one went away first"
	}
	for i := range n.all {
		o := &n.all[i]
		if o.Place == place || !o.Failed && !n.marks.States[o.Place].Own || n.marks.States[o.Place].Told {
			continue
		}
		if first := n.marks.States[o.Place].First; !first.At.IsZero() && !mark.First.At.IsZero() && n.time.Order(first, mark.First) < 0 {
			return o.Place + " was in trouble before its member was"
		}
	}
	return ""
}

// onlyLogs says that no platform tells which pod failed.
func (n *nominator) onlyLogs() bool {
	return !slices.ContainsFunc(n.all, func(m timeline.Member) bool { return m.Failed })
}

// contradicted says that something stronger names another cause.
func (n *nominator) contradicted(item evidence.Item) string {
	for i := range n.answer.Candidates {
		c := &n.answer.Candidates[i]
		if c.Veto != "" || c.Item.ID == item.ID || c.Mild || c.Signature.Weak || c.Signature.DepthOf() <= 1 || n.root != nil && c.Signature == n.root.Signature {
			continue
		}
		return fmt.Sprintf("signature %s at [%s] explains more", c.Signature.ID, c.Item.ID)
	}
	if n.root == nil || n.root.Item.Source.Place() == item.Source.Place() || n.root.Item.Source.Place() == "" || item.Source.Place() == "" {
		return ""
	}
	for _, also := range n.root.Also {
		if also.Source.Place() == item.Source.Place() {
			return ""
		}
	}
	return "the rules hold " + n.root.Item.Source.Place() + " for the first that failed"
}

// comparisons hold a line against the other members and the last good run.
func (n *nominator) comparisons(s evidence.Source, body string) (supports []string, why string) {
	body = reduce.Mask(body)
	sound, failed, clear := 0, 0, 0
	for place, lines := range n.printed {
		if place == s.Place() {
			continue
		}
		switch {
		case lines.Has(body) && !n.failedItself(place):
			sound++
		case lines.Has(body):
			failed++
		case lines.New(body):
			clear++
		}
	}
	if sound > 0 {
		return nil, fmt.Sprintf("%d other pod%s printed it too and did not fail by %s", sound, words.S(sound), map[bool]string{true: "itself", false: "themselves"}[sound == 1])
	}
	if failed == 0 && clear >= fewestOthers {
		supports = append(supports, fmt.Sprintf("none of %d other pods printed it", clear))
	}
	lines, ok := n.good()
	switch {
	case !ok:
	case lines.Has(body):
		return nil, fmt.Sprintf("the last good run (%s) printed it too, and ended well", n.goodTime())
	case n.Good.Whole && lines.New(body):
		supports = append(supports, fmt.Sprintf("the last good run (%s) did not print it", n.goodTime()))
	}
	return supports, ""
}

// failedItself says that a member may have failed for a reason of its own; where no platform tells, all may.
func (n *nominator) failedItself(place string) bool {
	m, mark := n.member(place), n.marks.States[place]
	return m == nil || n.onlyLogs() || m.Failed && !mark.Told && (!mark.Lost || mark.Own)
}

// shortestRepeated is how long a line is at least whose words elsewhere are no chance.
const shortestRepeated = 20

// platformSays says that the platform itself repeats a line: as a container's last message, or the job's.
func (n *nominator) platformSays(body string) bool {
	body = strings.TrimSpace(body)
	if len(body) < shortestRepeated {
		return false
	}
	if strings.Contains(reduce.Mask(n.State.Message), body) {
		return true
	}
	return slices.ContainsFunc(n.seen.Pods, func(p control.Pod) bool { return p.Exit != nil && strings.Contains(reduce.Mask(p.Exit.Message), body) })
}

// printedBy is what members printed, a bounded number of them, read once.
func (d *diagnosis) printedBy(ctx context.Context) map[string]familiar.Lines {
	out := map[string]familiar.Lines{}
	for _, i := range d.logs.Order {
		log := &d.Logs[i]
		place := log.Source.Place()
		if _, seen := out[place]; log.Pasted || log.Source.Attempt > 0 || log.Source.Pod == "" || !seen && len(out) > mostOthers {
			continue
		}
		in, err := log.Open()
		if err != nil {
			continue
		}
		lines := out[place]
		_, err = reduce.Read(reduce.Cancelable(ctx, in), reduce.Options{
			Budget: 1, Suspect: func(string) bool { return false }, Watch: func(l *reduce.Line) { lines.Add(reduce.Mask(l.Body())) },
		})
		if cerr := in.Close(); err == nil && cerr == nil {
			out[place] = lines
		}
	}
	return out
}

// events are the warnings that no signature knows, the latest first, and how many more there are.
func (n *nominator) events() (out []report.Nominee, more int) {
	told := map[string]bool{}
	for i := range n.sightings {
		if s := &n.sightings[i]; s.Item.Kind == evidence.Event {
			told[s.Item.Source.Pod+"\x00"+s.Line] = true
		}
	}
	events := slices.Clone(n.Events)
	slices.SortStableFunc(events, func(a, b corev1.Event) int {
		return cmp.Or(control.When(&b).Compare(control.When(&a)), cmp.Compare(a.Name, b.Name))
	})
	seen := map[evidence.ID]bool{}
	for i := range events {
		e := &events[i]
		item := eventItem(e)
		if e.Type != corev1.EventTypeWarning || seen[item.ID] || e.Reason == "FailedScheduling" || n.saidBy(told, e) {
			continue
		}
		seen[item.ID] = true
		if len(out) == mostNomineeEvents {
			more++
			continue
		}
		if i, ok := n.at[item.Source.Pod]; ok {
			item.Source = n.all[i].Source
		}
		nominee := report.Nominee{Item: item, Suspect: true, Why: cmp.Or(n.eventOver(events[:i], e), n.ofFollower(item.Source), n.contradicted(item))}
		if nominee.Why == "" {
			nominee.Supports = []string{cmp.Or(e.ReportingController, e.Source.Component, "the platform") + " says it, not the program"}
		}
		out = append(out, nominee)
	}
	return out, more
}

// saidBy says that a signature knows an event.
func (n *nominator) saidBy(told map[string]bool, e *corev1.Event) bool {
	for key := range told {
		if pod, line, _ := strings.Cut(key, "\x00"); pod == e.InvolvedObject.Name && strings.Contains(line, strings.TrimSpace(reduce.Mask(e.Message))) {
			return true
		}
	}
	return false
}

// eventOver says that its object went on after an event, or had ended before it; later are newer events.
func (n *nominator) eventOver(later []corev1.Event, e *corev1.Event) string {
	for i := range later {
		if o := &later[i]; o.InvolvedObject.UID == e.InvolvedObject.UID && o.InvolvedObject.Name == e.InvolvedObject.Name && o.Type == corev1.EventTypeNormal && slices.Contains([]string{"Scheduled", "Pulled", "Created", "Started"}, o.Reason) {
			return "it was survived: " + o.Reason + " came after it"
		}
	}
	if m := n.member(e.InvolvedObject.Name); m != nil && !m.Ended.IsZero() && control.When(e).After(m.Ended.Add(timeline.Skew)) {
		return "its container had ended before"
	}
	return ""
}

func eventItem(e *corev1.Event) evidence.Item {
	return evidence.Item{
		ID: evidence.ID("event/" + e.InvolvedObject.Name + "/" + e.Reason), Kind: evidence.Event, At: control.When(e),
		Source: evidence.Source{Pod: podOf(e), Rank: -1}, Text: reduce.Mask(reduce.Plain(e.Reason + ": " + e.Message)), Times: control.Times(e),
	}
}

func podOf(e *corev1.Event) string {
	if e.InvolvedObject.Kind == "Pod" {
		return e.InvolvedObject.Name
	}
	return ""
}
