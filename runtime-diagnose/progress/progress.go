// Package progress recognises the lines in which a training program counts its steps, and
// keeps of them what tells whether it advances: the first and the last ones, how far apart
// they come, and the loss over the whole run. It judges nothing and keeps a bounded amount,
// however long the log is.
//
// Start reading at Tracker.
package progress

import (
	"math"
	"regexp"
	"slices"
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

// counters are the forms of the field, most specific first. The first group counts, the
// second is the total where there is one. Forms: tqdm (https://github.com/tqdm/tqdm), Megatron-LM
// training_log, DeepSpeed's "step=10", Lightning, Keras "100/500 [====>...]", mmengine
// "[50/100]", fairseq, MaxText "completed step: 12", torchtitan "step: 1", nanoGPT "iter 100:".
var counters = []*regexp.Regexp{
	regexp.MustCompile(`(\d+)/(\d+) \[[\d:?]+<[^\]]{0,40}(?:it/s|s/it)`),
	regexp.MustCompile(`(?i)\b(?:global[_ ]?step|iterations?|iter|steps?|batch|it)['"]?\s*[:=\[(# ]{1,4}\s*(\d+)(?:\s*(?:/|of)\s*(\d+))?`),
	regexp.MustCompile(`\b(\d+)/(\d+) \[[=>.\- ]+\]`),
	regexp.MustCompile(`(?i)\bepoch\b[^|]{0,24}\[\s*(\d+)\s*/\s*(\d+)\s*\]`),
	regexp.MustCompile(`(?i)\bepoch['"]?\s*[:=\[ #]{1,3}\s*(\d+)(?:\s*(?:/|of)\s*(\d+))?`),
}

var (
	lossText = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:lm |train(?:ing)?[_ /]|total[_ ]|avg[_ ]|mean[_ ])?loss['"]?\s*(?:is|=|:)?\s*[:=(\[]*\s*['"]?(nan|-?inf(?:inity)?|[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)\b`)
	perStep  = []struct {
		re   *regexp.Regexp
		unit float64 // seconds in one of it; 0: per second
	}{
		{regexp.MustCompile(`elapsed time per iteration \(ms\): *([\d.]+)`), 1e-3},
		{regexp.MustCompile(`([\d.]+)s/it\b`), 1},
		{regexp.MustCompile(`([\d.]+)it/s\b`), 0},
		{regexp.MustCompile(`(?i)\b(?:iter|step|batch)[_ ]?time(?: ?\((?:s|sec)\))?['"]?\s*[:=]\s*([\d.]+) ?(?:s\b|sec|$|[,| })])`), 1},
		{regexp.MustCompile(`(?i)\b(?:(?:iter|step|batch)[_ ]?)?(?:time|dt)(?: ?\(ms\))?['"]?\s*[:=]?\s*([\d.]+) ?ms\b`), 1e-3},
		{regexp.MustCompile(`(?i)\b(?:seconds|secs?)(?:[_ /]per[_ /](?:step|iter))?['"]?\s*[:=]\s*([\d.]+)`), 1},
	}
)

// longest is how much of a line is looked at: counters stand near the beginning.
const longest = 512

// Read reads one line; ok is false if it counts nothing.
func Read(text string) (s Step, ok bool) {
	s = Step{Number: -1, Of: -1, Loss: math.NaN(), Seconds: math.NaN()}
	text = text[:min(len(text), longest)]
	if !strings.ContainsAny(text, "0123456789") {
		return s, false
	}
	for _, re := range counters {
		m := re.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		s.Number = whole(m[1])
		if len(m) > 2 && m[2] != "" {
			s.Of = whole(m[2])
		}
		ok = s.Number >= 0
		break
	}
	if m := lossText.FindStringSubmatch(text); m != nil {
		if v, err := strconv.ParseFloat(m[1], 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
			s.Loss = v
		} else {
			s.NaN = true
		}
		ok = true
	}
	for _, p := range perStep {
		m := p.re.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		if v, err := strconv.ParseFloat(m[1], 64); err == nil && v > 0 {
			s.Seconds = v * p.unit
			if p.unit == 0 {
				s.Seconds = 1 / v
			}
		}
		break
	}
	return s, ok
}

func whole(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// Marks tell a program's step lines from the rest, cheaply. The one that a line has is kept
// and looked for in the lines after it.
var marks = []string{
	"it/s", "s/it", "iteration", "Iteration", "global_step", "step", "Step", "STEP", "iter", "Iter", "'loss'", "loss", "Loss", "batch", "Batch", "epoch", "Epoch", "EPOCH",
}

// bounds of what a tracker keeps.
const (
	tailLines = 32
	headLines = 16
	spread    = 64
)

// Tracker follows the step lines of one log. The zero value is ready; it looks at nothing
// until Learn has shown it a line.
type Tracker struct {
	// TimeOf reads the time out of a line that came without one; nil: unknown.
	TimeOf func(text string) (time.Time, bool)

	mark  string
	count int
	head  []raw
	tail  [tailLines]raw
	every int   // how many step lines one of kept stands for
	kept  []raw // evenly over the whole run
}

type raw struct {
	line int
	text string
	at   time.Time
}

// Learn shows the tracker a line that is known to count, unless it has learned already.
func (t *Tracker) Learn(text string) {
	if t.mark != "" {
		return
	}
	if _, ok := Read(text); !ok {
		return
	}
	for _, m := range marks {
		if strings.Contains(text, m) {
			t.mark, t.every = m, 1
			return
		}
	}
}

// See takes the next line of the log. at may be zero.
func (t *Tracker) See(line int, text string, at time.Time) {
	if t.mark == "" || !strings.Contains(text, t.mark) {
		return
	}
	r := raw{line, text[:min(len(text), longest)], at}
	if len(t.head) < headLines {
		t.head = append(t.head, r)
	}
	t.tail[t.count%tailLines] = r
	if t.count%t.every == 0 {
		t.kept = append(t.kept, r)
		if len(t.kept) == 2*spread {
			for i := range spread {
				t.kept[i] = t.kept[2*i]
			}
			t.kept, t.every = t.kept[:spread], 2*t.every
		}
	}
	t.count++
}

// Series is what a log's step lines say together.
type Series struct {
	Count    int // step lines
	First    Step
	Last     Step
	Interval time.Duration // usual time between two step lines; 0: unknown
	Seconds  float64       // usual time of one step lately, by the program's own word or by its lines; NaN: unknown
	Losses   []float64     // over the whole run, evenly, at most 160; without what is not finite
	Recent   []Step        // the last ones, oldest first
}

// Series reads what was kept.
func (t *Tracker) Series() Series {
	s := Series{Count: t.count, Seconds: math.NaN()}
	for _, r := range t.kept {
		if step, ok := t.read(r); ok && !math.IsNaN(step.Loss) {
			s.Losses = append(s.Losses, step.Loss)
		}
	}
	for i := max(0, t.count-tailLines); i < t.count; i++ {
		if step, ok := t.read(t.tail[i%tailLines]); ok {
			s.Recent = append(s.Recent, step)
		}
	}
	if len(s.Recent) == 0 {
		return s
	}
	s.First, s.Last = s.Recent[0], s.Recent[len(s.Recent)-1]
	for _, r := range t.head {
		if step, ok := t.read(r); ok {
			s.First = step
			break
		}
	}
	s.Interval, s.Seconds = pace(s.Recent)
	return s
}

func (t *Tracker) read(r raw) (Step, bool) {
	step, ok := Read(r.text)
	step.Line, step.At, step.Text = r.line, r.at, r.text
	if step.At.IsZero() && t.TimeOf != nil {
		step.At, _ = t.TimeOf(r.text)
	}
	return step, ok
}

// pace is the median time between lines, and of one step.
func pace(steps []Step) (between time.Duration, seconds float64) {
	var gaps []time.Duration
	var own, by []float64
	for i, s := range steps {
		if !math.IsNaN(s.Seconds) {
			own = append(own, s.Seconds)
		}
		if i == 0 || s.At.IsZero() || steps[i-1].At.IsZero() {
			continue
		}
		gap := s.At.Sub(steps[i-1].At)
		if gap < 0 {
			continue
		}
		gaps = append(gaps, gap)
		if d := s.Number - steps[i-1].Number; steps[i-1].Number >= 0 && d > 0 {
			by = append(by, gap.Seconds()/float64(d))
		}
	}
	if len(gaps) > 0 {
		slices.Sort(gaps)
		between = gaps[len(gaps)/2]
	}
	seconds = math.NaN()
	for _, all := range [][]float64{own, by} {
		if len(all) > 0 {
			slices.Sort(all)
			return between, all[len(all)/2]
		}
	}
	return between, seconds
}
