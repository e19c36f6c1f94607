package build

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/quota"
)

// Objects reads a YAML stream.
func Objects(t testing.TB, text string) []*unstructured.Unstructured {
	t.Helper()
	var out []*unstructured.Unstructured
	for doc := range strings.SplitSeq(text, "\n---\n") {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(doc), &u.Object); err != nil {
			t.Fatalf("test data: %v", err)
		}
		out = append(out, u)
	}
	return out
}

// View is a cluster of nodes and pods, and further objects; whole are resources of which
// it holds all.
func View(t testing.TB, text string, whole []string, items ...any) *cluster.Snapshot {
	t.Helper()
	var b cluster.Builder
	b.Complete(schema.GroupResource{Resource: "nodes"}, schema.GroupResource{Resource: "pods"})
	for _, r := range whole {
		b.Complete(schema.ParseGroupResource(r))
	}
	for _, o := range Objects(t, text) {
		b.Object(o)
	}
	var add func(any)
	add = func(item any) {
		switch v := item.(type) {
		case []Item:
			for _, i := range v {
				add(i)
			}
		case *corev1.Node:
			b.Node(v)
		case *corev1.Pod:
			b.Pod(v)
		}
	}
	for _, item := range items {
		add(item)
	}
	return b.Snapshot(Taken)
}

// Violations are the limits that a gang meets, one line each, gravest first.
func Violations(s *cluster.Snapshot, g gang.Gang) string {
	var b strings.Builder
	for _, l := range quota.Violations(s, g) {
		b.WriteString(l.When.String() + " " + string(l.Rule) + " " + l.String() + "\n")
	}
	return b.String()
}

// Namespace is namespace ml, with a label.
const Namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: ml, labels: {team: red}}\n---\n"

// ResourceQuota is a quota of namespace ml: its hard limits, what is used, and what else its
// spec says.
func ResourceQuota(hard, used, spec string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: ml}\nspec: {hard: {%s}%s}\nstatus: {hard: {%s}, used: {%s}}", hard, spec, hard, used)
}

// LimitRange is a LimitRange of namespace ml with one entry.
func LimitRange(entry string) string {
	return "apiVersion: v1\nkind: LimitRange\nmetadata: {name: r, namespace: ml}\nspec: {limits: [{" + entry + "}]}"
}

// NodePool is a NodePool of Karpenter.
func NodePool(name, requirements, more string) string {
	return "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: " + name + "}\nspec: {template: {spec: {requirements: [" + requirements + "]" + more + "}}}"
}

// Kueue are the resources that a view with queues of Kueue holds whole.
func Kueue() []string {
	return []string{
		"localqueues.kueue.x-k8s.io", "clusterqueues.kueue.x-k8s.io", "cohorts.kueue.x-k8s.io", "resourceflavors.kueue.x-k8s.io", "namespaces",
	}
}

// LocalQueue is the LocalQueue team of namespace ml.
func LocalQueue(more string) string {
	return Namespace + "apiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {name: team, namespace: ml}\nspec: {clusterQueue: cq" + more + "}\n---\n"
}

// ResourceFlavor is a ResourceFlavor, to be written behind other objects.
func ResourceFlavor(name, spec string) string {
	return "\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata: {name: " + name + "}\nspec: {" + spec + "}"
}

// ClusterQueue is a ClusterQueue with quota for GPUs in some flavors: "h100=16 a100=8/4" is 8
// that may be 4 more by borrowing, "/4/2" lends 2 at most.
func ClusterQueue(name, more, flavors, used string) string {
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
