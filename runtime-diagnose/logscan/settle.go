package logscan

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/progress"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/recovery"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

// settle looks back from the end of the log.
func (r *logReader) settle(d reduce.Digest) {
	r.series = r.steps.Series()
	r.endsRaised = r.ended > 0 && r.ended == d.Last.Number
	if r.options.uses(harmless) {
		r.explainAway()
	}
	r.afterOrder()
	if r.options.uses(lastLaunch) {
		r.onlyLast(d)
	}
	quotes, open := r.quotes(), r.complaint() != nil
	r.judgeFrom(0, quotes, d)
	if said := len(r.sightings); r.options.uses(lastWords) && !quotes {
		r.lastResort(d, !open)
		if r.options.uses(harmless) { // what it found as well
			r.explainAway()
		}
		r.judgeFrom(said, quotes, d)
	}
	if r.quotesErrors() || r.failed || !r.options.uses(calmEnd) {
		return
	}
	r.calm = r.endsCalmly(d)
	for i := range r.sightings { // a warning further up was no reason to end, nor is what a script misses when its work is done
		s := &r.sightings[i]
		s.Over = s.Over || s.Item.Source.Line < r.calm || r.calm > 0 && recovery.MissesCommand(written(s))
	}
}

// judgeFrom says of the sightings from one on which of them are over.
func (r *logReader) judgeFrom(first int, quotes bool, d reduce.Digest) {
	again, below := map[*signature.Signature]bool{}, work{}
	if r.options.uses(worksOn) && len(r.sightings) > first {
		below = r.worksOn(d)
	}
	for i := first; i < len(r.sightings); i++ {
		s := &r.sightings[i]
		s.Item.Times = max(1, (r.perSignature[s.Signature.ID]+r.view.Again(s.Signature))/max(1, count(r.sightings, s.Signature.ID)))
		if quotes || r.onlyInformed(i) || r.livedWith(i, d) || r.options.uses(loggers) && r.loggerGoesOn(i, d) || r.outlived(i, below) {
			s.Over = true
		} else if r.options.uses(success) && r.refuted(i) || r.options.uses(survival) && r.survived(i, again, d.Last.Number) {
			s.Over, r.said[i].proven = true, true
		}
	}
}

// quotes says that the log is a text about errors: none of those in it happened. One whose last line is an exception that
// ended its process is none: samples stand within a text.
func (r *logReader) quotes() bool {
	return !r.log.Pasted && !r.failed && !r.endsRaised && r.document.Is()
}

// quotesErrors says that there are errors in such a text: without one its end says how a run went, whatever it reads like.
func (r *logReader) quotesErrors() bool { return r.quotes() && len(r.sightings) > 0 }

// How many steps of training after it a run takes that has survived what it said. Where ranks write into
// one log the others go on for a while without the one that failed, but they wait for it at the next step:
// lines that count the same step are no progress, unless there are so many that no gang writes them while it
// waits. What its own program calls less than an error, or says that it goes on after, is survived with the
// step after the next: one may be an echo.
const (
	StepsSurvived     = 12
	linesSurvived     = 24
	StepsSurvivedMild = 2
	// stepsSurvivedAlone is how many follow where no prefix says whose line a complaint is: the ranks of a gang wait for
	// each other at the next step, or, where one was under way, at the one after it.
	stepsSurvivedAlone = 4
)

// SaidBelow is how many lines below an error a program says that it tries again.
const SaidBelow = 2

// wentOn is told of every line: one close below an error may say that it is tried again.
func (r *logReader) wentOn(line int, body string) {
	r.worst.doesWithout(body)
	n := len(r.sightings)
	if n == 0 {
		return
	}
	if s := &r.sightings[n-1]; !s.Raised && line > s.Item.Source.Line && line-s.Item.Source.Line <= SaidBelow {
		r.said[n-1].instead = r.said[n-1].instead || recovery.Instead(body)
		s.Mild = s.Mild || recovery.TriesAgain(body)
	}
}

// ofItsWorker is how PyTorch's loader ends the last words of one of its workers. Where that ends the run, the process
// that trains raises an exception over it, and takes no step more
// (https://github.com/pytorch/pytorch/blob/main/torch/csrc/DataLoader.cpp).
const ofItsWorker = " encountered in worker."

// loaded is the category of what is read before the first step.
const loaded = "checkpoint-corrupt-or-mismatch"

