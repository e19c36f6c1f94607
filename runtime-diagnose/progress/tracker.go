package progress

import (
	"math"
	"strings"
	"time"
)

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
	slow  string // the unit of a bar whose mark is the other one: a step may take more than a second, and less again
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

// shortBar is of how many a bar counts at least that may be training. A shorter one that has come to its end loads
// something, and what is counted next counts.
const shortBar = 12

// Seeks says that no line is known that counts what lasts.
func (t *Tracker) Seeks() bool {
	if t.count == 0 || t.count > 8*shortBar {
		return t.count == 0
	}
	last, ok := Read(t.tail[(t.count-1)%tailLines].text)
	return ok && last.Of > 0 && last.Of < shortBar && last.Number >= last.Of
}

// Learn shows the tracker a line that is known to count, and is told to it for the first time then if it says so.
func (t *Tracker) Learn(text string) (learned bool) {
	if _, ok := Read(text); !ok {
		return false
	}
	for _, m := range marks {
		if strings.Contains(text, m) {
			if m == t.mark || m == t.slow {
				return false
			}
			t.mark, t.slow, t.every = m, "", max(t.every, 1)
			switch t.mark {
			case "it/s":
				t.slow = "s/it"
			case "s/it":
				t.slow = "it/s"
			}
			return true
		}
	}
	return false
}

// See takes the next line of the log. at may be zero.
func (t *Tracker) See(line int, text string, at time.Time) {
	if t.mark == "" || !strings.Contains(text, t.mark) && (t.slow == "" || !strings.Contains(text, t.slow)) {
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

// Lines is how many lines counted steps so far.
func (t *Tracker) Lines() int { return t.count }

// Series is what a log's step lines say together.
type Series struct {
	Count    int // step lines
	First    Step
	Last     Step
	Interval time.Duration // usual time between two step lines; 0: unknown
	Seconds  float64       // usual time of one step lately, by the program's own word or by its lines; NaN: unknown
	Recent   []Step        // the last ones, oldest first
}

// Series reads what was kept.
func (t *Tracker) Series() Series {
	s := Series{Count: t.count, Seconds: math.NaN()}
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

// Losses are those over the whole run, evenly, at most 160, without what is not finite.
func (t *Tracker) Losses() []float64 {
	var out []float64
	for _, r := range t.kept {
		if step, ok := Read(r.text); ok && !math.IsNaN(step.Loss) {
			out = append(out, step.Loss)
		}
	}
	return out
}

func (t *Tracker) read(r raw) (Step, bool) {
	step, ok := Read(r.text)
	step.Line, step.At, step.Text = r.line, r.at, r.text
	if step.At.IsZero() && t.TimeOf != nil {
		step.At, _ = t.TimeOf(r.text)
	}
	return step, ok
}
