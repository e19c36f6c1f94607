package checktest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
)

// time0 is when all fixtures' views were taken.
var time0 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// cluster is the short form of a cluster view. Where it names nodes, nodes and
// pods that it does not name do not exist; complete names further resources of which the view holds all.
type clusterForm struct {
	Nodes    []node   `json:"nodes"`
	Pods     []pod    `json:"pods"`
	Complete []string `json:"complete"` // "persistentvolumeclaims", "clustertrainingruntimes.trainer.kubeflow.org"
}

type node struct {
	Name        string              `json:"name"`
	Count       int                 `json:"count"` // 0: one node of that name; else name-1 … name-count
	Allocatable corev1.ResourceList `json:"allocatable"`
	Labels      map[string]string   `json:"labels"`
	Taints      []string            `json:"taints"` // key=value:Effect
	Cordoned    bool                `json:"cordoned"`
	NotReady    bool                `json:"notReady"`
}

type pod struct {
	Name      string              `json:"name"`
	Namespace string              `json:"namespace"`
	Node      string              `json:"node"`
	Requests  corev1.ResourceList `json:"requests"`
	Labels    map[string]string   `json:"labels"`
}

func addCluster(b *cluster.Builder, text []byte) error {
	var c clusterForm
	if err := yaml.UnmarshalStrict(text, &c); err != nil {
		return fmt.Errorf("read the short form of a cluster: %w", err)
	}
	for _, n := range c.Nodes {
		names := []string{n.Name}
		for i := range n.Count {
			if i == 0 {
				names = nil
			}
			names = append(names, fmt.Sprintf("%s-%d", n.Name, i+1))
		}
		for _, name := range names {
			object, err := n.object(name)
			if err != nil {
				return err
			}
			b.Node(object)
		}
	}
	for _, p := range c.Pods {
		b.Pod(p.object())
	}
	if len(c.Nodes) > 0 {
		b.Complete(schema.GroupResource{Resource: "nodes"}, schema.GroupResource{Resource: "pods"})
	}
	for _, name := range c.Complete {
		b.Complete(schema.ParseGroupResource(name))
	}
	return nil
}

func (n node) object(name string) (*corev1.Node, error) {
	out := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/hostname": name}},
		Spec:       corev1.NodeSpec{Unschedulable: n.Cordoned},
		Status:     corev1.NodeStatus{Allocatable: n.Allocatable},
	}
	if _, said := out.Status.Allocatable[corev1.ResourcePods]; !said { // what a kubelet offers by default
		out.Status.Allocatable = maps.Clone(out.Status.Allocatable)
		if out.Status.Allocatable == nil {
			out.Status.Allocatable = corev1.ResourceList{}
		}
		out.Status.Allocatable[corev1.ResourcePods] = resource.MustParse("110")
	}
	maps.Copy(out.Labels, n.Labels)
	ready := corev1.ConditionTrue
	if n.NotReady {
		ready = corev1.ConditionFalse
	}
	out.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}
	for _, t := range n.Taints {
		pair, effect, ok := strings.Cut(t, ":")
		if !ok {
			return nil, fmt.Errorf("taint %q of node %s: want key=value:Effect", t, n.Name)
		}
		key, value, _ := strings.Cut(pair, "=")
		out.Spec.Taints = append(out.Spec.Taints, corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)})
	}
	return out, nil
}

func (p pod) object() *corev1.Pod {
	p.Namespace = cmp.Or(p.Namespace, "default")
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: p.Name, Namespace: p.Namespace, Labels: p.Labels},
		Spec: corev1.PodSpec{NodeName: p.Node, Containers: []corev1.Container{{
			Name: "main", Resources: corev1.ResourceRequirements{Requests: p.Requests, Limits: p.Requests},
		}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

// addObjects adds Kubernetes objects as kubectl prints them.
func addObjects(b *cluster.Builder, text []byte) error {
	for doc, err := range manifest.Read("objects.yaml", strings.NewReader(string(text))) {
		if err != nil {
			return err
		}
		switch {
		case doc.List:
		case doc.Object.GetKind() == "Node":
			n := &corev1.Node{}
			if err := convert(doc.Object.Object, n); err != nil {
				return err
			}
			b.Node(n)
		case doc.Object.GetKind() == "Pod":
			p := &corev1.Pod{}
			if err := convert(doc.Object.Object, p); err != nil {
				return err
			}
			b.Pod(p)
		default:
			b.Object(doc.Object)
		}
	}
	return nil
}

func convert(object map[string]any, into runtime.Object) error {
	raw, err := json.Marshal(object)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}
