package preflight_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/test/build"
)

// readJob reads a manifest on one line per field.
func readJob(t *testing.T, text string) gang.Gang {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	j, err := kinds.For(u.GroupVersionKind()).Read(u, nil)
	if err != nil {
		t.Fatal(err)
	}
	return gang.Of(j)
}

const whole = `{spec: {containers: [{name: main, image: "a:1", resources: {limits: {nvidia.com/gpu: 8}}}]}}`

// TestGangsOfTheKinds: what has to run together is another thing in each kind.
func TestGangsOfTheKinds(t *testing.T) {
	free := func(nodes int) []build.Item { return build.Nodes(nodes, "n", build.GPUs(8)) }
	racks := []build.Item{
		build.Node("a-1", build.GPUs(8), build.Label("rack", "a")), build.Node("b-1", build.GPUs(8), build.Label("rack", "b")),
		build.Node("b-2", build.GPUs(8), build.Label("rack", "b")),
	}
	lws := func(annotations, replicas, size string) string {
		return "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: s, namespace: ml" + annotations + "}\n" +
			"spec: {replicas: " + replicas + ", leaderWorkerTemplate: {size: " + size + ", workerTemplate: " + whole + "}}"
	}
	ray := func(scaling, group string) string {
		return "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: r, namespace: ml}\nspec: {" + scaling +
			`headGroupSpec: {template: {spec: {containers: [{name: h, image: "a:1"}]}}}, workerGroupSpecs: [{groupName: gpu, ` + group + ", template: " + whole + "}]}"
	}
	volcano := func(job, worker string) string {
		return "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: v, namespace: ml}\nspec: {" + job +
			"tasks: [{name: master, replicas: 1, template: " + whole + "}, {name: worker, " + worker + ", template: " + whole + "}]}"
	}
	const exclusive = ", annotations: {leaderworkerset.sigs.k8s.io/exclusive-topology: rack}"
	cases := map[string]struct {
		job   string
		nodes []build.Item
		want  string // the answer begins so
	}{
		"all groups of a set have a place":                   {lws("", "2", "2"), free(4), "4 of 4 pods fit"},
		"one group of two has a place":                       {lws("", "2", "2"), free(3), "3 of 4 pods fit: they ask for 32 nvidia.com/gpu, but the 3 nodes they may use have 24 even idle"},
		"a group in a rack of its own":                       {lws(exclusive, "1", "2"), racks, "2 of 2 pods fit: 1 leader + 1 worker on 2 nodes"},
		"a group that no rack holds":                         {lws(exclusive, "1", "3"), racks, "2 of 3 pods fit: 1 leader + 2 workers must all share one rack"},
		"several groups with racks of their own":             {lws(exclusive, "2", "1"), racks, "2 of 2 pods fit: 2 leaders on 2 nodes"},
		"more groups than racks":                             {lws(exclusive, "3", "1"), racks, "2 of 3 pods fit: 3 leaders are 3 sets that each need one rack to themselves; at most 2 sets can have one"},
		"a cluster that is to have two workers":              {ray("", "replicas: 2"), free(2), "3 of 3 pods fit"},
		"a cluster without an autoscaler has its replicas":   {ray("", "replicas: 2, minReplicas: 1, maxReplicas: 4"), free(1), "2 of 3 pods fit: 2 pods of gpu ask for 16 nvidia.com/gpu, but the 1 node they may use has 8 even idle"},
		"a cluster with one begins with its minimum":         {ray("enableInTreeAutoscaling: true, ", "replicas: 2, minReplicas: 1, maxReplicas: 4"), free(1), "2 of up to 5 pods fit"},
		"a cluster that may grow from nothing asks for none": {ray("enableInTreeAutoscaling: true, ", "minReplicas: 0, maxReplicas: 400"), free(1), "the pod fits"},
		"pairs of hosts":                                     {ray("", "replicas: 2, numOfHosts: 2"), free(3), "4 of 5 pods fit: "},
		"a gang of Volcano of all its pods":                  {volcano("", "replicas: 4"), free(4), "4 of 5 pods fit: "},
		"a gang of Volcano that can do with fewer":           {volcano("minAvailable: 3, ", "replicas: 4, minAvailable: 2"), free(3), "3 of up to 5 pods fit"},
		"T9k's elastic job begins with its minimum": {
			"apiVersion: batch.tensorstack.dev/v1beta1\nkind: PyTorchTrainingJob\nmetadata: {name: t, namespace: ml}\n" +
				"spec: {elastic: {enabled: true, minReplicas: 2, maxReplicas: 8, expectedReplicas: 4}, replicaSpecs: [{type: worker, replicas: 4, template: " + whole + "}]}",
			free(2), "2 of up to 4 pods fit",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := whatif.Answer(t.Context(), build.Cluster(tc.nodes...), readJob(t, tc.job)).String()
			if !strings.HasPrefix(got, tc.want) {
				t.Errorf("Fit (-want +got):\n%s", cmp.Diff(tc.want, got))
			}
		})
	}
}
