package controller

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
)

// Need is what a job needs now.
type need int

const (
	nothing  need = iota // it is well, or it is too early to say
	reason               // it waits: say why, and nothing more yet
	thorough             // read everything and diagnose
)

// view is what the caches show of a job: enough to decide whether to look closer.
type view struct {
	state        kinds.State
	pods         []corev1.Pod // may hold pods of another job with the same labels
	created      time.Time
	asked        bool // a user asks for a diagnosis that was not made yet
	spoken       bool // something that is not healthy stands on the job
	silent       bool // nothing of ours stands on the job, or only that it was paused
	paused       bool // the job itself asks for no pods
	saysPaused   bool // and carries that it does
	deleted      time.Time
	held         bool     // by finalizers
	declared     int      // pods that the job asks for at least; 0: unknown
	lost         []string // nodes of its pods that are not ready, or gone
	lostSince    time.Time
	pendingAfter time.Duration
	refresh      time.Duration
	now          time.Time
	pulse        string // changes with what watching the job has found
}

// ended says that the job is over, by its operator's word.
func (v view) ended() bool { return over(v.state.Phase) }

func over(p kinds.Phase) bool { return p == kinds.Succeeded || p == kinds.Failed }

// decide says what the job needs, and after how long to look again; 0: when something changes.
func (v view) decide() (need, time.Duration) {
	switch {
	case !v.deleted.IsZero():
		return v.going()
	case v.asked:
		return thorough, v.again()
	case v.ended():
		return thorough, 0
	case v.rests():
		return v.resting()
	}
	oldest, unscheduled := v.waiting()
	waited := v.now.Sub(oldest)
	short := v.short()
	switch {
	case slices.ContainsFunc(v.pods, trouble):
		return thorough, v.again()
	case len(v.lost) > 0:
		if left := steady - v.now.Sub(v.lostSince); left > 0 {
			return nothing, left
		}
		return thorough, v.again()
	case oldest.IsZero() && !short.IsZero():
		if left := min(visible, v.pendingAfter) - v.now.Sub(short); left > 0 {
			return nothing, left
		}
		return thorough, v.untilSaid(short)
	case oldest.IsZero():
		return v.wellAgain()
	case waited >= v.patience():
		if left := v.unanswered(); left > 0 {
			return thorough, min(v.refresh, left)
		}
		return thorough, v.refresh
	case unscheduled:
		return reason, min(v.refresh, v.patience()-waited)
	default:
		return nothing, v.patience() - waited
	}
}

// rests says that the job is suspended or paused: by its operator's word, or by its own, where pods may be on
// their way out.
func (v view) rests() bool {
	if !v.paused {
		return v.state.Phase == kinds.Suspended
	}
	return v.state.Phase == kinds.Suspended || v.state.Phase == kinds.PhaseUnknown || v.state.Phase == kinds.Created || v.state.Phase == kinds.Running
}

// present says that a pod of the job has not ended.
func (v view) present() bool {
	return slices.ContainsFunc(v.pods, func(p corev1.Pod) bool {
		return p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed
	})
}

// resting has a job that is paused say so, once.
func (v view) resting() (need, time.Duration) {
	if v.saysPaused {
		return v.wellAgain()
	}
	since := v.created
	if at, err := time.Parse(time.RFC3339, v.state.Since); err == nil && at.After(since) {
		since = at
	}
	if left := visible - v.now.Sub(since); left > 0 {
		return nothing, left
	}
	return thorough, 0
}

// patience is how long a job may wait before it says why: one without pods waits for its operator, or for
// whoever refuses them, and not for room.
func (v view) patience() time.Duration {
	if len(v.pods) == 0 {
		return min(v.pendingAfter, visible)
	}
	return v.pendingAfter
}

