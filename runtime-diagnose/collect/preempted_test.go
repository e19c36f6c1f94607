package collect

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// preemptedOn is a job one of whose pods gave way on each of so many nodes, each to a pod of another namespace.
func preemptedOn(nodes int) (job runtime.Object, all []runtime.Object) {
	job = object("kubeflow.org/v1", "PyTorchJob", "train", "now", nil, nil)
	all = append(all, job)
	for i := range nodes {
		victim := fmt.Sprintf("train-worker-%d", i)
		made := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "made-" + victim}, LastTimestamp: metav1.NewTime(now)}
		made.InvolvedObject = corev1.ObjectReference{Kind: "PyTorchJob", Name: "train", UID: "now"}
		gone := made.DeepCopy()
		gone.Name, gone.InvolvedObject = "gone-"+victim, corev1.ObjectReference{Kind: "Pod", Name: victim, UID: "old"}
		priority := int32(1000)
		all = append(all,
			saying(made, "SuccessfulCreatePod", "Created pod: "+victim),
			saying(gone, "Preempted", fmt.Sprintf("Preempted by pod uid-%d on node gpu-%d", i, i)),
			&corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: fmt.Sprintf("urgent-%d", i), UID: types.UID(fmt.Sprintf("uid-%d", i))},
				Spec:       corev1.PodSpec{NodeName: fmt.Sprintf("gpu-%d", i), Priority: &priority, Containers: []corev1.Container{{Name: "secret"}}},
			})
	}
	return job, all
}

// Who got the node of a pod is read with the rights of whoever asks, and nothing of that pod but whose it is. An account
// that reads for others does not name it to them.
func TestWhoGotTheNodeIsNamedToWhoeverMaySeeIt(t *testing.T) {
	for name, tc := range map[string]struct {
		beyond bool
		nodes  int
		want   int
	}{
		"the asker's own rights":     {true, 1, 1},
		"an account for others":      {false, 1, 0},
		"one node more than is read": {true, mostFormer + 1, mostFormer},
	} {
		t.Run(name, func(t *testing.T) {
			_, all := preemptedOn(tc.nodes)
			c := serving(all...)
			c.Beyond = tc.beyond
			got, err := c.Case(t.Context(), kind(t, "PyTorchJob"), object("kubeflow.org/v1", "PyTorchJob", "train", "now", nil, nil))
			if err != nil {
				t.Fatal(err)
			}
			found := 0
			for _, u := range got.Objects {
				if u.GetKind() != "Pod" {
					continue
				}
				found++
				if priority, _ := u.Object["spec"].(map[string]any)["priority"].(int64); priority != 1000 || strings.Contains(fmt.Sprint(u.Object), "secret") {
					t.Errorf("of another's pod is kept: %v", u.Object)
				}
			}
			if found != tc.want {
				t.Errorf("%d pods of others, want %d", found, tc.want)
			}
		})
	}
}

// What the asker may not read is one sentence for the namespace, whatever is in it, and one for nodes, which a role of a
// namespace does not open; pods stand first.
func TestWhatMayNotBeReadIsOneSentence(t *testing.T) {
	of := object("kubeflow.org/v1", "PyTorchJob", "train", "now", nil, nil)
	for name, tc := range map[string]struct {
		asker  string
		barred []string
		want   string
	}{
		"one": {"you", []string{"events"}, "events: you may not read this; a role with get and list in namespace ml is needed, such as the ClusterRole view"},
		"four": {"you", []string{"kept evidence", "events", "pods", "nodes"}, "nodes: you may not read this; nodes are in no namespace, so a ClusterRole with get and list on nodes is needed, and a ClusterRoleBinding\n" +
			"pods: you may not read this, nor kept evidence, nor events; a role with get and list in namespace ml is needed, such as the ClusterRole view"},
		"a node": {"ana", []string{"node gpu-1"}, "node gpu-1: ana may not read this; nodes are in no namespace, so a ClusterRole with get and list on nodes is needed, and a ClusterRoleBinding"},
		"one above the bound": {
			"",
			[]string{"a", "b", "c", "d", "e", "f", "g"},
			"a: this account may not read this, nor b, nor c, nor d, nor e, nor f, and 1 more; a role with get and list in namespace ml is needed, such as the ClusterRole view",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := &reading{Cluster: &Cluster{Asker: tc.asker}, object: of, barred: tc.barred}
			r.sayBarred()
			if got := strings.Join(r.out.Missing, "\n"); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}
