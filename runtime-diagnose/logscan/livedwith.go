package logscan

import (
	"slices"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/progress"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/recovery"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/subject"
)

// surroundings are the categories of what programs often do without: a file, a right, a package, a setting, a service.
// What memory, devices, numbers and collectives complain of ends runs.
var surroundings = []string{
	"file-not-found", "permission-denied", "missing-module", "import-version-conflict", "argument-or-config-error", "network-dns",
	"dataset-error", "tokenizer-or-model-download-auth", "checkpoint-corrupt-or-mismatch", "storage-io",
}

// raisedHead is a line that begins as the last one of a traceback whose frames were not kept, or has an error's level:
// a step below it is no proof, for the calm of a log has its own rules.
var raisedHead = lazy.MustCompile(`^(?:\[\S+\]:? )?(?:\w+\.)*\w+(?:Error|Exception)(?:: |$)|^.{0,60}?\b(?:ERROR|CRITICAL|FATAL)\b`)

// livedWith says that a complaint about the surroundings of a program is one that its program has lived with: it calls it
// a warning, says what it does instead or that it tries again, or starts its work below.
func (r *logReader) livedWith(i int, d reduce.Digest) bool {
	s, said := &r.sightings[i], &r.said[i]
	switch {
	case r.failed, s.Raised, r.log.Pasted, s.Signature.Lasts(), recovery.Exits(s.Line):
		return false
	case s.Signature.Category == "rendezvous-timeout" && recovery.Warns(s.Line):
		return d.Last.Number > s.Item.Source.Line+1 // below a warning of Python's stands its source
	case !isSurrounding(s) && !isGuess(s):
		return false
	case said.instead, recovery.Instead(s.Line), s.Signature.ID == saidError && recovery.TellsSuccess(s.Line), recovery.OfRequest(s.Line), said.warned, recovery.CallsWarning(s.Line):
		return true
	case !isSurrounding(s):
		return false
	}
	return said.again || recovery.TriesOf(s.Line) || !raisedHead.MatchString(s.Line) && r.startsBelow(s, d)
}

// isSurrounding says that a complaint is of the surroundings.
func isSurrounding(s *evidence.Observation) bool {
	return slices.Contains(surroundings, s.Signature.Category)
}

// isGuess says that a complaint is in words that nobody knows, and not in the words of a check that ends its program.
func isGuess(s *evidence.Observation) bool {
	return (s.Signature.ID == saidError || subject.Guessed(s.Signature)) && !recovery.Severe(s.Line)
}

// beginsWork are the words by which a program says that it begins what it is for, or goes on with it.
var beginsWork = lazy.MustCompile(`(?i)^\W{0,3}(?:\S+[\s:|-]+){0,8}?(?:start(?:ing|ed)?|begin(?:ning)?|load(?:ing|ed)|creat(?:ing|ed)|running|launch(?:ing|ed)|connected|succe(?:eded|ssfully)|initiali[sz](?:ing|ed)|distributed training|warm-?up|is up|hello|resolved|resum(?:ed|ing))\b`)

// refers is where more is written of the error above.
var refers = lazy.MustCompile(`(?i)\bon (?:this|the) error\b.{0,20}https?://`)

// below is what a line says about a complaint above it.
type below struct {
	known  bool // it was looked at
	refers bool // it says nothing, but where more is written
	ends   bool // it ends badly
	wrong  bool // it complains itself
	begun  bool // the program begins its work, does a step of it, or says what it does instead
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
	b.known, b.refers = true, refers.MatchString(body)
	b.ends = recovery.EndsBadly(body)
	b.wrong = recovery.Wrong(body) && !recovery.GoesOn(body) && !recovery.Instead(body) && !recovery.CallsWarning(body)
	b.begun = recovery.Instead(body) || beginsWork.MatchString(body) || l.Number == r.series.Last.Line || recovery.Informs(l.Text) || progress.Measures(body)
	return *b
}

// startsBelow says that below a complaint, to the end of the log, nothing else complains, and the program begins its work,
// does a step of it, or says what it does instead.
func (r *logReader) startsBelow(s *evidence.Observation, d reduce.Digest) bool {
	begun, line, next := false, s.Item.Source.Line, d.Last.Number+1
	for at, l := range slices.Backward(d.Lines) {
		if l.Number <= line {
			break
		}
		if l.Number < next-1 {
			return false // lines between were not kept
		}
		next = l.Number
		b := r.lineBelow(d, at)
		if b.refers {
			continue
		}
		if b.ends || b.wrong && !SameStatement(l.Text, s.Line) {
			return false
		}
		begun = begun || b.begun
	}
	return begun && next == line+1
}
