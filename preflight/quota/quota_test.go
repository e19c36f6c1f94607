package quota_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/quota"
	"github.com/signalbox-dev/signalbox/test/build"
)

// limited sets the limit of the first container.
func limited(name corev1.ResourceName, amount string) build.PodOption {
	return build.Spec(func(s *corev1.PodSpec) {
		if s.Containers[0].Resources.Limits == nil {
			s.Containers[0].Resources.Limits = corev1.ResourceList{}
		}
		s.Containers[0].Resources.Limits[name] = resource.MustParse(amount)
	})
}

func spec(change func(*corev1.PodSpec)) build.PodOption { return build.Spec(change) }

func podLimit(name corev1.ResourceName, amount string) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) {
		s.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{name: resource.MustParse(amount)}}
	}
}

const mlNamespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: ml, labels: {team: red}}\n---\n"

// queued puts a gang into a queue.
func queued(system gang.QueueSystem, queue string, g gang.Gang) gang.Gang {
	g = in("ml", g)
	g.Queue, g.System, g.At = queue, system, "metadata.labels.queue"
	return g
}

func elastic(least, most int) gang.Group {
	g := group("Worker", most, build.Asks("8"))
	g.Min = least
	return g
}

// ruled is a cluster of nodes and pods, and further objects; whole are resources of which
// it holds all.
func ruled(t testing.TB, text string, whole []string, items ...any) *cluster.Snapshot {
	t.Helper()
	var b cluster.Builder
	b.Complete(schema.GroupResource{Resource: "nodes"}, schema.GroupResource{Resource: "pods"})
	for _, r := range whole {
		b.Complete(schema.ParseGroupResource(r))
	}
	for _, o := range objects(t, text) {
		b.Object(o)
	}
	var add func(any)
	add = func(item any) {
		switch v := item.(type) {
		case []build.Item:
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
	return b.Snapshot(build.Taken)
}

// told are the limits a gang meets, one line each, gravest first.
func told(s *cluster.Snapshot, g gang.Gang) string {
	var b strings.Builder
	for _, l := range quota.Violations(s, g) {
		b.WriteString(l.When.String() + " " + string(l.Rule) + " " + l.String() + "\n")
	}
	return b.String()
}

// in puts a gang into a namespace, with the paths that a kind would give it.
func in(namespace string, g gang.Gang) gang.Gang {
	g.Namespace = namespace
	for i := range g.Groups {
		g.Groups[i].Path = job.Path("spec.roles").Key(g.Groups[i].Name).Child("replicas")
		g.Groups[i].Pod.Path = job.Path("spec.roles").Key(g.Groups[i].Name).Child("template", "spec")
	}
	return g
}

// group is a number of pods of a role.
func group(name string, count int, options ...build.PodOption) gang.Group {
	p := build.Pod("template", options...)
	return gang.Group{Name: name, Count: count, Pod: job.Pod{Spec: p.Spec, Labels: p.Labels}}
}

func gangOf(groups ...gang.Group) gang.Gang {
	return gang.Gang{Name: "train", Namespace: "default", Groups: groups}
}

// gpus is a gang of equal workers.
func gpus(count int, each string) gang.Gang {
	return gangOf(group("Worker", count, build.Asks(each)))
}

// objects reads a YAML stream.
func objects(t testing.TB, text string) []*unstructured.Unstructured {
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
