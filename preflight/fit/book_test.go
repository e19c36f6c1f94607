package fit_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/quota"
	"github.com/signalbox-dev/signalbox/test/build"
)

// FuzzRules reads any object of a kind that lies between jobs and nodes, and asks about a
// gang that meets it: whatever is written there, the answer is no panic.
func FuzzRules(f *testing.F) {
	for _, seed := range []string{
		gpuQuota[1:], rangeOf("type: Container, max: {cpu: 4}, maxLimitRequestRatio: {cpu: 0}"), rangeOf("type: 7"),
		strings.TrimSuffix(localQ(", stopPolicy: Hold")[len(build.Namespace):], "\n---\n"), clusterQ("cq", ", cohort: all", "h100=16/4/2 a100=1", "h100=8"),
		"apiVersion: kueue.x-k8s.io/v1beta1\nkind: Cohort\nmetadata: {name: all}\nspec: {parentName: all}",
		flavorQ("h100", "nodeLabels: {gpu: h100}, nodeTaints: [{key: a, effect: NoSchedule}]")[5:],
		"apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: team}\nspec: {parent: team, capability: {nvidia.com/gpu: -1}}",
		"apiVersion: scheduler.tensorstack.dev/v1beta1\nkind: Queue\nmetadata: {name: team, namespace: x}\nspec: {closed: true}",
		"apiVersion: scheduling.x-k8s.io/v1alpha1\nkind: PodGroup\nmetadata: {name: g, namespace: ml}\nspec: {minMember: 9e18}",
		"apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\nspec: {limits: {nvidia.com/gpu: 1}, template: {spec: {requirements: [{key: a, operator: Gt, values: []}]}}}",
		"apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: p}\nglobalDefault: true\nvalue: 1e30",
		"apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: ml}\nspec: {hard: {pods: -5, requests.cpu: 9223372036854775807}, scopeSelector: {matchExpressions: [{scopeName: x, operator: y}]}}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		o := &unstructured.Unstructured{}
		if yaml.Unmarshal([]byte(text), &o.Object) != nil {
			return
		}
		var b cluster.Builder
		b.Node(build.Node("a", build.GPUs(8), build.Label("karpenter.sh/nodepool", "p")))
		b.Complete(schema.GroupResource{Group: "karpenter.sh", Resource: "nodepools"})
		b.Object(o)
		s := b.Snapshot(build.Taken)
		for _, system := range []gang.QueueSystem{gang.Kueue, gang.Volcano, gang.T9k} {
			g := queued(system, "team", gpus(3, "8"))
			g.Groups[0].Pod.Labels = map[string]string{"scheduling.x-k8s.io/pod-group": "g"}
			for _, l := range quota.Violations(s, g) {
				if l.When == quota.Unsure || l.Message == "" || l.Name == "" {
					t.Errorf("half a limit: %+v", l)
				}
			}
		}
	})
}

func TestRulesAreReadAnewWhenTheyChange(t *testing.T) {
	var l cluster.Store
	g := in("ml", gpus(3, "8"))
	set := func(text string) { l.SetObject(objects(t, text)[0]) }
	count := func() int { return len(quota.Violations(l.Snapshot(build.Taken, ""), g)) }
	set(gpuQuota)
	before := l.Snapshot(build.Taken, "")
	if n := count(); n != 1 {
		t.Fatalf("%d limits; want 1", n)
	}
	set(strings.ReplaceAll(gpuQuota, "gpu: 16", "gpu: 64"))
	if n := count(); n != 0 {
		t.Errorf("%d limits after the quota was raised; want 0", n)
	}
	set(gpuQuota)
	l.DropObject(objects(t, gpuQuota)[0].GroupVersionKind(), "ml", "gpu")
	if n := count(); n != 0 {
		t.Errorf("%d limits after the quota was deleted; want 0", n)
	}
	if n := len(quota.Violations(before, g)); n != 1 {
		t.Errorf("the snapshot taken before changed its answer to %d limits; want 1", n)
	}
}

func TestAmountsThatTakeForEverToReadAreRefused(t *testing.T) {
	for _, amount := range []string{"1e2147483647", "1e-2147483648", "9E+9999999", "1e00099", strings.Repeat("9", 70)} {
		text := strings.ReplaceAll(gpuQuota, "gpu: 16", "gpu: '"+amount+"'")
		if got := told(ruled(t, text, nil), in("ml", gpus(3, "8"))); got != "" {
			t.Errorf("%s: %s; want nothing, the quota cannot be read", amount, got)
		}
		if r := whatif.Answer(t.Context(), ruled(t, text, nil, build.Nodes(3, "a", build.GPUs(8))), in("ml", gpus(3, "8"))); !strings.Contains(strings.Join(r.Assumed, "; "), "read ResourceQuota ml/gpu") {
			t.Errorf("%s: assumed %q; want the quota that could not be read", amount, r.Assumed)
		}
	}
}
