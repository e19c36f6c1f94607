package reduce

import (
	"regexp"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

// Trace is a Python traceback that ends with the line it is set on.
type Trace struct {
	First   int    // number of its first line
	Type    string // "torch.OutOfMemoryError"
	Message string // on the line of the type; further lines of the message are not read
	Frame   string // the innermost frame: `File "train.py", line 3, in main`
	Source  string // what stands in the source there, if it was printed: `assert a.shape == b.shape`
	Chain   Chain
	Top     bool // it reached the outermost frame, that of a module: nothing was left to handle it
	Thread  bool // raised in a thread beside the main one, or in a task that nothing waits for: its process went on without it
	Ignored bool // printed while nothing depends on it: "Exception ignored in", a record that could not be logged, or raised by a finaliser
}

// Chain is how a traceback hangs together with the one before it.
type Chain int

// The chains.
const (
	Alone    Chain = iota // no traceback before it belongs to it
	CausedBy              // the one before is the cause: "raise … from …"
	During                // raised while the one before was being handled
)

const (
	tracebackStart = "Traceback (most recent call last)"
	// loggingError stands above what a handler of Python's logging could not write; the program goes on
	// (https://github.com/python/cpython/blob/v3.12.0/Lib/logging/__init__.py, Handler.handleError).
	loggingError = "--- Logging error ---"
	// inThread stands above what was not handled in a thread (https://docs.python.org/3/library/threading.html#threading.excepthook).
	inThread = "Exception in thread "
	// notRetrieved ends what asyncio logs of an exception in a task that nothing waits for, above the future's own line
	// (https://docs.python.org/3/library/asyncio-dev.html#detect-never-retrieved-exceptions).
	notRetrieved = " exception was never retrieved"
	ofFuture     = "future: <"
	causedBy     = "The above exception was the direct cause of the following exception"
	during       = "During handling of the above exception, another exception occurred"
)

// ofModule ends the outermost frame of a program that is run by its name, "python -m", also where that cannot be read
// (https://github.com/python/cpython/blob/v3.12.0/Lib/runpy.py).
const ofModule = ", in _run_module_as_main"

// exceptionLine reads how Python prints an exception: a dotted type, then a colon and the
// message or nothing. It is read by hand because an open traceback asks it of every line.
func exceptionLine(s string) (name, message string, ok bool) {
	end := 0
	for begins := true; end < len(s); end++ {
		c := s[end]
		if begins && !isWord(c) || begins && isDigit(c) {
			return "", "", false
		}
		if begins = c == '.'; !begins && !isWord(c) {
			break
		}
	}
	if end == 0 || s[end-1] == '.' {
		return "", "", false
	}
	if end == len(s) {
		return s, "", true
	}
	if s[end] != ':' {
		return "", "", false
	}
	return s[:end], strings.TrimPrefix(s[end+1:], " "), true
}

// folder follows one open traceback per lane, because ranks share a log.
type folder struct {
	open   map[string]*openTrace
	chain  map[string]Chain
	after  map[string]bool   // "Exception ignored in" was the line before
	beside map[string]bool   // "Exception in thread Thread-5:" was, or asyncio's word of a task
	frame  map[string]string // white space before the last frame, if the line before was one

	runtime  map[string]string // which runtime, or which C++ exception, the lane prints: see foreign
	heading  map[string]string // of which kind the failure is whose message stands on the next line
	marked   map[string]int    // the line of a mark under a line of source
	lastMark int               // of them

	unfollowed int // tracebacks that began where as many as are followed were open
}

// isFrame reads a frame as Python prints it: `  File "train.py", line 3`.
func isFrame(body string) bool {
	at := 0
	for at < len(body) && strings.IndexByte(" \t\n\f\r", body[at]) >= 0 {
		at++
	}
	path, ok := strings.CutPrefix(body[at:], `File "`)
	end := strings.IndexByte(path, '"')
	const line = `", line `
	return at > 0 && ok && end > 0 && strings.HasPrefix(path[end:], line) && end+len(line) < len(path) && isDigit(path[end+len(line)])
}

// statement is a line of Python source: texts quote programs too, and what a program would raise or say
// has not happened yet.
var statement = regexp.MustCompile(`^(?:except(?: \(?(?:\w+\.)*\w*[A-Z]\w*(?:, ?(?:\w+\.)*[A-Z]\w*)*\)?(?: as \w+)?| \w+(?:\.\w+)+(?: as \w+)?)?:` +
	`|raise (?:\w+\.)*[A-Z]\w*(?:\(| from |$)|:raises? |class [A-Za-z_]\w*(?:\(.*\))?:\s*$|def \w+\(|print\(|echo ["']|return (?:[\w.]+\(|["'f(\[{])` +
	`|(?:self\.)?_?(?:logger|logging|log|LOG)\.\w+\(|\w+ = (?:(?:\w+\.)*[A-Z]\w*\(|_\())`)

// beginsStatement asks for the words that one begins with; the first letter decides for nearly every line.
func beginsStatement(s string) bool {
	switch s[0] {
	case 'e':
		return strings.HasPrefix(s, "except") || strings.HasPrefix(s, "echo ")
	case 'r':
		return strings.HasPrefix(s, "raise ") || strings.HasPrefix(s, "return ")
	case ':':
		return strings.HasPrefix(s, ":raise")
	case 'c':
		return strings.HasPrefix(s, "class ")
	case 'd':
		return strings.HasPrefix(s, "def ")
	case 'p':
		return strings.HasPrefix(s, "print(")
	case 's':
		return strings.HasPrefix(s, "self.")
	case '_':
		return strings.HasPrefix(s, "_log")
	case 'l':
		return strings.HasPrefix(s, "log")
	case 'L':
		return strings.HasPrefix(s, "LOG")
	}
	return false
}

// isStatement asks statement of the few lines that may be one.
func isStatement(body string, has redact.Bytes) bool {
	s := body
	for s != "" && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	if s == "" || !isWord(s[0]) && s[0] != ':' {
		return false
	}
	return (has.Has(redact.Equals) && assigns(s) || beginsStatement(s)) && statement.MatchString(s)
}

// assigns says that a text begins with a word that is given a value.
func assigns(s string) bool {
	space := strings.IndexByte(s, ' ')
	return space >= 0 && strings.HasPrefix(s[space:], " = ")
}

// finalizer is a frame of the interpreter's own clean-up at the end.
var finalizer = regexp.MustCompile(`, in (?:_run_finalizers|_run_exitfuncs|_exit_function|__del__|_python_exit)$`)

// feeds says that the outermost frame is the thread that feeds a queue of multiprocessing, which prints what was raised and goes on
// (https://github.com/python/cpython/blob/v3.13.0/Lib/multiprocessing/queues.py, _on_queue_feeder_error).
func feeds(frame string) bool {
	return strings.HasSuffix(frame, ", in _feed") && strings.Contains(frame, "multiprocessing/queues.py\"")
}

type openTrace struct {
	first   int
	frame   string
	source  string
	frames  int
	top     bool // the first frame is a module's
	ignored bool
	thread  bool
	lines   int
	last    int  // number of the last line that was part of it
	atFrame bool // the line before is the frame
	headed  bool // its heading was seen; else the text begins in the middle of it
	indent  string
	prefix  string // what some collector of logs put before every line, digits as 0
}

// mostPrefix is how long a prefix may be that is not known.
const mostPrefix = 120

// prefixOf is the unknown prefix of a line that begins a traceback: a pod's name, a host, a
// time. Only lines with the same one, digits aside, continue the traceback. An exception that hands on
// another one's traceback as its message, as that of a worker that loads data, stands before the heading alone.
func prefixOf(before string) string {
	if strings.TrimSpace(before) == "" || len(before) > mostPrefix {
		return ""
	}
	if name, _, ok := exceptionLine(before); ok && looksLikeException(name) {
		return ""
	}
	return digitsAlike(before)
}

func digitsAlike(s string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return '0'
		}
		return r
	}, s)
}

