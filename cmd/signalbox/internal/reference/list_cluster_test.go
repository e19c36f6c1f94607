package reference

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	discoveryfake "k8s.io/client-go/discovery/fake"
	kubefake "k8s.io/client-go/kubernetes/fake"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
)

// What a cluster has of kinds is what it serves, version by version: a group that it serves says nothing of its kinds.
func TestTheKindsOfAClusterAreThoseThatItServes(t *testing.T) {
	kube := kubefake.NewClientset()
	resources := func(version string, names ...string) *metav1.APIResourceList {
		list := &metav1.APIResourceList{GroupVersion: version}
		for _, n := range names {
			list.APIResources = append(list.APIResources, metav1.APIResource{Name: n})
		}
		return list
	}
	kube.Discovery().(*discoveryfake.FakeDiscovery).Resources = []*metav1.APIResourceList{
		resources("kubeflow.org/v1", "pytorchjobs"), resources("kubeflow.org/v9", "pytorchjobs", "tfjobs"), resources("batch/v1", "jobs"),
	}
	text, err := kindsOf(t.Context(), &apiserver.Cluster{Clients: kube, Context: "here", Served: map[string][]string{"kubeflow.org": {"v1", "v9"}, "batch": {"v1"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`the cluster of context "here" serves Job (v1), PyTorchJob (v1; v9 is not read), TFJob (only v9, which is not read)`, "not installed there: ColossalAIJob, "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// What a cluster has of policies is its ConfigMaps, whether they load, and what policies may do in its namespaces.
func TestThePoliciesOfAClusterAreListedWithTheModes(t *testing.T) {
	labelled := func(name string, annotations map[string]string) *corev1.ConfigMap {
		return &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "signalbox-system", Labels: map[string]string{"signalbox.dev/policy": "true"}, Annotations: annotations},
			Data:       map[string]string{"a.rego": "", "data.yaml": ""},
		}
	}
	kube := kubefake.NewClientset(
		labelled("team", nil), labelled("torn", map[string]string{"signalbox.dev/policy-error": "a.rego:3: expected }"}),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ml"}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "prod", Labels: map[string]string{"signalbox.dev/mode": "enforce"}}},
	)
	text, err := policiesOf(t.Context(), &apiserver.Cluster{Clients: kube, Context: "here"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"  team: a.rego, data.yaml\n", "  torn: a.rego, data.yaml\n    does not load, so the last good set stays: a.rego:3: expected }\n",
		"enforce (policies deny) in prod\n", "in ml\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if text, err := policiesOf(t.Context(), &apiserver.Cluster{Clients: kubefake.NewClientset(), Context: "here"}); err != nil || !strings.Contains(text, "has no policies") {
		t.Errorf("without ConfigMaps: %q, %v", text, err)
	}
}
