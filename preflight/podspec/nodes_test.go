package podspec

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	volumehelper "k8s.io/component-helpers/storage/volume"
)

// TestPodsChooseNodesAsTheSchedulerReadsThem compares with the scheduler's own reader, of choices that it
// takes and that it cannot read.
func TestPodsChooseNodesAsTheSchedulerReadsThem(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 21))
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	expressions := func() (out []corev1.NodeSelectorRequirement) {
		for range r.IntN(3) {
			e := corev1.NodeSelectorRequirement{Key: pick("a", "b", "c d"), Operator: corev1.NodeSelectorOperator(pick("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Near"))}
			for range r.IntN(3) {
				e.Values = append(e.Values, pick("1", "2", "x", "not a value"))
			}
			out = append(out, e)
		}
		return out
	}
	matched := 0
	for range 20_000 {
		spec := &corev1.PodSpec{}
		for range r.IntN(2) {
			spec.NodeSelector = map[string]string{pick("a", "b", "c d"): pick("1", "2", "not a value")}
		}
		if r.IntN(4) > 0 {
			required := &corev1.NodeSelector{}
			for range r.IntN(3) {
				term := corev1.NodeSelectorTerm{MatchExpressions: expressions()}
				if r.IntN(6) == 0 {
					term.MatchFields = []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"n"}}}
				}
				required.NodeSelectorTerms = append(required.NodeSelectorTerms, term)
			}
			spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required}}
		}
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: pick("n", "m"), Labels: map[string]string{}}}
		for range r.IntN(3) {
			n.Labels[pick("a", "b")] = pick("1", "2", "3", "x")
		}
		ok, err := nodeaffinity.NewRequiredNodeAffinity(spec.NodeSelector, spec.Affinity).Match(n)
		if want := ok && err == nil; Selects(spec)(n) != want {
			t.Fatalf("%+v\non a node with %v: %t, want %t", spec, n.Labels, !want, want)
		} else if want {
			matched++
		}
	}
	if matched < 2000 {
		t.Errorf("%d nodes were chosen; the test has shown little", matched)
	}
}

// TestVolumesAreReachedAsTheSchedulerSays compares with the scheduler's own reader, which knows a node's labels
// and not its name.
func TestVolumesAreReachedAsTheSchedulerSays(t *testing.T) {
	zone := func(values ...string) []corev1.NodeSelectorRequirement {
		return []corev1.NodeSelectorRequirement{{Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: values}}
	}
	named := func(names ...string) []corev1.NodeSelectorRequirement {
		return []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: names}}
	}
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"zone": "z"}}}
	for name, tc := range map[string]struct {
		terms []corev1.NodeSelectorTerm
		want  bool
	}{
		"its zone":                      {[]corev1.NodeSelectorTerm{{MatchExpressions: zone("z")}}, true},
		"another zone":                  {[]corev1.NodeSelectorTerm{{MatchExpressions: zone("y")}}, false},
		"another zone, or its zone":     {[]corev1.NodeSelectorTerm{{MatchExpressions: zone("y")}, {MatchExpressions: zone("z")}}, true},
		"its zone, and another's name":  {[]corev1.NodeSelectorTerm{{MatchExpressions: zone("z"), MatchFields: named("b")}}, true},
		"another's name alone":          {[]corev1.NodeSelectorTerm{{MatchFields: named("b")}}, true},
		"a term of nothing, as of none": {[]corev1.NodeSelectorTerm{{}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			required := &corev1.NodeSelector{NodeSelectorTerms: tc.terms}
			pv := &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{NodeAffinity: &corev1.VolumeNodeAffinity{Required: required}}}
			if upstream := volumehelper.CheckNodeAffinity(pv, n.Labels) == nil; upstream != tc.want {
				t.Errorf("the scheduler says %t", upstream)
			}
			if got := ReachableFrom(required)(n); got != tc.want {
				t.Errorf("reached: %t, want %t", got, tc.want)
			}
		})
	}
}

func TestTransientTaint(t *testing.T) {
	cases := map[string]struct {
		taint string
		want  bool
	}{
		"the node controller's":                     {"node.kubernetes.io/not-ready", true},
		"as text":                                   {"node.kubernetes.io/disk-pressure:NoSchedule", true},
		"a cloud's new node":                        {"node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule", true},
		"Cluster Autoscaler takes the node away":    {"ToBeDeletedByClusterAutoscaler=1796000000:NoSchedule", true},
		"Karpenter takes the node away":             {"karpenter.sh/disrupted", true},
		"an agent is not there yet":                 {"node.cilium.io/agent-not-ready=true:NoExecute", true},
		"a startup taint of one's own":              {"startup-taint.cluster-autoscaler.kubernetes.io/driver", true},
		"a domain alone":                            {"node.kubernetes.io/", false},
		"what the node is for":                      {"nvidia.com/gpu=present:NoSchedule", false},
		"another key of Karpenter's":                {"karpenter.sh/controller", false},
		"a longer key that begins like one of them": {"ToBeDeletedByClusterAutoscalerOfOurs", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := TransientTaint(tc.taint); got != tc.want {
				t.Errorf("TransientTaint(%q) is %t, want %t", tc.taint, got, tc.want)
			}
		})
	}
}

// TestATermTakesTimeAsItsLength: the square of this number is minutes.
func TestATermTakesTimeAsItsLength(t *testing.T) {
	var term corev1.NodeSelectorTerm
	term.MatchFields = []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"n"}}}
	labelled := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{}}}
	for i := range 40_000 {
		key := fmt.Sprint("k", i)
		labelled.Labels[key] = "v"
		term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{"v"}})
	}
	spec := &corev1.PodSpec{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term}},
	}}}
	done := make(chan bool, 1)
	go func() { done <- Selects(spec)(labelled) }()
	select {
	case selects := <-done:
		if !selects {
			t.Error("a node with all labels is not selected")
		}
	case <-time.After(20 * time.Second):
		t.Error("took longer than 20s")
	}
}
