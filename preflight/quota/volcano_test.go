package quota_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/test/build"
)

func TestQueuesOfVolcano(t *testing.T) {
	volcano := func(spec, status string) string {
		return "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: q}\nspec: {" + spec + "}\nstatus: {" + status + "}"
	}
	least := build.Queued(gang.Volcano, "q", build.Gang(build.Group("Master", 1, build.Asks("1")), build.Group("Worker", 3, build.Asks("8"))))
	least.MinMembers = 2
	cases := map[string]struct {
		objects string
		gang    gang.Gang
		want    string
	}{
		"within":                      {volcano("capability: {nvidia.com/gpu: 16}", "state: Open"), build.Queued(gang.Volcano, "q", build.Workers(2, "8")), ""},
		"above":                       {volcano("capability: {nvidia.com/gpu: 15}", ""), build.Queued(gang.Volcano, "q", build.Workers(2, "8")), "never queue-quota Queue q: 2 Workers ask for 16 nvidia.com/gpu; the queue may hold 15\n"},
		"in use":                      {volcano("capability: {nvidia.com/gpu: 16}", "allocated: {nvidia.com/gpu: 4}"), build.Queued(gang.Volcano, "q", build.Workers(2, "8")), "now queue-quota Queue q: 2 Workers ask for 16 nvidia.com/gpu beside 4 in use; the queue may hold 16\n"},
		"no cpu is no limit":          {volcano("capability: {cpu: 0}", ""), build.Queued(gang.Volcano, "q", build.Gang(build.Group("Worker", 2, build.Requests("cpu=8")))), ""},
		"closing":                     {volcano("", "state: Closing"), build.Queued(gang.Volcano, "q", build.Workers(1, "8")), "now queue-closed Queue q: its state is Closing; it takes jobs when that is Open\n"},
		"a queue above it":            {volcano("parent: p", "") + "\n---\n" + strings.Replace(volcano("capability: {nvidia.com/gpu: 8}", ""), "name: q", "name: p", 1), build.Queued(gang.Volcano, "q", build.Workers(2, "8")), "never queue-quota Queue p: 2 Workers ask for 16 nvidia.com/gpu; the queue may hold 8\n"},
		"a queue below it":            {volcano("", "") + "\n---\n" + strings.Replace(volcano("parent: q", ""), "name: q", "name: c", 1), build.Queued(gang.Volcano, "q", build.Workers(2, "8")), "never queue-closed Queue q: other queues are below it; Volcano takes jobs only for a queue that has none below it\n"},
		"what has to start is enough": {volcano("capability: {nvidia.com/gpu: 9}", ""), least, ""},
		"what has to start is above":  {volcano("capability: {nvidia.com/gpu: 8}", ""), least, "never queue-quota Queue q: 1 Master + 3 Workers ask for 9 nvidia.com/gpu; the queue may hold 8\n"},
		"missing":                     {volcano("", ""), build.Queued(gang.Volcano, "other", build.Workers(1, "8")), "never queue-missing Queue other: it does not exist; there is q\n"},
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
