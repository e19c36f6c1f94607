package collect

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// Owners that lead in a circle lead to no job.
func TestOwnersInACircle(t *testing.T) {
	job := object("trainer.kubeflow.org/v1alpha1", "TrainJob", "train", "tj", nil, nil)
	labels := map[string]string{"jobset.sigs.k8s.io/jobset-name": "train"}
	c := serving(job,
		object("batch/v1", "Job", "a", "ja", by("jobset.x-k8s.io/v1alpha2", "JobSet", "b", "jb"), labels),
		object("jobset.x-k8s.io/v1alpha2", "JobSet", "b", "jb", by("batch/v1", "Job", "a", "ja"), nil),
		object("batch/v1", "Job", "self", "js", by("batch/v1", "Job", "self", "js"), labels),
		pod("round", by("batch/v1", "Job", "a", "ja"), labels),
		pod("own", by("batch/v1", "Job", "self", "js"), labels),
	)
	got, err := c.Case(t.Context(), kind(t, "TrainJob"), job)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Pods) != 0 {
		t.Errorf("pods %v belong to nobody's job", names(got.Pods))
	}
}

// A pod without a status and an event of tomorrow prove nothing, least of all health.
func TestPodsWithoutStatusAndEventsOfTheFuture(t *testing.T) {
	job := trainJob("Running")
	p := worker("a", 0, 0)
	p.Status = corev1.PodStatus{}
	event := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: "ml", Name: "e"},
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: p.Name, UID: p.UID}, Type: corev1.EventTypeWarning,
		Reason: "BackOff", Message: "Back-off restarting failed container", LastTimestamp: metav1.NewTime(now.Add(100 * 365 * 24 * time.Hour)),
	}
	c := serving(job, p, event, &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "empty"}})
	got, err := c.Case(t.Context(), kind(t, "PyTorchJob"), job)
	if err != nil {
		t.Fatal(err)
	}
	if r := diagnose.Diagnose(t.Context(), got, nil, diagnose.Options{}); r.Verdict == diagnose.Healthy {
		t.Errorf("the verdict is %s: %s", r.Verdict, r.Analysis)
	}
}

// A bundle that was cut anywhere is an error that says so, and no bundle.
func TestATruncatedBundle(t *testing.T) {
	c := serving(trainJob("Failed"), worker("a", 1, -1), beside(keptOf(t, worker("b", 1, -2))))
	story, err := c.Case(t.Context(), kind(t, "PyTorchJob"), trainJob("Failed"))
	if err != nil {
		t.Fatal(err)
	}
	var whole bytes.Buffer
	if err := Save(story, &whole); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "b.tgz")
	for n := 0; n < whole.Len()-8; n += 61 { // the last bytes are the checksum of an archive that is complete
		if err := os.WriteFile(file, whole.Bytes()[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), file); err == nil || !strings.Contains(err.Error(), "open bundle") {
			t.Fatalf("%d of %d bytes: error %v", n, whole.Len(), err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	var whole bytes.Buffer
	if err := Save(diagnose.Case{Now: now, Pods: []corev1.Pod{*worker("a", 1, -1)}}, &whole); err != nil {
		f.Fatal(err)
	}
	f.Add(whole.Bytes())
	f.Add(whole.Bytes()[:whole.Len()/2])
	f.Add([]byte("no archive"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file := filepath.Join(t.TempDir(), "b.tgz")
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Open(t.Context(), file)
		if err != nil {
			return
		}
		diagnose.Diagnose(t.Context(), c, nil, diagnose.Options{})
	})
}
