package collect

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
)

// also makes a cluster serve more resources, with these objects.
func also(c *Cluster, cluster bool, gvk schema.GroupVersionKind, resource string, objects ...*unstructured.Unstructured) {
	scope := meta.RESTScopeNamespace
	if cluster {
		scope = meta.RESTScopeRoot
	}
	c.Mapper.(*meta.DefaultRESTMapper).AddSpecific(gvk, gvk.GroupVersion().WithResource(resource), gvk.GroupVersion().WithResource(resource), scope)
	for _, o := range objects {
		o.SetAPIVersion(gvk.GroupVersion().String())
		o.SetKind(gvk.Kind)
		fake := c.Dynamic.(*dynamicfake.FakeDynamicClient)
		_ = fake.Tracker().Create(gvk.GroupVersion().WithResource(resource), o, o.GetNamespace()) // the first of its name
	}
}

func TestGroupsThatSchedulersWaitForAreRead(t *testing.T) {
	native := func(version string) schema.GroupVersionKind {
		return schema.GroupVersionKind{Group: "scheduling.k8s.io", Version: version, Kind: "PodGroup"}
	}
	byName := func(p *corev1.Pod) { p.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: new("gang")} }
	byAnnotation := func(key string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Annotations = map[string]string{key: "gang"} }
	}
	cases := map[string]struct {
		pod    func(*corev1.Pod)
		served schema.GroupVersionKind
		want   []string // objects, and what is missing
	}{
		"Kubernetes 1.37":                      {byName, native("v1beta1"), []string{"scheduling.k8s.io/v1beta1 PodGroup gang"}},
		"Kubernetes 1.36":                      {byName, native("v1alpha2"), []string{"scheduling.k8s.io/v1alpha2 PodGroup gang"}},
		"scheduler-plugins":                    {func(p *corev1.Pod) { p.Labels["scheduling.x-k8s.io/pod-group"] = "gang" }, schema.GroupVersionKind{Group: "scheduling.x-k8s.io", Version: "v1alpha1", Kind: "PodGroup"}, []string{"scheduling.x-k8s.io/v1alpha1 PodGroup gang"}},
		"Volcano, by the annotation of others": {byAnnotation("scheduling.k8s.io/group-name"), schema.GroupVersionKind{Group: "scheduling.volcano.sh", Version: "v1beta1", Kind: "PodGroup"}, []string{"scheduling.volcano.sh/v1beta1 PodGroup gang"}},
		"Volcano, by its own":                  {byAnnotation("scheduling.volcano.sh/group-name"), schema.GroupVersionKind{Group: "scheduling.volcano.sh", Version: "v1beta1", Kind: "PodGroup"}, []string{"scheduling.volcano.sh/v1beta1 PodGroup gang"}},
		"a group of a kind that is not there":  {byName, schema.GroupVersionKind{Group: "other", Version: "v1", Kind: "PodGroup"}, []string{"missing PodGroup gang"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			job := object("kubeflow.org/v1", "PyTorchJob", "train", "now", nil, nil)
			p := pod("train-worker-0", by("kubeflow.org/v1", "PyTorchJob", "train", "now"), map[string]string{"training.kubeflow.org/job-name": "train", "training.kubeflow.org/operator-name": "pytorchjob-controller"})
			tc.pod(p)
			c := serving(job, p)
			also(c, false, tc.served, "podgroups", object("x/v1", "PodGroup", "gang", "pg", nil, nil))
			got, err := c.Case(t.Context(), kind(t, "PyTorchJob"), job)
			if err != nil {
				t.Fatal(err)
			}
			var have []string
			for _, o := range got.Objects {
				have = append(have, o.GetAPIVersion()+" "+o.GetKind()+" "+o.GetName())
			}
			for _, m := range got.Missing {
				if strings.HasPrefix(m, "PodGroup") {
					have = append(have, "missing "+m[:strings.IndexByte(m, ':')])
				}
			}
			if diff := cmp.Diff(tc.want, have); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
		})
	}
}

// The groups of Kubernetes 1.35 are in a Workload that the pod template names.
func TestTheWorkloadOfKubernetes135IsRead(t *testing.T) {
	job := trainJob("Running")
	if err := unstructured.SetNestedStringMap(job.Object, map[string]string{"name": "w", "podGroup": "workers"}, "spec", "pytorchReplicaSpecs", "Worker", "template", "spec", "workloadRef"); err != nil {
		t.Fatal(err)
	}
	c := serving(job)
	also(c, false, schema.GroupVersionKind{Group: "scheduling.k8s.io", Version: "v1alpha1", Kind: "Workload"}, "workloads", object("x/v1", "Workload", "w", "wl", nil, nil))
	got, err := c.Case(t.Context(), kind(t, "PyTorchJob"), job)
	if err != nil || len(got.Objects) != 1 || got.Objects[0].GetName() != "w" {
		t.Errorf("objects %v, missing %v, error %v; want the Workload", got.Objects, got.Missing, err)
	}
}

// Of a job that no queue holds there is no Workload, so one that may not be listed is not missed.
func TestAWorkloadIsMissedOnlyOfAJobThatMayBeQueued(t *testing.T) {
	cases := map[string]struct {
		labels map[string]string
		paused bool
		missed bool
	}{
		"no queue, and it runs":      {nil, false, false},
		"a queue":                    {map[string]string{queueLabel: "team"}, false, true},
		"no queue, and it is paused": {nil, true, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			job := trainJob("Running")
			job.SetLabels(tc.labels)
			if err := unstructured.SetNestedField(job.Object, tc.paused, "spec", "runPolicy", "suspend"); err != nil {
				t.Fatal(err)
			}
			c := serving(job)
			c.Mapper.(*meta.DefaultRESTMapper).Add(schema.GroupVersionKind{Group: "kueue.x-k8s.io", Version: "v1beta2", Kind: "Workload"}, meta.RESTScopeNamespace)
			c.Dynamic.(*dynamicfake.FakeDynamicClient).PrependReactor("list", "workloads", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, apierrors.NewForbidden(schema.GroupResource{Group: "kueue.x-k8s.io", Resource: "workloads"}, "", nil)
			})
			got, err := c.Case(t.Context(), kind(t, "PyTorchJob"), job)
			if err != nil {
				t.Fatal(err)
			}
			missed := slices.ContainsFunc(got.Missing, func(s string) bool { return strings.HasPrefix(s, "Workloads: ") })
			if missed != tc.missed {
				t.Errorf("missing %q; want the Workloads among them: %v", got.Missing, tc.missed)
			}
		})
	}
}
