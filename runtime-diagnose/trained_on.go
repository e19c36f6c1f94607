package diagnose

import (
	"slices"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/logscan"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

// trainedOn ends what an event says of a pod that runs, and whose program has trained on since: a process of it
// that was killed, a probe that failed, a volume that came late. What ends the pod later is still to come.
func (d *diagnosis) trainedOn() {
	for i := range d.sightings {
		s := &d.sightings[i]
		if s.Over || s.Item.Kind != evidence.Event || s.Item.At.IsZero() || slices.Contains(toCome, s.Signature.Category) {
			continue
		}
		at := slices.IndexFunc(d.seen.Pods, func(p control.Pod) bool { return p.Name == s.Item.Source.Pod })
		if at < 0 || !d.seen.Pods[at].Running() || !d.seen.Pods[at].Ready || d.seen.Pods[at].Exit != nil || d.seen.Pods[at].Deleted {
			continue
		}
		s.Over = d.logs.StepsSince(s.Item.Source.Pod, s.Item.At.Add(timeline.Skew)) >= logscan.StepsSurvived
	}
}

// toCome are the categories of what takes a pod that still runs.
var toCome = []string{"sigterm-preempted", "evicted", "node-lost"}
