package diagnose_test

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// What OpenPAI's runtime found in the log is in the status of the Framework when its pods are gone.
func TestTheRuntimesMessageOutlivesThePod(t *testing.T) {
	const said = "[PAI_RUNTIME_ERROR_START]\nexitcode: 232\nname: ContainerImportError\nerrorLogs:\n  user: |\n    No module named 'apex'\n    ModuleNotFoundError: No module named 'apex'\n[PAI_RUNTIME_ERROR_END]"
	packed, err := json.Marshal(map[string]any{"containers": []any{map[string]any{"name": "app", "code": 232, "message": said}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, done := range map[string]map[string]any{
		"in the status of its container": {"pod": map[string]any{"containers": []any{map[string]any{"name": "app", "message": said}}}},
		"in the diagnostics, as JSON":    {"diagnostics": "PodPattern matched: " + string(packed)},
		"in the diagnostics, as text":    {"diagnostics": said},
	} {
		t.Run(name, func(t *testing.T) {
			done["code"], done["phrase"] = int64(232), "ContainerImportError"
			task := map[string]any{"index": int64(1), "attemptStatus": map[string]any{"podName": "fw-worker-1", "podNodeName": "n4", "completionStatus": done}}
			u := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"attemptStatus": map[string]any{
				"taskRoleStatuses": []any{map[string]any{"name": "worker", "taskStatuses": []any{task}}},
			}}}}
			c := diagnose.Case{
				Job: &job.Job{Ref: job.Ref{APIVersion: "frameworkcontroller.microsoft.com/v1", Kind: "Framework", Name: "fw"}, Source: u}, Now: noon,
				State: kinds.State{Phase: kinds.Failed},
			}
			r := diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{})
			if r.Category != "missing-module" || !strings.Contains(r.Error, "fw-worker-1 (worker 1, node n4)") {
				t.Errorf("it says %q: %s", r.Category, r.Error)
			}
		})
	}
}