// survived says that training went on after a sighting. What the run survived before, it survives again with
// the step after the next.
func (r *logReader) survived(i int, again map[*signature.Signature]bool, last int) bool {
	s := &r.sightings[i]
	if s.Signature.Category == notFiniteCategory && r.said[i].shape != 0 && (r.sound.After(s.Item.Source.Line, r.said[i].shape) ||
		r.said[i].well && !r.failed && r.sound.InARow(r.said[i].shape) < fewestSpoilt && r.hadGradient()) {
		return true
	}
	if s.Signature.Category == notFiniteCategory && r.handled(i) && !r.failed && r.finiteBelow(s.Item.Source.Line) {
		return true // a trial of many, whose score was no number
	}
	if !r.failed && last-s.Item.Source.Line >= linesSurvived && (s.Mild || recovery.Warns(written(s))) {
		return true
	}
	if r.log.Pasted || s.Signature.Lasts() || s.Item.Source.Line == last { // a bar that was not ended stands before it
		return false
	}
	if !r.failed && r.counters.Work()-r.said[i].work >= StepsSurvivedMild {
		return true // a server: it was one request that went wrong
	}
	steps := r.stepsAfter(i)
	if steps >= StepsSurvived || steps >= stepsSurvivedAlone && r.said[i].lane == "" || r.steps.Lines()-r.said[i].steps >= linesSurvived {
		again[s.Signature] = true
		return true
	}
	if steps > 0 && !s.Raised && !r.failed && r.said[i].lane == "" && r.said[i].steps == 0 && s.Signature.Category == loaded {
		return true // what was loaded did not fit, and training began without it
	}
	return steps >= StepsSurvivedMild && (s.Mild || !r.failed && (again[s.Signature] || strings.HasSuffix(s.Line, ofItsWorker) || !s.Raised && recovery.OfRuntime(written(s))))
}

// hadGradient says that one of the steps gives a gradient that is a number: where none does, no step was ever taken.
func (r *logReader) hadGradient() bool {
	return slices.ContainsFunc(r.series.Recent, func(s progress.Step) bool { return progress.HasGradient(s.Text) })
}

// orderedCategory is that of orders to end: while a process that got one cleans up it counts on, and prints every tenth step.
const orderedCategory = "sigterm-preempted"

// stepsAfter is how many different steps of training, or counts of anything, follow a sighting.
func (r *logReader) stepsAfter(i int) int {
	steps, number := 0, int64(-1)
	var from progress.Step // the first of them that says of how many
	for k, step := range r.series.Recent {
		if step.Line < r.sightings[i].Item.Source.Line {
			continue
		}
		switch {
		case step.Of <= 0 || step.Line == r.sightings[i].Item.Source.Line || r.sightings[i].Signature.Category == orderedCategory:
		case step.Of != from.Of || step.Number < from.Number:
			from = step
		case step.Number-from.Number >= StepsSurvived: // counted on, whether or not every step has a line
			steps = max(steps, StepsSurvived)
		}
		if step.Number != number || step.Number < 0 && k > 0 {
			steps++
		}
		number = step.Number
	}
	return max(steps, r.counters.Steps()-r.said[i].grown)
}

// stands says that a complaint is open where the log ends. One that was logged, and no exception that ended its
// process, is not where the run went on below it: the end of the log is the program's own, then.
func (r *logReader) stands(i, last int) bool {
	s := &r.sightings[i]
	if s.Over || s.Mild || s.Signature.Role == signature.Context || recovery.MissesCommand(written(s)) {
		return false
	}
	switch at, below := s.Item.Source.Line, last-s.Item.Source.Line; {
	case s.Signature.Lasts():
		return true
	case s.Raised && (r.said[i].top || r.said[i].lane != ""): // what is not handled is printed from the module's frame on
		return r.failed || at*longAfter >= last || below <= linesAfterWorst*2
	case !r.failed && below >= linesSurvived:
		return false
	}
	return r.stepsAfter(i) < stepsSurvivedAlone
}

// longAfter is how many times as long as the log was when something was raised a log is that has gone on: that was of a
// process before, or of nothing that was needed.
const longAfter = 10

