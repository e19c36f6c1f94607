package control

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
)

// transient are refusals of JobSet's exclusive placement that belong to a normal start:
// followers are created only after their leader has a node
// (sigs.k8s.io/jobset pkg/webhooks/pod_admission_webhook.go).
var transient = []string{
	"leader pod not yet scheduled",
	"this is an expected, transient error",
	"follower pod node selector not set",
	"follower pod node selector for topology domain not found",
}

// LeaderWorkerSet tells of a failure whenever two looks at a leader both make what makes its workers: the
// second finds it there (sigs.k8s.io/lws v0.7.0 pkg/controllers/pod_controller.go, Reconcile).
const (
	workersNotMade = "Failed to create worker statefulset for leader pod "
	workersMade    = "Created worker statefulset for leader pod "
)

// madeAnyway says that the controller made what it says it could not make.
func madeAnyway(events []corev1.Event, e *corev1.Event) bool {
	pod, ok := strings.CutPrefix(e.Message, workersNotMade)
	return ok && slices.ContainsFunc(events, func(o corev1.Event) bool {
		return o.InvolvedObject.UID == e.InvolvedObject.UID && o.Message == workersMade+pod
	})
}

// outlived says which later events of the same object show that an earlier one is over.
var outlived = map[string][]string{
	"FailedScheduling":       {"Scheduled"},
	"FailedMount":            {"Pulling", "Pulled", "Created", "Started"},
	"FailedAttachVolume":     {"SuccessfulAttachVolume", "Pulling", "Pulled", "Created", "Started"},
	"FailedCreatePodSandBox": {"Pulling", "Pulled", "Created", "Started"},
	"Failed":                 {"Started"},
	"BackOff":                {},
	"FailedCreate":           {"SuccessfulCreate", "SuccessfulCreatePod"},
	"NodeNotReady":           {"NodeReady"}, // both of the node itself; a pod of it gets no second one
	"Rebooted":               {"NodeReady"},
	"FailedBinding":          {"ProvisioningSucceeded"},
	"ProvisioningFailed":     {"ProvisioningSucceeded"},

	"NetworkNotReady":               {"Pulling", "Pulled", "Created", "Started"}, // a node that just started
	"FailedResourceClaimCreation":   {"Scheduled"},
	"FailedPrepareDynamicResources": {"Pulling", "Pulled", "Created", "Started"},
	"FailedCreatePodContainer":      {"Pulling", "Pulled", "Created", "Started"},
}

func (r *reader) readEvents() {
	events := slices.Clone(r.Events)
	slices.SortStableFunc(events, func(a, b corev1.Event) int {
		return cmp.Or(when(a).Compare(when(b)), 0)
	})
	of := map[string][]int{} // events by the name of their object
	for i := range events {
		of[events[i].InvolvedObject.Name] = append(of[events[i].InvolvedObject.Name], i)
	}
	r.gone = r.placesOfGone()
	r.placed, r.lost, r.touched = r.allPlaced(), r.lostPods(), r.everOn()
	r.takeStock()
	for i := range events {
		mine := of[events[i].InvolvedObject.Name]
		of[events[i].InvolvedObject.Name] = mine[1:]
		r.readEvent(events, i, mine[1:])
	}
}

// readEvent reads one event; later are those after it of the same name.
func (r *reader) readEvent(events []corev1.Event, i int, later []int) {
	e := events[i]
	for _, t := range transient {
		if strings.Contains(e.Message, t) {
			r.seen.Transient = append(r.seen.Transient, reduce.Plain(fmt.Sprintf("%s: %s (part of a normal start)", e.Reason, e.Message)))
			return
		}
	}
	if madeAnyway(events, &e) {
		r.seen.Transient = append(r.seen.Transient, reduce.Plain(fmt.Sprintf("%s: %s (part of a normal start)", e.Reason, e.Message)))
		return
	}
	if e.Type == corev1.EventTypeNormal && !telling(e.Reason) && !heldGang(&e) && !probeKilled(&e) || strings.HasPrefix(e.Message, cancelled) {
		return
	}
	item := r.eventItem(e, i)
	former := r.former(&e)
	over := former || r.elsewhere(&e) || r.isOver(events, i, later)
	if e.Reason == "FailedScheduling" {
		if former {
			return
		}
		r.readFailedScheduling(e, item, over)
		return
	}
	text := e.Message
	if e.Reason != "" {
		text = e.Reason + ": " + e.Message
	}
	found := ruleForReason(e.Reason)
	if r.match(text, item, over) || found == nil {
		return
	}
	r.sight(found, item, map[string]string{"reason": e.Reason})
	r.seen.Sightings[len(r.seen.Sightings)-1].Over = over
}

