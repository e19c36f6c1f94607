package controller

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/words"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// What admission says of a job is forgotten by the time the job fails. The controller remembers it on the
// job, and settles it when the job has ended: it failed of that, it failed for another reason, or it ran.

// Warning is what a check said of a job, and what became of it.
type Warning struct {
	Check   string  `json:"check"`
	Says    string  `json:"says"`
	Outcome Outcome `json:"outcome,omitempty"` // empty: the job goes on
}

// Outcome is what became of a warning.
type Outcome string

// The outcomes of a warning.
const (
	CameTrue Outcome = "came-true" // the job failed, or waits, of what the check names
	Other    Outcome = "other"     // it failed for another reason
	Ran      Outcome = "ran"       // it ran to its end and is well
	Unsaid   Outcome = "unsaid"    // it ended, and nobody can say of what, or the check names nothing to fail of
)

// Remembered is the annotation signalbox.dev/warned: compact JSON.
type Remembered struct {
	At     string    `json:"at"` // RFC 3339
	Checks []Warning `json:"checks"`
	More   int       `json:"more,omitempty"` // that found no room
}

// The bounds of what is remembered of one job.
const (
	mostWarnings = 8
	mostSaid     = 240 // bytes of one sentence: shorter ones end before the number that matters
	allSaid      = 960 // bytes of all: the annotations have a bound together
	freshJob     = 10 * time.Minute
	remarkAfter  = 30 * time.Second // it is written by itself when the job is that old
)

// predicts are the categories of failures that a check names beforehand. A check that is not here cannot
// come true: it says what costs, not what fails.
var predicts = map[string][]string{
	"claim-missing": {"unschedulable-pvc", "mount-failed"}, "claim-not-ready": {"unschedulable-pvc", "mount-failed"},
	"claim-out-of-reach": {"unschedulable-pvc", "unschedulable-affinity"}, "claim-shared-over-nodes": {"mount-failed", "unschedulable-pvc"},
	"config-key-missing": {"container-config"}, "config-map-missing": {"container-config", "mount-failed"},
	"container-image-missing": {"admission-denied", "container-config", "image-pull"}, "every-matching-node-tainted": {"unschedulable-taint"},
	"exclusive-topology-too-small": {"unschedulable-affinity"},
	"gang-does-not-fit":            {"unschedulable-gpu", "unschedulable-cpu-memory", "unschedulable-affinity", "unschedulable-taint"},
	"image-name-invalid":           {"image-pull"}, "image-without-gpu-build": {"no-gpu-visible"}, "image-without-sshd": {"launcher-ssh-failure", "container-config"},
	"limit-range-violated": {"admission-denied"}, "memory-volume-without-size": {"host-oom-killed", "evicted"},
	"node-selector-matches-no-node": {"unschedulable-affinity"}, "pod-exceeds-every-node": {"unschedulable-gpu", "unschedulable-cpu-memory"},
	"pod-security-violated": {"admission-denied"}, "priority-class-missing": {"admission-denied", "container-config"},
	"procs-differ-from-gpus": {"wrong-world-size", "nccl-init-network"}, "pull-secret-missing": {"image-pull"},
	"queue-closed": {"quota-exceeded"}, "queue-missing": {"quota-exceeded"}, "queue-quota-exceeded": {"quota-exceeded"},
	"quota-exceeded": {"quota-exceeded", "admission-denied"}, "requests-above-limits": {"admission-denied"},
	"runtime-missing": {"admission-denied", "operator-silent"}, "secret-key-missing": {"container-config"}, "secret-missing": {"container-config", "mount-failed"},
	"service-account-missing": {"admission-denied"}, "shm-above-memory-limit": {"host-oom-killed", "shm-exhausted"},
	"shm-missing": {"shm-exhausted", "dataloader-worker-killed"}, "shm-without-size": {"host-oom-killed", "evicted"},
	"spread-cannot-hold": {"unschedulable-affinity"}, "ssh-settings-missing": {"launcher-ssh-failure", "container-config"},
	"sshd-path-not-absolute": {"launcher-ssh-failure", "container-config"}, "managed-by-unknown": {"operator-silent"},
	"volume-not-declared": {"admission-denied"}, "world-size-differs": {"wrong-world-size", "rendezvous-timeout"},
	"cpu-small-beside-gpus": {"host-oom-killed"}, "tensor-parallel-exceeds-gpus": {"wrong-world-size"},
}