// behindPrefix is the line without the traceback's prefix, if it has it.
func (t *openTrace) behindPrefix(body string) string {
	if n := len(t.prefix); n > 0 && len(body) >= n && digitsAlike(body[:n]) == t.prefix {
		return body[n:]
	}
	return body
}

// mostLanes bounds what broken input can make us keep, and mostTraceLines for how long a traceback that has not ended takes
// lines for its own. One that begins where so many are open is counted.
const (
	mostLanes      = 4096
	mostTraceLines = 2000
)

func newFolder() *folder {
	return &folder{open: map[string]*openTrace{}, chain: map[string]Chain{}, after: map[string]bool{}, beside: map[string]bool{}, frame: map[string]string{}, runtime: map[string]string{}, marked: map[string]int{}, heading: map[string]string{}}
}

// fold sets l.Trace if the line ends a traceback.
func (f *folder) fold(l *Line) {
	body := l.Body()
	l.Code = f.isCode(l, body)
	if before, found := cutHeading(body, l.has); found {
		if len(f.open) < mostLanes {
			t := &openTrace{first: l.Number, headed: true, ignored: f.after[l.Lane], thread: f.beside[l.Lane], indent: strings.Clone(indentOf(before)), prefix: prefixOf(before)}
			f.open[strings.Clone(l.Lane)] = t
		} else {
			f.unfollowed++
		}
		return
	}
	if strings.HasPrefix(body, "Exception ignored in") || strings.HasSuffix(body, loggingError) {
		if len(f.after) < mostLanes {
			f.after[strings.Clone(l.Lane)] = true
		}
		return
	}
	if len(f.beside) > 0 {
		if f.beside[l.Lane] && strings.HasPrefix(body, ofFuture) {
			l.Code = true // it quotes the exception that is printed below
			return
		}
		delete(f.beside, l.Lane)
	}
	if (strings.HasPrefix(body, inThread) && strings.HasSuffix(body, ":") || strings.HasSuffix(body, notRetrieved)) && len(f.beside) < mostLanes {
		f.beside[strings.Clone(l.Lane)] = true
		return
	}
	if len(f.open) > 0 { // most lines of a log meet no open traceback at all
		if t := f.open[l.Lane]; t != nil {
			f.chained(l, body)
			f.step(l, t, body)
			return
		}
	}
	if len(f.after) > 0 && f.after[l.Lane] {
		_, _, quoted := exceptionLine(body) // nothing depended on what was raised
		l.Code = l.Code || quoted
		delete(f.after, l.Lane)
	}
	f.chained(l, body)
	if l.Code && len(f.open) < mostLanes {
		f.join(l, body)
		return
	}
	f.foreign(l, body)
}

