package logscan

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/recovery"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/subject"
)

// worst is the line that tells most where no signature knows the words: the first of the last block of
// lines that the program calls errors, or the first of them that says what it is about. Training that goes on after it takes it back.
type worst struct {
	open  bool
	mute  func() bool // nothing is known of what the line is about
	line  reduce.Line
	match signature.Match
	last  int // number of the last line of the block
	same  int // and of the last one that says the same as its first
	steps int
	grown int // steps of counters that no rule knows by name, before its last line
	began int // and before its first
}

// linesAfterWorst is how many lines may follow the last of a block: a program that gives up prints little more, a
// client that could not report something is one of many that went on.
const linesAfterWorst = 40

// stepsTakeBack is how many lines that show training take an error back: one may be an echo of the step
// that failed.
const stepsTakeBack = 2

// blockOf is how many lines may stand between two errors of one block.
const blockOf = 20

// setAside keeps the matches of last resorts apart: they count where nothing else does. Of what is raised
// they are as good as any other.
func (r *logReader) setAside(l reduce.Line, matches []signature.Match) []signature.Match {
	at := slices.IndexFunc(matches, func(m signature.Match) bool { return m.Signature.LastResort && m.Signature.Role == signature.Root })
	if at < 0 {
		at = slices.IndexFunc(matches, func(m signature.Match) bool { return m.Signature.LastResort })
	}
	if at < 0 || l.Trace != nil && matches[at].Signature.Role == signature.Root {
		return matches
	}
	m := matches[at]
	matches = slices.DeleteFunc(matches, func(m signature.Match) bool {
		return m.Signature.LastResort && (l.Trace == nil || m.Signature.Role != signature.Root)
	})
	w := &r.worst
	// What informs and what goes on is mild as well, but for the words of a retry.
	if l.Trace != nil || len(matches) > 0 || r.log.Pasted || ruled(l.Body()) || recovery.Mild(l.Body()) || recovery.Warns(l.Body()) || recovery.TriesAgain(l.Body()) {
		return matches
	}
	if recovery.OfTracker(l.Body()) && (r.steps.Lines() > 0 || r.counters.Steps() > 0) {
		return matches // no run that has begun ends for what its tracker could not send
	}
	if !w.open || l.Number-w.last > blockOf || w.line.Number < r.launches.last().line {
		line := l.Clone()
		*w = worst{open: true, mute: sync.OnceValue(func() bool { return r.mute(line.Body()) }), line: line, match: m, began: r.counters.Steps()}
	} else if l.Number-w.line.Number <= blockOf && w.mute() && explains(l.Body()) {
		w.mute, w.line, w.match = func() bool { return false }, l.Clone(), m
	}
	if w.last, w.steps, w.grown = l.Number, 0, r.counters.Steps(); SameStatement(w.line.Text, l.Text) {
		w.same = l.Number
	}
	return matches
}

// livedWith says that the program says the same again so many lines below, and so has lived with what it said before.
func (w *worst) livedWith() bool { return w.same-w.line.Number >= linesSurvived }

// ncclThread is what writes a line of NCCL's: host, process and thread.
var ncclThread = regexp.MustCompile(`^(\S+:\d+:\d+) \[\d+\] `)

// sameThread says that two lines are of one of NCCL's threads.
func sameThread(a, b string) bool {
	m, n := ncclThread.FindStringSubmatch(a), ncclThread.FindStringSubmatch(b)
	return m != nil && n != nil && m[1] == n[1]
}

// ofNCCL says that a line is a warning of NCCL's, and another one of the same thread.
func ofNCCL(warning, other string) bool {
	return strings.Contains(warning, "NCCL WARN") && sameThread(warning, other)
}

// doesWithout takes a warning of NCCL's back where the same thread goes on below it, and hands no error on.
func (w *worst) doesWithout(body string) {
	if w.open && w.last == w.line.Number && strings.Contains(body, " NCCL INFO ") &&
		ofNCCL(w.line.Body(), body) && !recovery.HandsOn(body) && !strings.Contains(body, "Abort") {
		w.open = false
	}
}