// room is how many bytes of a sentence are remembered beside so many others.
func room(sentences int) int { return min(mostSaid, allSaid/max(1, sentences)) }

// warned is what is remembered of a job; ok is false where nothing is, or what stands there came with a job
// that was exported and created again.
func warned(u *unstructured.Unstructured) (r Remembered, ok bool) {
	text := u.GetAnnotations()[Warned]
	if text == "" || json.Unmarshal([]byte(text), &r) != nil {
		return Remembered{}, false
	}
	for i := range r.Checks[:min(len(r.Checks), mostWarnings)] {
		r.Checks[i].Check, r.Checks[i].Says = cut(r.Checks[i].Check, room(mostWarnings)), cut(r.Checks[i].Says, room(len(r.Checks)))
	}
	at, err := time.Parse(time.RFC3339, r.At)
	if err != nil || len(r.Checks) > mostWarnings || at.Before(u.GetCreationTimestamp().Truncate(time.Second)) {
		return Remembered{}, false
	}
	return r, true
}

// remark is what a review of a new job says, kept on the job: with whatever is written on it next, and by itself when
// nothing is for long. A write costs the API server more than the review did. It answers with after how long to look again.
func (r *Reconciler) remark(ctx context.Context, u *unstructured.Unstructured, v view, known *remembered) (again time.Duration, err error) {
	_, has := warned(u)
	age := v.now.Sub(v.created)
	if !has && r.Review != nil && !known.reviewed && !v.ended() && age <= freshJob {
		known.reviewed = true
		known.warned = r.review(ctx, u, v)
	}
	if has || known.warned.At == "" {
		return 0, nil
	}
	if again = max(0, remarkAfter-age); again == 0 && !known.noted && !v.ended() {
		if again = r.renewals.wait(known.note, u.GetNamespace(), v.now, renewEvery); again > 0 {
			stand(u, known.warned)
			return again, nil
		}
		want := ours(u.GetAnnotations())
		want[Warned] = known.warned.text()
		if _, err := r.Writer.apply(ctx, u, want); err != nil {
			return 0, err
		}
		known.noted = true
	}
	stand(u, known.warned) // it is not written yet, or the cache is behind
	return again, nil
}

// review is what there is to remember of a new job; without a time it is nothing.
func (r *Reconciler) review(ctx context.Context, u *unstructured.Unstructured, v view) (note Remembered) {
	if says, ok := r.Review(ctx, u); ok {
		note = noteOf(says, v.now)
	}
	return note
}

// noteOf is what is remembered of warnings.
func noteOf(says []Warning, now time.Time) (note Remembered) {
	if len(says) == 0 {
		return note
	}
	note.At = now.UTC().Format(time.RFC3339)
	for _, w := range says {
		if len(note.Checks) == mostWarnings {
			note.More++
			continue
		}
		note.Checks = append(note.Checks, Warning{Check: w.Check, Says: words.OneLine(w.Says, room(min(len(says), mostWarnings))-len("…"))})
	}
	return note
}

// stand lets a copy of a job carry what is remembered of it.
func stand(u *unstructured.Unstructured, r Remembered) {
	all := maps.Clone(u.GetAnnotations())
	if all == nil {
		all = map[string]string{}
	}
	all[Warned] = r.text()
	u.SetAnnotations(all)
}

func (r Remembered) text() string {
	text, err := json.Marshal(r)
	if err != nil { // strings and numbers always marshal
		return ""
	}
	return string(text)
}

