package diagnose_test

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/bare"
)

// secret is what no answer may hold; hidden is how programs print it.
const (
	secret = "hunter22hunter22"
	hidden = "DB_PASSWORD=" + secret + `\u001b]0;title\a and https://me:` + secret + "@host/x"
)

// Containers, operators and queues quote what programs say, with the secrets in it. What they
// say is written on the job, where everybody reads it.
func TestWhatThePlatformSaysIsMasked(t *testing.T) {
	cases := map[string]string{
		"a container that has ended": `{apiVersion: v1, kind: Pod, metadata: {name: w-0}, spec: {containers: [{name: c}]}, status: {phase: Failed, containerStatuses: [{name: c, state: {terminated: {exitCode: 1, reason: Error, message: "RuntimeError: boom HIDDEN\nValueError: HIDDEN"}}}]}}`,
		"the file of torch elastic":  `{apiVersion: v1, kind: Pod, metadata: {name: w-0}, spec: {containers: [{name: c}]}, status: {phase: Failed, containerStatuses: [{name: c, state: {terminated: {exitCode: 1, message: '{"message": {"message": "HIDDEN", "extraInfo": {"py_callstack": "Traceback\nMyError: HIDDEN"}}}'}}}]}}`,
		"a container that waits":     `{apiVersion: v1, kind: Pod, metadata: {name: w-0}, spec: {containers: [{name: c}]}, status: {phase: Pending, containerStatuses: [{name: c, state: {waiting: {reason: CreateContainerError, message: "HIDDEN"}}}]}}`,
		"a pod that was evicted":     `{apiVersion: v1, kind: Pod, metadata: {name: w-0}, spec: {containers: [{name: c}]}, status: {phase: Failed, reason: Evicted, message: "The node was low on resource: memory. HIDDEN"}}`,
		"a pod without a node":       `{apiVersion: v1, kind: Pod, metadata: {name: w-0}, spec: {containers: [{name: c}]}, status: {phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, message: "0/4 nodes are available: 4 HIDDEN."}]}}`,
		"an event":                   `{apiVersion: v1, kind: Event, metadata: {name: e}, involvedObject: {kind: Pod, name: w-0}, type: Warning, reason: FailedMount, message: "MountVolume.SetUp failed: HIDDEN"}`,
		"a condition of a workload":  `{apiVersion: kueue.x-k8s.io/v1beta1, kind: Workload, metadata: {name: x}, status: {conditions: [{type: QuotaReserved, status: "False", reason: Pending, message: "couldn't assign flavors to pod set main: insufficient unused quota HIDDEN"}]}}`,
		"a condition of the job":     `{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: j}, spec: {}, status: {conditions: [{type: Failed, status: "True", reason: JobFailed, message: "HIDDEN"}]}}`,
		"a suspended job":            `{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: j}, spec: {}, status: {conditions: [{type: Suspended, status: "True", reason: S, message: "HIDDEN"}]}}`,
		"a task of a Framework":      `{apiVersion: frameworkcontroller.microsoft.com/v1, kind: Framework, metadata: {name: j}, spec: {}, status: {state: Completed, attemptStatus: {completionStatus: {type: {name: Failed}, code: 1, phrase: P, diagnostics: "HIDDEN"}, taskRoleStatuses: [{name: w, taskStatuses: [{index: 0, attemptStatus: {podName: w-0, completionStatus: {code: 1, phrase: P, diagnostics: "HIDDEN"}}}]}]}}}`,
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			text := strings.ReplaceAll(text, "HIDDEN", hidden)
			c := diagnose.Case{Now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
			var object map[string]any
			if err := yaml.Unmarshal([]byte(text), &object); err != nil {
				t.Fatal(err)
			}
			if u := (&unstructured.Unstructured{Object: object}); kinds.For(u.GroupVersionKind()) != nil {
				c.Kind, c.State = kinds.For(u.GroupVersionKind()), kinds.For(u.GroupVersionKind()).State(u)
				c.Job, _ = c.Kind.Read(u, nil) // what cannot be read of its spec is not asked
			} else {
				bare.Add(&c, "objects.yaml", []byte(text))
			}
			r := diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{})
			js, err := diagnose.JSON(r)
			if err != nil {
				t.Fatal(err)
			}
			for form, said := range map[string]string{"JSON": string(js), "text": diagnose.Text(r)} {
				if strings.Contains(said, secret) {
					t.Errorf("the %s shows the secret:\n%s", form, said)
				}
				if i := strings.IndexFunc(said, func(c rune) bool { return unicode.IsControl(c) && c != '\n' }); i >= 0 {
					t.Errorf("the %s holds %q", form, said[i:i+1])
				}
			}
			if !strings.Contains(string(js), "[masked]") {
				t.Errorf("nothing of what was said is shown, so nothing is tested:\n%s", js)
			}
		})
	}
}
