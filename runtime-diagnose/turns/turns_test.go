package turns

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// named is a queue of namespace/name; what begins with "low" is low until it is raised.
func named(raised map[string]bool) *Queue[string] {
	return New(func(s string) string { ns, _, _ := strings.Cut(s, "/"); return ns }, func(s string) bool { return strings.Contains(s, "/low") && !raised[s] })
}

func drain(q *Queue[string]) (out []string) {
	for q.Len() > 0 {
		out = append(out, q.Pop())
	}
	return out
}

func TestNamespacesHaveTheirTurns(t *testing.T) {
	q := named(nil)
	for i := range 3 {
		q.Push(fmt.Sprint("greedy/", i))
	}
	q.Push("ml/a")
	q.Push("ml/b")
	q.Touch("ml/b") // it keeps its place
	got := []string{q.Pop(), q.Pop()}
	q.Push("late/c")
	if diff := cmp.Diff([]string{"greedy/0", "ml/a", "greedy/1", "ml/b", "late/c", "greedy/2"}, append(got, drain(q)...)); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if len(q.waiting)+len(q.rounds[0].of)+len(q.rounds[0].next) != 0 {
		t.Errorf("something is left: %+v", q)
	}
}

// One namespace that always has something to be done leaves a turn in four to what others have waited for.
func TestWhatIsLowIsNotStarved(t *testing.T) {
	q := named(nil)
	q.Push("ml/low")
	var got []string
	for range 5 {
		q.Push("greedy/now")
		got = append(got, q.Pop())
		if got[len(got)-1] == "ml/low" {
			break
		}
	}
	if diff := cmp.Diff([]string{"greedy/now", "greedy/now", "greedy/now", "ml/low"}, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestWhatIsLowComesAfterTheOthers(t *testing.T) {
	raised := map[string]bool{}
	q := named(raised)
	for _, item := range []string{"greedy/low0", "greedy/low1", "greedy/low2", "ml/low3", "greedy/now"} {
		q.Push(item)
	}
	raised["greedy/low2"], raised["ml/low3"] = true, true
	q.Touch("greedy/low2")
	q.Touch("ml/low3")
	if diff := cmp.Diff([]string{"greedy/now", "ml/low3", "greedy/low2", "greedy/low0", "greedy/low1"}, drain(q)); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if len(q.rounds[1].of)+len(q.rounds[1].next) != 0 {
		t.Errorf("something is left: %+v", q.rounds[1])
	}
}
