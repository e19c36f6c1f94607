package kinds

import "testing"

// A policy of the job's own is no person's wish to stop it.
func TestWhoEndedAVolcanoJob(t *testing.T) {
	for name, tc := range map[string]struct {
		spec, status, says string
		stopped            bool
	}{
		"somebody": {"{}", "{state: {phase: Aborted}}", "0 pending, 0 running, 0 succeeded, 0 failed", true},
		"a policy of the job": {
			"{policies: [{event: PodEvicted, action: RestartJob}, {event: PodFailed, action: AbortJob}]}", "{state: {phase: Aborted}, failed: 1}",
			"its own policy spec.policies[1] (AbortJob on PodFailed) ended it after a pod failed", false,
		},
		"a policy of a task": {
			"{tasks: [{name: ps}, {name: worker, policies: [{events: [PodEvicted, PodFailed], action: TerminateJob}]}]}", "{state: {phase: Terminating}, failed: 2}",
			"its own policy spec.tasks[1].policies[0] (TerminateJob on PodEvicted, PodFailed) ended it after a pod failed", false,
		},
		"a policy for a code": {
			"{policies: [{exitCode: 3, action: AbortJob}]}", "{state: {phase: Aborting}, failed: 1}",
			"its own policy spec.policies[0] (AbortJob on exit code 3) ended it after a pod failed", false,
		},
		"a policy that no failed pod brought about": {
			"{policies: [{event: PodEvicted, action: AbortJob}]}", "{state: {phase: Aborted}}",
			"its own policy spec.policies[0] (AbortJob on PodEvicted) ended it, or somebody did by a command", false,
		},
		"somebody, before any pod failed": {
			"{policies: [{event: PodFailed, action: AbortJob}]}", "{state: {phase: Aborted}}", "0 pending, 0 running, 0 succeeded, 0 failed", true,
		},
		"a policy that does something else": {
			"{policies: [{event: PodFailed, action: RestartJob}]}", "{state: {phase: Aborted}, failed: 1}", "0 pending, 0 running, 0 succeeded, 1 failed", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := volcanoJob.State(objectOf(t, "{metadata: {name: x}, spec: "+tc.spec+", status: "+tc.status+"}"))
			if s.Phase != Failed || s.Message != tc.says || s.Stopped() != tc.stopped {
				t.Errorf("got %+v (stopped: %v), want %q (stopped: %v)", s, s.Stopped(), tc.says, tc.stopped)
			}
		})
	}
}