// refuted says that the process which said it says later that the run ended well. A success line speaks
// for its own process, and for what was before it: what comes after counts, unless its program calls it
// less than an error, because teardown is noisy. Not finite losses are never survived. Where the
// container ended badly and lines do not tell processes apart, it is not known whose word it is.
func (r *logReader) refuted(i int) bool {
	s := &r.sightings[i]
	ended, said := r.success[r.said[i].lane]
	switch {
	case s.Signature.Lasts(), r.failed && r.said[i].lane == "":
		return false
	case said && s.Item.Source.Line < ended:
		// What comes after an exception that ended its process is another process's word, unless it trained first.
		return !r.said[i].top || r.steps.Lines() > r.said[i].steps || r.counters.Steps() > r.said[i].grown
	case r.failed || len(r.success) == 0:
		return false
	case !said: // a daemon that misses the processes of a run which has ended
		return s.Signature.Role == signature.Cascade && s.Item.Source.Rank < 0 && s.Item.Source.Line > slices.Max(slices.Collect(maps.Values(r.success)))
	}
	return s.Mild || s.Signature.Role == signature.Confirmation
}

// endedWell says that the log says so, and does not go on to a complaint or a bad end. What a daemon says of others in the
// end is none.
func (r *logReader) endedWell(d reduce.Digest) bool {
	if len(r.success) == 0 || slices.Max(slices.Collect(maps.Values(r.success))) < r.complained() {
		return false
	}
	return !recovery.EndsBadly(d.Last.Text) || r.isOver(d.Last.Number)
}

// complained is the last line that complained of something which neither steps nor an end that went well show to be
// survived; 0: none did. What was done before it is no proof that the run is well: lines that only follow spare a run the
// verdict that it failed, and no more.
func (r *logReader) complained() (line int) {
	if r.worst.open {
		line = r.worst.last
	}
	for i := range r.sightings {
		if s := &r.sightings[i]; r.ofItsLaunch(i) && s.Signature.Role != signature.Context && s.Signature.Role != signature.Confirmation {
			line = max(line, s.Item.Source.Line)
		}
	}
	return line
}

// ranInto says that an exception ended a process, or that more is wrong than the surroundings of the program, and that nothing
// but an end in which nothing complains shows that it was survived: a script goes on with its next command, and says that it
// is done. What stands in the first part of a long log was of a run before.
func (r *logReader) ranInto(last int) bool {
	for i := range r.sightings {
		if s := &r.sightings[i]; r.ofItsLaunch(i) && s.Signature.Role == signature.Root && s.Item.Source.Line*longAfter >= last &&
			(r.said[i].top || !isSurrounding(s) && (s.Raised || !isGuess(s) && !isGenericSignature(s.Signature))) {
			return true
		}
	}
	return false
}

// ofItsLaunch says that a complaint is of the launch that is read, no less than an error, and not proven to be survived.
func (r *logReader) ofItsLaunch(i int) bool {
	s := &r.sightings[i]
	return !s.Mild && !r.said[i].proven && s.Item.Source.Line >= r.launches.from
}

// trains says that lines show training, two of them below every complaint: the bar of a step that failed is drawn once more.
func (r *logReader) trains() bool {
	from, steps := r.complained(), r.series.Recent
	return r.progress > 1 && (from == 0 || r.progressAt[0] > from || len(steps) > 1 && steps[len(steps)-2].Line > from)
}

// atTheEnd is how many lines with text are the end of a log.
const atTheEnd = 4

// badAtTheEnd is the line by which a program says that it gives up: the last of a log, or one of the last, close
// below its last step.
func (r *logReader) badAtTheEnd(d reduce.Digest) (bad reduce.Kept) {
	read := 0
	for _, l := range slices.Backward(d.Lines) {
		if step := r.series.Last.Line; read > 0 && (l.Number <= step || step <= d.Last.Number-linesAfterWorst) || read == atTheEnd {
			break
		}
		if !strings.ContainsFunc(l.Text, unicode.IsLetter) {
			continue
		}
		if read++; recovery.EndsBadly(l.Text) && !(read > 1 && recovery.Informs(l.Text)) {
			bad = reduce.Kept{Number: l.Number, Text: strings.Clone(strings.TrimSpace(l.Text[:min(len(l.Text), r.share.line)]))}
			break
		}
	}
	if r.isOver(bad.Number) {
		return reduce.Kept{}
	}
	return bad
}

