package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// A step that the asker may not take says whose it is; others, and those of an asker who may, stay as they are.
func TestStepsThatTheAskerMayNotTake(t *testing.T) {
	steps := []string{"Compare nodeSelector with kubectl get nodes --show-labels.", "Start again: kubectl delete pod NAME."}
	for name, tc := range map[string]struct {
		barred []string
		first  string
	}{
		"who may":            {nil, steps[0]},
		"no list of nodes":   {[]string{"events", "nodes"}, "Compare nodeSelector with kubectl get nodes --show-labels (ask the administrators: you may not read nodes)."},
		"not the one it has": {[]string{"node gpu-7"}, "Compare nodeSelector with kubectl get nodes --show-labels (ask the administrators: you may not read nodes)."},
		"something else":     {[]string{"events of nodes"}, steps[0]},
	} {
		d := &draft{Findings: &Findings{Bundle: evidence.Bundle{Barred: tc.barred}}}
		if diff := cmp.Diff([]string{tc.first, steps[1]}, d.asFarAsAllowed(steps)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A barrier names the tasks that did not come, wherever its message goes on: on lines of its own, or in one line of gRPC.
func TestBarriersNameWhoDidNotCome(t *testing.T) {
	for name, tc := range map[string]struct{ line, want string }{
		"one line of gRPC": {
			`XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Barrier_id: PjRT_Client_Connect. Timed out task names:\n/job:jax_worker/replica:0/task:3\n/job:jax_worker/replica:0/task:0\n","grpc_status":4`,
			"tasks 0 and 3",
		},
		"one, and how many came": {
			"DEADLINE_EXCEEDED: Barrier timed out. Id: b::0. # of tasks that reached the barrier: 7/8.\nThe first task at the barrier: /job:jax_worker/replica:0/task:1. Some timed out task names:\n/job:jax_worker/replica:0/task:5\n",
			"task 5 (7/8 came)",
		},
		"none is named": {"DEADLINE_EXCEEDED: Barrier timed out. Id: b::0. This usually happens", ""},
	} {
		d := &draft{Findings: &Findings{}}
		if got := d.barrierFacts(&evidence.Observation{Line: tc.line})["absent"]; got != tc.want {
			t.Errorf("%s: %q; want %q", name, got, tc.want)
		}
	}
}
