package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/gang"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/rank"
)

// members lists who takes part: every pod, and every log of which no pod is known.
func (d *diagnosis) members() []gang.Member {
	out := make([]gang.Member, 0, max(len(d.seen.Pods), len(d.logs.tracks)))
	at := make(map[string]int, cap(out))
	past := map[string]bool{}
	for _, p := range d.seen.Pods {
		if p.Past {
			past[p.Name] = true // the one that took its place is the member
			continue
		}
		m := gang.Member{
			Place: p.Name, Source: p.Source, Clock: gang.ClockOf(p.Source),
			Failed: p.Exit != nil || p.Phase == corev1.PodFailed, Running: p.Running(),
		}
		if p.Exit != nil {
			m.Ended, m.ExitCode = p.Ended, p.Exit.Code
		}
		at[m.Place] = len(out)
		out = append(out, m)
	}
	pods := podsByName(d.seen.Pods)
	for i := range d.Pods {
		if k, ok := at[d.Pods[i].Name]; ok {
			lives(&out[k], &d.Pods[i], pods[d.Pods[i].Name])
		}
	}
	for i := range d.logs.tracks {
		t := &d.logs.tracks[i]
		if t.pasted || past[t.source.Pod] {
			continue // it quotes members, and is none
		}
		place := gang.PlaceOf(t.source)
		k, ok := at[place]
		if !ok {
			k = len(out)
			at[place] = k
			out = append(out, gang.Member{Place: place, Source: t.source, Clock: t.clock()})
		}
		prints(&out[k], t)
	}
	slices.SortFunc(out, func(a, b gang.Member) int {
		return cmp.Or(cmp.Compare(a.Source.Role, b.Source.Role), cmp.Compare(a.Source.Rank, b.Source.Rank), cmp.Compare(a.Place, b.Place))
	})
	return out
}

// prints adds to a member what one of its logs shows.
func prints(m *gang.Member, t *track) {
	if t.source.Attempt > 0 {
		return
	}
	m.Read = m.Read || t.lastNumber > 0
	if m.FirstLine.IsZero() || t.first.Before(m.FirstLine) {
		m.FirstLine = t.first
	}
	if m.LastText == "" || t.last.After(m.LastLine) {
		m.LastLine, m.LastText, m.LastNumber = t.last, t.lastText, t.lastNumber
	}
	m.Calls = append(m.Calls, t.calls...)
	if at := t.steps.Last.At; at.After(m.Stepped) {
		m.Stepped = at
	}
}

// byPlace is where members are in a list.
func byPlace(all []gang.Member) map[string]int {
	at := make(map[string]int, len(all))
	for i := range all {
		at[all[i].Place] = i
	}
	return at
}

// lives reads when a pod's containers began and, of the run that counts, ended: the one that
// runs or has ended last, not those it was started again after.
func lives(m *gang.Member, pod *corev1.Pod, seen *control.Pod) {
	var ended time.Time
	var code int32
	for _, c := range pod.Status.ContainerStatuses {
		for _, at := range startsOf(c) {
			if m.Started.IsZero() || at.Before(m.Started) {
				m.Started = at
			}
		}
		if t := c.State.Terminated; t != nil && t.ExitCode != 0 && seen.Word(c.Name, 0) == control.Open && (ended.IsZero() || t.FinishedAt.Time.Before(ended)) {
			ended, code = t.FinishedAt.Time, t.ExitCode
		}
	}
	if !ended.IsZero() {
		m.Ended, m.ExitCode = ended, code
	}
	if m.Ended.IsZero() && pod.Status.Phase == corev1.PodSucceeded {
		for _, c := range pod.Status.ContainerStatuses {
			if t := c.State.Terminated; t != nil && t.FinishedAt.Time.After(m.Done) {
				m.Done = t.FinishedAt.Time
			}
		}
	}
}

