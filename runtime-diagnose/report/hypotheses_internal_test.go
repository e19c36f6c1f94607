package report

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/attribute"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

// TestNoNameEndsACommand: a bundle names its pods, containers and nodes as whoever made it likes, and whoever may create Events names
// nodes in them. What is copied into a shell is one command all the same.
func TestNoNameEndsACommand(t *testing.T) {
	const hostile = "a;$(reboot)"
	d := &draft{Findings: &Findings{}}
	d.Job = &job.Job{Ref: job.Ref{Namespace: hostile}}
	d.Seen.Pods = []control.Pod{{Name: hostile, Exit: &control.Exit{Container: hostile}}}
	d.Events = []corev1.Event{{
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "w"}, Reason: "Preempted", Message: "Preempted by pod 7 on node " + hostile,
	}}
	_, find := d.takers(map[string]time.Time{"w": {}})
	_, ended := d.decidesOn(&attribute.Candidate{Observation: evidence.Observation{Signature: timeline.Vanished, Item: evidence.Item{Source: evidence.Source{Pod: hostile}}}})
	for _, said := range []string{
		d.kubectl("logs", hostile), d.logToRead(), d.logCommand(evidence.Source{Pod: hostile, Container: hostile}), find, ended,
		d.around(evidence.Source{File: hostile, Line: 1}),
	} {
		if left := strings.ReplaceAll(said, "'"+hostile+"'", ""); left == said || strings.Contains(left, "reboot") {
			t.Errorf("a name ends %s", said)
		}
	}
}
