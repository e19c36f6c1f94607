package apiserver

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	kubefake "k8s.io/client-go/kubernetes/fake"
	k8stesting "k8s.io/client-go/testing"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

func TestNamesAloneAreJobs(t *testing.T) {
	for args, want := range map[string]string{
		"oom nan":            "any/oom any/nan",
		"pytorchjob oom nan": "PyTorchJob/oom PyTorchJob/nan",
		"pytorchjb oom":      "no such kind of job",
		"oom pytorchjob/nan": "expected KIND NAME… or KIND/NAME…",
		"po oom":             "pod/oom",
		"node/gpu-7":         "node/gpu-7: nodes are not diagnosed, jobs are; signalbox get jobs -A --node gpu-7 lists those with a pod on it",
		"node gpu-7":         "nodes are not diagnosed, jobs are; signalbox get jobs -A --node gpu-7 ",
	} {
		t.Run(args, func(t *testing.T) {
			targets, err := ReadTargets(strings.Fields(args))
			var got []string
			for _, to := range targets {
				switch {
				case to.Any:
					got = append(got, "any/"+to.Name)
				case to.Kind == nil:
					got = append(got, "pod/"+to.Name)
				default:
					got = append(got, to.Kind.Name+"/"+to.Name)
				}
			}
			if err != nil {
				got = []string{err.Error()}
			}
			if text := strings.Join(got, " "); !strings.Contains(text, want) {
				t.Errorf("readTargets %s: %s; want %s", args, text, want)
			}
		})
	}
}

// A job that is not there is often another one's slip of the pen, or in another namespace.
func TestAJobThatIsNotThereLeadsToTheOneThatIsMeant(t *testing.T) {
	lists, served := map[schema.GroupVersionResource]string{}, map[string][]string{}
	for _, k := range kinds.All() {
		for _, gvk := range k.GVKs {
			lists[gvk.GroupVersion().WithResource(k.Resource)] = gvk.Kind + "List"
			served[gvk.Group] = append(served[gvk.Group], gvk.Version)
		}
	}
	var objects []runtime.Object
	for _, at := range []string{"ml/llama-7b", "ml/vit", "prod/bert", "prod/t5", "lab/t5", "a/gpt", "b/gpt", "c/gpt", "d/gpt", "e/gpt"} {
		namespace, name, _ := strings.Cut(at, "/")
		o := &unstructured.Unstructured{}
		o.SetAPIVersion("kubeflow.org/v1")
		o.SetKind("PyTorchJob")
		o.SetNamespace(namespace)
		o.SetName(name)
		objects = append(objects, o)
	}
	c := &Cluster{
		Objects: fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists, objects...),
		Clients: kubefake.NewClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ml"}}), Served: served, Namespace: "ml",
	}
	for arg, want := range map[string]string{
		"pytorchjob/llama7b": `PyTorchJob ml/llama7b: not found; did you mean "llama-7b"?`,
		"pytorchjob/bert":    "PyTorchJob ml/bert: not found; there is one in namespace prod: -n prod",
		"t5":                 `no job and no pod of one is called "t5" in namespace ml; there are some in the namespaces lab, prod: -n lab`,
		"pytorchjob/gpt":     "PyTorchJob ml/gpt: not found; there are some in the namespaces a, b, c, d and more: -n a",
		"llama7b":            `no job and no pod of one is called "llama7b" in namespace ml; did you mean "llama-7b"?`,
		"bert":               `no job and no pod of one is called "bert" in namespace ml; there is one in namespace prod: -n prod`,
		"something-else":     `no job and no pod of one is called "something-else" in namespace ml; -n NAMESPACE looks in another`,
		"pytorchjob/gone":    "PyTorchJob ml/gone: not found; namespace ml has llama-7b, vit",
	} {
		t.Run(arg, func(t *testing.T) {
			targets, err := ReadTargets([]string{arg})
			if err != nil {
				t.Fatal(err)
			}
			if t0 := targets[0]; t0.Kind == nil {
				_, err = c.jobCalled(t.Context(), t0.Name)
			} else {
				_, err = c.Asked(t.Context(), t0)
			}
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v\nwant %s", err, want)
			}
		})
	}
}

// What was not answered is not "not there".
func TestAJobOfAKindThatFailsIsNotKnown(t *testing.T) {
	pytorch := kinds.For(schema.GroupVersionKind{Group: "kubeflow.org", Version: "v1", Kind: "PyTorchJob"})
	objects := fake.NewSimpleDynamicClient(runtime.NewScheme())
	objects.PrependReactor("get", pytorch.Resource, func(k8stesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewInternalError(errors.New("conversion webhook: connection refused"))
	})
	c := &Cluster{Objects: objects, Clients: kubefake.NewClientset(), Served: map[string][]string{"kubeflow.org": {"v1"}}, Namespace: "ml"}
	_, err := c.jobCalled(t.Context(), "llama")
	if want := "whether pytorchjob/llama is in namespace ml is not known: "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v\nwant %s…", err, want)
	}
}