// endsCalmly is the line where the end of a log begins in which nothing is a complaint that still stands, warnings
// apart, and whose last lines say that what it did is done or give its results; 0: it is none.
func (r *logReader) endsCalmly(d reduce.Digest) int {
	if r.log.Pasted || r.worst.open && !r.worst.livedWith() || d.InTraceback {
		return 0
	}
	for i := range r.sightings {
		if r.stands(i, d.Last.Number) {
			return 0
		}
	}
	ends, informs, read, begins := false, true, 0, 0
	for i, l := range slices.Backward(d.Lines) {
		text := strings.TrimSpace(l.Text)
		body := recovery.WithoutCounts(text)
		if !strings.ContainsFunc(body, unicode.IsLetter) {
			continue // a rule
		}
		if recovery.CallsWarning(text) || recovery.MissesCommand(text) || i > 0 && l.Text != strings.TrimLeft(l.Text, " ") && l.Number == d.Lines[i-1].Number+1 && recovery.Warns(strings.TrimSpace(d.Lines[i-1].Text)) {
			continue // and the line of source that Python prints below it, indented
		}
		if recovery.SpoilsTheEnd(body, ends) && (recovery.EndsBadly(body) || !saidBefore(d.Lines, l)) {
			return 0
		}
		begins = l.Number
		ends, informs = ends || recovery.EndsWell(body) || body != text, informs && recovery.Informs(body)
		if read++; read == atTheEnd {
			break
		}
	}
	if read < 2 || !ends && !(informs && read == atTheEnd && d.LinesRead >= enoughInformed && !r.complains(d.Lines)) {
		return 0
	}
	return begins
}

// enoughInformed is how many lines a log has at least whose last ones its logger calls information.
const enoughInformed = 6

// breaksOff says that a log ends within what a failure prints: the source line of a frame that raises, or below the
// last step an error that NCCL hands on.
func (r *logReader) breaksOff(d reduce.Digest) bool {
	if source, indented := strings.CutPrefix(d.Last.Text, "    "); indented && (strings.HasPrefix(source, "assert ") || strings.HasPrefix(source, "raise ")) {
		return true
	}
	return slices.ContainsFunc(d.Lines[max(0, len(d.Lines)-atTheEnd):], func(l reduce.Kept) bool {
		return l.Number > r.series.Last.Line && recovery.HandsOn(l.Text)
	})
}

// oneSample says that the only line about training that a log has was written after a step that others came before,
// with a loss that is a number, and that no line complains: an excerpt of a run that goes on may be as short.
func (r *logReader) oneSample(d reduce.Digest) bool {
	last := r.series.Last
	return r.progress == 1 && last.Number > 1 && !math.IsNaN(last.Loss) && !math.IsInf(last.Loss, 0) && !r.complains(d.Lines)
}

// complains says that a line that was kept, of the launch that is read, speaks of something wrong and is not called less
// than an error.
func (r *logReader) complains(lines []reduce.Kept) bool {
	return slices.ContainsFunc(lines, func(l reduce.Kept) bool {
		body := recovery.WithoutCounts(l.Text)
		return l.Number >= r.launches.from && recovery.Wrong(body) && !recovery.Mild(body) && !recovery.CallsWarning(body)
	})
}

// complainsLast says that one of the last lines, below the last step, does so, and counts nothing: steps before it are no
// proof of what came of the run.
func (r *logReader) complainsLast(d reduce.Digest) bool {
	read := 0
	for at, l := range slices.Backward(d.Lines) {
		if !strings.ContainsFunc(l.Text, unicode.IsLetter) || strings.HasPrefix(l.Text, "    ") || raisedInVain(d.Lines[max(0, at-linesInVain):at]) {
			continue
		}
		if l.Number <= r.series.Last.Line || read == atTheEnd {
			break
		}
		if read++; recovery.Wrong(l.Text) && !strings.ContainsFunc(l.Text, unicode.IsDigit) && !recovery.GoesOn(l.Text) && !recovery.CallsWarning(l.Text) && !r.isOver(l.Number) {
			return true
		}
	}
	return false
}

// linesInVain is how many lines of a traceback stand below the word of the interpreter that nothing depends on it.
const linesInVain = 8

func raisedInVain(above []reduce.Kept) bool {
	return slices.ContainsFunc(above, func(l reduce.Kept) bool { return strings.Contains(l.Text, "Exception ignored") })
}

