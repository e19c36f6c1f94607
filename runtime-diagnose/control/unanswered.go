package control

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
)

// Unanswered is on whom a job waits to which nothing has answered: its own operator, or that of an object
// which the operator made for it. ok is false where pods are there, or it is too early to say.
func Unanswered(c *evidence.Bundle) (ref job.Ref, since time.Time, ok bool) {
	if c.Job == nil || c.Job.Source == nil || c.Job.Suspended || len(c.Pods) > 0 || c.Job.MinPods() == 0 ||
		c.State.Phase != kinds.PhaseUnknown && c.State.Phase != kinds.Created || c.Job.Source.GetDeletionTimestamp() != nil {
		return job.Ref{}, time.Time{}, false
	}
	if counts, _, _ := unstructured.NestedMap(c.Job.Source.Object, "status", "aggregate"); len(counts) > 0 {
		return job.Ref{}, time.Time{}, false // it has made pods, by its own count
	}
	if listsPods(c.Job.Source) {
		return job.Ref{}, time.Time{}, false
	}
	if c.State.Phase == kinds.PhaseUnknown && c.State.Message != "" {
		return job.Ref{}, time.Time{}, false // it has answered, if only that it does not know
	}
	if c.State.Phase == kinds.Created && c.State.Reason == "Resuming" {
		return job.Ref{}, time.Time{}, false // a pause may not be over
	}
	ref, since = c.Job.Ref, c.Job.Source.GetCreationTimestamp().Time
	for _, said := range append(saidAt(c.Job.Source), c.State.Since) {
		if at, err := time.Parse(time.RFC3339, said); err == nil && at.After(since) {
			since = at
		}
	}
	for _, kind := range []string{"JobSet", "Job"} { // the deepest that is there comes last
		for _, u := range c.Objects {
			if u == nil || u.GetKind() != kind || u.GetUID() == c.Job.Source.GetUID() {
				continue
			}
			ref = job.Ref{Kind: kind, APIVersion: u.GetAPIVersion(), Namespace: u.GetNamespace(), Name: u.GetName(), UID: string(u.GetUID())}
			since = u.GetCreationTimestamp().Time
		}
	}
	return ref, since, !since.IsZero() && c.Now.Sub(since) >= SilentAfter
}

// saidAt is when the operator last changed each of the conditions of a job, true or not: that a pause is over
// is one that is not.
func saidAt(u *unstructured.Unstructured) []string {
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	var out []string
	for _, c := range conditions {
		one, _ := c.(map[string]any)
		if at, _ := one["lastTransitionTime"].(string); at != "" {
			out = append(out, at)
		}
	}
	return out
}

// clock is how sentences give a time that is not the reader's own.
const clock = "2006-01-02 15:04:05 UTC"

// ReadSilent says that nothing acts on a job, and whether something that was read explains it.
func ReadSilent(c *evidence.Bundle) []evidence.Observation {
	if s, ok := unqueued(c); ok {
		return []evidence.Observation{s}
	}
	of, since, ok := Unanswered(c)
	if s, refuses := refusal(c, of); ok && refuses {
		return []evidence.Observation{s}
	}
	if !ok || slices.ContainsFunc(c.Missing, func(m string) bool { return strings.HasPrefix(m, "pods:") }) {
		return nil
	}
	what, when, facts := of.Kind+" "+of.Name, since.UTC().Format(clock), map[string]string{}
	rule, text := Silent, fmt.Sprintf("%s was created at %s; it has no pod and no condition: its operator has not acted on it", what, when)
	if (c.State.Phase == kinds.Created || len(saidAt(c.Job.Source)) > 0) && of.UID == c.Job.Ref.UID {
		rule, text = Podless, fmt.Sprintf("the operator has known %s since %s and made no pod", what, when)
	}
	if why := explainSilence(c, of, facts); why != "" {
		text += "; " + why
	}
	return []evidence.Observation{{
		Signature: rule, Line: text, Platform: true, Facts: facts,
		Item: evidence.Item{ID: evidence.ID("status/" + of.Kind), Kind: evidence.Status, At: since, Text: text, Times: 1, Source: evidence.Source{Rank: -1}},
	}}
}

