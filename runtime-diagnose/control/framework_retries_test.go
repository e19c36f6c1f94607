package control

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// A Framework whose tasks are tried again on their own counts nothing itself.
func TestRetriesOfAFrameworkAndOfItsTasks(t *testing.T) {
	for name, tc := range map[string]struct{ status, want string }{
		"none":    {"{}", ""},
		"the job": {"{retryPolicyStatus: {totalRetriedCount: 3, accountableRetriedCount: 1}}", "The job was tried again 3 times: 1 after failures of its own, 2 after the platform's"},
		"a task that waits": {
			"{attemptStatus: {taskRoleStatuses: [{name: worker, taskStatuses: [{index: 0, retryPolicyStatus: {totalRetriedCount: 1}}, {index: 1, state: AttemptCompleted, retryPolicyStatus: {totalRetriedCount: 9, accountableRetriedCount: 0, retryDelaySec: 300}}]}]}}",
			"Its task worker[1] was tried again 9 times: 0 after failures of its own, 9 after the platform's, and waits 300 s before the next attempt",
		},
		"both": {
			"{retryPolicyStatus: {totalRetriedCount: 1}, attemptStatus: {taskRoleStatuses: [{name: ps, taskStatuses: [{index: 0, retryPolicyStatus: {totalRetriedCount: 2, accountableRetriedCount: 2}}]}]}}",
			"The job was tried again 1 time: 0 after failures of its own, 1 after the platform's. Its task ps[0] was tried again 2 times: 2 after failures of its own, 0 after the platform's",
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte("status: "+tc.status), &u.Object); err != nil {
				t.Fatal(err)
			}
			if got := RetriedOf(&evidence.Bundle{Job: &job.Job{Ref: job.Ref{Kind: "Framework"}, Source: u}}); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}
