// Package progress recognises the lines in which a training program counts its steps (Read), and
// keeps of them what tells whether it advances: of one log that is read from end to end the first
// and the last ones, how far apart they come, and the loss over the whole run (Tracker); of a job
// that runs what successive looks at the ends of its logs show (Pulse). It keeps a bounded amount,
// however long a log is.
//
// It says that a job does not advance, on all ranks or on some while the others go on, and which
// ranks are slower than the rest (Limits). Where no rank counts its steps it says nothing: silence
// is no proof of a hang. Values only; package controller reads the logs.
package progress

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Step is one line that counts. Numbers are NaN or -1 where the line does not say.
type Step struct {
	Line    int
	Text    string    // of the line, at most 512 bytes; not masked
	At      time.Time // zero: unknown
	Number  int64     // of the step, the iteration or the batch; -1: the line has none
	Of      int64     // of how many; -1: it does not say
	Loss    float64   // NaN: it does not say, or it says nan
	NaN     bool      // it says that the loss is nan or infinite
	Seconds float64   // that one step took, by the program's own word; NaN: it does not say
}

// perStep are the forms of the time that one step took that are looked for with regular
// expressions, each behind a word that the line has to hold.
var perStep = []struct {
	word string // without case
	re   *regexp.Regexp
	unit float64 // seconds in one of it
}{
	{"time", regexp.MustCompile(`(?i)\b(?:iter|step|batch)[_ ]?time(?: ?\((?:s|sec)\))?['"]?\s*[:=]\s*([\d.]+) ?(?:s\b|sec|$|[,| })])`), 1},
	{"ms", regexp.MustCompile(`(?i)\b(?:(?:iter|step|batch)[_ ]?)?(?:time|dt)(?: ?\(ms\))?['"]?\s*[:=]?\s*([\d.]+) ?ms\b`), 1e-3},
	{"sec", regexp.MustCompile(`(?i)\b(?:seconds|secs?)(?:[_ /]per[_ /](?:step|iter))?['"]?\s*[:=]\s*([\d.]+)`), 1},
}

// longest is how much of a line is looked at: counters stand near the beginning.
const longest = 512

// Read reads one line; ok is false if it counts nothing. Forms: tqdm
// (https://github.com/tqdm/tqdm), Megatron-LM training_log, DeepSpeed's "step=10", Lightning, Keras
// "100/500 [====>...]", mmengine "[50/100]", fairseq, MaxText "completed step: 12", torchtitan
// "step: 1", nanoGPT "iter 100:".
func Read(text string) (s Step, ok bool) {
	s = Step{Number: -1, Of: -1, Loss: math.NaN(), Seconds: math.NaN()}
	text = text[:min(len(text), longest)]
	if !hasNumber(text) {
		return s, false
	}
	if c, found := counter(text); found {
		s.Number = whole(c.number)
		if c.of != "" {
			s.Of = whole(c.of)
		}
		ok = s.Number >= 0
	}
	if value, found := lossIn(text); found {
		if v, err := strconv.ParseFloat(value, 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
			s.Loss = v
		} else {
			s.NaN = true
		}
		ok = true
	}
	if value, unit, found := secondsIn(text); found {
		if v, err := strconv.ParseFloat(value, 64); err == nil && v > 0 {
			s.Seconds = v * unit
			if unit == 0 {
				s.Seconds = 1 / v
			}
		}
	}
	return s, ok
}

// ofGradient is the norm of a gradient, and what it is if it is a number.
var ofGradient = regexp.MustCompile(`(?i)(?:grad|norm)\w*['"]?\s*[:=]\s*['"]?-?(?:nan|inf|(\d))`)

// OnlyGradient says that of a step the gradient is not finite and the loss is: a step that scalers of the loss leave
// out. A loss of 0 is what is left where nothing could be computed.
func OnlyGradient(text string) bool {
	s, ok := Read(text)
	m := ofGradient.FindStringSubmatch(text)
	return ok && m != nil && m[1] == "" && !math.IsNaN(s.Loss) && s.Loss != 0
}

// HasGradient says that a line gives the norm of a gradient as a number.
func HasGradient(text string) bool {
	m := ofGradient.FindStringSubmatch(text)
	return m != nil && m[1] != ""
}

// ofReward is a reward that is no number, as trainers that learn from rewards log it.
var ofReward = regexp.MustCompile(`(?i)\breward(?:_mean|/mean|s)?["']?\s*[:=]\s*-?nan\b`)

// LearnsNothing says that the loss of a step is zero and its reward no number: what the rewards are worked out from is missing,
// and so is the gradient.
func (s Step) LearnsNothing() bool { return s.Loss == 0 && ofReward.MatchString(s.Text) }

// megatron stands before the time of one iteration.
const megatron = "elapsed time per iteration (ms):"

// secondsIn finds the time that one step took, as written, and how many seconds one of it is; 0:
// it counts steps in a second.
func secondsIn(text string) (value string, unit float64, ok bool) {
	for _, rest, found := strings.Cut(text, megatron); found; _, rest, found = strings.Cut(rest, megatron) {
		rest = strings.TrimLeft(rest, " ")
		if n := len(rest) - len(strings.TrimLeft(rest, "0123456789.")); n > 0 {
			return rest[:n], 1e-3, true
		}
	}
	if value, ok := unitBehind(text, "s/it"); ok {
		return value, 1, true
	}
	if value, ok := unitBehind(text, "it/s"); ok {
		return value, 0, true
	}
	for _, p := range perStep {
		if !contains(text, p.word) {
			continue
		}
		if m := p.re.FindStringSubmatch(text); m != nil {
			return m[1], p.unit, true
		}
	}
	return "", 0, false
}

func whole(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return -1
	}
	return n
}
