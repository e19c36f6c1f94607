package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/gang"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/progress"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/rank"
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

func (t Thresholds) withDefaults() Thresholds {
	t.Diverged = cmp.Or(t.Diverged, 3)
	t.HalfStarted = cmp.Or(t.HalfStarted, 10*time.Minute)
	return t
}

// lookAtRunning adds what is wrong with a job that runs, and remarks on what is worth knowing.
func (d *diagnosis) lookAtRunning() {
	if d.State.Phase != kinds.Running {
		d.findRise()
		return
	}
	t := d.options.Running.withDefaults()
	courses := d.courses()
	if !slices.ContainsFunc(d.Watched, func(s rank.Sighting) bool { return s.Signature.Category == progress.NoProgress.Category }) {
		d.findIdle(courses, t) // who watched the job saw more than one look can
	}
	d.findDivergence(courses, t)
	d.remarkStragglers(courses, t)
	d.remarkHalfStarted(t)
}

// course is the course of one running pod that counts steps.
type course struct {
	*track
	ahead time.Duration // its clock, of the API server's
}

// courses are the logs of pods that run and count steps, by the node's clock. A log that says
// that its run ended well has no course any more.
func (d *diagnosis) courses() []course {
	var out []course
	for i := range d.logs.tracks {
		t := &d.logs.tracks[i]
		if t.pasted || t.source.Attempt > 0 || !t.stamped || t.steps.Count < progress.Enough || t.ended {
			continue
		}
		if k, ok := d.at[gang.PlaceOf(t.source)]; !ok || !d.all[k].Running {
			continue
		}
		b := d.time.Ahead(t.clock())
		out = append(out, course{t, (b.Low + b.High) / 2})
	}
	return out
}

// idle is how long ago the last step was, by the API server's clock.
func (c course) idle(now time.Time) time.Duration { return now.Sub(c.steps.Last.At.Add(-c.ahead)) }

func (d *diagnosis) findIdle(courses []course, t Thresholds) {
	var stopped []course
	for _, c := range courses {
		if !c.steps.Last.At.IsZero() && t.Stopped(c.idle(d.Now), c.steps.Interval) {
			stopped = append(stopped, c)
		}
	}
	if len(stopped) == 0 || len(stopped) < len(courses) && len(stopped)*2 > len(courses) {
		return // half and half: some print what others do not
	}
	rule := progress.NoProgress
	if len(stopped) < len(courses) {
		rule = progress.OneStopped
	}
	slices.SortStableFunc(stopped, func(a, b course) int {
		return cmp.Or(cmp.Compare(a.steps.Last.Number, b.steps.Last.Number), -cmp.Compare(a.idle(d.Now), b.idle(d.Now)))
	})
	for _, c := range stopped {
		d.sightings = append(d.sightings, c.sighting(rule, map[string]string{
			"idle": short(c.idle(d.Now)), "usual": short(c.steps.Interval), "step": fmt.Sprint(c.steps.Last.Number),
		}))
	}
}

// sighting is a rule found at the log's last step.
func (c course) sighting(rule *signature.Signature, facts map[string]string) rank.Sighting {
	source := c.source
	source.Line = c.steps.Last.Line
	text := strings.TrimSpace(reduce.Mask(c.steps.Last.Text))
	return rank.Sighting{
		Signature: rule, Line: text, Facts: facts,
		Item: evidence.Item{ID: lineID(source), Kind: evidence.Log, At: c.steps.Last.At, Clock: c.clock(), Source: source, Text: text, Times: 1},
	}
}

// fewestLosses is how long a curve has to be before its shape says something.
const fewestLosses = 40

func (d *diagnosis) findDivergence(courses []course, t Thresholds) {
	for _, c := range courses {
		losses := c.losses
		if len(losses) < fewestLosses {
			continue
		}
		began, now := median(losses[:5]), median(losses[len(losses)-5:])
		lowest := math.Inf(1)
		for i := 0; i+5 <= len(losses); i++ {
			lowest = min(lowest, median(losses[i:i+5]))
		}
		if lowest > 0 && now >= began && now >= t.Diverged*lowest {
			d.sightings = append(d.sightings, c.sighting(progress.Diverges, map[string]string{
				"began": fmt.Sprintf("%.4g", began), "lowest": fmt.Sprintf("%.4g", lowest), "now": fmt.Sprintf("%.4g", now),
			}))
			return // one rank says it for all: they share the loss
		}
	}
}

// fewestEnded is how long the curve of a run that has ended has to be; rose is by how much it has to end
// above where it began, in one long rise: losses of reinforcement learning and of penalties wander.
const (
	fewestEnded = 20
	rose        = 10
)

// findRise looks, in logs of runs that have ended, for a loss that rose to the end.
func (d *diagnosis) findRise() {
	for i := range d.logs.tracks {
		t := &d.logs.tracks[i]
		if t.pasted || t.source.Attempt > 0 || len(t.losses) < fewestEnded {
			continue
		}
		began, now := median(t.losses[:5]), median(t.losses[len(t.losses)-5:])
		late := t.losses[len(t.losses)-len(t.losses)/3:]
		if began <= 0 || now < rose*began || now < 1 || slices.Min(late) < 2*began || now < median(late) {
			continue
		}
		d.sightings = append(d.sightings, course{track: t}.sighting(progress.Diverges, map[string]string{
			"began": fmt.Sprintf("%.4g", began), "lowest": fmt.Sprintf("%.4g", slices.Min(t.losses)), "now": fmt.Sprintf("%.4g", now),
		}))
		return
	}
}

