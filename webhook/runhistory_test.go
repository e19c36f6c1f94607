package webhook

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

func ended(name, generate, uid string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet"}}
	u.SetNamespace("ml")
	u.SetName(name)
	u.SetGenerateName(generate)
	u.SetUID(types.UID(uid))
	at := time.Now().UTC().Format(time.RFC3339)
	u.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Failed", "status": "True", "lastTransitionTime": at}}}
	return u
}

// TestRunsOfASeriesAreRemembered: those of the name and of the generateName, each once, without the job itself,
// and not those of other jobs.
func TestRunsOfASeriesAreRemembered(t *testing.T) {
	var r runHistory
	r.note("no object")
	r.note(ended("train-a", "train-", "1"))
	r.note(ended("train-b", "train-", "2"))
	r.note(ended("train-b", "train-", "2"))
	r.note(ended("train", "", "3"))
	r.note(ended("other", "", "4"))
	running := ended("train-r", "train-", "5")
	delete(running.Object, "status")
	r.note(running)
	for uid, want := range map[string]int{"": 2, "2": 1} {
		got, known := r.before(ended("train-a", "train-", uid))
		if !known || len(got.Runs) != want || got.FailuresInARow != want {
			t.Errorf("before %q: %+v, %v; want %d runs", uid, got, known, want)
		}
	}
	if got, known := r.before(ended("never", "", "")); !known || !got.Known || len(got.Runs) != 0 {
		t.Errorf("%+v, %v; want none, for sure", got, known)
	}
}

// TestRunsAreBounded: one above each bound; what was dropped is counted, and what cannot be counted is not known.
func TestRunsAreBounded(t *testing.T) {
	var r runHistory
	for i := range mostRunsOf + 1 {
		r.note(ended("train", "", fmt.Sprint(i)))
	}
	if got, _ := r.before(ended("train", "", "")); got.More != mostRunsOf+1-len(got.Runs) {
		t.Errorf("%d runs and %d more; want %d in all", len(got.Runs), got.More, mostRunsOf+1)
	}
	for i := range mostSeries - 1 {
		r.note(ended(fmt.Sprint("job-", i), "", fmt.Sprint("u", i)))
	}
	if len(r.byUID) != mostRuns || len(r.oldest["ml"]) != mostRuns || r.n != mostSeries {
		t.Errorf("%d runs, %d in order, %d series", len(r.byUID), len(r.oldest["ml"]), r.n)
	}
	if got, known := r.before(ended("train", "", "")); !known || len(got.Runs) != 0 || got.More != mostRunsOf+1 {
		t.Errorf("%+v, %v; want the number of runs alone", got, known)
	}
	if got, known := r.before(ended("never", "", "")); !known || got.More != 0 {
		t.Errorf("%+v, %v; want none, for sure", got, known)
	}
	r.note(ended("one-more", "", "one-more"))
	if r.n > mostSeries || r.n != len(r.series["ml"]) {
		t.Errorf("%d series, %d of the namespace", r.n, len(r.series["ml"]))
	}
	if _, known := r.before(ended("never", "", "")); known {
		t.Error("a series that found no room is taken for known")
	}
}

// TestRunsOfOneNamespaceLeaveThoseOfOthers: thousands of jobs of one author take nothing from the policies of others. What was
// lost is missed for a while.
func TestRunsOfOneNamespaceLeaveThoseOfOthers(t *testing.T) {
	var r runHistory
	other := func(name, uid string) *unstructured.Unstructured {
		u := ended(name, "", uid)
		u.SetNamespace("other")
		return u
	}
	r.note(other("train", "0"))
	for i := range 2 * mostSeries {
		r.note(ended(fmt.Sprint("job-", i), "", fmt.Sprint("u", i)))
	}
	for name, want := range map[string]int{"train": 1, "never": 0} {
		if got, known := r.before(other(name, "")); !known || len(got.Runs) != want || got.More != 0 {
			t.Errorf("%s: %+v, %v; want %d, for sure", name, got, known, want)
		}
	}
	if _, known := r.before(ended("never", "", "")); known {
		t.Error("what the namespace itself has lost is taken for known")
	}
	for namespace := range r.lost {
		r.lost[namespace] = time.Now().Add(-missed - time.Hour)
	}
	if _, known := r.before(ended("never", "", "")); !known {
		t.Error("what was lost long ago is missed")
	}
}

// TestNamespacesThatComeAndGoAreForgotten: a namespace for each job leaves no more behind than there is room for, and what is no
// longer remembered is nothing that is known.
func TestNamespacesThatComeAndGoAreForgotten(t *testing.T) {
	var r runHistory
	note := func(i int) {
		u := ended("train", "", fmt.Sprint("u", i))
		u.SetNamespace(fmt.Sprint("team-", i))
		r.note(u)
	}
	for i := range mostSeries + mostLost {
		note(i)
	}
	if len(r.oldest) > mostRuns || len(r.series) > mostSeries || len(r.lost) != mostLost {
		t.Fatalf("%d namespaces with runs, %d with series, %d that miss some", len(r.oldest), len(r.series), len(r.lost))
	}
	if _, known := r.before(ended("never", "", "")); !known {
		t.Error("a namespace that has lost nothing misses runs")
	}
	note(mostSeries + mostLost)
	if _, known := r.before(ended("never", "", "")); known || len(r.lost) != 1 {
		t.Errorf("known %v with %d that miss some; want that nobody is known whole", known, len(r.lost))
	}
}

// A run that says that it will have ended in years ended when it was seen: it is not for ever the last one, nor that of whoever has
// the name of its namespace then.
func TestARunOfTheFutureEndedWhenItWasSeen(t *testing.T) {
	var r runHistory
	of := func(name, uid, kind string, at time.Time) *unstructured.Unstructured {
		u := ended(name, "train-", uid)
		u.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": kind, "status": "True", "lastTransitionTime": at.UTC().Format(time.RFC3339)}}}
		return u
	}
	begun := time.Now()
	forged := of("train-a", "1", "Completed", begun.AddDate(73, 0, 0))
	r.note(forged)
	r.note(of("train-b", "2", "Failed", begun.Add(-time.Hour)))
	for range 2 { // and it stays so when something else of it changes
		got, known := r.before(ended("train-c", "train-", "3"))
		if !known || len(got.Runs) != 2 || got.Runs[0].Name != "train-a" {
			t.Fatalf("%+v, %v; want the two runs, the one of the future first", got, known)
		}
		at, err := time.Parse(time.RFC3339, got.Runs[0].Ended)
		if err != nil || at.After(time.Now()) || at.Before(begun.Add(-time.Second)) {
			t.Errorf("it ended at %s (%v); want when it was seen", got.Runs[0].Ended, err)
		}
		r.note(forged)
	}
	r.note(of("train-d", "4", "Failed", time.Now().Add(-time.Nanosecond)))
	r.byUID["1"].run.Ended = begun.Add(-time.Minute).UTC().Format(time.RFC3339) // a minute has passed
	if got, _ := r.before(ended("train-c", "train-", "3")); got.FailuresInARow != 1 {
		t.Errorf("%d failures in a row; want the one behind the success", got.FailuresInARow)
	}
}
