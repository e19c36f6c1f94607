package diagnose

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/logscan"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

// nodesTrainedOn ends what an event says of a node that is ready, and on which every pod of the job has trained on since: a
// kernel that complained, a device that another pod holds. What takes pods away later is still to come.
func (d *diagnosis) nodesTrainedOn() {
	first, more := "", 0
	for i := range d.sightings {
		s := &d.sightings[i]
		of := s.Item.Source
		if s.Over || s.Signature.Weak || !s.Platform || s.Item.Kind != evidence.Event || of.Pod != "" || of.Node == "" || s.Item.At.IsZero() ||
			slices.Contains([]string{"sigterm-preempted", "evicted"}, s.Signature.Category) || !d.ready(of.Node) || !d.trainedOnSince(s) {
			continue
		}
		if s.Over = true; first == "" {
			first = fmt.Sprintf("Node %s reported at %s: %s. Its pods have trained on since", of.Node, s.Item.At.UTC().Format("15:04"), words.OneLine(s.Item.Text, 160))
		} else {
			more++
		}
	}
	switch {
	case first == "":
	case more == 0:
		d.remarks = append(d.remarks, first+".")
	default:
		d.remarks = append(d.remarks, fmt.Sprintf("%s; %s of nodes.", first, words.Count(more, "more report", "more reports")))
	}
}

// ready says that a node is there and reports that it is well.
func (d *diagnosis) ready(node string) bool {
	for i := range d.Nodes {
		if d.Nodes[i].Name == node {
			return slices.ContainsFunc(d.Nodes[i].Status.Conditions, func(c corev1.NodeCondition) bool {
				return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
			})
		}
	}
	return false
}

// trainedOnSince says that all pods on a node run, and have counted steps enough since an event about it.
func (d *diagnosis) trainedOnSince(s *evidence.Observation) bool {
	pods, at := 0, s.Item.At.Add(timeline.Skew)
	for i := range d.seen.Pods {
		p := &d.seen.Pods[i]
		if p.Past || p.Source.Node != s.Item.Source.Node {
			continue
		}
		steps := 0
		for k := range d.logs.Courses {
			c := &d.logs.Courses[k]
			if c.Source.Pod != p.Name || c.Source.Attempt > 0 || c.Pasted {
				continue
			}
			for _, step := range c.Steps.Recent {
				if step.At.After(at) {
					steps++
				}
			}
		}
		if !p.Running() || p.Exit != nil || p.Deleted || steps < logscan.StepsSurvived {
			return false
		}
		pods++
	}
	return pods > 0
}
