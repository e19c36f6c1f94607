package logscan

import (
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

// toCome are the categories of what takes a pod that still runs.
var toCome = []string{"sigterm-preempted", "evicted", "node-lost"}

// TrainedOn ends what an event says of a pod that runs, and whose program has trained on since: a process of it
// that was killed, a probe that failed, a volume that came late. What ends the pod later is still to come. A pod that is not
// ready and has trained since does not hang.
func (l *Logs) TrainedOn(seen []evidence.Observation, pods []control.Pod) {
	courses, ready := map[string][]*Course{}, map[string]bool{} // of the present lives of pods that run
	for i := range pods {
		if p := &pods[i]; p.Running() && p.Exit == nil && !p.Deleted {
			courses[p.Name], ready[p.Name] = nil, p.Ready
		}
	}
	for i := range l.Courses {
		c := &l.Courses[i]
		if _, runs := courses[c.Source.Pod]; runs && c.Source.Attempt == 0 && !c.Pasted {
			courses[c.Source.Pod] = append(courses[c.Source.Pod], c)
		}
	}
	for i := range seen {
		s := &seen[i]
		if trains := control.TrainsUnready(s); trains != nil && stepsSince(courses[s.Item.Source.Pod], s.Item.At.Add(timeline.Skew)) >= stepsSurvivedAlone {
			s.Signature = trains
		}
		if s.Over || s.Item.Kind != evidence.Event || !ready[s.Item.Source.Pod] || s.Item.At.IsZero() || slices.Contains(toCome, s.Signature.Category) {
			continue
		}
		s.Over = stepsSince(courses[s.Item.Source.Pod], s.Item.At.Add(timeline.Skew)) >= StepsSurvived
	}
}

// stepsSince counts the steps since a moment.
func stepsSince(courses []*Course, at time.Time) int {
	steps, last := 0, int64(-1)
	for _, c := range courses {
		for _, s := range c.Steps.Recent {
			if s.At.After(at) && s.Number != last {
				steps, last = steps+1, s.Number
			}
		}
	}
	return steps
}
