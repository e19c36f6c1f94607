package controller

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	"github.com/signalbox-dev/signalbox/preflight/cluster/live"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

func TestHowLongAnAegisDiagnosisLives(t *testing.T) {
	for name, tc := range map[string]struct {
		ttl   *aegisTTL
		phase string
		lives time.Duration
		ends  bool
	}{
		"nothing is said":                      {nil, aegisCompleted, 7 * 24 * time.Hour, true},
		"completion comes before success":      {&aegisTTL{Completion: new(int32(5)), Success: new(int32(9))}, aegisCompleted, 5 * time.Second, true},
		"a success":                            {&aegisTTL{Success: new(int32(9))}, aegisCompleted, 9 * time.Second, true},
		"a failure":                            {&aegisTTL{Success: new(int32(9)), Failure: new(int32(3))}, aegisFailed, 3 * time.Second, true},
		"a failure where success alone counts": {&aegisTTL{Success: new(int32(9))}, aegisFailed, 0, false},
		"no time at all":                       {&aegisTTL{}, aegisCompleted, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			if lives, ends := tc.ttl.of(tc.phase); lives != tc.lives || ends != tc.ends {
				t.Errorf("lives %s, ends %t; want %s, %t", lives, ends, tc.lives, tc.ends)
			}
		})
	}
}

func TestAnAegisDiagnosisStaysSmall(t *testing.T) {
	r := diagnose.Result{Verdict: diagnose.Diagnosed, Error: "worker-0 failed", Analysis: strings.Repeat("é", aegisBytes)}
	for i := range aegisLines + 1 {
		r.Effects = append(r.Effects, diagnose.Cause{Title: "it followed", Source: evidence.Source{Pod: fmt.Sprint("worker-", i)}})
	}
	s := aegisAnswer(metav1.NewTime(start), &unstructured.Unstructured{}, r)
	if n := len(s.Result.Warnings); n != aegisLines || s.Result.Warnings[n-1] != "and 2 more" || s.Result.Warnings[0] != "worker-0: it followed" {
		t.Errorf("%d warnings of %d, the last: %q", n, aegisLines+1, s.Result.Warnings[n-1])
	}
	if r.Effects = r.Effects[:aegisLines]; len(aegisAnswer(metav1.NewTime(start), &unstructured.Unstructured{}, r).Result.Warnings) != aegisLines {
		t.Errorf("%d warnings are not all there", aegisLines)
	}
	if len(s.Explain) > aegisBytes {
		t.Errorf("explain has %d bytes; at most %d", len(s.Explain), aegisBytes)
	}
}

// A status is believed where nobody else has written any of it.
func TestWhoWroteAnAegisDiagnosis(t *testing.T) {
	entry := func(manager, subresource, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Subresource: subresource, FieldsV1: metav1.NewFieldsV1(fields)}
	}
	ours := entry(FieldOwner, "status", `{"f:status":{"f:phase":{}}}`)
	for name, tc := range map[string]struct {
		fields []metav1.ManagedFieldsEntry
		want   bool
	}{
		"nobody":            {nil, false},
		"Signalbox":         {[]metav1.ManagedFieldsEntry{entry("kubectl", "", `{"f:spec":{}}`), ours}, true},
		"somebody as well":  {[]metav1.ManagedFieldsEntry{ours, entry("somebody", "status", `{"f:status":{"f:explain":{}}}`)}, false},
		"in the object":     {[]metav1.ManagedFieldsEntry{entry(FieldOwner, "", `{"f:status":{"f:phase":{}}}`)}, false},
		"somebody else all": {[]metav1.ManagedFieldsEntry{entry("somebody", "status", `{"f:status":{"f:phase":{}}}`)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{}
			u.SetGroupVersionKind(aegisKind)
			u.SetManagedFields(tc.fields)
			held, err := keepObject(u)
			if err != nil {
				t.Fatal(err)
			}
			if got := aegisOwn(held.(*live.PackedObject).Object()); got != tc.want {
				t.Errorf("own: %t, want %t", got, tc.want)
			}
		})
	}
}

// Whoever creates thousands of AegisDiagnosis objects makes those of others wait for one of them, and not for all.
func TestAegisDiagnosesOfNamespacesHaveTheirTurns(t *testing.T) {
	q := aegisQueue("", workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](firstRetry, lastRetry))
	defer q.ShutDown()
	for i := range 3000 {
		q.Add(types.NamespacedName{Namespace: "greedy", Name: fmt.Sprint(i)})
	}
	q.Add(types.NamespacedName{Namespace: "ml", Name: "a"})
	q.Add(types.NamespacedName{Namespace: "ml", Name: "b"})
	q.Add(types.NamespacedName{Namespace: "ml", Name: "a"}) // which waits already
	q.Add(types.NamespacedName{Namespace: "other", Name: "c"})
	var got []string
	for range 7 {
		name, _ := q.Get()
		got = append(got, name.String())
		q.Done(name)
	}
	if diff := cmp.Diff([]string{"greedy/0", "ml/a", "other/c", "greedy/1", "ml/b", "greedy/2", "greedy/3"}, got); diff != "" {
		t.Errorf("answered in turn (-want +got):\n%s", diff)
	}
	for q.Len() > 0 {
		name, _ := q.Get()
		q.Done(name)
		got = append(got, name.String())
	}
	if len(got) != 3003 {
		t.Errorf("%d were answered; want 3003", len(got))
	}
}