// settled is what is remembered, with what became of each warning.
func (r Remembered) settled(result diagnose.Result, s kinds.State) Remembered {
	out := Remembered{At: r.At, More: r.More, Checks: slices.Clone(r.Checks)}
	for i := range out.Checks {
		if w := &out.Checks[i]; w.Outcome == "" || w.Outcome == Unsaid {
			w.Outcome = outcome(w.Check, result, s)
		}
	}
	return out
}

func outcome(check string, result diagnose.Result, s kinds.State) Outcome {
	named := predicts[check]
	switch {
	case result.Category != "" && slices.Contains(named, result.Category):
		return CameTrue
	case !over(s.Phase):
		return ""
	case s.Stopped(), len(named) == 0:
		return Unsaid
	case result.Verdict == diagnose.Healthy:
		return Ran
	case result.Verdict == diagnose.Diagnosed && result.Category != "":
		return Other
	}
	return Unsaid
}

// sentence joins the two ends: what was warned, and what came of it; empty: nothing to say yet.
func (r Remembered) sentence(result diagnose.Result) string {
	at, err := time.Parse(time.RFC3339, r.At)
	if err != nil {
		return ""
	}
	var parts []string
	for _, w := range r.Checks {
		if w.Outcome == CameTrue {
			parts = append(parts, fmt.Sprintf("%s (%s)", w.Says, w.Check))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	became := happened(result)
	return fmt.Sprintf(" Warned at %s: %s. %s%s.", at.UTC().Format("15:04"), strings.Join(parts, "; "), strings.ToUpper(became[:1]), became[1:])
}

// settle puts what became of the warnings into a finding, and counts what is new.
func (r *Reconciler) settle(ctx context.Context, u *unstructured.Unstructured, f *finding, known *remembered) {
	before, ok := warned(u)
	if !ok {
		return
	}
	f.warned = before.settled(f.result, f.state)
	known.warned = f.warned
	for i, w := range f.warned.Checks {
		if w.Outcome != before.Checks[i].Outcome && w.Outcome != "" {
			r.metrics.settled(w.Check, cmp.Or(w.Outcome, Unsaid))
			log.FromContext(ctx).V(1).Info("a warning is settled", "check", w.Check, "outcome", w.Outcome)
		}
	}
}

// becameOf are the outcomes in words.
var becameOf = map[Outcome]string{
	Other: "it failed for another reason", Ran: "it ran all the same",
	Unsaid: "whether it mattered is not known", "": "not so far",
}

// happened says that a warning came true: of pods that find no node, and beside them others of the job run, of those alone.
func happened(result diagnose.Result) string {
	wait, all := 0, 0
	for i := range result.Members {
		m := &result.Members[i]
		all += 1 + m.Alike
		if m.Waits() {
			wait += 1 + m.Alike
		}
	}
	if wait > 0 && wait < all {
		return fmt.Sprintf("that happened to %d of %d pods; the other%s began", wait, all, words.S(all-wait))
	}
	return "that is what happened"
}

// Recall is what stands on a job of what admission warned of, each with what became of it in the light of a
// diagnosis; empty: nothing stands there.
func Recall(u *unstructured.Unstructured, result diagnose.Result, s kinds.State) string {
	if u == nil {
		return ""
	}
	before, ok := warned(u)
	at, err := time.Parse(time.RFC3339, before.At)
	if !ok || err != nil || len(before.Checks) == 0 {
		return ""
	}
	var parts []string
	for _, w := range before.settled(result, s).Checks {
		became := cmp.Or(becameOf[w.Outcome], becameOf[Unsaid])
		if w.Outcome == CameTrue {
			became = happened(result)
		}
		parts = append(parts, fmt.Sprintf("%s (%s): %s", w.Says, w.Check, became))
	}
	if before.More > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", before.More))
	}
	return fmt.Sprintf("Warned at %s: %s.", at.UTC().Format("15:04"), strings.Join(parts, "; "))
}

// WarnedOn is what is remembered on a job; ok is false where nothing is.
func WarnedOn(u *unstructured.Unstructured) (Remembered, bool) { return warned(u) }
