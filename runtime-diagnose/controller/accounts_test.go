package controller

import (
	"encoding/json"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/explain"
	"github.com/signalbox-dev/signalbox/test/fakellm"
)

// kept is a ConfigMap as an API server keeps it.
func kept(t *testing.T) *kubefake.Clientset {
	t.Helper()
	var stands *corev1.ConfigMap
	kube := kubefake.NewClientset()
	kube.PrependReactor("patch", "configmaps", func(a clienttesting.Action) (bool, runtime.Object, error) {
		stands = &corev1.ConfigMap{}
		err := json.Unmarshal(a.(clienttesting.PatchAction).GetPatch(), stands)
		return true, stands, err
	})
	kube.PrependReactor("get", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		if stands == nil {
			return true, nil, apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, accountsName)
		}
		return true, stands, nil
	})
	return kube
}

// A process that begins where another ended asks nobody about a failure that was answered, though nothing stands on
// the job of it.
func TestAnswersAreKeptOverARestart(t *testing.T) {
	kube := kept(t)
	told := func() (asked int, story string) {
		w := newWorld(t)
		server := w.model(fakellm.Grounded)
		w.Tell.explain.Answers = explain.NewAnswers()
		w.Tell.explain.Budget = &explain.Budget{Calls: 1}
		w.Tell.accounts = &accounts{kube: kube, namespace: "signalbox-system", explain: w.Tell.explain}
		w.Tell.accounts.load(t.Context())
		w.condition("Failed", "PyTorchJobFailed")
		w.pod("master", oomKilled)
		w.reconcile()
		w.tell()
		w.reconcile()
		w.Tell.accounts.write(t.Context())
		s, _ := readStored(w.job.GetAnnotations())
		if s.Story != nil {
			story = s.Story.Text
		}
		return len(server.Requests()), story
	}
	asked, before := told()
	if asked != 1 || before == "" {
		t.Fatalf("%d questions, story %q", asked, before)
	}
	if asked, after := told(); asked != 0 || after != before {
		t.Errorf("after a restart: %d questions, story %q; want none and %q", asked, after, before)
	}
}

func TestWhatIsUsedOfABudgetIsAMetric(t *testing.T) {
	into := prometheus.NewRegistry()
	m, err := newMetrics(into)
	if err != nil {
		t.Fatal(err)
	}
	m.spent(&explain.Budget{Calls: 4, NamespaceMoney: 1})
	families, err := into.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "signalbox_llm_budget_used_ratio" {
			if n := len(f.GetMetric()); n != 2 {
				t.Errorf("%d budgets, want the 2 that are set", n)
			}
			return
		}
	}
	t.Error("there is no such metric")
}