// cancelled begins the message by which the controllers of taints take an eviction back, under the reason
// of the eviction itself
// (https://github.com/kubernetes/kubernetes/blob/v1.37.1/pkg/controller/tainteviction/taint_eviction.go).
const cancelled = "Cancelling deletion"

// telling are reasons that operators write as Normal and that are none.
func telling(reason string) bool {
	switch reason {
	case "Preempted", "Evicted", "EvictedDueToPreempted", "TaintManagerEviction", "DeviceTaintManagerEviction", "NodeNotReady", "Pending", "BackOff", "FailedBinding",
		"Evict", "ScaleDown", "Disrupted", "SpotInterruption", "RecreateGroup":
		return true
	}
	return strings.HasPrefix(reason, kueueEvicted)
}

// heldGang is Volcano's word on a gang that it does not let into its queue, and for which its controller makes no pods until it does
// (https://github.com/volcano-sh/volcano/blob/ed72c7c8/pkg/scheduler/plugins/overcommit/overcommit.go and …/capacity/capacity.go).
func heldGang(e *corev1.Event) bool {
	return e.InvolvedObject.Kind == "PodGroup" && e.Reason == "Unschedulable"
}

// probeKilled is the kubelet's word that it ends a container for a probe, under a reason that it has for every end
// (https://github.com/kubernetes/kubernetes/blob/v1.37.0/pkg/kubelet/kuberuntime/kuberuntime_manager.go, computePodActions).
func probeKilled(e *corev1.Event) bool {
	return e.Reason == "Killing" && (strings.Contains(e.Message, " failed liveness probe") || strings.Contains(e.Message, " failed startup probe"))
}

// readFailedScheduling uses the newest message of a pod only: older ones describe a
// cluster that is gone. A pod whose own condition speaks needs no event.
func (r *reader) readFailedScheduling(e corev1.Event, item evidence.Item, over bool) {
	i, known := r.scheduling[e.InvolvedObject.Name]
	if over || known && r.seen.Scheduling[i].Item.Kind == evidence.Status {
		return
	}
	if known {
		r.seen.Scheduling[i].Item.ID = "" // dropped when all are in
	}
	r.unschedulable(e.InvolvedObject.Name, e.Message, item)
}

func (r *reader) eventItem(e corev1.Event, i int) evidence.Item {
	source := evidence.Source{Rank: -1, Node: e.Source.Host}
	if e.InvolvedObject.Kind == "Pod" {
		if p, ok := r.phase[e.InvolvedObject.Name]; ok && !r.former(&e) {
			source = p.Source
		} else if was, ok := r.gone[e.InvolvedObject.UID]; ok {
			source = was
		}
		source.Pod = e.InvolvedObject.Name
		source.Container = containerOf(e.InvolvedObject.FieldPath)
	}
	if m := groupAgain.FindStringSubmatch(e.Message); m != nil && e.Reason == "RecreateGroup" {
		if source.Pod = m[1]; r.phase[m[1]].Name != "" {
			source = r.phase[m[1]].Source
		}
	} else if e.InvolvedObject.Kind == "Node" {
		source.Node = e.InvolvedObject.Name
	} else if e.InvolvedObject.Kind != "Pod" {
		if p, ok := r.onePodIn(e.Message, e.InvolvedObject.Name); ok {
			source = p.Source // an operator's word on the job about one of its pods
		}
	}
	item := evidence.Item{
		ID: id("event", e.InvolvedObject.Name, e.Reason), Kind: evidence.Event, At: when(e), Source: source,
		Text: strings.TrimPrefix(e.Reason+": "+e.Message, ": "), Times: Times(&e),
	}
	item.ID += evidence.ID(fmt.Sprintf("#%d", i+1))
	if e.Annotations[OriginAge] != "" {
		item.Latest, item.Clock = true, evidence.AgeClock(e.Annotations[OriginFile])
	}
	Origin(e.Annotations, "event", &item)
	return item
}

// groupAgain is LeaderWorkerSet's word on the pod for which it deletes a group; the other pod that it names is the leader.
var groupAgain = lazy.MustCompile(`^Worker pod (\S+) failed, deleted leader pod `)

