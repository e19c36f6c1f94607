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
	head  string                  // of its first line: what has the level
	level *level                  // as far as it was asked for; most records are of one line and of no interest
	first int                     // number of its first line
	last  int                     // and of its last one so far
	over  [mostMessage]string     // the heads of the last lines before it, in any order
	heads int                     // so far
	above [mostMessage + 1]string // those above the last traceback: where a logger prints one, it is of the record right above
	begun int                     // number of that traceback's first line
	trace string                  // the form of the stamp of the record that holds it; what is raised while one is handled is of the same
}

// mostMessage is how many lines an exception's message goes on for between the record that says it and its traceback.
const mostMessage = 3

// level is that of a record.
type level struct {
	informs bool // below a warning's
	mild    bool // or a warning's
}

func (in *logRecord) of() level {
	if in.level == nil {
		in.level = &level{recovery.Informs(in.head), recovery.Mild(in.head)}
	}
	return *in.level
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

// headsTraceback ends the line above the frames of a traceback.
const headsTraceback = "(most recent call last):"

// seeRecord is told of every line, before anything of it is recorded.
func (r *logReader) seeRecord(l *reduce.Line, body string) {
	in := &r.inRecord
	if !l.At.IsZero() && !l.Carried || l.Number != in.last+1 || !goesOnWith(l.Text) {
		if strings.HasSuffix(body, headsTraceback) {
			if in.begun = l.Number; body[0] == 'T' {
				in.above[0] = in.head
				copy(in.above[1:], in.over[:])
			} else {
				in.above = [mostMessage + 1]string{body[:min(len(body), mostHead)]} // all of the record is the traceback
			}
		}
		in.over[in.heads%mostMessage] = in.head
		in.heads++
		in.head = body[:min(len(body), mostHead)]
		in.level, in.first, in.last = nil, l.Number, l.Number
		return
	}
	in.last = l.Number
	if n := len(r.sightings) - 1; n >= 0 && r.said[n].named && r.sightings[n].Item.Source.Line == l.Number-1 && jvmFrame.MatchString(l.Text) {
		r.said[n].informed = true
	}
}

// tracedIn is the form of the stamp of the record above the level of information that holds a traceback; empty: none does.
func (in *logRecord) tracedIn(t *reduce.Trace) string {
	if t.Chain == reduce.Alone {
		if in.trace = ""; in.begun == t.First {
			if head := in.holding(t); !recovery.Informs(head) && !recovery.EndsBadly(head) {
				in.trace = stampForm(head)
			}
		}
	}
	return in.trace
}

// holding is the head of the record that holds a traceback: the line right above it, or, where that is none, the one close
// above it that says what was raised, whose message goes on between the two.
func (in *logRecord) holding(t *reduce.Trace) string {
	if said := t.Message[:min(len(t.Message), mostSaid)]; len(said) >= leastSaid && stampForm(in.above[0]) == "" {
		for _, head := range in.above[1:] {
			if strings.Contains(head, said) {
				return head
			}
		}
	}
	return in.above[0]
}

// How many bytes of an exception's message make known that a line says it.
const (
	leastSaid = 8
	mostSaid  = 48
)

// goesOnWith says that a line is written as one that goes on with the record above.
func goesOnWith(text string) bool {
	switch {
	case text == "":
		return false
	case text[0] == ' ', text[0] == '\t', strings.HasPrefix(text, "Caused by: "):
		return true
	}
	return namesException(text)
}

// namesException says that a line begins with the name of an exception of a JVM. It is asked of every line: the expression is
// tried where the first word may be one.
func namesException(text string) bool {
	if text == "" || text[0] < 'a' || text[0] > 'z' {
		return false
	}
	end := 0
	for end < len(text) && (text[end] == '.' || text[end] == '_' || '0' <= text[end] && text[end] <= '9' || 'a' <= text[end]|0x20 && text[end]|0x20 <= 'z') {
		end++
	}
	word := text[:end]
	return (strings.Contains(word, "Exception") || strings.Contains(word, "Error")) && jvmException.MatchString(word)
}

// informed says that a line is of a record below a warning; named that it names an exception in one below an error, which
// is of the record if frames of a stack follow.
func (r *logReader) informed(l reduce.Line, mild bool) (informed, named bool) {
	switch {
	case l.Trace != nil:
		return false, false
	case mild && recovery.Informs(l.Body()):
		return true, false
	}
	if in := &r.inRecord; in.last == l.Number && in.first < l.Number {
		named = in.of().mild && namesException(l.Text)
	}
	return false, named
}

// onlyInformed says that a sighting is no more than a guess at what a program informs of, or what it tells those who debug
// it. A line that says that its program ends for it is another matter.
func (r *logReader) onlyInformed(i int) bool {
	s := &r.sightings[i]
	if r.failed || recovery.Exits(written(s)) {
		return false
	}
	return r.said[i].debugs || r.said[i].informed && (isGenericSignature(s.Signature) || s.Signature.LastResort)
}