// unanswered is how long it takes until a job without pods may be called one on which nothing acts: before,
// only what refuses its pods is known. 0: that has passed, or it has pods.
func (v view) unanswered() time.Duration {
	if len(v.pods) > 0 {
		return 0
	}
	since := v.created
	if at, err := time.Parse(time.RFC3339, v.state.Since); err == nil && at.After(since) {
		since = at
	}
	return max(0, control.SilentAfter-v.now.Sub(since))
}

// going is a job that is being deleted: it says what holds it when it should have been gone.
func (v view) going() (need, time.Duration) {
	if !v.held {
		return nothing, 0
	}
	if left := control.StuckAfter - v.now.Sub(v.deleted); left > 0 {
		return nothing, left
	}
	return thorough, v.refresh
}

// overdue marks which times have passed that make another diagnosis of what is the same otherwise.
func (v view) overdue() string {
	switch {
	case v.held && v.now.Sub(v.deleted) >= control.StuckAfter:
		return "held"
	case len(v.pods) == 0 && v.unanswered() == 0:
		return "unanswered"
	}
	short := v.short()
	switch lasts := v.now.Sub(short); {
	case short.IsZero():
		return ""
	case lasts >= control.StartsWithin:
		return "long unready"
	case lasts >= control.Flaps:
		return "unready"
	}
	return ""
}

// untilSaid is after how long to look again at a job of which a pod is not ready: when it may be said.
func (v view) untilSaid(since time.Time) time.Duration {
	lasts := v.now.Sub(since)
	for _, at := range []time.Duration{control.Flaps, control.StartsWithin} {
		if left := at - lasts; left > 0 {
			return min(v.refresh, left)
		}
	}
	return v.refresh
}

// visible is how long what is wrong may be visible before the job says so.
const visible = 10 * time.Second

// short is since when a job that is at work has fewer pods than it declares, or one that is not ready:
// quota and webhooks refuse some, somebody deletes one, a node is lost. Zero: it has them all.
func (v view) short() (since time.Time) {
	if v.state.Phase != kinds.Running && v.state.Phase != kinds.Created && v.state.Phase != kinds.PhaseUnknown {
		return time.Time{}
	}
	earlier := func(t time.Time) {
		if since.IsZero() || t.Before(since) {
			since = t
		}
	}
	last, there := v.created, 0
	for i := range v.pods {
		p := &v.pods[i]
		if p.DeletionTimestamp != nil {
			if p.DeletionTimestamp.After(last) {
				last = p.DeletionTimestamp.Time
			}
			continue
		}
		there++
		if p.CreationTimestamp.After(last) {
			last = p.CreationTimestamp.Time
		}
		if p.Status.Phase != corev1.PodRunning {
			continue
		}
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodReady && c.Status != corev1.ConditionTrue && c.Reason != "PodCompleted" {
				earlier(c.LastTransitionTime.Time)
			}
		}
	}
	if there < v.declared {
		earlier(last)
	}
	return since
}

// wellAgain takes back what was said when it is true no longer.
func (v view) wellAgain() (need, time.Duration) {
	if !v.spoken {
		return v.wellFirst()
	}
	var last time.Time
	for i := range v.pods {
		for _, c := range slices.Concat(v.pods[i].Status.InitContainerStatuses, v.pods[i].Status.ContainerStatuses) {
			if t := c.LastTerminationState.Terminated; t != nil && t.ExitCode != 0 && t.FinishedAt.After(last) {
				last = t.FinishedAt.Time
			}
		}
	}
	if left := control.Calm - v.now.Sub(last); left > 0 {
		return nothing, left
	}
	return thorough, 0
}

// wellFirst has a job looked at that runs and seems well, once, so that who reads it can tell it from one
// that nobody looked at.
func (v view) wellFirst() (need, time.Duration) {
	if !v.silent || v.state.Phase != kinds.Running || !v.runs() {
		return nothing, 0
	}
	var last time.Time
	for i := range v.pods {
		if at := v.pods[i].Status.StartTime; at != nil && at.After(last) {
			last = at.Time
		}
	}
	if left := visible - v.now.Sub(last); left > 0 {
		return nothing, left
	}
	return thorough, 0
}

