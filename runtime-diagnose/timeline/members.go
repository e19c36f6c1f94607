package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/progress"
)

// Log is what one log shows of the course of its member.
type Log struct {
	Source      evidence.Source
	Clock       string    // of its times
	First, Last time.Time // of its lines; zero: they carry none
	LastText    string    // of its last line with text, masked
	LastNumber  int       // 0: it has none
	Calls       []Call
	Steps       progress.Series
	Losses      []float64 // over the whole run; of a gang too large for that only while it runs
	Stamped     bool      // by the node's clock
	Ended       bool      // it says that it ended well
}

// Members lists what takes part: every pod, and every log of which no pod is known.
func Members(pods []control.Pod, objects []corev1.Pod, logs []Log) []Member {
	out := make([]Member, 0, max(len(pods), len(logs)))
	at := make(map[string]int, cap(out))
	past, seen := map[string]bool{}, make(map[string]*control.Pod, len(pods))
	for i := range pods {
		p := &pods[i]
		seen[p.Name] = p
		if p.Past {
			past[p.Name] = true // the one that took its place is the member
			continue
		}
		m := Member{
			Place: p.Name, Source: p.Source, Clock: p.Source.Clock(),
			Failed: p.Exit != nil || p.Phase == corev1.PodFailed, Running: p.Running(),
		}
		if p.Exit != nil {
			m.Ended, m.ExitCode = p.Ended, p.Exit.Code
		}
		at[m.Place] = len(out)
		out = append(out, m)
	}
	for i := range objects {
		if k, ok := at[objects[i].Name]; ok {
			lives(&out[k], &objects[i], seen[objects[i].Name])
		}
	}
	for i := range logs {
		l := &logs[i]
		if past[l.Source.Pod] {
			continue
		}
		place := l.Source.Place()
		k, ok := at[place]
		if !ok {
			k = len(out)
			at[place] = k
			out = append(out, Member{Place: place, Source: l.Source, Clock: l.Clock})
		}
		out[k].Prints(l)
	}
	slices.SortFunc(out, func(a, b Member) int {
		return cmp.Or(cmp.Compare(a.Source.Role, b.Source.Role), cmp.Compare(a.Source.Rank, b.Source.Rank), cmp.Compare(a.Place, b.Place))
	})
	return out
}

// Prints adds to a member what one of its logs shows.
func (m *Member) Prints(l *Log) {
	if l.Source.Attempt > 0 {
		return
	}
	m.Read = m.Read || l.LastNumber > 0
	if m.FirstLine.IsZero() || l.First.Before(m.FirstLine) {
		m.FirstLine = l.First
	}
	if m.LastText == "" || l.Last.After(m.LastLine) {
		m.LastLine, m.LastText, m.LastNumber = l.Last, l.LastText, l.LastNumber
	}
	m.Calls = append(m.Calls, l.Calls...)
	if at := l.Steps.Last.At; at.After(m.Stepped) {
		m.Stepped = at
	}
}

// ByPlace is where members are in a list.
func ByPlace(all []Member) map[string]int {
	at := make(map[string]int, len(all))
	for i := range all {
		at[all[i].Place] = i
	}
	return at
}

// lives reads when a pod's containers began and, of the run that counts, ended: the one that
// runs or has ended last, not those it was started again after.
func lives(m *Member, pod *corev1.Pod, seen *control.Pod) {
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

// ClocksOf gathers what shows how far the clocks of nodes are apart.
func ClocksOf(objects []corev1.Pod, logs []Log) *Clocks {
	c := &Clocks{}
	for i := range objects {
		pod := &objects[i]
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
	give := Drift
	for i := range logs {
		l := &logs[i]
		if l.Source.Attempt > 0 {
			continue
		}
		for _, s := range l.Steps.Recent {
			if s.Number > 0 && !s.At.IsZero() {
				c.Meets(fmt.Sprintf("step %d", s.Number), Moment{Clock: l.Clock, At: s.At})
			}
		}
		give = max(give, l.Steps.Interval)
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