// leastRule is how many signs a rule has at least.
const leastRule = 8

// ruled says that nothing is left of a line but its level and a row of such signs: it stands around a message.
func ruled(body string) bool {
	body = strings.TrimRight(body, " \t\n\f\r")
	return len(body) >= leastRule && strings.Trim(body[len(body)-leastRule:], "*=#~_-") == ""
}

// advance is told of every line that shows training.
func (w *worst) advance() {
	if w.steps++; w.steps >= stepsTakeBack {
		w.open = false
	}
}

// complaint is a sighting that can be the cause; nil: there is none. What only confirms one, as a launcher's word that a
// process called abort, says that there is one; what runs that end well print as well is none, where nothing else shows that
// the container failed.
func (r *logReader) complaint() *evidence.Observation {
	for i := range r.sightings {
		if s := &r.sightings[i]; !s.Over && !s.Mild && (r.failed || !s.Signature.Weak) && s.Signature.Role != signature.Context && s.Signature.Role != signature.Confirmation && !r.ledTo(s) {
			return s
		}
	}
	return nil
}

// ledTo says that a log of several processes has the worst line, then the launcher's word that one of them ended, and below it that
// another one lost a peer: that is what came of it.
func (r *logReader) ledTo(s *evidence.Observation) bool {
	if !r.worst.open || s.Signature.Role != signature.Cascade || s.Item.Source.Line <= r.worst.last {
		return false
	}
	of := r.confirmed(r.worst.last, s.Item.Source.Line)
	return of != nil && of.Facts["type"] == "" // what hands an exception on tells of no end
}

// lastResort records the worst line if nothing else in the log can be a cause, and guesses what the end of the log is about
// where nothing else ever was.
func (r *logReader) lastResort(d reduce.Digest, guesses bool) {
	if r.complaint() != nil {
		return
	}
	if body := r.worst.line.Body(); r.worst.open && strings.Contains(body, "CRITICAL") && !recovery.Wrong(body) && r.saysDone(d) {
		r.worst.open = false // a level alone is no complaint
	}
	if at := slices.IndexFunc(d.Lines, func(l reduce.Kept) bool { return l.Number == r.worst.line.Number }); at >= 0 && r.inKnownBox(d.Lines, at) {
		r.worst.open = false // whoever ran the program says so on the first line of its message
	}
	steps := r.counters.Steps()
	wentOn := d.Last.Number-r.worst.last > linesAfterWorst && r.confirmed(r.worst.line.Number, r.worst.last+linesAfterWorst) == nil || steps-r.worst.grown >= StepsSurvived || steps > r.worst.grown && steps-r.worst.began >= StepsSurvived
	if r.worst.open && !wentOn {
		r.recordLast(r.worst.line, r.worst.match)
	} else if l := r.severeAtTheEnd(d.Lines, max(r.series.Last.Line, r.launches.from-1)); l.Number > 0 && !r.log.Pasted {
		if known := r.catalog.ByID(saidError); known != nil {
			r.recordLast(reduce.Line{Number: l.Number, Text: l.Text, Rank: -1}, signature.Match{Signature: known})
		}
	} else if l, m := r.aboutSomething(d); guesses && l.Number > 0 && !r.log.Pasted && r.options.uses(asksSubject) && !slices.ContainsFunc(r.sightings, func(s evidence.Observation) bool {
		return !s.Over && !s.Signature.Weak && s.Signature.Role == signature.Root // a warning in known words says more than a guess
	}) {
		r.record(reduce.Line{Number: l.Number, Text: l.Text, Rank: -1}, m)
	} else if s := r.confirmed(0, d.Last.Number); s != nil && !r.mildOnes() {
		known := subject.ByCategory(s.Signature.Category)
		if known == nil {
			known = r.catalog.ByID(saidExit)
		}
		if known != nil {
			r.record(reduce.Line{Number: s.Item.Source.Line, Text: s.Line, Rank: -1}, signature.Match{Signature: known})
		}
	}
}