// cutHeading cuts a line at the heading of a traceback. Every line passes here: the bracket in it is rarer than
// its first letter.
func cutHeading(body string, has redact.Bytes) (before string, found bool) {
	if !has.Has(redact.Paren) {
		return "", false
	}
	const bracket = len("Traceback ")
	for at := 0; ; at++ {
		next := strings.IndexByte(body[at:], '(')
		if next < 0 {
			return "", false
		}
		if at += next; at >= bracket && strings.HasPrefix(body[at-bracket:], tracebackStart) {
			return body[:at-bracket], true
		}
	}
}

// chained is told of every line: one may say how the traceback below it hangs on the one above. Both forms end
// alike.
func (f *folder) chained(l *Line, body string) {
	if !l.has.Has(redact.SmallX) { // of "exception", rare in logs
		return
	}
	for at := 0; ; at++ {
		next := strings.IndexByte(body[at:], 'x')
		if next < 0 {
			return
		}
		if at += next; at == 0 || !strings.HasPrefix(body[at-1:], "exception") {
			continue
		}
		switch {
		case strings.Contains(body, causedBy):
			f.link(l.Lane, CausedBy)
		case strings.Contains(body, during):
			f.link(l.Lane, During)
		}
		return
	}
}

// join opens a traceback at a frame whose heading is not there: texts are cut, and collectors drop lines.
func (f *folder) join(l *Line, body string) {
	if !isFrame(body) {
		return
	}
	t := &openTrace{first: l.Number, frames: 1, last: l.Number, atFrame: true, frame: strings.Clone(strings.TrimSpace(body))}
	t.ignored = finalizer.MatchString(t.frame)
	f.open[strings.Clone(l.Lane)] = t
}

