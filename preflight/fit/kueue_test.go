package fit_test

import (
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/quota"
	"github.com/signalbox-dev/signalbox/test/build"
)

func TestWhatTheViewOfQueuesLacksIsUnknown(t *testing.T) {
	g := queued(gang.Kueue, "team", gpus(3, "8"))
	node := build.Nodes(3, "a", build.GPUs(8))
	cases := map[string]struct {
		objects string
		whole   []string
		want    string
	}{
		"no queues at all":                   {gpuQuota[1:], nil, "the LocalQueue team was not read; what it allows is not known"},
		"a queue of another name":            {queues("teams"), nil, "the LocalQueue team was not read (teams was); what it allows is not known"},
		"more queues than are named":         {queues("a", "b", "c", "d"), nil, "the LocalQueue team was not read; what it allows is not known"},
		"a cohort that may have more queues": {localQ("") + clusterQ("cq", ", cohort: all", "h100=8", ""), build.Kueue()[:1], "the cohort all of ClusterQueue cq is not whole in the snapshot; what may be borrowed is not known"},
		"a resource without a quota": {
			localQ("") + strings.ReplaceAll(clusterQ("cq", "", "h100=64", ""), "nvidia.com/gpu", "cpu"), build.Kueue(),
			"ClusterQueue cq has no quota for nvidia.com/gpu; unless Kueue is configured to leave it out, the job is not admitted",
		},
	}
	byDefault := queued(gang.Kueue, "default", gpus(3, "8")) // a queue like others, unlike Volcano's
	if r := whatif.Answer(t.Context(), ruled(t, gpuQuota[1:], nil, node), byDefault); r.Verdict != fit.Unknown {
		t.Errorf("%s, where the LocalQueue default was not read; want unknown", r.Verdict)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := whatif.Answer(t.Context(), ruled(t, tc.objects, tc.whole, node), g)
			if r.Verdict != fit.Unknown {
				t.Errorf("%s; a yes that hangs on what was not read is none", r.Verdict)
			}
			for _, l := range r.Violations {
				if l.Rule != quota.RuleQuota {
					t.Errorf("a limit: %s", l)
				}
			}
			if got := strings.Join(r.Assumed, "\n"); !strings.Contains(got, tc.want) {
				t.Errorf("assumed %q; want %q among it", got, tc.want)
			}
		})
	}
}

// queues are local queues of the job's namespace.
func queues(names ...string) string {
	out := build.Namespace
	for _, name := range names {
		out += strings.Replace(localQ("")[len(build.Namespace):], "name: team", "name: "+name, 1)
	}
	return out
}

func TestTheDefaultQueueIsFilledIn(t *testing.T) {
	objects := strings.Replace(localQ("")+clusterQ("cq", "", "h100=8", ""), "name: team", "name: default", 1)
	g := in("ml", gpus(2, "8"))
	g.Self.Group, g.Self.Resource = "kubeflow.org", "pytorchjobs"
	r := whatif.Answer(t.Context(), ruled(t, objects, build.Kueue(), build.Nodes(1, "a", build.GPUs(8))), g)
	if r.Queue != "default" || !r.Blocked() || r.Warns() {
		t.Errorf("queue %q, blocked %t, speaks %t; want default, true, false", r.Queue, r.Blocked(), r.Warns())
	}
	g.Self.Group = "frameworkcontroller.microsoft.com"
	if r := whatif.Answer(t.Context(), ruled(t, objects, build.Kueue(), build.Nodes(1, "a", build.GPUs(8))), g); r.Queue != "" || r.Held() {
		t.Errorf("a kind that Kueue does not queue: queue %q, limits %v; want none", r.Queue, r.Violations)
	}
}

func TestPodsOfKubernetes135NameAWorkloadWhereTheJobIsWritten(t *testing.T) {
	source := objects(t, "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: train}\nspec: {template: {spec: {workloadRef: {name: w, podGroup: workers}}}}")[0]
	j := &job.Job{Source: source, Roles: []job.Role{{Name: "Worker", Replicas: job.Exactly(4), Pod: job.Pod{Path: "spec.template.spec"}}}}
	if g := gang.Of(j).Groups[0]; g.Workload != "w" || g.WorkloadGroup != "workers" {
		t.Errorf("workload %q, group %q; want w and workers", g.Workload, g.WorkloadGroup)
	}
}