// mildOnes says that something that its program calls less than an error could be one.
func (r *logReader) mildOnes() bool {
	return slices.ContainsFunc(r.sightings, func(s evidence.Observation) bool {
		return !s.Over && s.Signature.Role != signature.Context && s.Signature.Role != signature.Confirmation
	})
}

// confirmed is the first word of whoever ran the program that it failed, on one of some lines: what stands below it is
// no sign that the program went on. Nil: there is none.
func (r *logReader) confirmed(from, to int) *evidence.Observation {
	for i := range r.sightings {
		if s := &r.sightings[i]; !s.Over && s.Signature.Role == signature.Confirmation && from <= s.Item.Source.Line && s.Item.Source.Line <= to {
			return s
		}
	}
	return nil
}

// mute says that nothing is known of what a line is about: neither a code, nor where it comes from, nor a subject.
func (r *logReader) mute(body string) bool {
	rule, _ := subject.Of(body)
	return rule == nil && len(r.inOtherWords(body)) == 0 && len(r.byNative(body)) == 0 && len(r.byKill(body)) == 0
}

// explains says that a line names what went wrong. That a process aborted or was stopped is no explanation: it is how
// one ends that has said what is wrong.
func explains(body string) bool {
	rule, _ := subject.Of(body)
	return rule != nil && rule.Category != "segfault" && rule.Category != "sigterm-preempted"
}

// recordLast records a last resort, or what the failure is that its line names by a code or by where it comes from.
func (r *logReader) recordLast(l reduce.Line, m signature.Match) {
	if known := r.inOtherWords(l.Body()); len(known) > 0 {
		m = known[0]
		m.Start, m.Facts = 0, nil // they are of the other words
	} else if known := r.byNative(l.Body()); len(known) > 0 {
		m = known[0]
	} else if known := r.byKill(l.Body()); len(known) > 0 {
		m = known[0]
	} else if told := r.catalog.ByID(toldToStop); told != nil && r.signalOf(l.Body()) == terminate { // no program ends so by itself
		m = signature.Match{Signature: told}
	} else if rule, words := subject.Of(l.Body()); rule != nil && r.options.uses(asksSubject) {
		m = signature.Match{Signature: rule, Facts: map[string]string{"subject": words}}
	}
	r.record(l, m)
}

// saidError is the signature for a line that its program calls an error.
const saidError = "said-error"

// saidExit is the one for whoever ran a program and says that it failed.
const saidExit = "said-exit"

// severeAtTheEnd is the first of the last lines, stacks apart and below the last step, that have the level of an error:
// further up they are remarks of libraries, and so is what XLA says in words that no signature knows. The zero line: none has.
func (r *logReader) severeAtTheEnd(lines []reduce.Kept, step int) (first reduce.Kept) {
	read := 0
	for _, l := range slices.Backward(lines) {
		if l.Number <= step {
			break
		}
		if text := strings.TrimLeft(l.Text, " \t"); text == "" || text != l.Text || text[0] == '*' || text[0] == '@' {
			continue
		}
		if recovery.Severe(l.Text) && !((recovery.OfXLA(l.Text) || recovery.OfRuntime(l.Text) && recurs(lines, l.Text)) && r.mute(l.Text)) {
			first = reduce.Kept{Number: l.Number, Text: strings.Clone(l.Text)}
		}
		if read++; read == atTheEnd {
			break
		}
	}
	return first
}

// timesOfMonitor is how often a daemon says the same at the end of a log that watches something, and does not end.
const timesOfMonitor = 3

// recurs says that the last lines say the same as one of them so often, numbers apart.
func recurs(lines []reduce.Kept, text string) bool {
	times := 0
	for _, l := range lines[max(0, len(lines)-linesAfterWorst):] {
		if sameWords(l.Text, text) {
			times++
		}
	}
	return times >= timesOfMonitor
}
