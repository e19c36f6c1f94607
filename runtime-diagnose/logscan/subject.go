package logscan

import (
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/recovery"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/subject"
)

// bySubject puts what an exception is about in the place of the match that says no more than that it is one.
func (r *logReader) bySubject(l reduce.Line, text string, matches []signature.Match) {
	if !r.options.uses(asksSubject) {
		return
	}
	for i := range matches {
		m := &matches[i]
		if m.Signature.ID != genericException || l.Trace != nil && (wraps.MatchString(l.Trace.Message) || l.Trace.Type == isThere) {
			continue
		}
		message := text[min(len(text), max(0, strings.Index(text, m.Facts["type"]))):]
		if l.Trace != nil {
			message = l.Trace.Type + ": " + reduce.Mask(l.Trace.Message)
		}
		if rule, words := subject.Of(message); rule != nil && !(subject.Waited(words) && raisesItself(l.Trace)) {
			m.Signature, m.Facts = rule, with(m.Facts, "subject", strings.Clone(words))
		}
	}
}

// isThere is the exception for a path that exists: whatever is there, nothing was read of it.
const isThere = "FileExistsError"

// libraries are the folders of code that is installed, Python's own among it.
var libraries = lazy.MustCompile(`[/\\](?:site|dist)-packages[/\\]|[/\\]lib(?:64)?[/\\]python\d|^File "<`)

// raisesItself says that a statement of the program itself raised an exception, and no library that it called.
func raisesItself(t *reduce.Trace) bool {
	return t != nil && strings.HasPrefix(t.Source, "raise ") && !libraries.MatchString(t.Frame)
}

// How many lines are the last words of a program that gives its lines no level: the last ones of an excerpt or of a
// container that failed, the last one of a whole log. Further up such a log tells of its work: no guess that is
// known to be right stood there.
const (
	lastWordsWithin = 12
	linesOfExcerpt  = 30
)

// aboutSomething is the first of the last lines, below the last step, that complains of something known: a program that
// gives its lines no level ends so. Of a traceback that breaks off it is the innermost line.
func (r *logReader) aboutSomething(d reduce.Digest) (first reduce.Kept, m signature.Match) {
	read, done, within := 0, r.saysDone(d), lastWordsWithin
	if !r.failed && d.LinesRead > linesOfExcerpt {
		within = 1
	}
	for i, l := range slices.Backward(d.Lines) {
		text := l.Text
		if l.Number == r.series.Last.Line { // a bar that was not ended goes on with what was logged
			text = text[strings.LastIndexByte(text, ']')+1:]
		}
		if l.Number < max(r.series.Last.Line, r.launches.from) || read == within {
			break
		}
		if strings.TrimSpace(text) == "" || traced(text) {
			continue
		}
		if module := imported.FindStringSubmatch(text); d.InTraceback && read == 0 && module != nil {
			rule := subject.ByCategory("missing-module")
			return reduce.Kept{Number: l.Number, Text: strings.Clone(text)}, signature.Match{Signature: rule, Facts: map[string]string{"subject": strings.Clone(module[1])}}
		}
		read++
		if r.inKnownBox(d.Lines, i) {
			continue
		}
		if head := headOf(d.Lines, i); recovery.CallsWarning(head) || recovery.Mild(head) {
			continue
		}
		if len(text) > mostLineInResults { // values that a program prints, not its word
			continue
		}
		if !d.InTraceback && !recovery.Exits(text) && (recovery.Warns(text) || recovery.GoesOn(text) || lowLevel.MatchString(text)) {
			continue
		}
		said := recovery.WithoutCounts(text)
		rule, words := subject.Of(reduce.Mask(said))
		if rule == nil || !d.InTraceback && !subject.Fails(rule) && !recovery.Wrong(said) || done && l.Number < d.Last.Number {
			continue
		}
		first = reduce.Kept{Number: l.Number, Text: strings.Clone(text)}
		if ended := strings.TrimSpace(text); i > 0 && (ended == "Aborted" || strings.HasSuffix(ended, shellsWord)) {
			if above := d.Lines[i-1]; above.Number == l.Number-1 && recovery.Wrong(recovery.WithoutCounts(above.Text)) && !recovery.Mild(above.Text) {
				first = reduce.Kept{Number: above.Number, Text: strings.Clone(above.Text)} // what the process said as its last
			}
		}
		m = signature.Match{Signature: rule, Facts: map[string]string{"subject": strings.Clone(words)}}
		if d.InTraceback {
			break
		}
	}
	return first, m
}

// inKnownBox says that a line stands between two rules of a message that a signature knows by another of its lines: a launcher
// prints its account of the end so, and no word of it is the program's. A value that it names is one all the same.
func (r *logReader) inKnownBox(kept []reduce.Kept, at int) bool {
	if field.MatchString(kept[at].Text) {
		return false
	}
	for ; at > 0 && kept[at-1].Number == kept[at].Number-1; at-- {
		if above := kept[at-1]; ruled(above.Text) {
			return slices.ContainsFunc(r.sightings, func(s evidence.Observation) bool {
				return s.Signature.Role == signature.Confirmation && s.Item.Source.Line == above.Number+1
			})
		}
	}
	return false
}

// field is a name and its value, behind a time.
var field = lazy.MustCompile(`(?:^|Z )\s*[A-Za-z]\w*(?: \w+)? *: *\S`)

// headOf is the line that an indented one goes on with; empty: it is not indented, or that line was not kept.
func headOf(kept []reduce.Kept, at int) string {
	for ; at > 0 && strings.HasPrefix(kept[at].Text, " ") && kept[at-1].Number == kept[at].Number-1; at-- {
		if above := kept[at-1].Text; above != "" && above[0] != ' ' {
			return above
		}
	}
	return ""
}

// imported is the source of the innermost frame of a traceback that breaks off where a module was imported: it is not
// there, or something that it imports is not.
var imported = lazy.MustCompile(`^\s+(?:from|import) ([a-zA-Z_][\w.]*)(?: import .*)?$`)

// saysDone says that the last line of a log says that something is done, and nothing else: what stands above it is the
// program's output then, and not its last word.
func (r *logReader) saysDone(d reduce.Digest) bool {
	last := recovery.WithoutCounts(d.Last.Text)
	return !r.failed && !r.log.Pasted && !d.InTraceback && recovery.EndsWell(last) && !recovery.SpoilsTheEnd(last, true)
}

// shellsWord ends what a shell says of a process that a signal ended.
const shellsWord = "(core dumped)"

// lowLevel is a level below an error at the head of a line, whatever stands before it. What TensorFlow warns of behind
// its time can be why it does without the device that is missed, or what ended an operation; what it informs of is not
// (https://github.com/tensorflow/tensorflow/blob/v1.15.0/tensorflow/core/platform/default/logging.cc).
var lowLevel = lazy.MustCompile(`^[\d: .-]{1,30}I \S{1,120}:\d+\] |^(?:\[\w+\]: ?)?\[?[WID](?:\d{3,4}| \d{4}-| \.{3}) ?|^.{0,100}?\b(?:WARN(?:ING)?|INFO|DEBUG)\b`)
