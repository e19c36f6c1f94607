package reduce

import (
	"regexp"
	"slices"
	"strings"
)

// inlineFrame is a frame in a traceback that stands on one line.
var inlineFrame = regexp.MustCompile(`File "[^"]+", line \d+(?:, in (?:<\w+>|\w+))?`)

// inlineException is an exception's type in running text.
var inlineException = regexp.MustCompile(`(?:^|\s)((?:\w+\.)*\w*(?:Error|Exception|Interrupt|Warning|Timeout|Failure))(?:: |["',}\]\n]|$)`)

// lineEnds are what loggers write for the end of a line inside a string: Python's repr and JSON do one,
// rsyslog's control-character escape the other.
var lineEnds = strings.NewReplacer(`\\n`, "\n", `\n`, "\n", `#012`, "\n", `\"`, `"`, `\'`, `'`)

// oneLine reads a traceback that stands on the line of its heading as a whole: loggers put it into a
// string, chats and tables join its lines. rest is what follows the heading.
func oneLine(number int, rest string) *Trace {
	if !strings.Contains(rest, `File "`) && !strings.Contains(rest, `File \"`) {
		return nil
	}
	last, chained := rest, Alone
	if i := strings.LastIndex(rest, tracebackStart); i >= 0 {
		var first string
		first, last = rest[:i], rest[i+len(tracebackStart):]
		if strings.Contains(first, causedBy) {
			last, _, _ = strings.Cut(first, causedBy) // what the others were made of
		} else if strings.Contains(first, during) {
			chained = During
		}
	}
	text := lineEnds.Replace(last)
	frames := inlineFrame.FindAllStringIndex(text, -1)
	if len(frames) == 0 {
		return nil
	}
	at := frames[len(frames)-1]
	t := &Trace{First: number, Frame: text[at[0]:at[1]], Chain: chained}
	for _, f := range slices.Backward(frames) {
		if caller := text[f[0]:f[1]]; !standardLibrary(caller) {
			if caller != t.Frame {
				t.Caller = caller
			}
			break
		}
	}
	below := text[at[1]:]
	m := inlineException.FindStringSubmatchIndex(below)
	if m == nil {
		return nil
	}
	t.Type = below[m[2]:m[3]]
	message, _, _ := strings.Cut(below[m[1]:], "\n")
	t.Message = strings.TrimRight(message, ` "',}])`)
	t.Source, _, _ = strings.Cut(strings.TrimSpace(below[:m[2]]), "\n")
	t.Source = strings.TrimLeft(t.Source, ` "',`)
	t.Ignored = finalizer.MatchString(t.Frame)
	return t
}
