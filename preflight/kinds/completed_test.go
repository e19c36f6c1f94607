package kinds

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPodsThatHaveCompleted(t *testing.T) {
	const (
		pods   = `{spec: {containers: [{name: c, image: "i:1"}]}}`
		batch  = `{parallelism: 3, completions: 5, template: ` + pods + `}`
		queue  = `{parallelism: 3, template: ` + pods + `}`
		jobs   = `{replicatedJobs: [{name: prep, replicas: 1, template: {spec: {template: ` + pods + `}}}, {name: w, replicas: 2, template: {spec: {parallelism: 4, completions: 4, template: ` + pods + `}}}]}`
		torch  = `{pytorchReplicaSpecs: {Master: {replicas: 1, template: ` + pods + `}, Worker: {replicas: 3, template: ` + pods + `}}}`
		tasked = `{tasks: [{name: w, replicas: 3, template: ` + pods + `}]}`
	)
	for name, tc := range map[string]struct {
		kind         *Kind
		spec, status string
		want         map[string]int
	}{
		"a Job at its beginning":              {batchJob, batch, `{active: 3}`, nil},
		"a Job with enough left":              {batchJob, batch, `{active: 3, succeeded: 2}`, map[string]int{"pod": 0}},
		"a Job at its end":                    {batchJob, batch, `{active: 1, succeeded: 4}`, map[string]int{"pod": 2}},
		"more than were asked for":            {batchJob, batch, `{succeeded: 9}`, map[string]int{"pod": 3}},
		"a queue of work, begun":              {batchJob, queue, `{active: 3}`, nil},
		"a queue of work that is empty":       {batchJob, queue, `{active: 1, succeeded: 2}`, map[string]int{"pod": 2}},
		"a Job of a JobSet":                   {jobSet, jobs, `{replicatedJobsStatus: [{name: prep, succeeded: 1}, {name: w, succeeded: 1, active: 1}, {name: other, succeeded: 1}]}`, map[string]int{"prep": 1, "w": 4}},
		"more Jobs than there are":            {jobSet, jobs, `{replicatedJobsStatus: [{name: w, succeeded: 2000000000}]}`, map[string]int{"w": 8}},
		"workers of a PyTorchJob":             {pytorchJob, torch, `{replicaStatuses: {Master: {active: 1}, Worker: {succeeded: 3}}}`, map[string]int{"Master": 0, "Worker": 3}},
		"a task of Volcano":                   {volcanoJob, tasked, `{state: {phase: Running}, taskStatusCount: {w: {phase: {Succeeded: 2, Running: 1}}}}`, map[string]int{"w": 2}},
		"a task of a job that starts again":   {volcanoJob, tasked, `{state: {phase: Restarting}, taskStatusCount: {w: {phase: {Succeeded: 2, Running: 1}}}}`, nil},
		"a status of which nothing was meant": {pytorchJob, torch, `{replicaStatuses: [1], succeeded: many}`, map[string]int{}},
	} {
		t.Run(name, func(t *testing.T) {
			gvk := tc.kind.GVKs[0]
			u := objectOf(t, "{metadata: {name: x, namespace: ml}, spec: "+tc.spec+", status: "+tc.status+"}")
			u.SetGroupVersionKind(gvk)
			j, err := tc.kind.Read(u, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, tc.kind.Completed(j)); diff != "" {
				t.Errorf("Completed (-want +got):\n%s", diff)
			}
		})
	}
}
