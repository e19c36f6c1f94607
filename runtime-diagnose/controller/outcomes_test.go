package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/checks"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

// countedOutcomes is what signalbox_check_outcomes_total says, by check and outcome.
func countedOutcomes(t *testing.T, from prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		if f.GetName() != "signalbox_check_outcomes_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			labels := m.GetLabel() // in the order of their names
			out[labels[0].GetValue()+" "+labels[1].GetValue()] += m.GetCounter().GetValue()
		}
	}
	return out
}

// reviewed is a world in which admission warns of jobs as it is told.
func reviewed(t *testing.T, names ...string) *world {
	w := newWorld(t)
	w.job.SetCreationTimestamp(metav1.NewTime(start.Add(-time.Minute)))
	w.Review = func(context.Context, *unstructured.Unstructured) ([]Warning, bool) {
		var out []Warning
		for _, n := range names {
			out = append(out, Warning{Check: n, Says: "what " + n + " says"})
		}
		return out, true
	}
	return w
}

// Whoever diagnoses the job by hand reads each warning with what became of it.
func TestWhatWasWarnedIsRecalled(t *testing.T) {
	const note = `{"at":"2026-11-20T08:02:00Z","checks":[{"check":"shm-missing","says":"shm is 64 MiB"},{"check":"secret-missing","says":"no Secret s"},{"check":"images-differ","says":"two images"}],"more":2}`
	for name, tc := range map[string]struct {
		result diagnose.Result
		phase  kinds.Phase
		want   string
	}{
		"it failed of one": {
			diagnose.Result{Verdict: diagnose.Diagnosed, Category: "shm-exhausted"},
			kinds.Failed,
			"Warned at 08:02: shm is 64 MiB (shm-missing): that is what happened; no Secret s (secret-missing): it failed for another reason; two images (images-differ): whether it mattered is not known; and 2 more.",
		},
		"half of its pods run": {
			diagnose.Result{Verdict: diagnose.Diagnosed, Category: "shm-exhausted", Members: []timeline.Member{
				{Source: evidence.Source{Pod: "a"}, Running: true, Alike: 3}, {Source: evidence.Source{Pod: "b"}, Alike: 3},
			}},
			kinds.Running,
			"Warned at 08:02: shm is 64 MiB (shm-missing): that happened to 4 of 8 pods; the others began; no Secret s (secret-missing): not so far; two images (images-differ): not so far; and 2 more.",
		},
		"it ran": {
			diagnose.Result{Verdict: diagnose.Healthy},
			kinds.Succeeded,
			"Warned at 08:02: shm is 64 MiB (shm-missing): it ran all the same; no Secret s (secret-missing): it ran all the same; two images (images-differ): whether it mattered is not known; and 2 more.",
		},
		"it runs": {
			diagnose.Result{Verdict: diagnose.Healthy},
			kinds.Running,
			"Warned at 08:02: shm is 64 MiB (shm-missing): not so far; no Secret s (secret-missing): not so far; two images (images-differ): not so far; and 2 more.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{}
			u.SetAnnotations(map[string]string{Warned: note})
			if got := Recall(u, tc.result, kinds.State{Phase: tc.phase}); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
	if got := Recall(&unstructured.Unstructured{}, diagnose.Result{}, kinds.State{}); got != "" {
		t.Errorf("of a job that was not warned of: %q", got)
	}
}

// What admission said stands on the job, and what became of it when the job has ended.
func TestWarningsAreSettledAtTheEndOfTheJob(t *testing.T) {
	for name, tc := range map[string]struct {
		condition string
		end       func(*corev1.Pod)
		want      map[string]Outcome
		says      string
	}{
		"it failed of that": {"Failed", oomKilled, map[string]Outcome{"shm-above-memory-limit": CameTrue, "secret-missing": Other, "images-differ": Unsaid}, "Warned at 08:00: what shm-above-memory-limit says (shm-above-memory-limit). That is what happened."},
		"it ran": {"Succeeded", func(p *corev1.Pod) {
			p.Status.Phase = corev1.PodSucceeded
			p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed"}}
		}, map[string]Outcome{"shm-above-memory-limit": Ran, "secret-missing": Ran, "images-differ": Unsaid}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := reviewed(t, "shm-above-memory-limit", "secret-missing", "images-differ")
			counts := prometheus.NewRegistry()
			w.metrics, _ = newMetrics(counts)
			w.condition("Running", "PyTorchJobRunning")
			w.pod("master", nil)
			w.pod("worker", nil)
			w.reconcile()
			w.reconcile()
			note, ok := warned(w.job)
			if !ok || len(note.Checks) != 3 || slices.ContainsFunc(note.Checks, func(x Warning) bool { return x.Outcome != "" }) || len(w.patches) != 2 {
				t.Fatalf("%d writes, remembered is %+v", len(w.patches), note)
			}
			w.condition(tc.condition, "PyTorchJob"+tc.condition)
			for i := range w.pods {
				tc.end(&w.pods[i])
			}
			w.reconcile()
			w.reconcile()
			note, _ = warned(w.job)
			for _, x := range note.Checks {
				if x.Outcome != tc.want[x.Check] {
					t.Errorf("%s: outcome %q, want %q", x.Check, x.Outcome, tc.want[x.Check])
				}
			}
			if got := w.job.GetAnnotations()[Analysis]; !strings.Contains(got, tc.says) || tc.says == "" && strings.Contains(got, "Warned") {
				t.Errorf("analysis is %q, want %q in it", got, tc.says)
			}
			if len(w.patches) != 3 {
				t.Errorf("%d writes, want one for the warnings, one when it ran well and one at its end", len(w.patches))
			}
			want := map[string]float64{}
			for check, o := range tc.want {
				if predicts[check] == nil {
					check = "other"
				}
				want[check+" "+string(o)]++
			}
			if diff := cmp.Diff(want, countedOutcomes(t, counts)); diff != "" {
				t.Errorf("counted (-want +got):\n%s", diff)
			}
		})
	}
}

// What admission said costs no write of its own where another one follows soon, and is not kept back where none does.
func TestWarningsGoWithTheNextWrite(t *testing.T) {
	world := func(t *testing.T) *world {
		w := reviewed(t, "shm-above-memory-limit")
		w.job.SetCreationTimestamp(metav1.NewTime(start.Add(-time.Second)))
		w.condition("Running", "PyTorchJobRunning")
		w.pod("master", nil)
		w.pod("worker", nil)
		w.annotate(Healthy, "Yes")
		if again := w.reconcile(); len(w.patches) != 0 || again <= 0 || again > remarkAfter {
			t.Fatalf("%d writes at the first look; the next in %s", len(w.patches), again)
		}
		return w
	}
	t.Run("the job fails", func(t *testing.T) {
		w := world(t)
		w.condition("Failed", "PyTorchJobFailed")
		for i := range w.pods {
			oomKilled(&w.pods[i])
		}
		w.reconcile()
		if note, ok := warned(w.job); !ok || len(w.patches) != 1 || note.Checks[0].Outcome != CameTrue {
			t.Errorf("%d writes, remembered is %+v", len(w.patches), note)
		}
	})
	t.Run("nothing else is to be said", func(t *testing.T) {
		w := world(t)
		w.pass(remarkAfter)
		w.reconcile()
		w.reconcile()
		if note, ok := warned(w.job); !ok || len(note.Checks) != 1 || len(w.patches) != 1 {
			t.Errorf("%d writes, remembered is %+v", len(w.patches), note)
		}
	})
}

func TestWhatIsRememberedIsBounded(t *testing.T) {
	var names []string
	for i := range mostWarnings + 1 {
		names = append(names, fmt.Sprintf("check-%d", i))
	}
	w := reviewed(t, names...)
	w.condition("Running", "PyTorchJobRunning")
	w.pod("master", nil)
	w.pod("worker", nil)
	w.reconcile()
	if note, ok := warned(w.job); !ok || len(note.Checks) != mostWarnings || note.More != 1 {
		t.Errorf("remembered is %+v", note)
	}
	w = reviewed(t, "shm-missing")
	w.job.SetCreationTimestamp(metav1.NewTime(start.Add(-freshJob - time.Second)))
	w.condition("Running", "PyTorchJobRunning")
	w.reconcile()
	if _, ok := warned(w.job); ok {
		t.Error("admission of a job that is old said something else, perhaps")
	}
	w = reviewed(t, "shm-missing")
	w.annotate(Warned, `{"at":"2026-11-19T08:00:00Z","checks":[{"check":"x","says":"y"}]}`)
	w.condition("Running", "PyTorchJobRunning")
	w.reconcile()
	if note, _ := warned(w.job); len(note.Checks) != 1 || note.Checks[0].Check != "shm-missing" {
		t.Errorf("what came with a copied job is believed: %+v", note)
	}
}

// A sentence is remembered whole up to a bound, and shows that it was cut beyond it.
func TestALongWarningShowsThatItIsCut(t *testing.T) {
	for n, whole := range map[int]bool{237: true, 238: false, 5000: false} {
		w := reviewed(t)
		says := strings.Repeat("word ", n)[:n-1] + "d"
		w.Review = func(context.Context, *unstructured.Unstructured) ([]Warning, bool) {
			return []Warning{{Check: "shm-missing", Says: says}}, true
		}
		w.condition("Running", "PyTorchJobRunning")
		w.pod("master", nil)
		w.pod("worker", nil)
		w.reconcile()
		note, ok := warned(w.job)
		if !ok || len(note.Checks) != 1 {
			t.Fatalf("remembered is %+v", note)
		}
		if got := note.Checks[0].Says; (got == says) != whole || strings.HasSuffix(got, "…") == whole || len(got) > 240 {
			t.Errorf("of %d bytes %d are remembered, to %q", n, len(got), got[len(got)-9:])
		}
	}
}

func TestOutcomesOfAWarning(t *testing.T) {
	waits := diagnose.Result{Verdict: diagnose.Diagnosed, Category: "unschedulable-gpu"}
	for name, tc := range map[string]struct {
		check  string
		result diagnose.Result
		state  kinds.State
		want   Outcome
	}{
		"it waits of that":       {"gang-does-not-fit", waits, kinds.State{Phase: kinds.Created}, CameTrue},
		"it waits of another":    {"secret-missing", waits, kinds.State{Phase: kinds.Created}, ""},
		"somebody stopped it":    {"secret-missing", diagnose.Result{Verdict: diagnose.Healthy}, kinds.State{Phase: kinds.Failed, Reason: "JobCancelled"}, Unsaid},
		"nobody knows the cause": {"secret-missing", diagnose.Result{Verdict: diagnose.Inconclusive}, kinds.State{Phase: kinds.Failed}, Unsaid},
	} {
		t.Run(name, func(t *testing.T) {
			if got := outcome(tc.check, tc.result, tc.state); got != tc.want {
				t.Errorf("outcome is %q, want %q", got, tc.want)
			}
		})
	}
}

// The table names checks and categories that there are.
func TestWhatChecksPredictExists(t *testing.T) {
	known := map[string]bool{}
	for _, c := range checks.All() {
		known[c.Name] = true
	}
	for name, categories := range predicts {
		if !known[name] {
			t.Errorf("no check is called %q", name)
		}
		for _, c := range categories {
			if _, ok := signature.CategoryOf(c); !ok {
				t.Errorf("%s: no category is called %q", name, c)
			}
		}
	}
}

// Of the managers of a job the cache keeps what put on its finalizers, and nothing else of them.
func TestWhoPutOnAFinalizerIsKept(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetManagedFields([]metav1.ManagedFieldsEntry{
		{Manager: "keeper", FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{"f:a":{}},"f:finalizers":{".":{},"v:\"x/y\"":{}}},"f:spec":{"f:z":{}}}`)},
		{Manager: "kubectl", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:z":{}}}`)},
	})
	trimManagers(u)
	kept := u.GetManagedFields()
	if len(kept) != 1 || kept[0].Manager != "keeper" || kept[0].FieldsV1.GetRawString() != `{"f:metadata":{"f:finalizers":{".":{},"v:\"x/y\"":{}}}}` {
		t.Errorf("kept are %v", kept)
	}
}

