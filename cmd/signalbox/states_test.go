package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/input"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// standing is how a job stands that does not train, and what diagnose and fit say of it.
type standing struct{ spec, status, says, fit string }

const (
	atRest   = "suspended; nothing of it runs"
	wasEnded = "stopped, and nothing is wrong"
	noPods   = "paused: no pods will start"
	never    = "stopped: no pods will start"
)

// condition is one of a job's, five minutes after its creation.
func condition(kind, status, reason string) string {
	return "{type: " + kind + ", status: \"" + status + "\", reason: " + reason + ", message: m, lastTransitionTime: \"2026-11-22T05:05:00Z\"}"
}

func ofKubeflow(kind string) map[string]standing {
	return map[string]standing{
		"suspended":                 {"{runPolicy: {suspend: true}}", "{conditions: [" + condition("Suspended", "True", kind+"Suspended") + "]}", atRest, noPods},
		"suspended, nothing acted":  {"{runPolicy: {suspend: true}}", "{}", atRest, noPods},
		"suspended, it still runs":  {"{runPolicy: {suspend: true}}", "{conditions: [" + condition("Running", "True", kind+"Running") + "]}", atRest, noPods},
		"resumed":                   {"{runPolicy: {suspend: false}}", "{conditions: [" + condition("Suspended", "False", kind+"Resumed") + "]}", "since 2026-11-22 05:05:00 UTC and made no pod", "!no pods"},
		"resumed, and nobody knows": {"{runPolicy: {suspend: false}}", "{conditions: [" + condition("Suspended", "True", kind+"Suspended") + "]}", "since 2026-11-22 05:05:00 UTC and made no pod", "!no pods"},
		"cancelled":                 {"{}", "{conditions: [" + condition("Failed", "True", "JobCancelled") + "]}", wasEnded, never},
	}
}

func ofT9k() map[string]standing {
	return map[string]standing{
		"paused":                {"{runMode: {pause: {enabled: true}}}", "{phase: Paused}", atRest, noPods},
		"paused, nothing acted": {"{runMode: {pause: {enabled: true}}}", "{}", atRest, noPods},
		"paused, it still runs": {"{runMode: {pause: {enabled: true}}}", "{phase: Running}", atRest, noPods},
		"resuming":              {"{runMode: {pause: {enabled: false}}}", "{phase: Resuming}", "it resumes after a pause: 0 of", "!no pods"},
		"debugged":              {"{runMode: {pause: {enabled: false}, debug: {enabled: true}}}", "{phase: Running}", "in debug mode: its pods run and train nothing", "!no pods"},
		"debugged and paused":   {"{runMode: {pause: {enabled: true}, debug: {enabled: true}}}", "{phase: Paused}", atRest, noPods},
	}
}

func bySuspend(reason string) map[string]standing {
	return map[string]standing{
		"suspended":                {"{suspend: true}", "{conditions: [" + condition("Suspended", "True", reason) + "]}", atRest, noPods},
		"suspended, nothing acted": {"{suspend: true}", "{}", atRest, noPods},
		"resumed":                  {"{suspend: false}", "{conditions: [" + condition("Suspended", "False", reason) + "]}", "since 2026-11-22 05:05:00 UTC and made no pod", "!no pods"},
	}
}

// standings are those of every kind. A kind that is not here is a hole that the test finds.
func standings() map[string]map[string]standing {
	const at = ", conditions: ["
	return map[string]map[string]standing{
		"jaxjob": ofKubeflow("JAXJob"), "mpijob": ofKubeflow("MPIJob"), "paddlejob": ofKubeflow("PaddleJob"),
		"pytorchjob": ofKubeflow("PyTorchJob"), "tfjob": ofKubeflow("TFJob"), "xgboostjob": ofKubeflow("XGBoostJob"),
		"colossalaijob": ofT9k(), "deepspeedjob": ofT9k(), "mpijob.batch.tensorstack.dev": ofT9k(), "pytorchtrainingjob": ofT9k(),
		"tensorflowtrainingjob": ofT9k(), "xgboosttrainingjob": ofT9k(),
		"job": bySuspend("JobSuspended"), "jobset": bySuspend("SuspendedJobs"), "trainjob": bySuspend("Suspended"),
		"rayjob": {
			"suspended":                 {"{suspend: true}", "{jobDeploymentStatus: Suspended}", atRest, noPods},
			"suspending":                {"{suspend: true}", "{jobDeploymentStatus: Suspending}", atRest, noPods},
			"suspended, nothing acted":  {"{suspend: true}", "{}", atRest, noPods},
			"resumed, and nobody knows": {"{suspend: false}", "{jobDeploymentStatus: Suspended}", "made no pod", "!no pods"},
			"resuming":                  {"{suspend: false}", "{jobDeploymentStatus: Initializing}", "made no pod", "!no pods"},
			"cancelled":                 {"{}", "{jobDeploymentStatus: Complete, jobStatus: STOPPED}", wasEnded, never},
		},
		"raycluster": {
			"suspended":                 {"{suspend: true}", "{state: suspended" + at + condition("RayClusterSuspended", "True", "R") + "]}", atRest, noPods},
			"suspending":                {"{suspend: true}", "{state: ready" + at + condition("RayClusterSuspending", "True", "R") + "]}", atRest, noPods},
			"suspended, nothing acted":  {"{suspend: true}", "{}", atRest, noPods},
			"resumed, and nobody knows": {"{suspend: false}", "{state: suspended" + at + condition("RayClusterSuspended", "False", "R") + "]}", "since 2026-11-22 05:05:00 UTC and made no pod", "!no pods"},
		},
		"job.batch.volcano.sh": {
			"stopping":    {"{}", "{state: {phase: Aborting}}", wasEnded, never},
			"stopped":     {"{}", "{state: {phase: Aborted}}", wasEnded, never},
			"cancelling":  {"{}", "{state: {phase: Terminating}}", wasEnded, never},
			"cancelled":   {"{}", "{state: {phase: Terminated}}", wasEnded, never},
			"resuming":    {"{}", "{state: {phase: Restarting, lastTransitionTime: \"2026-11-22T05:59:55Z\"}}", "it starts again: 0 of", "!no pods"},
			"tried again": {"{}", "{failed: 1, state: {phase: Restarting}}", "not healthy", "!no pods"},
		},
		"leaderworkerset": {
			"scaled to nothing": {"{replicas: 0}", "{conditions: [" + condition("Progressing", "True", "GroupsProgressing") + "]}", atRest, "there are no pods to place"},
		},
		"framework": {
			"not started":                {"{executionType: Create}", "{state: AttemptCreationPending}", atRest, noPods},
			"not started, nothing acted": {"{executionType: Create}", "{}", atRest, noPods},
			"told to stop":               {"{executionType: Stop}", "{state: AttemptRunning}", wasEnded, never},
			"stopped":                    {"{executionType: Stop}", "{state: Completed, attemptStatus: {completionStatus: {code: -210, phrase: StopFrameworkRequested, type: {name: Failed}}}}", wasEnded, never},
		},
	}
}

