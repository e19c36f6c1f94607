package diagnose

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
)

// settings are what the logs of a run say that it was started with. Programs print them in a heap, before they train:
// three or more on a line (Namespace(lr=0.1, …), a dict, JSON) or on lines that follow each other (Megatron's table of
// arguments). What is told with a third value in one log is a course, and whatever follows it is told of the run; what
// ranks tell differently is theirs.
type settings struct {
	values map[string]string
	varies map[string]bool
	over   bool // there were more than are remembered

	file  string
	told  map[string][]string // by the log at hand: the values of a key
	ended bool                // the log at hand has come to its course
	heap  []keyValue          // of lines that hold one setting each, up to here
}

type keyValue struct{ key, value string }

// mostSettings bounds what is remembered of one run.
const mostSettings = 2000

const leastHeap = 3

const onePair = `(?:['"]\b([A-Za-z][\w.-]{1,60})['"]: ?|\b([A-Za-z][\w.-]{1,60})(?:=|: ))('[^']*'|"[^"]*"|-?[\w./+-]+)`

var (
	pairIn   = regexp.MustCompile(onePair)
	pairAt   = regexp.MustCompile(`^` + onePair)
	troubled = regexp.MustCompile(`Traceback|\bERROR\b|Error: |Exception\b|\b[Ff]ailed\b|timed out|Watchdog|\[E ProcessGroup`)
	// A line that is a setting: "batch_size: 64", Megatron's "  batch_size ...... 64".
	onlyPair = regexp.MustCompile(`^\s*(?:-\s*|--)?['"]?([A-Za-z][\w.-]{0,60}?)['"]?(?:\s*[=:]\s*|\s+\.{3,}\s*)(\S{1,120}),?\s*$`)
)

func (s *settings) add(file string, l *reduce.Line) {
	if file != s.file {
		s.file, s.told, s.ended, s.heap = file, map[string][]string{}, false, nil
	}
	if s.ended || l.Code {
		return
	}
	if troubled.MatchString(l.Text) { // what follows are numbers of the failure: pid, exitcode, SeqNum
		s.ended = true
		return
	}
	body := reduce.Mask(l.Body())
	if m := onlyPair.FindStringSubmatch(body); m != nil {
		s.heap = append(s.heap, keyValue{m[1], m[2]})
		s.note(s.heap[len(s.heap)-1:])
		if len(s.heap) == leastHeap {
			s.keep(s.heap)
		} else if len(s.heap) > leastHeap {
			s.keep(s.heap[len(s.heap)-1:])
		}
		return
	}
	s.heap = nil
	pairs, covered, span := pairsOf(body)
	// Between the first and the last of a heap there is little else; a sentence with some is a message.
	if s.note(pairs); len(pairs) >= leastHeap && 3*covered > 2*span && !s.ended {
		s.keep(pairs)
	}
}

// pairsOf are the settings of a line, with the bytes that they cover and those from the first to the end of the last. A
// word before a setting is a label, not a key with the setting's key as its value: "args: lr=0.1".
func pairsOf(body string) (pairs []keyValue, covered, span int) {
	first := -1
	for at := 0; ; {
		m := pairIn.FindStringSubmatchIndex(body[at:])
		if m == nil {
			return pairs, covered, span
		}
		from, value, end := at+m[0], at+m[6], at+m[1]
		if pairAt.MatchString(body[value:]) {
			at = value
			continue
		}
		parts := pairIn.FindStringSubmatch(body[from:end])
		pairs = append(pairs, keyValue{parts[1] + parts[2], parts[3]})
		if first < 0 {
			first = from
		}
		covered, span, at = covered+end-from, end-first, end
	}
}

// note counts the values of each key; three of one are a course.
func (s *settings) note(pairs []keyValue) {
	for _, p := range pairs {
		if all := s.told[p.key]; !slices.Contains(all, p.value) && len(s.told) < mostSettings {
			s.told[p.key] = append(all, p.value)
			s.ended = s.ended || len(all) == 2
		}
	}
}

func (s *settings) keep(pairs []keyValue) {
	for _, p := range pairs {
		value := strings.Trim(p.value, `'"`)
		switch before, known := s.values[p.key]; {
		case known && before != value:
			s.varies[p.key] = true
		case !known && len(s.values) == mostSettings:
			s.over = true
		case !known:
			s.values[p.key] = value
		}
	}
}

func newSettings() *settings {
	return &settings{values: map[string]string{}, varies: map[string]bool{}}
}

// differ are the settings that both runs tell, each with one value, and that are not the same.
func (s *settings) differ(other *settings) (out []fieldPair) {
	for _, key := range slices.Sorted(maps.Keys(s.values)) {
		was, told := other.values[key]
		if told && was != s.values[key] && !s.varies[key] && !other.varies[key] {
			out = append(out, fieldPair{key, s.values[key], was})
		}
	}
	return out
}
