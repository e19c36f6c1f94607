package fit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/quota"
	"github.com/signalbox-dev/signalbox/test/build"
)

// TestWhatOfAQueueIsNotJudgedIsSaid is about the limits of what a queue is asked: beyond them no limit is
// found, and the answer says that none was looked for.
func TestWhatOfAQueueIsNotJudgedIsSaid(t *testing.T) {
	above := func(queues int) string { // the queue on top is too small
		var text strings.Builder
		for i := range queues {
			fmt.Fprintf(&text, "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: q%d}\nspec: {%s}\n", i, []string{"parent: q" + fmt.Sprint(i+1), "capability: {nvidia.com/gpu: 1}"}[bit(i == queues-1)])
		}
		return text.String()
	}
	roles := func(n int) gang.Gang {
		var g gang.Gang
		for i := range n {
			g.Groups = append(g.Groups, group(fmt.Sprintf("w%d", i), 1, build.Asks("2")))
		}
		return queued(gang.Kueue, "team", gangOf(g.Groups...))
	}
	flavors := func(each int) string { // each is odd: one GPU of every flavor stays unused
		return localQ("") + clusterQ("cq", "", fmt.Sprintf("a=%d b=%d", each, each), "")
	}
	cases := map[string]struct {
		objects string
		gang    gang.Gang
		limit   bool   // a limit is found
		note    string // empty: all was judged
	}{
		"16 queues above each other": {above(16), queued(gang.Volcano, "q0", gpus(1, "8")), true, ""},
		"17 queues above each other": {above(17), queued(gang.Volcano, "q0", gpus(1, "8")), false, "whether Volcano's queue q16 has room is not judged, nor any above it: it is more than 15 queues above q0, or above itself"},
		"11 roles in two flavors":    {flavors(11), roles(11), true, ""},
		"15 roles in two flavors":    {flavors(15), roles(15), false, "whether ClusterQueue cq has quota for 15 roles is not judged: its flavors can be dealt to them in more than 16384 ways"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := whatif.Answer(t.Context(), ruled(t, tc.objects, nil, build.Nodes(8, "n", build.GPUs(8))), tc.gang)
			if found := len(r.Violations) > 0; found != tc.limit {
				t.Errorf("a limit is found: %t, want %t: %v", found, tc.limit, r.Violations)
			}
			if said := slices.ContainsFunc(r.Assumed, func(a string) bool { return strings.Contains(a, "not judged") }); said != (tc.note != "") || tc.note != "" && !slices.Contains(r.Assumed, tc.note) {
				t.Errorf("assumed %q, want %q", r.Assumed, tc.note)
			}
			if tc.note != "" && r.Verdict == fit.Fits {
				t.Error("what was not judged is taken for a yes")
			}
		})
	}
}

// TestWhatRunsBesideWhatIsNotSortedForEver is about roles that wait for each other: a quota for five pods holds each alone.
func TestWhatRunsBesideWhatIsNotSortedForEver(t *testing.T) {
	const five = "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: ml}\nspec: {hard: {pods: 5}}\nstatus: {hard: {pods: 5}, used: {pods: 0}}\n"
	s := ruled(t, five, nil, build.Node("n"))
	for name, tc := range map[string]struct {
		gang gang.Gang
		note []string
	}{
		"200 roles in a row":               {in("ml", inARow(200, 199)), nil},
		"1,000 roles in a row":             {in("ml", inARow(1000, 1)), nil},
		"2,000, each after the one before": {in("ml", inARow(2000, 1)), []string{"which of the 2000 roles run at the same time is not judged: they wait for each other in too many ways"}},
		"2,000 roles in a row":             {in("ml", inARow(2000, 199)), []string{"which of the 2000 roles run at the same time is not judged: they wait for each other in too many ways"}},
	} {
		if limits, notes := quota.Check(s, tc.gang); len(limits) > 0 || !slices.Equal(notes.Told, tc.note) || !slices.Equal(notes.Doubts, tc.note) {
			t.Errorf("%s: limits %v, notes %q, want none and %q, which are doubts", name, limits, notes, tc.note)
		}
	}
}