// onePodIn is the pod of the job that a message names, where it names one and no other. The object that it is about may be called
// like a pod, as the StatefulSet of a LeaderWorkerSet's workers is like their leader.
func (r *reader) onePodIn(message, about string) (found Pod, ok bool) {
	inName := func(c rune) bool { return c == '-' || c == '.' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }
	for word := range strings.FieldsFuncSeq(message, func(c rune) bool { return !inName(c) }) {
		p, known := r.phase[strings.TrimRight(word, ".")]
		known = known && p.Name != about
		if known && ok && p.Name != found.Name {
			return Pod{}, false
		}
		if known {
			found, ok = p, true
		}
	}
	return found, ok
}

// containerOf reads "spec.containers{pytorch}".
func containerOf(path string) string {
	_, rest, _ := strings.Cut(path, "{")
	return strings.TrimSuffix(rest, "}")
}

func (r *reader) isOver(events []corev1.Event, i int, after []int) bool {
	e := events[i]
	if c := containerOf(e.InvolvedObject.FieldPath); c != "" && e.InvolvedObject.Kind == "Pod" {
		if p, ok := r.phase[e.InvolvedObject.Name]; ok && p.Word(c, 0) == Past {
			return true // of a container whose trouble is not the pod's
		}
	}
	if slices.ContainsFunc(after, func(k int) bool {
		return events[k].Reason == e.Reason && strings.HasPrefix(events[k].Message, cancelled)
	}) {
		return true
	}
	if p, ok := r.phase[e.InvolvedObject.Name]; ok && e.InvolvedObject.Kind == "Pod" && p.outlivedBy(&e) {
		return true
	}
	if p, ok := r.phase[e.InvolvedObject.Name]; ok && e.InvolvedObject.Kind == "Pod" && e.Reason == "NodeNotReady" && p.Running() && p.Ready && !r.lost && r.readySince(p.Source.Node).After(when(e)) {
		return true // a kubelet that was not restarted reports the pod as it did before, with the time of before
	}
	if e.InvolvedObject.Kind == "Node" && e.Reason == "NodeNotReady" && r.readyBeforePods(e.InvolvedObject.Name, when(e)) {
		return true
	}
	if ruleForReason(e.Reason) == ruleGroupAgain {
		return Times(&e) < manyRestarts || r.Now.Sub(when(e)) >= Calm // as of a container that was started again
	}
	if ruleForReason(e.Reason) == TooOld { // until pods are made again
		for _, p := range r.phase {
			if !p.Deleted {
				return true
			}
		}
	}
	ends, known := outlived[e.Reason]
	if !known || slices.Contains(ends, "NodeReady") && r.lost {
		return false
	}
	if (e.Reason == "FailedBinding" || e.Reason == "ProvisioningFailed") && r.placed {
		return true
	}
	if p, ok := r.phase[e.InvolvedObject.Name]; ok && e.InvolvedObject.Kind == "Pod" {
		switch e.Reason {
		case "FailedScheduling", "FailedResourceClaimCreation":
			if p.Placed || (p.Phase != corev1.PodPending && p.Phase != "") {
				return true
			}
		case "FailedMount", "FailedAttachVolume", "Failed", "FailedCreatePodSandBox":
			if p.Running() && p.Ready || p.Phase == corev1.PodSucceeded {
				return true
			}
		}
	}
	return slices.ContainsFunc(after, func(k int) bool { return slices.Contains(ends, events[k].Reason) })
}

// allPlaced says that every pod has a node: none waits for a claim any more.
func (r *reader) allPlaced() bool {
	for _, p := range r.phase {
		if !p.Placed && (p.Phase == corev1.PodPending || p.Phase == "") {
			return false
		}
	}
	return len(r.phase) > 0
}

// lostPods says that a pod failed or waits: a node that came back did not bring it along.
func (r *reader) lostPods() bool {
	for _, p := range r.phase {
		if !p.Past && (p.Exit != nil || p.Deleted || !p.Running() && p.Phase != corev1.PodSucceeded) {
			return true
		}
	}
	return false
}

// When is the newest time an event carries.
func When(e *corev1.Event) time.Time { return when(*e) }

// Times is how often an event was seen: recorders of either API count in fields of their own.
func Times(e *corev1.Event) int {
	n := e.Count
	if e.Series != nil {
		n = max(n, e.Series.Count)
	}
	return max(1, int(n))
}

// when is the newest time an event carries.
func when(e corev1.Event) time.Time {
	newest := e.LastTimestamp.Time
	for _, t := range []time.Time{e.EventTime.Time, e.FirstTimestamp.Time} {
		if t.After(newest) {
			newest = t
		}
	}
	if e.Series != nil && e.Series.LastObservedTime.After(newest) {
		newest = e.Series.LastObservedTime.Time
	}
	if newest.IsZero() {
		return e.CreationTimestamp.Time
	}
	return newest
}