// isOver says that what a line says is known, and ended nothing.
func (r *logReader) isOver(line int) bool {
	return slices.ContainsFunc(r.sightings, func(s evidence.Observation) bool { return s.Over && s.Item.Source.Line == line })
}

// saidBefore says that the same was said well before, with other numbers: the program goes on after it.
func saidBefore(lines []reduce.Kept, l reduce.Kept) bool {
	return slices.ContainsFunc(lines, func(k reduce.Kept) bool { return k.Number <= l.Number-linesSurvived && SameStatement(k.Text, l.Text) })
}

// heed ends what the platform's last word refutes: of a container that ended with 0 all but what exit
// codes do not show.
func (r *logReader) heed(word control.Word) {
	if !r.options.uses(platformsWord) {
		return
	}
	for i := range r.sightings {
		s := &r.sightings[i]
		s.Over = s.Over || word == control.Past || word == control.EndedWell && !s.Signature.Lasts()
	}
}

// batchOrder is the signature for a batch system that ends a step.
const batchOrder = "slurm-cancelled"

// afterOrder ends what is logged below the word of the batch system that it ends the step, where nothing was wrong
// before: its launcher misses the processes. What is raised may have been under way, and what the kernel killed is reported
// once the step is gone. Above it, a command that a script did without, or what was said at the head of a long log and raised
// by nobody, ended nothing where its time was up.
func (r *logReader) afterOrder() {
	at := slices.IndexFunc(r.sightings, func(s evidence.Observation) bool { return !s.Over && s.Signature.ID == batchOrder })
	if at < 0 {
		return
	}
	order, before := &r.sightings[at], false
	for i := range r.sightings {
		s := &r.sightings[i]
		switch line := s.Item.Source.Line; {
		case s.Over || s.Signature.Role == signature.Context:
		case i >= at:
			s.Over = !before && !s.Raised && s.Signature.Category != order.Signature.Category && s.Signature.Category != killedForMemory
		case order.Facts["reason"] != "" && !s.Raised && (recovery.MissesCommand(written(s)) || line*longAfter < order.Item.Source.Line):
			s.Over = true
		default:
			before = true
		}
	}
}

// killedForMemory is the category of what the kernel ends.
const killedForMemory = "host-oom-killed"

// explainAway ends what a context signature says is harmless where it stands close before.
func (r *logReader) explainAway() {
	for _, context := range r.sightings {
		if context.Signature.Role != signature.Context {
			continue
		}
		for i := range r.sightings {
			s := &r.sightings[i]
			if d := s.Item.Source.Line - context.Item.Source.Line; d >= 0 && d <= 10 && slices.Contains(context.Signature.Hides, s.Signature.ID) {
				s.Over = true
			}
		}
	}
}

func count(all []evidence.Observation, id string) int {
	n := 0
	for i := range all {
		if all[i].Signature.ID == id {
			n++
		}
	}
	return n
}

// utcWithin is how close to its container's end the last stamp of a program is that writes UTC by
// a clock that is right: local times are off by a quarter of an hour at least.
const utcWithin = 2 * time.Minute

// anchor gives lines the time their container ended where they have none of their own, or
// one that cannot be: programs write local times. Where the last stamp agrees with that end, the
// program's clock is the node's.
func (r *logReader) anchor(ended time.Time) {
	if ended.IsZero() {
		return
	}
	var last time.Time
	for i := range r.sightings {
		if at := r.sightings[i].Item.At; at.After(last) {
			last = at
		}
	}
	early := ended.Sub(last)
	agrees := early < utcWithin && early > -timeline.Skew
	for i := range r.sightings {
		item := &r.sightings[i].Item
		impossible := item.At.IsZero() || item.At.After(ended.Add(timeline.Skew)) || item.At.Before(ended.Add(-7*24*time.Hour))
		if impossible {
			item.At, item.Carried = ended, false
		}
		if impossible || agrees {
			item.Clock = r.log.Source.Clock()
		}
	}
}

// movesCalmly says that numbers move to the end of a log in which nothing complains.
func (r *logReader) movesCalmly(d reduce.Digest) bool {
	for i := range r.sightings {
		if r.stands(i, d.Last.Number) {
			return false
		}
	}
	return !r.worst.open && r.counters.Moves(d.Last.Number) && !r.complains(d.Lines)
}