// within says that a text of so many lines ends while a traceback is being printed.
func (f *folder) within(last int) bool {
	for _, t := range f.open {
		if !t.ignored && (t.frames > 0 && last-t.last <= len(f.open) || t.headed && t.first == last) {
			return true
		}
	}
	return false
}

func (f *folder) link(lane string, c Chain) {
	if len(f.chain) < mostLanes {
		f.chain[strings.Clone(lane)] = c
	}
}

// isCode recognises frames, the source line under a frame and the marks under that.
func (f *folder) isCode(l *Line, body string) bool {
	lane := l.Lane
	if isStatement(body, l.has) {
		return true
	}
	indented := body != "" && (body[0] == ' ' || body[0] == '\t')
	if !indented && len(f.frame) == 0 {
		return false // neither a frame nor below one
	}
	indent, known := f.frame[lane]
	if !indented && !known {
		return false
	}
	if l.has.Has(redact.Quote) && isFrame(body) {
		if len(f.frame) < mostLanes {
			f.frame[strings.Clone(lane)] = strings.Clone(body[:len(body)-len(strings.TrimLeft(body, " \t"))])
		}
		return true
	}
	if !known {
		return false
	}
	if strings.Trim(body, " \t~^") == "" && strings.ContainsAny(body, "~^") {
		return true
	}
	delete(f.frame, lane)
	return len(body) > len(indent)+1 && strings.HasPrefix(body, indent) && (body[len(indent)] == ' ' || body[len(indent)] == '\t')
}

func (f *folder) step(l *Line, t *openTrace, body string) {
	t.lines++
	atFrame := t.atFrame
	t.atFrame, t.last = false, l.Number
	rest := strings.TrimPrefix(t.behindPrefix(body), t.indent)
	trimmed := strings.TrimLeft(rest, " \t|")
	switch {
	case strings.HasPrefix(trimmed, `File "`):
		t.frames++
		t.frame, t.source, t.atFrame = strings.Clone(strings.TrimSpace(trimmed)), "", true
		t.top = t.top || t.headed && t.frames == 1 && (strings.HasSuffix(t.frame, ", in <module>") || strings.HasSuffix(t.frame, ofModule))
		t.ignored = t.ignored || finalizer.MatchString(t.frame)
		t.thread = t.thread || t.headed && t.frames == 1 && feeds(t.frame)
		return
	case atFrame && rest != trimmed:
		t.source = strings.Clone(strings.TrimSpace(trimmed))
		return
	case rest != strings.TrimLeft(rest, " \t"), trimmed == "", strings.HasPrefix(trimmed, "^"), strings.HasPrefix(trimmed, "["):
		if t.lines < mostTraceLines {
			return
		}
		delete(f.open, l.Lane)
		return
	}
	name, message, ok := exceptionLine(strings.TrimRight(rest, " \t"))
	if !ok || ((t.frames == 0 || !t.headed) && !looksLikeException(name)) {
		if t.lines >= mostTraceLines || !t.headed {
			delete(f.open, l.Lane)
		}
		return
	}
	l.Trace = &Trace{First: t.first, Type: name, Message: message, Frame: t.frame, Source: t.source, Chain: f.chain[l.Lane], Top: t.top, Thread: t.thread, Ignored: t.ignored}
	if t.headed = false; strings.HasSuffix(message, " raised:") {
		return // a wrapper: what it was raised for stands on the next line
	}
	delete(f.open, l.Lane)
	delete(f.chain, l.Lane)
	delete(f.after, l.Lane)
}

func looksLikeException(name string) bool {
	for _, end := range []string{"Error", "Exception", "Interrupt", "Exit", "Warning", "Timeout", "Failure", "Failed", "StopIteration"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

func indentOf(s string) string {
	if strings.TrimSpace(s) == "" {
		return s
	}
	return ""
}