// A sentence that names what is short at its end is told to its end; many together have no more room than before.
func TestAWarningIsRememberedToItsEnd(t *testing.T) {
	says := "0 of 2 pods fit now: the 2 Workers ask for 16 nvidia.com/gpu, but the 5 nodes they may use have 8 free, and " + strings.Repeat("x", 40) + " is the node to wait for"
	for n, whole := range map[int]bool{1: true, 4: true, mostWarnings: false} {
		w := newWorld(t)
		w.Review = func(context.Context, *unstructured.Unstructured) (out []Warning, ok bool) {
			for range n {
				out = append(out, Warning{Check: "gang-does-not-fit", Says: says})
			}
			return out, true
		}
		note := w.Reconciler.review(t.Context(), w.job, view{now: start})
		all := 0
		for _, c := range note.Checks {
			all += len(c.Says)
			if (c.Says == says) != whole {
				t.Errorf("beside %d others: %q", n-1, c.Says)
			}
		}
		if all > allSaid {
			t.Errorf("%d warnings take %d bytes; want at most %d", n, all, allSaid)
		}
	}
}

// Whoever may edit a job may write what it was warned of.
func TestAnAuthorMakesNoSeries(t *testing.T) {
	into := prometheus.NewRegistry()
	m, err := newMetrics(into)
	if err != nil {
		t.Fatal(err)
	}
	m.settled("gang-does-not-fit", CameTrue)
	for i := range 1000 {
		m.settled(fmt.Sprint("made-up-", i), Unsaid)
	}
	all, err := into.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if f.GetName() == "signalbox_check_outcomes_total" && len(f.GetMetric()) != 2 {
			t.Errorf("%d series; want 2", len(f.GetMetric()))
		}
	}
}
