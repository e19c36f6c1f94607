package recovery

import (
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// mildLevel says that a level below an error stands at the head of a line, as logging, glog, c10d, logr, NeMo
// (https://github.com/NVIDIA/NeMo/blob/v1.23.0/nemo/utils/formatters/base.py) and Horovod
// (https://github.com/horovod/horovod/blob/v0.28.1/horovod/common/logging.cc) print it.
func mildLevel(head string) bool {
	return head != "" && strings.IndexByte("[WI \t\n\f\r", head[0]) >= 0 && mildTag.MatchString(head) || behindFields(head)
}

// mildTag is a level in brackets, or the letter of one.
var mildTag = lazy.MustCompile(`^\[NeMo [WID] |^\[[\d :.-]{10,30}: [WID] |^[\[\s]{0,3}[WI](?: ?\| ?\d\d|\d{3,4} | \S+\.(?:cc|cpp|cu|py):\d+\] |\d* ?\w+\.(?:cpp|cc|cu):\d+\])|^(?:\[[^\]]{1,60}\]){1,4} ?\[(?:WARN(?:ING)?|INFO|DEBUG)\]`)

// How many fields may stand before the word for a level, of how many characters each: times, hosts, names of loggers.
const (
	mostFields   = 6
	longestField = 40
)

// behindFields says that a line matches ^(?:[^\s:]{1,40}[\s:|-]+){0,6}\W?(?:WARN(?:ING)?|INFO|DEBUG)\b. Package regexp takes
// ten times as long, as it writes the bounds out.
func behindFields(head string) bool {
	if !strings.Contains(head, "WARN") && !strings.Contains(head, "INFO") && !strings.Contains(head, "DEBUG") {
		return false
	}
	ends := [mostFields + 1]bool{0: true} // so many fields, and what separates them from the next, end here
	var begun [mostFields]int             // behind so many fields another one began at the latest, counted from 1; 0: none did
	accepted, n := true, 0                // characters
	for at, c := range head {
		n++
		if accepted && beginsMild(head[at:]) {
			return true
		}
		blank := c == ' ' || c == ':' || '\t' <= c && c <= '\r' && c != '\v'
		separates := blank || c == '|' || c == '-'
		accepted = false
		before := false // the fields ended before this character
		for k := mostFields - 1; k >= 0; k-- {
			end, begin := ends[k], begun[k]
			before = before || ends[k+1]
			ends[k+1] = separates && (ends[k+1] || begin > 0)
			accepted = accepted || ends[k+1]
			switch {
			case blank || !end && n-begin >= longestField:
				begun[k] = 0
			case end:
				begun[k] = n
			}
		}
		before = before || ends[0]
		ends[0] = false
		accepted = accepted || before && !(c < 0x80 && (isLetter(byte(c)) || isDigit(byte(c)) || c == '_'))
	}
	return false
}

// beginsMild says that a text begins with a word for a level below an error.
func beginsMild(text string) bool {
	for _, word := range [...]string{"WARNING", "WARN", "INFO", "DEBUG"} {
		if rest, ok := strings.CutPrefix(text, word); ok && (rest == "" || !isLetter(rest[0]) && !isDigit(rest[0]) && rest[0] != '_') {
			return true
		}
	}
	return false
}
