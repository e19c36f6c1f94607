package get

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// workerOf is a pod of sickJob with eight devices; without a node it waits.
func workerOf(t *testing.T, job, name, node, phase string) *unstructured.Unstructured {
	t.Helper()
	return objectOf(t, "{apiVersion: v1, kind: Pod, metadata: {name: "+name+", namespace: ml, labels: {training.kubeflow.org/operator-name: pytorchjob-controller, training.kubeflow.org/job-name: "+job+
		"}}, spec: {nodeName: '"+node+"', containers: [{name: pytorch, resources: {limits: {nvidia.com/gpu: 8}}}]}, status: {phase: "+phase+"}}")
}

// withPods are clients of a cluster with these pods.
func withPods(t *testing.T, objects ...*unstructured.Unstructured) (*apiserver.Cluster, *fake.Clientset) {
	t.Helper()
	var pods []runtime.Object
	for _, o := range objects {
		pod := &corev1.Pod{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, pod); err != nil {
			t.Fatal(err)
		}
		pods = append(pods, pod)
	}
	return &apiserver.Cluster{Namespace: "ml"}, fake.NewClientset(pods...)
}

func rowWithPods(t *testing.T) JobRow {
	t.Helper()
	o := objectOf(t, sickJob)
	k := kinds.For(o.GroupVersionKind())
	r := rowOf(k, o)
	r.Pods = k.Select(refOf(k, o), o)
	return r
}

func TestAJobHoldsWhatItsPodsWithANodeAskFor(t *testing.T) {
	other := workerOf(t, "other", "other-0", "h9", "Running")
	for name, tc := range map[string]struct {
		pods    []*unstructured.Unstructured
		devices string
		where   string // of a job of which no cause names a node
		on      string // a node it is on
	}{
		"all have a node":           {[]*unstructured.Unstructured{workerOf(t, "sick", "a", "h1", "Running"), workerOf(t, "sick", "b", "h2", "Running"), workerOf(t, "sick", "c", "h3", "Pending"), workerOf(t, "sick", "d", "h4", "Running")}, "32", "h1 +3", "h4"},
		"two on one node, two wait": {[]*unstructured.Unstructured{workerOf(t, "sick", "a", "h1", "Running"), workerOf(t, "sick", "b", "h1", "Running"), workerOf(t, "sick", "c", "", "Pending"), other}, "16/32", "h1", "h1"},
		"one has ended":             {[]*unstructured.Unstructured{workerOf(t, "sick", "a", "h1", "Failed"), workerOf(t, "sick", "b", "h2", "Running")}, "8/32", "h2", "h2"},
		"another job's":             {[]*unstructured.Unstructured{other}, "0/32", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			live, kube := withPods(t, tc.pods...)
			rows := []JobRow{rowWithPods(t)}
			if note, err := (&Flags{}).placeLive(t.Context(), live, kube, rows); err != nil || note != "" {
				t.Fatal(note, err)
			}
			rows[0].Node = ""
			if got := rows[0].devices(); got != tc.devices {
				t.Errorf("devices %s, want %s", got, tc.devices)
			}
			if got := rows[0].where(); got != tc.where {
				t.Errorf("on %q, want %q", got, tc.where)
			}
			if n := len((&Flags{node: tc.on}).onNode(rows)); tc.on != "" && n != 1 {
				t.Errorf("--node %s lists %d jobs, want 1", tc.on, n)
			}
			if n := len((&Flags{node: "h9"}).onNode([]JobRow{{Nodes: []string{"h1"}}})); n != 0 {
				t.Errorf("--node h9 lists %d jobs, want none", n)
			}
		})
	}
}

func TestPodsThatMayNotBeListedHoldNobodyKnowsWhat(t *testing.T) {
	live, kube := withPods(t)
	kube.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("no"))
	})
	rows := []JobRow{rowWithPods(t)}
	note, err := (&Flags{}).placeLive(t.Context(), live, kube, rows)
	if want := "you may not list pods in namespace ml, so devices are those asked for, held or not; to ask for: the ClusterRole view in namespace ml, which signalbox-user is part of (https://github.com/signalbox-dev/signalbox/blob/main/docs/how-to/grant-rights.md)"; err != nil || note != want {
		t.Errorf("note %q, error %v; want %q", note, err, want)
	}
	if rows[0].Held != nil || rows[0].devices() != "32" {
		t.Errorf("held %v, shown %s; want not known, 32", rows[0].Held, rows[0].devices())
	}
	_, err = (&Flags{node: "h1", all: true}).placeLive(t.Context(), live, kube, rows)
	if want := "you may not list pods in all namespaces, so which jobs are on node h1 is not known; to ask for: the ClusterRole view in all namespaces, which signalbox-user is part of (https://github.com/signalbox-dev/signalbox/blob/main/docs/how-to/grant-rights.md)"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestWhatIsHeldHurtsAndNotWhatIsAskedFor(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	rows := []JobRow{
		{Name: "waits", State: "Running", Healthy: "No", Devices: 80, Held: new(int64(0)), Created: now.Add(-time.Hour)},
		{Name: "holds", State: "Running", Healthy: "No", Devices: 8, Held: new(int64(8)), Created: now.Add(-time.Hour)},
	}
	if SortRows(rows, "hurt", now); rows[0].Name != "holds" {
		t.Errorf("%s stands first; want what holds devices", rows[0].Name)
	}
}

func TestJobsShowWhatTheyHold(t *testing.T) {
	r := rowWithPods(t)
	r.Held, r.Nodes = new(int64(16)), []string{"h7", "h8", "h9"}
	var out bytes.Buffer
	sh := &shell.Shell{Out: &out, Now: func() time.Time { return r.Created.Add(time.Hour) }}
	if err := jobsAs("wide", false).render(sh, []JobRow{r}, false, true, terminal.Painter{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "  16/32 ") || !strings.Contains(out.String(), "  h7 +2 ") {
		t.Errorf("%s\nwant 16/32 on h7 +2", out.String())
	}
}