// ReadUnlooked finds the pods that have waited for long without a word of the scheduler that they ask for. Pods of a pasted table
// have no conditions, and name no scheduler.
func ReadUnlooked(c *evidence.Bundle) (out []evidence.Observation) {
	for i := range c.Pods {
		p := &c.Pods[i]
		made := p.CreationTimestamp.Time
		switch {
		case p.Status.Phase != corev1.PodPending || p.Spec.NodeName != "" || p.Spec.SchedulerName == "" || p.DeletionTimestamp != nil:
		case made.IsZero() || c.Now.Sub(made) < UnlookedAfter || len(p.Status.Conditions) > 0 || len(p.Spec.SchedulingGates) > 0:
		case slices.ContainsFunc(c.Events, func(e corev1.Event) bool { return e.InvolvedObject.Kind == "Pod" && e.InvolvedObject.Name == p.Name }):
		default:
			text := fmt.Sprintf("pod %s was created at %s, and scheduler %s has said nothing of it", p.Name, made.UTC().Format(clock), p.Spec.SchedulerName)
			out = append(out, evidence.Observation{
				Signature: Unlooked, Line: text, Platform: true, Facts: map[string]string{"scheduler": p.Spec.SchedulerName},
				Item: evidence.Item{ID: evidence.ID("pod/" + p.Name + "/scheduler"), Kind: evidence.Status, At: made, Source: c.Place(p), Text: text, Times: 1},
			})
		}
	}
	return out
}

// refusal is the last warning about a job for which nothing was made: whoever wrote it has looked at the job. Operators have
// reasons of their own for it (ValidationError and ErrResourceExists of mpi-operator, InvalidRayClusterSpec of KubeRay): what
// they have in common is what they are about.
func refusal(c *evidence.Bundle, of job.Ref) (s evidence.Observation, ok bool) {
	var last *corev1.Event
	at := -1
	for i := range c.Events {
		e := &c.Events[i]
		about := e.InvolvedObject
		if e.Type != corev1.EventTypeWarning || e.Message == "" || about.Kind != of.Kind || about.Name != of.Name || about.UID != "" && of.UID != "" && string(about.UID) != of.UID {
			continue
		}
		if last == nil || !When(e).Before(When(last)) {
			last, at = e, i
		}
	}
	if last == nil {
		return s, false
	}
	text := words.OneLine(reduce.Plain(strings.TrimPrefix(last.Reason+": "+last.Message, ": ")), 400)
	return evidence.Observation{
		Signature: Refused, Line: text, Platform: true, Facts: map[string]string{"reason": last.Reason},
		Item: evidence.Item{ID: evidence.ID(fmt.Sprintf("event/%s/%s#%d", of.Name, last.Reason, at+1)), Kind: evidence.Event, At: When(last), Text: text, Times: Times(last), Source: evidence.Source{Rank: -1}},
	}, true
}

// unqueued says that a suspended job names a queue of Kueue where there is no Kueue to resume it.
func unqueued(c *evidence.Bundle) (s evidence.Observation, ok bool) {
	if c.Job == nil || !c.Job.Suspended || !slices.Contains(c.Absent, NoKueue) {
		return s, false
	}
	queue, system := c.Job.Gang.Queue, gang.Of(c.Job).System
	if queue == "" || system != gang.Kueue {
		return s, false
	}
	text := fmt.Sprintf("%s %s is suspended and names queue %s of Kueue, and the cluster's API has no Workload of kueue.x-k8s.io", c.Job.Ref.Kind, c.Job.Ref.Name, queue)
	return evidence.Observation{
		Signature: Unqueued, Line: text, Platform: true, Facts: map[string]string{"queue": queue},
		Item: evidence.Item{ID: evidence.ID("status/" + c.Job.Ref.Kind), Kind: evidence.Status, Text: text, Times: 1, Source: evidence.Source{Rank: -1}},
	}, true
}

