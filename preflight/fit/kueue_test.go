package fit_test

import (
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/quota"
	"github.com/signalbox-dev/signalbox/test/build"
)

var kueueWhole = []string{
	"localqueues.kueue.x-k8s.io", "clusterqueues.kueue.x-k8s.io", "cohorts.kueue.x-k8s.io", "resourceflavors.kueue.x-k8s.io", "namespaces",
}

const mlNamespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: ml, labels: {team: red}}\n---\n"

// localQ is the LocalQueue team of namespace ml.
func localQ(more string) string {
	return mlNamespace + "apiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {name: team, namespace: ml}\nspec: {clusterQueue: cq" + more + "}\n---\n"
}

// clusterQ is a ClusterQueue with quota for GPUs in some flavors: "h100=16 a100=8/4" is 8
// that may be 4 more by borrowing, "/4/2" lends 2 at most.
func clusterQ(name, more, flavors, used string) string {
	var quotas, reserved []string
	for f := range strings.FieldsSeq(flavors) {
		name, amounts, _ := strings.Cut(f, "=")
		parts := strings.Split(amounts, "/")
		q := "{name: nvidia.com/gpu, nominalQuota: " + parts[0]
		if len(parts) > 1 && parts[1] != "" {
			q += ", borrowingLimit: " + parts[1]
		}
		if len(parts) > 2 {
			q += ", lendingLimit: " + parts[2]
		}
		quotas = append(quotas, "{name: "+name+", resources: ["+q+"}]}")
	}
	for f := range strings.FieldsSeq(used) {
		name, amount, _ := strings.Cut(f, "=")
		reserved = append(reserved, "{name: "+name+", resources: [{name: nvidia.com/gpu, total: "+amount+"}]}")
	}
	return "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {name: " + name + "}\nspec: {namespaceSelector: {}" + more +
		", resourceGroups: [{coveredResources: [nvidia.com/gpu], flavors: [" + strings.Join(quotas, ", ") + "]}]}\nstatus: {flavorsReservation: [" + strings.Join(reserved, ", ") + "]}"
}

func flavorQ(name, spec string) string {
	return "\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata: {name: " + name + "}\nspec: {" + spec + "}"
}

// queued puts a gang into a queue.
func queued(system gang.QueueSystem, queue string, g gang.Gang) gang.Gang {
	g = in("ml", g)
	g.Queue, g.System, g.At = queue, system, "metadata.labels.queue"
	return g
}

func TestWhatTheViewOfQueuesLacksIsUnknown(t *testing.T) {
	g := queued(gang.Kueue, "team", gpus(3, "8"))
	node := build.Nodes(3, "a", build.GPUs(8))
	cases := map[string]struct {
		objects string
		whole   []string
		want    string
	}{
		"no queues at all":                   {gpuQuota[1:], nil, "the LocalQueue team is not in the snapshot; what it allows is not known"},
		"a namespace under another name":     {gpuQuota[1:], kueueWhole, "the namespace ml is not in the snapshot; whether it has a LocalQueue team is not known"},
		"a cohort that may have more queues": {localQ("") + clusterQ("cq", ", cohort: all", "h100=8", ""), kueueWhole[:1], "the cohort all of ClusterQueue cq is not whole in the snapshot; what may be borrowed is not known"},
		"a resource without a quota": {
			localQ("") + strings.ReplaceAll(clusterQ("cq", "", "h100=64", ""), "nvidia.com/gpu", "cpu"), kueueWhole,
			"ClusterQueue cq has no quota for nvidia.com/gpu; unless Kueue is configured to leave it out, the job is not admitted",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := whatif.Answer(t.Context(), ruled(t, tc.objects, tc.whole, node), g)
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

func TestTheDefaultQueueIsFilledIn(t *testing.T) {
	objects := strings.Replace(localQ("")+clusterQ("cq", "", "h100=8", ""), "name: team", "name: default", 1)
	g := in("ml", gpus(2, "8"))
	g.Self.Group, g.Self.Resource = "kubeflow.org", "pytorchjobs"
	r := whatif.Answer(t.Context(), ruled(t, objects, kueueWhole, build.Nodes(1, "a", build.GPUs(8))), g)
	if r.Queue != "default" || !r.Blocked() || r.Warns() {
		t.Errorf("queue %q, blocked %t, speaks %t; want default, true, false", r.Queue, r.Blocked(), r.Warns())
	}
	g.Self.Group = "frameworkcontroller.microsoft.com"
	if r := whatif.Answer(t.Context(), ruled(t, objects, kueueWhole, build.Nodes(1, "a", build.GPUs(8))), g); r.Queue != "" || r.Held() {
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
