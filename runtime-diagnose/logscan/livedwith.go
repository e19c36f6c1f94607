package logscan

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/progress"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/recovery"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/subject"
)

// surroundings are the categories of what programs often do without: a file, a right, a package, a setting, a service.
// What memory, devices, numbers and collectives complain of ends runs.
var surroundings = []string{
	"file-not-found", "permission-denied", "missing-module", "import-version-conflict", "argument-or-config-error", "network-dns",
	"dataset-error", "tokenizer-or-model-download-auth", "checkpoint-corrupt-or-mismatch", "storage-io",
}

// ofTarget is the category of runs that miss their own target: what Python warns of is a fit among others that stopped early, and its
// program goes on with what it found (https://scikit-learn.org/stable/modules/generated/sklearn.exceptions.ConvergenceWarning.html).
const ofTarget = "no-convergence"

// raisedHead is a line that begins as the last one of a traceback whose frames were not kept, or has an error's level:
// a step below it is no proof, for the calm of a log has its own rules.
var raisedHead = lazy.MustCompile(`^(?:\[\S+\]:? )?(?:\w+\.)*\w+(?:Error|Exception)(?:: |$)|^.{0,60}?\b(?:ERROR|CRITICAL|FATAL)\b`)

// livedWith says that a complaint about the surroundings of a program, or one that no signature knows, is one that its program has
// lived with: it calls it a warning, says what it does instead, or goes on below.
func (r *logReader) livedWith(i int, d reduce.Digest) bool {
	s, said := &r.sightings[i], &r.said[i]
	line := written(s)
	switch {
	case recovery.MissesCommand(line) && r.endedOtherwise(i), !r.failed && s.Signature.Category == ofTarget && recovery.Warns(line),
		s.Signature.Weak && !s.Raised && r.raisedBelow(i, linesSurvived): // it went on with what runs that end well print as well
		return true
	case r.failed, s.Raised && !said.beside, r.log.Pasted, s.Signature.Lasts(), recovery.Exits(line):
		return false
	case said.beside:
		return r.goesOnBelow(s, d)
	case recovery.Warns(line) && (r.raisedBelow(i, 0) || r.goesOnBelow(s, d)):
		return true
	case !isSurrounding(s) && !isGuess(s):
		return false
	case said.instead, recovery.Instead(line), recovery.CallsWarning(line):
		return true
	}
	return !raisedHead.MatchString(reduce.Body(s.Line)) && r.goesOnBelow(s, d) || r.ofOneItem(s, d)
}

// How often a complaint stands above that is of one item of many, and how many lines stand below the last of them.
const (
	timesOfItem = 3
	linesOfItem = 4
)

// ofOneItem says that a complaint is of one of the items that a program works through: it said the same of others before,
// and did each time what it does below it, to the end of the log. What it did before the first of them is its work; else a
// complaint of many lines would be its own proof.
func (r *logReader) ofOneItem(s *evidence.Observation, d reduce.Digest) bool {
	times, below, first, last := 0, 0, 0, 0
	for at := range d.Lines {
		if l := &d.Lines[at]; l.Number >= r.launches.from && SameStatement(l.Text, s.Line) {
			if times, last = times+1, at; times == 1 {
				first = at
			}
		}
	}
	if times <= timesOfItem || d.Lines[last].Number < s.Item.Source.Line || d.InTraceback {
		return false
	}
	saidAmong := func(lines []reduce.Kept, text string) bool {
		return slices.ContainsFunc(lines, func(l reduce.Kept) bool { return SameStatement(l.Text, text) })
	}
	for at := last + 1; at < len(d.Lines); at++ {
		if b := r.lineBelow(d, at); b.ends || b.wrong || !saidAmong(d.Lines[:last], d.Lines[at].Text) {
			return false
		}
		if saidAmong(d.Lines[:first], d.Lines[at].Text) {
			below++
		}
	}
	return below >= linesOfItem
}

// written is the line of a sighting as its program wrote it: a file is shown with what its collector put before.
func written(s *evidence.Observation) string { return reduce.Written(s.Line) }

// raisedBelow says that an exception was raised so many lines below a sighting or more: what its program warned of before
// did not end it.
func (r *logReader) raisedBelow(i, lines int) bool {
	return slices.ContainsFunc(r.sightings[i+1:], func(s evidence.Observation) bool {
		return s.Item.Source.Line-r.sightings[i].Item.Source.Line >= lines && s.Raised && !s.Mild && !s.Over && s.Signature.Role == signature.Root
	})
}

// endedOtherwise says that a program which ran after a sighting ended by an exception of something else than its
// surroundings: it had what it needed to begin, so another command of its script that failed before did not end it.
func (r *logReader) endedOtherwise(i int) bool {
	for k := i + 1; k < len(r.sightings); k++ {
		if s := &r.sightings[k]; s.Raised && r.said[k].top && !s.Mild && !s.Over && s.Signature.Role == signature.Root && !isSurrounding(s) {
			return true
		}
	}
	return false
}

