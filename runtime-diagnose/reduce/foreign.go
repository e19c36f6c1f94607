package reduce

import (
	"regexp"
	"strings"
)

// foreign reads how runtimes other than Python's print what was not handled:
//
//	Exception in thread "main" java.lang.IllegalStateException: no data        (JVM)
//	Caused by: java.io.IOException: disk gone                                  (JVM, below its frames)
//	panic: runtime error: index out of range [5] with length 3                 (Go)
//	fatal error: all goroutines are asleep - deadlock!                         (Go)
//	thread 'main' panicked at src/main.rs:3:5:                                 (Rust, its message below)
//	thread 'main' panicked at 'no rows', src/main.rs:3:5                       (Rust before 1.73)
//	forrtl: severe (24): end-of-file during read, unit 11                      (Intel's Fortran)
//	Fortran runtime error: End of file                                         (gfortran)
//	Fatal error:                                                               (any, its message below)
//	  what():  vector::_M_range_check                                          (C++, below "terminate called …")
//	TypeError: x is not a function                                             (Node, two lines below the mark under its source)
//
// The first byte decides for nearly every line.
func (f *folder) foreign(l *Line, body string) {
	if body == "" {
		return
	}
	if f.announced(l, body) {
		return
	}
	switch body[0] {
	case 'E':
		if rest, ok := strings.CutPrefix(body, `Exception in thread "`); ok {
			if _, what, ok := strings.Cut(rest, `" `); ok {
				l.Trace = foreignTrace(l.Number, what, Alone)
				f.note(l, "jvm")
				return
			}
		}
	case 'C':
		if rest, ok := strings.CutPrefix(body, "Caused by: "); ok && f.runtime[l.Lane] == "jvm" {
			if l.Trace = foreignTrace(l.Number, rest, CausedBy); l.Trace != nil {
				return
			}
		}
	case 'p':
		if rest, ok := strings.CutPrefix(body, "panic: "); ok {
			l.Trace = &Trace{First: l.Number, Type: "panic", Message: strings.Clone(rest)}
			return
		}
	case 'F':
		if rest, ok := strings.CutPrefix(body, "Fortran runtime error: "); ok {
			l.Trace = &Trace{First: l.Number, Type: "Fortran runtime error", Message: strings.Clone(rest)}
			return
		}
	case 'f':
		if rest, ok := strings.CutPrefix(body, "forrtl: severe ("); ok {
			_, rest, _ = strings.Cut(rest, "): ")
			l.Trace = &Trace{First: l.Number, Type: "severe", Message: strings.Clone(rest)}
			return
		}
		if rest, ok := strings.CutPrefix(body, "fatal error: "); ok {
			l.Trace = &Trace{First: l.Number, Type: "fatal error", Message: strings.Clone(rest)}
			return
		}
	case 't':
		if rest, ok := strings.CutPrefix(body, "terminate called after throwing an instance of '"); ok {
			f.note(l, strings.TrimSuffix(rest, "'"))
			return
		}
		if l.Trace = oldPanic(l.Number, body); l.Trace != nil {
			return
		}
	case ' ':
		if kind := f.runtime[l.Lane]; kind != "" {
			if _, what, ok := strings.Cut(body, "what():  "); ok {
				l.Trace = &Trace{First: l.Number - 1, Type: kind, Message: strings.Clone(what)}
				delete(f.runtime, l.Lane)
				return
			}
		}
		if strings.TrimLeft(body, " ") == "^" && len(f.marked) < mostLanes {
			f.marked[strings.Clone(l.Lane)], f.lastMark = l.Number, l.Number
		}
		return
	}
	if l.Number > f.lastMark+2 {
		return
	}
	if at, ok := f.marked[l.Lane]; ok && l.Number == at+2 {
		if name, message, ok := exceptionLine(body); ok && looksLikeException(name) {
			l.Trace = &Trace{First: l.Number, Type: strings.Clone(name), Message: strings.Clone(message)}
		}
		delete(f.marked, l.Lane)
	}
}

// announced reads the message below a line that only says that there is one.
func (f *folder) announced(l *Line, body string) bool {
	if len(f.heading) > 0 {
		if kind, ok := f.heading[l.Lane]; ok && strings.TrimSpace(body) != "" {
			delete(f.heading, l.Lane)
			l.Trace = &Trace{First: l.Number - 1, Type: kind, Message: strings.Clone(body), Thread: kind == threadPanic || partnerGone.MatchString(body)}
			return true
		}
	}
	kind := ""
	switch end := body[len(body)-1]; {
	case end != ':' && end != ')':
	case strings.HasPrefix(body, "thread '") && strings.Contains(body, panicked):
		if kind = "panic"; !strings.HasPrefix(body, "thread 'main'") {
			kind = threadPanic
		}
	case body == "Fatal error:", body == "FATAL ERROR:", strings.HasPrefix(body, "--> FOAM FATAL "):
		kind = "fatal error"
	}
	if kind != "" && len(f.heading) < mostLanes {
		f.heading[strings.Clone(l.Lane)] = kind
	}
	return kind != ""
}

// panicked stands between a thread's name and where it panicked, or of what.
const panicked = "' panicked at "

// oldPanic reads a panic whose message stands in quotes on its own line, as Rust printed it before 1.73
// (https://blog.rust-lang.org/2023/10/05/Rust-1.73.0/).
func oldPanic(number int, body string) *Trace {
	name, rest, ok := strings.Cut(strings.TrimPrefix(body, "thread '"), panicked+"'")
	if !ok || !strings.HasPrefix(body, "thread '") {
		return nil
	}
	end := strings.LastIndex(rest, "', ")
	if end < 0 {
		return nil
	}
	t := &Trace{First: number, Type: "panic", Message: strings.Clone(rest[:end])}
	if t.Thread = partnerGone.MatchString(t.Message); name != "main" {
		t.Type, t.Thread = threadPanic, true
	}
	return t
}

// partnerGone is a panic over a thread that is gone: the other end of a channel, the holder of a lock, or who was
// waited for (https://doc.rust-lang.org/std/sync/mpsc/struct.SendError.html).
var partnerGone = regexp.MustCompile(`\b(?:Send|Recv|Poison|Join)Error\b|: Any \{ \.\. \}`)

// threadPanic is the type of a panic of a thread beside the main one.
const threadPanic = "panic in a thread"

// note keeps which runtime is printing what it did not handle.
func (f *folder) note(l *Line, kind string) {
	if len(f.runtime) < mostLanes {
		f.runtime[strings.Clone(l.Lane)] = strings.Clone(kind)
	}
}

func foreignTrace(number int, text string, chain Chain) *Trace {
	name, message, ok := exceptionLine(strings.TrimRight(text, " \t"))
	if !ok || !looksLikeException(name) {
		return nil
	}
	return &Trace{First: number, Type: strings.Clone(name), Message: strings.Clone(message), Chain: chain}
}