func startsOf(c corev1.ContainerStatus) []time.Time {
	var out []time.Time
	if c.State.Running != nil {
		out = append(out, c.State.Running.StartedAt.Time)
	}
	for _, t := range []*corev1.ContainerStateTerminated{c.State.Terminated, c.LastTerminationState.Terminated} {
		if t != nil {
			out = append(out, t.StartedAt.Time)
		}
	}
	return slices.DeleteFunc(out, time.Time.IsZero)
}

// clocks gathers what shows how far the clocks of nodes are apart.
func (d *diagnosis) clocks() *gang.Clocks {
	c := &gang.Clocks{}
	for i := range d.Pods {
		pod := &d.Pods[i]
		node := pod.Spec.NodeName
		if node == "" {
			continue
		}
		if bound := scheduledAt(pod); pod.Status.StartTime != nil {
			c.Follows(node, pod.Status.StartTime.Time, bound)
		}
		for _, f := range pod.ManagedFields {
			if f.Manager == "kubelet" && f.Subresource == "status" && f.Operation == metav1.ManagedFieldsOperationUpdate && f.Time != nil {
				c.Precedes(node, newestOf(pod), f.Time.Time)
			}
		}
	}
	give := gang.Drift
	for i := range d.logs.tracks {
		t := &d.logs.tracks[i]
		if t.source.Attempt > 0 {
			continue
		}
		if t.back > 0 {
			c.Jumped(t.clock(), t.back)
		}
		for id, at := range t.comms {
			c.Meets("communicator "+id, gang.Moment{Clock: t.clock(), At: at})
		}
		for _, s := range t.steps.Recent {
			if s.Number > 0 && !s.At.IsZero() {
				c.Meets(fmt.Sprintf("step %d", s.Number), gang.Moment{Clock: t.clock(), At: s.At})
			}
		}
		give = max(give, t.steps.Interval)
	}
	c.Settle(give)
	return c
}

// scheduledAt is when the scheduler bound the pod, by the API server's clock.
func scheduledAt(pod *corev1.Pod) time.Time {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}

// newestOf is the newest time that the kubelet wrote into a pod's status.
func newestOf(pod *corev1.Pod) time.Time {
	var newest time.Time
	note := func(t time.Time) {
		if t.After(newest) {
			newest = t
		}
	}
	if pod.Status.StartTime != nil {
		note(pod.Status.StartTime.Time)
	}
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		for _, at := range startsOf(c) {
			note(at)
		}
		for _, t := range []*corev1.ContainerStateTerminated{c.State.Terminated, c.LastTerminationState.Terminated} {
			if t != nil {
				note(t.FinishedAt.Time)
			}
		}
	}
	return newest
}

// dateSightings names the clock of what the platform dated: how containers ended comes from
// the node's, the rest from the API server's or from one that is kept as well.
func dateSightings(seen []rank.Sighting) {
	for i := range seen {
		if s := &seen[i]; s.Item.Kind == evidence.Exit && s.Item.Clock == "" {
			s.Item.Clock = gang.ClockOf(s.Item.Source)
		}
	}
}

// getPast ends what an earlier attempt of a container suffered where a later one got past it
// and failed for a reason of its own: that later one is what stopped the job.
func (d *diagnosis) getPast() {
	advanced := map[string]bool{}
	for i := range d.logs.tracks {
		if t := &d.logs.tracks[i]; t.source.Attempt == 0 && t.steps.Count > 1 {
			advanced[t.source.Pod+"/"+t.source.Container] = true
		}
	}
	failed := map[string]bool{}
	for i := range d.sightings {
		if s := &d.sightings[i]; s.Item.Source.Attempt == 0 && s.Item.Kind == evidence.Log && !s.Over {
			failed[s.Item.Source.Pod+"/"+s.Item.Source.Container] = true
		}
	}
	for i := range d.sightings {
		s := &d.sightings[i]
		key := s.Item.Source.Pod + "/" + s.Item.Source.Container
		if s.Item.Source.Attempt > 0 && advanced[key] && failed[key] {
			s.Over = true
		}
	}
}
