package quota_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/quota"
	"github.com/signalbox-dev/signalbox/test/build"
)

func TestQueuesOfT9k(t *testing.T) {
	t9k := func(spec, status string) string {
		return "apiVersion: scheduler.tensorstack.dev/v1beta1\nkind: Queue\nmetadata: {name: q, namespace: t9k-system}\nspec: {" + spec + "}\nstatus: {" + status + "}"
	}
	cases := map[string]struct {
		objects string
		gang    gang.Gang
		want    string
	}{
		"above":             {t9k("quota: {requests: {nvidia.com/gpu: 8}}", ""), build.Queued(gang.T9k, "q", build.Workers(2, "8")), "never queue-quota Queue t9k-system/q: 2 Workers ask for 16 nvidia.com/gpu; the queue may hold 8\n"},
		"in use":            {t9k("quota: {requests: {nvidia.com/gpu: 16}}", "allocated: {nvidia.com/gpu: 4}"), build.Queued(gang.T9k, "q", build.Workers(2, "8")), "now queue-quota Queue t9k-system/q: 2 Workers ask for 16 nvidia.com/gpu beside 4 in use; the queue may hold 16\n"},
		"closed":            {t9k("closed: true", ""), build.Queued(gang.T9k, "q", build.Workers(1, "8")), "now queue-closed Queue t9k-system/q: it is closed; it takes no jobs until it is opened\n"},
		"missing":           {t9k("", ""), build.Queued(gang.T9k, "other", build.Workers(1, "8")), "never queue-missing Queue other: it does not exist; there is q\n"},
		"KAI is not judged": {t9k("", ""), build.Queued(gang.KAI, "other", build.Workers(1, "8")), ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := build.View(t, tc.objects, []string{"queues.scheduling.volcano.sh", "queues.scheduler.tensorstack.dev"})
			if diff := cmp.Diff(tc.want, build.Violations(s, tc.gang)); diff != "" {
				t.Errorf("Limits (-want +got):\n%s", diff)
			}
		})
	}
}

// Where nobody looked at queues, a gang of one is left as it is.
func TestAQueueThatNobodyReadHasNoNodes(t *testing.T) {
	g := gang.Gang{System: gang.T9k, Queue: "research", Groups: []gang.Group{{Name: "worker", Count: 1}}}
	for name, s := range map[string]*cluster.Snapshot{"no snapshot": nil, "no rules": {}} {
		if diff := cmp.Diff(g.Groups, quota.OnNodesOfQueue(s, g).Groups); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
