package fit_test

import (
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/test/build"
)

// TestAQueueOfT9kHasNodes: the scheduler puts the pods of a queue on the queue's nodes and nowhere else, whatever
// else the pods choose.
func TestAQueueOfT9kHasNodes(t *testing.T) {
	const queue = "apiVersion: scheduler.tensorstack.dev/v1beta1\nkind: Queue\nmetadata: {name: q, namespace: t9k-system}\nspec: "
	nodes := []build.Item{build.Node("a", build.GPUs(8), build.Label("zone", "peking")), build.Node("b", build.GPUs(8), build.Label("zone", "tianjin"))}
	cases := map[string]struct {
		queue string
		pods  gang.Gang
		want  string // the answer begins so
		note  string
	}{
		"all":                      {"{}", build.Workers(2, "8"), "2 of 2 pods fit", ""},
		"by a label":               {"{nodeSelector: {matchLabels: {zone: peking}}}", build.Workers(2, "8"), "1 of 2 pods fit", "the pods of Queue q run on nodes with zone=peking alone"},
		"by an expression":         {"{nodeSelector: {matchExpressions: [{key: zone, operator: NotIn, values: [peking]}]}}", build.Workers(2, "8"), "1 of 2 pods fit", "the pods of Queue q run on nodes with zone notin (peking) alone"},
		"beside the pods' own":     {"{nodeSelector: {matchLabels: {zone: peking}}}", build.Gang(build.Group("Worker", 1, build.Asks("8"), build.Selects("zone", "tianjin"))), "the pod does not fit: no node may take it (2 nodes not selected)", "the pods of Queue q run on nodes with zone=peking alone"},
		"for namespaces, this one": {"{namespaceSelector: {matchLabels: {team: red}}}", build.Workers(2, "8"), "2 of 2 pods fit", ""},
		"for other namespaces": {
			"{namespaceSelector: {matchLabels: {team: blue}}}", build.Workers(2, "8"), "2 of 2 pods fit",
			"Queue q is for namespaces with team=blue, or for users who were given it; whether this one was is not known",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := whatif.Answer(t.Context(), build.View(t, build.Namespace+queue+tc.queue, nil, nodes), build.Queued(gang.T9k, "q", tc.pods))
			if !strings.HasPrefix(r.String(), tc.want) {
				t.Errorf("the answer is %q; it should begin with %q", r, tc.want)
			}
			if changes := strings.Join(r.Changes, "\n"); strings.Contains(changes, "affinity") {
				t.Errorf("changes:\n%s\nthe pods have no affinity", changes)
			}
			if notes := strings.Join(r.Assumed, "\n"); tc.note != "" && !strings.Contains(notes, tc.note) || tc.note == "" && strings.Contains(notes, "Queue") {
				t.Errorf("assumed is\n%s\nwant %q", notes, tc.note)
			}
		})
	}
}
