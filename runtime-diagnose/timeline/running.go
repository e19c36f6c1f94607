package timeline

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/progress"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Thresholds say from when on a job that runs is not well. Zero values mean the defaults in
// parentheses.
type Thresholds struct {
	progress.Limits
	Diverged float64 // a loss so many times its lowest, and no lower than it began (3)
	// HalfStarted: some pods run and hold devices for so long while others have no node (10 min).
	HalfStarted time.Duration
}

// WithDefaults fills in what is not set.
func (t Thresholds) WithDefaults() Thresholds {
	t.Diverged = cmp.Or(t.Diverged, 3)
	t.HalfStarted = cmp.Or(t.HalfStarted, 10*time.Minute)
	return t
}

// LookAtRunning finds what is wrong with a job that runs: steps that stopped, a loss that rises; and the pods
// that are slower than the rest, as a sentence. Whoever watched the job saw more than one look can, and is not
// asked again whether it idles.
func LookAtRunning(logs []Log, members []Member, clocks *Clocks, now time.Time, t Thresholds, watched bool) (found []evidence.Observation, slow string) {
	courses := coursesOf(logs, members, clocks)
	if !watched {
		found = findIdle(courses, now, t)
	}
	return append(found, findDivergence(courses, t)...), stragglers(courses, t)
}

// course is the course of one running pod that counts steps.
type course struct {
	*Log
	ahead time.Duration // its clock, of the API server's
}

// coursesOf are the logs of pods that run and count steps, by the node's clock. A log that says
// that its run ended well has no course any more.
func coursesOf(logs []Log, members []Member, clocks *Clocks) []course {
	at := ByPlace(members)
	var out []course
	for i := range logs {
		l := &logs[i]
		if l.Source.Attempt > 0 || !l.Stamped || l.Steps.Count < progress.Enough || l.Ended {
			continue
		}
		if k, ok := at[l.Source.Place()]; !ok || !members[k].Running {
			continue
		}
		b := clocks.Ahead(l.Clock)
		out = append(out, course{l, (b.Low + b.High) / 2})
	}
	return out
}

// idle is how long ago the last step was, by the API server's clock.
func (c course) idle(now time.Time) time.Duration { return now.Sub(c.Steps.Last.At.Add(-c.ahead)) }

func findIdle(courses []course, now time.Time, t Thresholds) (found []evidence.Observation) {
	var stopped []course
	for _, c := range courses {
		if !c.Steps.Last.At.IsZero() && t.Stopped(c.idle(now), c.Steps.Interval) {
			stopped = append(stopped, c)
		}
	}
	if len(stopped) == 0 || len(stopped) < len(courses) && len(stopped)*2 > len(courses) {
		return nil // half and half: some print what others do not
	}
	rule := progress.NoProgress
	if len(stopped) < len(courses) {
		rule = progress.OneStopped
	}
	slices.SortStableFunc(stopped, func(a, b course) int {
		return cmp.Or(cmp.Compare(a.Steps.Last.Number, b.Steps.Last.Number), -cmp.Compare(a.idle(now), b.idle(now)))
	})
	for _, c := range stopped {
		found = append(found, c.sighting(rule, map[string]string{
			"idle": words.Short(c.idle(now)), "usual": words.Short(c.Steps.Interval), "step": fmt.Sprint(c.Steps.Last.Number),
		}))
	}
	return found
}

// sighting is a rule found at the log's last step.
func (c course) sighting(rule *signature.Signature, facts map[string]string) evidence.Observation {
	source := c.Source
	source.Line = c.Steps.Last.Line
	text := strings.TrimSpace(reduce.Mask(c.Steps.Last.Text))
	return evidence.Observation{
		Signature: rule, Line: text, Facts: facts,
		Item: evidence.Item{ID: source.LineID(), Kind: evidence.Log, At: c.Steps.Last.At, Clock: c.Clock, Source: source, Text: text, Times: 1},
	}
}

// fewestLosses is how long a curve has to be before its shape says something.
const fewestLosses = 40

