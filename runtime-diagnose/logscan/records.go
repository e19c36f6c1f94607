package logscan

import (
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/recovery"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
)

// logRecord is what a logger writes at once: the line that begins with its time or level, and those below it that have
// neither. What it prints of an exception has the level of the record.
type logRecord struct {
	head    []byte // of its first line: what has the level
	informs bool   // the level is below a warning's; known from the second line on
	mild    bool   // or a warning's
	warns   bool   // it calls itself a warning
	first   int    // number of its first line
	last    int    // and of its last one so far
}

// mostHead is how much of a line a level is looked for in.
const mostHead = 240

// Beginnings of lines of a record of a JVM's logger: an exception's name, and a frame of its stack. An exception that
// ends a thread is printed behind "Exception in thread"
// (https://docs.oracle.com/javase/8/docs/api/java/lang/ThreadGroup.html#uncaughtException-java.lang.Thread-java.lang.Throwable-).
var (
	jvmException = lazy.MustCompile(`^(?:[a-z]\w*\.)+[A-Z]\w*(?:Exception|Error)\b`)
	jvmFrame     = lazy.MustCompile(`^\s+at [\w$.<>/]+\(`)
)

// seeRecord is told of every line, before anything of it is recorded.
func (r *logReader) seeRecord(l *reduce.Line, body string) {
	in := &r.inRecord
	if !l.At.IsZero() && !l.Carried || l.Number != in.last+1 || !goesOnWith(l.Text) {
		in.head = append(in.head[:0], body[:min(len(body), mostHead)]...)
		in.informs, in.mild, in.warns, in.first, in.last = false, false, false, l.Number, l.Number
		return
	}
	if in.last == in.first {
		head := string(in.head)
		in.informs, in.mild, in.warns = recovery.Informs(head), recovery.Mild(head), recovery.CallsWarning(head)
	}
	in.last = l.Number
	if n := len(r.sightings) - 1; n >= 0 && r.said[n].named && r.sightings[n].Item.Source.Line == l.Number-1 && jvmFrame.MatchString(l.Text) {
		r.said[n].informed = true
	}
}

// goesOnWith says that a line is written as one that goes on with the record above.
func goesOnWith(text string) bool {
	switch {
	case text == "":
		return false
	case text[0] == ' ', text[0] == '\t', strings.HasPrefix(text, "Caused by: "):
		return true
	}
	return isName(text[0]) && jvmException.MatchString(text)
}

// isName says that the name of a package of Java's may begin with a byte.
func isName(b byte) bool { return 'a' <= b && b <= 'z' }

// informed says that a line is of a record below a warning; named that it names an exception in one below an error, which
// is of the record if frames of a stack follow.
func (r *logReader) informed(l reduce.Line) (informed, named bool) {
	switch {
	case l.Trace != nil:
		return false, false
	case recovery.Informs(l.Body()):
		return true, false
	}
	in := &r.inRecord
	if in.last != l.Number || in.first == l.Number {
		return false, false
	}
	named = in.mild && jvmException.MatchString(l.Text)
	return in.informs && !named, named
}

// isInformed says that a line is of a record below a warning, whatever it names.
func (r *logReader) isInformed(l reduce.Line) bool {
	informed, _ := r.informed(l)
	return informed
}

// onlyInformed says that a sighting is no more than a guess at what a program informs of, or what it tells those who debug
// it. A line that says that its program ends for it is another matter.
func (r *logReader) onlyInformed(i int) bool {
	s := &r.sightings[i]
	if r.failed || recovery.Exits(s.Line) {
		return false
	}
	return r.said[i].debugs || r.said[i].informed && (isGenericSignature(s.Signature) || s.Signature.LastResort)
}