// explainSilence is the first of what was read that explains why nothing acts: another controller has the
// job, a queue holds it, its operator's workload is not there or not ready, its webhook has no certificate.
func explainSilence(c *evidence.Bundle, of job.Ref, facts map[string]string) string {
	if other := c.Job.ManagedElsewhere; other != "" {
		facts["managedBy"] = other
		return fmt.Sprintf("managedBy is %q, so the kind's own operator leaves it to that controller", other)
	}
	var why []string
	if queue, says := queueOf(c); queue != "" {
		facts["queue"] = queue
		why = append(why, says)
	}
	controller, known := kinds.ControllerOf(of)
	if !known {
		return strings.Join(why, "; ")
	}
	facts["operator"] = controller.String()
	switch found := workloads(c, controller); {
	case len(found) > 0:
		for _, u := range found {
			why = append(why, readiness(u))
		}
	case slices.Contains(c.Absent, controller.String()):
		why = append(why, fmt.Sprintf("no namespace has a %s, which is what the operator's manifests install", controller))
	default:
		why = append(why, fmt.Sprintf("whether the %s of its operator runs was not seen", controller))
	}
	if hook := kinds.Of(of).Validates.Webhook; hook != "" {
		if slices.Contains(c.Absent, "webhook "+hook) {
			why = append(why, fmt.Sprintf("the webhook %s with which the operator looks at its jobs is not registered", hook))
		} else if withoutCertificate(c, hook) {
			why = append(why, fmt.Sprintf("the operator's webhook %s has no certificate, which the operator writes when it starts", hook))
		}
	}
	return strings.Join(why, "; ")
}

// queueOf is the queue that a job names, and what it says of a job without pods: Kueue holds the job itself,
// the others hold its pods.
func queueOf(c *evidence.Bundle) (queue, says string) {
	queue, system := c.Job.Gang.Queue, gang.Of(c.Job).System
	if c.Job.Source != nil {
		if named := c.Job.Source.GetLabels()[kueueQueue]; named != "" {
			queue, system = named, gang.Kueue
		}
	}
	switch {
	case queue == "":
		return "", ""
	case system == gang.Kueue:
		return queue, queueSays(c, queue)
	}
	return queue, fmt.Sprintf("its queue %s of %s holds pods, and there are none yet to hold", queue, cmp.Or(string(system), c.Job.Gang.Scheduler, "the scheduler"))
}

// kueueQueue is the label by which a job is Kueue's (https://kueue.sigs.k8s.io/docs/reference/labels-and-annotations/).
const kueueQueue = "kueue.x-k8s.io/queue-name"

// queueSays is how far a queue has got with the job: Kueue makes a Workload for each.
func queueSays(c *evidence.Bundle, queue string) string {
	for _, u := range c.Objects {
		if u != nil && u.GetKind() == "Workload" && strings.HasPrefix(u.GetAPIVersion(), "kueue.x-k8s.io/") {
			return fmt.Sprintf("Workload %s of queue %s stands for it", u.GetName(), queue)
		}
	}
	return fmt.Sprintf("it names queue %s, and no Workload of Kueue stands for it", queue)
}

func workloads(c *evidence.Bundle, of kinds.Controller) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, u := range c.Objects {
		if u != nil && u.GetKind() == of.Kind && u.GetName() == of.Name {
			out = append(out, u)
		}
	}
	return out
}

// readiness is how many replicas a Deployment or StatefulSet has ready.
func readiness(u *unstructured.Unstructured) string {
	spec, _, _ := unstructured.NestedMap(u.Object, "spec")
	status, _, _ := unstructured.NestedMap(u.Object, "status")
	want, written := Number(spec["replicas"])
	if !written {
		want = 1 // the API's default
	}
	ready, _ := Number(status["readyReplicas"])
	name := fmt.Sprintf("%s %s/%s", u.GetKind(), u.GetNamespace(), u.GetName())
	switch {
	case want == 0:
		return name + " is scaled to 0 replicas: the operator is switched off"
	case ready == 0:
		return fmt.Sprintf("%s has none of %d replica%s ready: the operator does not run", name, want, words.S(int(want)))
	}
	return fmt.Sprintf("%s has %d of %d replica%s ready: its log says why it leaves the job alone", name, ready, want, words.S(int(want)))
}

