package controller

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/collect"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/progress"
)

// Running says how jobs that run are watched.
type Running struct {
	Every  time.Duration // between two looks; 0: they are not watched
	Pods   int           // whose logs are looked at
	Limits progress.Limits
	// Use answers what a job's pods used; nil: unknown.
	Use        func(ctx context.Context, a UsageOf) (Usage, error)
	IdleBelow  float64       // percent; below it a GPU is idle
	IdleBeside float64       // percent of what the other pods' GPUs do; up to it those of one pod idle beside them
	FullAbove  float64       // percent; from it on memory, a disk or a network is what a job waits for
	IdleFor    time.Duration // GPUs may be idle this long; what is used is averaged over it
}

// watched is what is known of one job from looking at it while it runs.
type watched struct {
	mu       sync.Mutex
	pulse    progress.Pulse
	read     map[string]time.Time // by life of a container: until when
	looked   time.Time
	findings []progress.Finding
	idle     []evidence.Observation
	straggle string // the ranks that were slow in the last Event
	slow     []bottleneck
	said     string // of bottlenecks in the last Event
	numbers  string
	told     string // of usage in the last diagnosis
}

// watch looks at a job that runs and seems well, when it is time to. It says whether something
// is wrong, and after how long to look again; 0: the job is not watched.
func (r *Reconciler) watch(ctx context.Context, key Request, u *unstructured.Unstructured, v view) (wrong bool, again time.Duration) {
	if r.Running.Every <= 0 || !v.runs() {
		return false, 0
	}
	w := &r.memory.of(u.GetUID(), key).watched
	w.mu.Lock()
	defer w.mu.Unlock()
	if left := r.Running.Every - v.now.Sub(w.looked); !w.looked.IsZero() && left > 0 {
		return len(w.findings)+len(w.idle) > 0 && w.bad(), left
	}
	w.looked = v.now
	r.readPulse(ctx, u, v, w)
	r.sayWhoIsSlow(ctx, u, w)
	r.sayWhatHoldsUp(ctx, u, w)
	return w.bad() || w.usage() != w.told, r.Running.Every
}

// runs says that the job is at work: all its pods that are there run, and one does.
func (v view) runs() bool {
	if v.state.Phase != kinds.Running && v.state.Phase != kinds.PhaseUnknown || slices.ContainsFunc(v.pods, trouble) {
		return false
	}
	running := 0
	for i := range v.pods {
		if v.pods[i].Status.Phase == corev1.PodRunning && v.pods[i].DeletionTimestamp == nil {
			running++
		}
	}
	return running > 0
}

// bad says that something other than slow ranks was found.
func (w *watched) bad() bool {
	return len(w.idle) > 0 || slices.ContainsFunc(w.findings, func(f progress.Finding) bool { return f.Kind != progress.Slow })
}

// mark changes when what was found does.
func (w *watched) mark() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return fmt.Sprint(progress.Mark(w.findings), len(w.idle), w.usage())
}

// sightings are for a diagnosis.
func (w *watched) sightings(job string) []evidence.Observation {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append(progress.Sightings(job, w.findings), w.idle...)
}

// readPulse reads what the ranks have printed since the last look, and asks how busy they were.
func (r *Reconciler) readPulse(ctx context.Context, u *unstructured.Unstructured, v view, w *watched) {
	if w.read == nil {
		w.read = map[string]time.Time{}
	}
	lives, present := livesOf(v.pods, cmp.Or(r.Running.Pods, 64))
	tails := r.Tails(ctx, lives, w.read)
	for i, life := range lives {
		w.pulse.See(life.Key(), collect.SourceOf(r.placeOf(u), life.Pod, life.Container), tails[i])
		if len(tails[i]) > 0 {
			w.read[life.Key()] = v.now
		}
	}
	w.pulse.Drop(present)
	for key := range w.read {
		if !present[key] {
			delete(w.read, key)
		}
	}
	w.findings = w.pulse.Judge(v.now, r.Running.Limits)
	w.idle, w.slow, w.numbers = r.use(ctx, u, v)
}

func (r *Reconciler) placeOf(u *unstructured.Unstructured) func(*corev1.Pod) (string, int, bool) {
	if k, _, ok := r.Served.findGVK(u.GroupVersionKind()); ok {
		return k.Place
	}
	return nil
}

// livesOf are the containers that run, of the first pods by name, and the keys of all of them.
func livesOf(pods []corev1.Pod, most int) (lives []collect.Life, present map[string]bool) {
	present = map[string]bool{}
	sorted := slices.SortedFunc(slices.Values(pods), func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	for i := range sorted {
		p := &sorted[i]
		for _, c := range p.Status.ContainerStatuses {
			if c.State.Running == nil {
				continue
			}
			life := collect.Life{Pod: p, Container: c.Name, Restart: c.RestartCount}
			if len(lives) < most {
				lives = append(lives, life)
			}
			present[life.Key()] = true
		}
	}
	return lives, present
}

// sayWhoIsSlow writes one Event for each set of stragglers: a job with them goes on, so they are
// no diagnosis.
func (r *Reconciler) sayWhoIsSlow(ctx context.Context, u *unstructured.Unstructured, w *watched) {
	i := slices.IndexFunc(w.findings, func(f progress.Finding) bool { return f.Kind == progress.Slow })
	if i < 0 {
		w.straggle = ""
		return
	}
	if who := w.findings[i].Source.Pod; who != w.straggle {
		w.straggle = who
		if err := r.Writer.event(ctx, u, corev1.EventTypeWarning, StragglerSeen, r.Writer.led(w.findings[i].Masked(), "", StragglerSeen)); err != nil {
			log.FromContext(ctx).Error(err, "no event")
		}
	}
}