// isSurrounding says that a complaint is of the surroundings.
func isSurrounding(s *evidence.Observation) bool {
	return slices.Contains(surroundings, s.Signature.Category)
}

// isGuess says that a complaint is in words that no signature knows, and not in the words of a check that ends its program: what
// the runtime below a program calls an error does not.
func isGuess(s *evidence.Observation) bool {
	return (s.Signature.ID == saidError || subject.Guessed(s.Signature)) && (!recovery.Severe(written(s)) || recovery.OfRuntime(written(s)))
}

// linesGoneOn is how many lines below a complaint, to the end of a log, say that its program goes on: one that ends for it
// prints a hint or two, or raises.
const linesGoneOn = 3

// below is what a line says about a complaint above it.
type below struct {
	known bool // it was looked at
	ends  bool // it ends badly, or begins a stack
	wrong bool // it complains itself
	begun bool // the program informs of it, does a step of its work, or says what it does instead
	words bool // it is more than a rule, and no other try
	mild  bool // it has a level below an error's
	// form is that of the stamp of the record that it is, and informs that the record is one of information.
	form    string
	informs bool
}

// lineBelow is that of one of the lines that were kept; many complaints ask about the same ones.
func (r *logReader) lineBelow(d reduce.Digest, at int) below {
	if r.belows == nil {
		r.belows = make([]below, len(d.Lines))
	}
	b := &r.belows[at]
	if b.known {
		return *b
	}
	l := &d.Lines[at]
	body := recovery.WithoutCounts(l.Text)
	b.known = true
	b.ends = recovery.EndsBadly(body) || strings.Contains(body, "Traceback (") || strings.Contains(body, "tack trace")
	b.wrong = recovery.HandsOn(body) || recovery.Wrong(body) && !recovery.GoesOn(body) && !recovery.Instead(body) && !recovery.CallsWarning(body)
	b.mild, b.form, b.informs = recovery.Mild(l.Text), stampForm(l.Text), recovery.Informs(l.Text)
	b.begun = recovery.Instead(body) || l.Number == r.series.Last.Line || b.informs || progress.Measures(body)
	b.words = strings.ContainsFunc(body, unicode.IsLetter) && !recovery.TriesAgain(body)
	return *b
}

// framedUntil is the rule that closes the frame of which a line is the first; 0: it is in none. What stands in a frame is one
// statement, as mpirun's (https://github.com/open-mpi/ompi/blob/v4.1.x/opal/util/show_help.c), and none of its lines goes on below it.
func framedUntil(lines []reduce.Kept, line int) int {
	above := slices.IndexFunc(lines, func(l reduce.Kept) bool { return l.Number == line-1 && ruled(l.Text) })
	if above < 0 {
		return 0
	}
	if closed := slices.IndexFunc(lines[above+1:], func(l reduce.Kept) bool { return ruled(l.Text) }); closed >= 0 {
		return lines[above+1+closed].Number
	}
	return 0
}

// goesOnBelow says that below a complaint, to the end of the log, nothing else complains, and the program informs of its
// work, does a step of it, says what it does instead, or just goes on.
func (r *logReader) goesOnBelow(s *evidence.Observation, d reduce.Digest) bool {
	begun, lines, line, next, last := false, 0, s.Item.Source.Line, d.Last.Number+1, ""
	framed := framedUntil(d.Lines, line)
	for at, l := range slices.Backward(d.Lines) {
		if l.Number <= line {
			break
		}
		if l.Number < framed && l.Meets(next) {
			next = l.Number
			continue
		}
		if !l.Meets(next) {
			return false // lines between were not kept
		}
		next = l.Number
		if recovery.Remarked(l.Text) {
			continue
		}
		if r.saysAgain(l.Text, s.Signature.ID) {
			return (begun || lines >= linesGoneOn) && !d.InTraceback
		}
		b := r.lineBelow(d, at)
		if b.ends || b.wrong && !SameStatement(l.Text, s.Line) {
			return false
		}
		begun = begun || b.begun && (s.Mild || isSurrounding(s))
		if b.words && !SameStatement(l.Text, last) { // a program that waits says the same again
			lines, last = lines+1, l.Text
		}
	}
	return (begun || lines >= linesGoneOn) && !d.InTraceback && next == line+1
}

// handled says that an exception stands in a record of a logger, and was not printed from the module's frame on.
func (r *logReader) handled(i int) bool {
	return r.sightings[i].Raised && !r.said[i].top && r.said[i].logged != ""
}

// finiteBelow says that the last step stands below a line, and has a loss that is a number.
func (r *logReader) finiteBelow(line int) bool {
	step := r.series.Last
	return step.Line > line && !step.NaN && !math.IsNaN(step.Loss)
}
