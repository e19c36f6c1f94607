package diagnose

import (
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
)

// announcedBefore is how many lines above a traceback a program may say that it goes on: a separator
// stands between them now and then.
const announcedBefore = 2

// announced remembers what stood above tracebacks: a program may have said there that it goes on. Like
// what is said below an error, that is not taken on trust: steps have to follow.
type announced struct {
	heads [mostAnnounced]tracebackHead
	n     int
	lane  string // of the last exception that was looked at
	last  bool   // whether that was announced: exceptions that hang on it are too
}

// tracebackHead is where a traceback begins, and the lines above it. They are read where somebody asks:
// most tracebacks say what was said before.
type tracebackHead struct {
	line  int // 0: none
	above [announcedBefore]string
}

// mostAnnounced is how many tracebacks of ranks that write into one log may be open at a time.
const mostAnnounced = 16

// head is told of a line that begins a traceback and of those above it, the nearest first.
func (a *announced) head(l *reduce.Line, above ...said) {
	h := tracebackHead{line: l.Number}
	for i, s := range above[:min(len(above), announcedBefore)] {
		if s.number > 0 && s.lane == l.Lane && l.Number-s.number <= announcedBefore {
			h.above[i] = s.text
		}
	}
	a.heads[a.n%mostAnnounced] = h
	a.n++
}

// covers says whether a traceback was announced, itself or the one that it hangs on.
func (a *announced) covers(l reduce.Line) bool {
	covered := l.Trace.Chain != reduce.Alone && a.last && a.lane == l.Lane ||
		slices.ContainsFunc(a.heads[:], func(h tracebackHead) bool {
			return h.line > 0 && h.line == l.Trace.First && slices.ContainsFunc(h.above[:], announces)
		})
	a.lane, a.last = l.Lane, covered
	return covered
}

// wentOn are further words of a program that goes on after what it prints next.
var wentOn = regexp.MustCompile(`(?i)\b(?:continu(?:e|es|ing)|non-?fatal|carry(?:ing)? on|going on|suppress(?:ed|ing)|swallowed|tolerat(?:ed|ing)|recover(?:ed|ing))\b`)

// givesUp denies such words: "cannot continue", "no retries left", "failed after retrying".
var givesUp = regexp.MustCompile(`(?i)\b(?:cannot|can't|can not|could not|not|no|no more|never|unable to|won't|stop(?:ped|ping)?|after|last|final) (?:\w+ )?(?:re-?tr|skip|ignor|continu|recover|tolerat|suppress|re-?attempt|go on)|\b(?:giving up|give up|gave up|exhausted|abort(?:ing|ed)?|fatal)\b`)

// trouble is what a warning speaks of that belongs to the exception printed below it.
var trouble = regexp.MustCompile(`(?i)\b(?:fail(?:ed|ure|s)?|errors?|exceptions?|could not|couldn't|cannot|can't|unable)\b`)

// announces is a line above an exception that says that the program goes on: in such words, or by
// calling the trouble less than an error.
func announces(text string) bool {
	text = text[:min(len(text), mostAnnouncement)]
	if givesUp.MatchString(strings.ReplaceAll(strings.ToLower(text), "non-fatal", "nonfatal")) {
		return false
	}
	return goesOn.MatchString(text) || wentOn.MatchString(text) || mild(text) && trouble.MatchString(text)
}

// mostAnnouncement is how much of a line above an exception is read, in bytes.
const mostAnnouncement = 400

// introduces is an announcement of the very line below it.
func introduces(text string) bool {
	return strings.HasSuffix(strings.TrimRight(text, " \t"), ":") && announces(text)
}