// withoutCertificate says that a webhook is registered and the API server has nothing to trust it by.
func withoutCertificate(c *evidence.Bundle, hook string) bool {
	for _, u := range c.Objects {
		if u == nil || u.GetKind() != "ValidatingWebhookConfiguration" {
			continue
		}
		hooks, _, _ := unstructured.NestedSlice(u.Object, "webhooks")
		for _, h := range hooks {
			one, _ := h.(map[string]any)
			bundle, _, _ := unstructured.NestedString(one, "clientConfig", "caBundle")
			if one["name"] == hook && bundle == "" {
				return true
			}
		}
	}
	return false
}

// finalizers are those of Kubernetes and of the operators that are known, and what each waits for.
var finalizers = map[string]string{
	// https://kubernetes.io/docs/concepts/architecture/garbage-collection/#foreground-deletion
	"foregroundDeletion": "the garbage collector waits until everything that the job owns is gone",
	"orphan":             "the garbage collector has to release what the job owns",
	// https://kubernetes.io/docs/concepts/workloads/controllers/job/#job-tracking-with-finalizers
	"batch.kubernetes.io/job-tracking": "the Job controller has to count the pod",
	// https://github.com/kubernetes-sigs/kueue/blob/v0.19.0/pkg/controller/constants/constants.go and …/jobs/pod
	"kueue.x-k8s.io/managed":         "Kueue has to finish the pod",
	"kueue.x-k8s.io/resource-in-use": "Kueue has to release the quota",
}

// ReadStuck says which finalizer holds a job that was deleted long ago, and whose it is.
func ReadStuck(c *evidence.Bundle) (evidence.Observation, bool) {
	if c.Job == nil || c.Job.Source == nil {
		return evidence.Observation{}, false
	}
	u := c.Job.Source
	asked, holds := u.GetDeletionTimestamp(), u.GetFinalizers()
	if asked == nil || c.Now.Sub(asked.Time) < StuckAfter || len(holds) == 0 {
		return evidence.Observation{}, false
	}
	var parts []string
	for _, name := range holds {
		part := "finalizer " + name
		if what := finalizers[name]; what != "" {
			part += ": " + what
		}
		if who := putOnBy(u, name); who != "" {
			part += " (put on by " + who + ")"
		}
		parts = append(parts, part)
	}
	text := fmt.Sprintf("deleted at %s and still there: %s", asked.UTC().Format(clock), strings.Join(parts, "; "))
	if slices.Contains(holds, "foregroundDeletion") {
		text += stillThere(c.Pods)
	}
	return evidence.Observation{
		Signature: Stuck, Line: text, Platform: true, Facts: map[string]string{"finalizer": strings.Join(holds, ", ")},
		Item: evidence.Item{ID: "status/deletion", Kind: evidence.Status, At: asked.Time, Text: text, Times: 1, Source: evidence.Source{Rank: -1}},
	}, true
}

// putOnBy is the field manager that owns a finalizer; empty: the object does not say.
func putOnBy(u *unstructured.Unstructured, finalizer string) string {
	for _, m := range u.GetManagedFields() {
		if m.FieldsV1 == nil {
			continue
		}
		if fields := m.FieldsV1.GetRawString(); strings.Contains(fields, `"f:finalizers"`) && strings.Contains(fields, `"v:\"`+finalizer+`\""`) {
			return m.Manager
		}
	}
	return ""
}

// mostLeft bounds the pods that a sentence names.
const mostLeft = 3

// stillThere names the pods that a job waits for, and what holds those.
func stillThere(pods []corev1.Pod) string {
	var names []string
	for i := range pods {
		name := pods[i].Name
		if held := pods[i].Finalizers; len(held) > 0 {
			name += " (finalizer " + strings.Join(held, ", ") + ")"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	switch n := len(names); {
	case n == 0:
		return ""
	case n > mostLeft:
		return fmt.Sprintf("; %d pods are left: %s and %d more", n, strings.Join(names[:mostLeft], ", "), n-mostLeft)
	default:
		return fmt.Sprintf("; %d pod%s %s left: %s", n, words.S(n), words.Is(n), strings.Join(names, ", "))
	}
}