// again renews the reason of jobs that have not ended: the cluster changes around them.
func (v view) again() time.Duration {
	if v.ended() {
		return 0
	}
	return v.refresh
}

// waiting is since when the job waits for anything — pods that do not run, or no pods at all —
// and whether the scheduler has refused a pod. Zero: it does not wait.
func (v view) waiting() (since time.Time, unscheduled bool) {
	earlier := func(t time.Time) {
		if since.IsZero() || t.Before(since) {
			since = t
		}
	}
	for i := range v.pods {
		p := &v.pods[i]
		if p.Status.Phase != corev1.PodPending && p.Status.Phase != "" || p.DeletionTimestamp != nil {
			continue
		}
		earlier(p.CreationTimestamp.Time)
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
				unscheduled = true
			}
		}
	}
	if len(v.pods) == 0 {
		earlier(v.created)
	}
	return since, unscheduled
}

// tooEarly says that nothing is known of a job whose operator may be about to act.
func (v view) tooEarly(r diagnose.Result) bool {
	return v.unanswered() > 0 && r.Verdict == diagnose.Unknown && !v.asked && !v.spoken
}

// waitsSince ends what a job waits for.
const waitsSince = " It has waited since 2006-01-02 15:04 UTC."

// since adds to why a job waits since when it does: who reads it later knows for how long.
func (v view) since(why string) string {
	oldest, _ := v.waiting()
	if why == "" || oldest.IsZero() {
		return why
	}
	return why + oldest.UTC().Format(waitsSince)
}

// WaitsSince is since when a job waits, to the minute, as its annotation Waiting says it; false: it does not.
func WaitsSince(waiting string) (time.Time, bool) {
	for _, form := range []string{waitsSince, " It waits since 2006-01-02 15:04 UTC."} { // the second as 0.1 wrote it
		if at, err := time.Parse(form, waiting[max(0, len(waiting)-len(form)):]); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// trouble says that a pod failed, or that a container of it ended badly or waits for something
// that may never come. Normal steps of a start are not trouble.
func trouble(p corev1.Pod) bool {
	if p.Status.Phase == corev1.PodFailed {
		return true
	}
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if t := c.State.Terminated; t != nil && t.ExitCode != 0 {
			return true
		}
		if w := c.State.Waiting; w != nil && w.Reason != "" && w.Reason != "ContainerCreating" && w.Reason != "PodInitializing" {
			return true
		}
	}
	return false
}

// seen is a mark of everything that a diagnosis depends on and that the caches show. While it
// stays, a job that has ended is not read again.
func (v view) seen(generation int64, asked string) string {
	marks := make([]string, len(v.pods))
	for i := range v.pods {
		marks[i] = mark(&v.pods[i])
	}
	slices.Sort(marks)
	all := fmt.Appendln(nil, v.state.Phase, v.state.Reason, v.state.Message, v.state.Since, v.state.Trigger, generation, asked, v.pulse, v.overdue(), v.lost)
	h := sha256.Sum256(append(all, strings.Join(marks, "\n")...))
	return hex.EncodeToString(h[:])[:16]
}

// mark is the state of a pod in one line; times are left out where only they change.
func mark(p *corev1.Pod) string {
	var s strings.Builder
	fmt.Fprint(&s, p.UID, p.Status.Phase, p.Status.Reason, p.Status.Message, p.Spec.NodeName, p.DeletionTimestamp != nil)
	for _, c := range p.Status.Conditions {
		fmt.Fprint(&s, " ", c.Type, c.Status, c.Reason, c.Message)
	}
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		fmt.Fprint(&s, " ", c.Name, c.RestartCount, c.Ready)
		if w := c.State.Waiting; w != nil {
			fmt.Fprint(&s, " ", w.Reason, w.Message)
		}
		if t := c.State.Terminated; t != nil {
			fmt.Fprint(&s, " ", t.ExitCode, t.Signal, t.Reason, t.Message)
		}
	}
	return s.String()
}