// Stopped, paused, resumed, debugged, suspended and cancelled are states and no failures, whatever the kind: in
// what diagnose says, which is what stands on the job, and in the fit.
func TestAStateIsNoFailure(t *testing.T) {
	all := standings()
	for _, k := range kinds.All() {
		if all[strings.ToLower(k.API())] == nil {
			t.Errorf("of %s nothing is tried", k.API())
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		base := jobOf(t, kind)
		for _, name := range slices.Sorted(maps.Keys(all[kind])) {
			tc := all[kind][name]
			t.Run(kind+"/"+name, func(t *testing.T) {
				u := base.DeepCopy()
				overlay(t, u, "spec", tc.spec)
				delete(u.Object, "status")
				overlay(t, u, "status", tc.status)
				folder := bundleOf(t, u)
				said := answered(t, "diagnose", "--bundle", folder)
				if !strings.Contains(said, tc.says) || tc.says != "not healthy" && (strings.Contains(said, "failed:") || strings.Contains(said, "failed, and")) {
					t.Errorf("want %q in what diagnose says:\n%s", tc.says, said)
				}
				said = answered(t, "fit", filepath.Join(folder, "job.yaml"), "--snapshot", "../../test/promises/cluster")
				if want, not := strings.CutPrefix(tc.fit, "!"); strings.Contains(said, want) == not {
					t.Errorf("want %q in what fit says:\n%s", tc.fit, said)
				}
			})
		}
	}
}

// jobOf is the first good job among the fixtures of a kind, in no queue and with nothing else to manage it.
func jobOf(t *testing.T, kind string) *unstructured.Unstructured {
	t.Helper()
	files, err := filepath.Glob("../../preflight/kinds/testdata/" + kind + "/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.HasPrefix(filepath.Base(f), "nasty") {
			continue
		}
		in, err := (&input.Flags{Files: []string{f}}).Read(t.Context(), &shell.Shell{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range in.Jobs {
			u := d.Object.DeepCopy()
			u.SetNamespace("ml")
			u.SetUID("u1")
			u.SetLabels(nil)
			u.SetAnnotations(nil)
			unstructured.RemoveNestedField(u.Object, "spec", "managedBy")
			if err := unstructured.SetNestedField(u.Object, "2026-11-22T05:00:00Z", "metadata", "creationTimestamp"); err != nil {
				t.Fatal(err)
			}
			return u
		}
	}
	t.Fatalf("%s has no fixture", kind)
	return nil
}

// overlay writes fields over those below one of an object.
func overlay(t *testing.T, u *unstructured.Unstructured, field, text string) {
	t.Helper()
	var over map[string]any
	if err := yaml.Unmarshal([]byte(text), &over); err != nil {
		t.Fatal(err)
	}
	into, _ := u.Object[field].(map[string]any)
	if into == nil {
		into = map[string]any{}
	}
	merged(into, over)
	u.Object[field] = into
}

func merged(into, over map[string]any) {
	for name, v := range over {
		below, ok := v.(map[string]any)
		under, also := into[name].(map[string]any)
		if ok && also {
			merged(under, below)
			continue
		}
		into[name] = v
	}
}

// bundleOf is the evidence of a job of which nothing but itself was seen, an hour after its creation.
func bundleOf(t *testing.T, u *unstructured.Unstructured) string {
	t.Helper()
	folder := t.TempDir()
	text, err := yaml.Marshal(u.Object)
	if err != nil {
		t.Fatal(err)
	}
	const none = "apiVersion: v1\nkind: List\nitems: []\n"
	for name, content := range map[string]string{
		"job.yaml": string(text), "events.yaml": none, "nodes.yaml": none, "objects.yaml": none, "pods.yaml": none,
		"bundle.json": `{"schema": "signalbox.dev/bundle/v1", "taken": "2026-11-22T06:00:00Z", "logs": []}`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func answered(t *testing.T, words ...string) string {
	t.Helper()
	t.Setenv("KUBECONFIG", os.DevNull)
	var out bytes.Buffer
	sh := &shell.Shell{Name: "signalbox", In: strings.NewReader(""), Out: &out, Err: &out, Now: time.Now}
	run(t.Context(), sh, words)
	return out.String()
}