func findDivergence(courses []course, t Thresholds) []evidence.Observation {
	for _, c := range courses {
		losses := c.Losses
		if len(losses) < fewestLosses {
			continue
		}
		began, now := median(losses[:5]), median(losses[len(losses)-5:])
		lowest := math.Inf(1)
		for i := 0; i+5 <= len(losses); i++ {
			lowest = min(lowest, median(losses[i:i+5]))
		}
		if lowest > 0 && now >= began && now >= t.Diverged*lowest {
			return []evidence.Observation{c.sighting(progress.Diverges, map[string]string{
				"began": fmt.Sprintf("%.4g", began), "lowest": fmt.Sprintf("%.4g", lowest), "now": fmt.Sprintf("%.4g", now),
			})} // one rank says it for all: they share the loss
		}
	}
	return nil
}

// fewestEnded is how long the curve of a run that has ended has to be; rose is by how much it has to end
// above where it began, in one long rise: losses of reinforcement learning and of penalties wander.
const (
	fewestEnded = 20
	rose        = 10
)

// FindRise looks, in logs of runs that have ended, for a loss that rose to the end.
func FindRise(logs []Log) []evidence.Observation {
	for i := range logs {
		t := &logs[i]
		if t.Source.Attempt > 0 || len(t.Losses) < fewestEnded {
			continue
		}
		began, now := median(t.Losses[:5]), median(t.Losses[len(t.Losses)-5:])
		late := t.Losses[len(t.Losses)-len(t.Losses)/3:]
		if began <= 0 || now < rose*began || now < 1 || slices.Min(late) < 2*began || now < median(late) {
			continue
		}
		return []evidence.Observation{course{Log: t}.sighting(progress.Diverges, map[string]string{
			"began": fmt.Sprintf("%.4g", began), "lowest": fmt.Sprintf("%.4g", slices.Min(t.Losses)), "now": fmt.Sprintf("%.4g", now),
		})}
	}
	return nil
}

// fewestAlike is how many others have to go on together before one that stopped is the odd one out.
const fewestAlike = 2

// FindBehind looks, in logs of which no pod is known, for the one whose steps end far before those of all
// others: ranks of a gang wait for each other, so their last steps are close.
func FindBehind(logs []Log) []evidence.Observation {
	var odd *Log
	lowest, second, highest, others := int64(math.MaxInt64), int64(math.MaxInt64), int64(0), -1
	for i := range logs {
		t := &logs[i]
		at := t.Steps.Last.Number
		if t.Source.Pod != "" || t.Source.Attempt > 0 || t.Steps.Count < progress.Enough || at <= 0 {
			return nil
		}
		if others++; at < lowest {
			odd, lowest, second = t, at, lowest
		} else {
			second = min(second, at)
		}
		highest = max(highest, at)
	}
	if others < fewestAlike || odd.Ended || 2*(highest-second) > second-lowest || 10*(second-lowest) < second {
		return nil
	}
	return []evidence.Observation{course{Log: odd}.sighting(Behind, map[string]string{
		"step": fmt.Sprint(lowest), "others": fmt.Sprint(others), "reached": fmt.Sprint(second),
	})}
}

func median(v []float64) float64 {
	v = slices.Clone(v)
	slices.Sort(v)
	return v[len(v)/2]
}

// stragglers names pods that are slower than the rest.
func stragglers(courses []course, t Thresholds) string {
	seconds := make([]float64, len(courses))
	for i, c := range courses {
		seconds[i] = c.Steps.Seconds
	}
	usual, slow, of := t.Stragglers(seconds)
	if len(slow) == 0 {
		return ""
	}
	worst := courses[slow[0]]
	text := fmt.Sprintf("%s takes %.2f s for a step, where half of the %d pods take %.2f s or less", worst.Source.Who(), worst.Steps.Seconds, of, usual)
	if n := len(slow) - 1; n > 0 {
		text += fmt.Sprintf("; %d more are slow", n)
	}
	return text + "."
}
