package diagnose

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// worst is the line that tells most where no signature knows the words: the first of the last block of
// lines that the program calls errors. Training that goes on after it takes it back.
type worst struct {
	open  bool
	line  reduce.Line
	match signature.Match
	last  int // number of the last line of the block
	steps int
	grown int // steps of counters that nobody knows by name, before its last line
	began int // and before its first
}

// linesAfterWorst is how many lines may follow the last of a block: a program that gives up prints little more, a
// client that could not report something is one of many that went on.
const linesAfterWorst = 40

// stepsTakeBack is how many lines that show training take an error back: one may be an echo of the step
// that failed.
const stepsTakeBack = 2

// blockOf is how many lines may stand between two errors of one block.
const blockOf = 20

// warned is a warning as Python prints it, on a line of its own or behind a progress bar that has not ended its line.
var warned = regexp.MustCompile(`(?:^|\])\S+\.py:\d+: \w*Warning: `)

// isWarning asks warned of the few lines that name one.
func isWarning(text string) bool {
	return strings.Contains(text, "Warning: ") && warned.MatchString(text)
}

// setAside keeps the matches of last resorts apart: they count where nothing else does. Of what is raised
// they are as good as any other.
func (r *logReader) setAside(l reduce.Line, matches []signature.Match) []signature.Match {
	at := slices.IndexFunc(matches, func(m signature.Match) bool { return m.Signature.LastResort && m.Signature.Role == signature.Root })
	if at < 0 {
		at = slices.IndexFunc(matches, func(m signature.Match) bool { return m.Signature.LastResort })
	}
	if at < 0 || l.Trace != nil && matches[at].Signature.Role == signature.Root {
		return matches
	}
	m := matches[at]
	matches = slices.DeleteFunc(matches, func(m signature.Match) bool {
		return m.Signature.LastResort && (l.Trace == nil || m.Signature.Role != signature.Root)
	})
	w := &r.worst
	if l.Trace != nil || len(matches) > 0 || mild(l.Body()) || isWarning(l.Body()) || saysItGoesOn(l.Body()) || r.log.Pasted {
		return matches
	}
	if !w.open || l.Number-w.last > blockOf {
		*w = worst{open: true, line: l.Clone(), match: m, began: r.counters.Steps()}
	}
	w.last, w.steps, w.grown = l.Number, 0, r.counters.Steps()
	return matches
}

// advance is told of every line that shows training.
func (w *worst) advance() {
	if w.steps++; w.steps >= stepsTakeBack {
		w.open = false
	}
}

// lastResort records the worst line if nothing else in the log can be a cause. What only confirms one, as
// a launcher's word that a process called abort, says that there is one.
func (r *logReader) lastResort(lines int) {
	steps := r.counters.Steps()
	if lines-r.worst.last > linesAfterWorst || steps-r.worst.grown >= stepsSurvived || steps > r.worst.grown && steps-r.worst.began >= stepsSurvived {
		return // the program went on, whatever it did
	}
	for i := range r.sightings {
		if s := &r.sightings[i]; !s.Over && !s.Mild && s.Signature.Role != signature.Context && s.Signature.Role != signature.Confirmation {
			return
		}
	}
	if r.worst.open {
		r.record(r.worst.line, r.worst.match)
	}
}

// goesOn are the words of a retry that is still to come, not of one that was the last
// ("Max retries exceeded"), and of a sample that is left out.
var goesOn = regexp.MustCompile(`(?i)\b(?:re-?try(?:ing)?|re-?attempt\w*|still trying|try(?:ing)? again|attempt \d+ ?(?:of|/) ?\d+|fall(?:ing)? back|skipp(?:ing|ed)|ignor(?:ing|ed)|reconnect\w*|thrown while requesting|failed to allocate \S+ \(\d+ bytes\) from device)\b`)

// goesOnBegins is how those words begin.
var goesOnBegins = []string{"retry", "re-try", "reattempt", "re-attempt", "reconnect", "still t", "try", "thrown w", "attempt", "fall", "failed t", "skipp", "ignor"}

// announcesMore asks goesOn of the few lines that hold one of them. Beyond ASCII letters have more than two forms.
func announcesMore(text string) bool {
	within := false // a word
	for i := range len(text) {
		c := text[i]
		if c >= utf8.RuneSelf {
			return goesOn.MatchString(text)
		}
		begins := !within
		if within = isLetter(c) || '0' <= c && c <= '9' || c == '_'; !begins || strings.IndexByte("rtafsi", c|0x20) < 0 {
			continue
		}
		for _, word := range goesOnBegins {
			if c|0x20 == word[0] && len(text)-i >= len(word) && strings.EqualFold(text[i:i+len(word)], word) {
				return goesOn.MatchString(text)
			}
		}
	}
	return false
}

// saysItGoesOn is a line that announces no end.
func saysItGoesOn(text string) bool { return announcesMore(text) || mild(text) }

// mildLevel is a level below error at the head of a line, as logging, glog, c10d and logr
// print it.
var mildLevel = regexp.MustCompile(`^[\[\s]{0,3}[WI](?:\d{3,4} | \S+\.(?:cc|cpp|cu|py):\d+\] |\d* ?\w+\.(?:cpp|cc|cu):\d+\])|^(?:[^\s:]{1,40}[\s:|-]+){0,6}?\W?(?:WARN(?:ING)?|INFO|DEBUG)\b`)

// mild is a line that its program calls less than an error. NCCL calls its errors WARN.
func mild(text string) bool {
	head := text[:min(len(text), 160)]
	return mayBeMild(head) && mildLevel.MatchString(head) && !strings.Contains(text, "NCCL WARN")
}

// mayBeMild asks for what mildLevel needs: to ask takes a tenth of the time, and most lines are not.
func mayBeMild(head string) bool {
	for i := 0; i < min(len(head), 4); i++ {
		switch head[i] {
		case 'W', 'I':
			return true
		case '[', ' ', '\t', '\n', '\f', '\r':
			continue
		}
		break
	}
	return strings.Contains(head, "WARN") || strings.Contains(head, "INFO") || strings.Contains(head, "DEBUG")
}