func median(v []float64) float64 {
	v = slices.Clone(v)
	slices.Sort(v)
	return v[len(v)/2]
}

// remarkStragglers names pods that are slower than the rest.
func (d *diagnosis) remarkStragglers(courses []course, t Thresholds) {
	seconds := make([]float64, len(courses))
	for i, c := range courses {
		seconds[i] = c.steps.Seconds
	}
	usual, slow, of := t.Stragglers(seconds)
	if len(slow) == 0 {
		return
	}
	worst := courses[slow[0]]
	text := fmt.Sprintf("%s takes %.2f s for a step, where half of the %d pods take %.2f s or less", d.who(worst.source), worst.steps.Seconds, of, usual)
	if n := len(slow) - 1; n > 0 {
		text += fmt.Sprintf("; %d more are slow", n)
	}
	d.remarks = append(d.remarks, text+".")
}

// remarkHalfStarted says what a gang holds that cannot begin.
func (d *diagnosis) remarkHalfStarted(t Thresholds) {
	waits, runs := 0, 0
	held := int64(0)
	var since time.Time
	for _, p := range d.seen.Pods {
		switch {
		case p.Phase == corev1.PodPending && !p.Placed:
			waits++
		case p.Phase == corev1.PodRunning:
			runs++
			held += d.devicesOf(p.Source.Role)
		}
	}
	for _, m := range d.all {
		if m.Running && m.Started.After(since) {
			since = m.Started
		}
	}
	if waits == 0 || runs == 0 || held == 0 || since.IsZero() || d.Now.Sub(since) < t.HalfStarted {
		return
	}
	d.remarks = append(d.remarks, fmt.Sprintf("%d pod%s hold%s %d devices since %s (%s) and cannot begin: %d other%s %s no node.",
		runs, plural(runs), verbOf(runs), held, since.UTC().Format("15:04"), short(d.Now.Sub(since)), waits, plural(waits), hasHave(waits)))
}

// devicesOf is how many devices one pod of a role asks for.
func (d *diagnosis) devicesOf(role string) int64 {
	if d.Job == nil {
		return 0
	}
	found := d.Job.Role(role)
	if found == nil && len(d.Job.Roles) > 0 {
		found = &d.Job.Roles[0]
	}
	if found == nil {
		return 0
	}
	var n int64
	for name, amount := range found.Pod.Requests {
		if strings.Contains(string(name), "/") && !strings.HasPrefix(string(name), "rdma/") {
			n += amount
		}
	}
	return n
}

// onCPU is what programs print that found no device, or were not told to use one: Lightning,
// JAX, TensorFlow (tensorflow/core/common_runtime/gpu/gpu_device.cc), Accelerate and hand-written loops.
var onCPU = regexp.MustCompile(`GPU available: (?:True \(\w+\)|False), used: (?:False|0)\b|No GPU/TPU found, falling back to CPU|GPU will not be used|Skipping registering GPU devices|(?i)\b(?:using|training on|running on) (?:the )?(?:device:? ?)?['"]?cpu\b|(?i)\b(?:torch\.)?cuda(?:\.is)?[ _]available(?:\(\))?\s*[:=]\s*false\b|(?i)^\W{0,4}device(?: type)?\s*[:=]\s*['"]?cpu\b`)

// mayBeOnCPU says that a line holds words of which one is in every match of onCPU: an expression that
// may begin anywhere takes longer for a line than all the rest.
func mayBeOnCPU(text string) bool {
	for i := 1; i < len(text); i++ {
		if text[i]|0x20 != 'u' {
			continue
		}
		switch before := text[i-1] | 0x20; {
		case before == 'p' && i > 1 && text[i-2]|0x20 == 'c': // cpu
			return true
		case before == 'p' && (strings.HasPrefix(text[i+1:], " available: ") || strings.HasPrefix(text[i+1:], "/TPU found") || strings.HasPrefix(text[i+1:], " will not be used") || strings.HasPrefix(text[i+1:], " devices")):
			return true
		case before == 'c' && i+1 < len(text) && text[i+1]|0x20 == 'd' && strings.Contains(strings.ToLower(text), "available"): // cuda
			return true
		}
	}
	return false
}

// idle is the first line that says that the program uses no device.
func (e Excerpt) idle() (Excerpt, bool) {
	for i := range e.Lines {
		if text := e.Lines[i].Text; mayBeOnCPU(text) && onCPU.MatchString(text) {
			return Excerpt{Source: e.Source, Lines: slices.Clone(e.Lines[i : i+1])}, e.Source.Pod != "" && e.Source.Attempt == 0
		}
	}
	return Excerpt{}, false
}

// remarkUnused says that a pod holds devices and its program says that it uses none.
func (d *diagnosis) remarkUnused() {
	for _, e := range d.logs.idle {
		if held := d.devicesOf(e.Source.Role); held > 0 {
			d.remarks = append(d.remarks, fmt.Sprintf("%s holds %d device%s, and its program says that it uses none: %s [%s]", d.who(e.Source), held, plural(int(held)), cut(strings.TrimSpace(e.Lines[0].Text)), e.Item(0).ID))
			return // one says it for all: they run the same program
		}
	}
}
