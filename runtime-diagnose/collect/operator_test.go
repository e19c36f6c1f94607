package collect

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// The workload of an operator is looked for where the operator leaves a job alone, and nowhere else; a
// bundle tells what was not there.
func TestTheOperatorOfASilentJob(t *testing.T) {
	in := func(namespace, name string) runtime.Object {
		return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(namespace)}}
	}
	deployment := func(name string) runtime.Object { return in("kubeflow", name) }
	var many []runtime.Object // those of the name that come before the operator's
	for i := range mostOperators {
		many = append(many, in(fmt.Sprint("a", i), "training-operator"))
	}
	const hook = "webhook validator.pytorchjob.training-operator.kubeflow.org"
	for name, tc := range map[string]struct {
		objects []runtime.Object
		age     time.Duration
		want    []string // kinds and namespaces of the objects beside the job
		absent  []string
		missing string
	}{
		"it is there":      {[]runtime.Object{deployment("training-operator")}, time.Hour, []string{"Deployment kubeflow"}, []string{hook}, ""},
		"another is there": {[]runtime.Object{deployment("mpi-operator")}, time.Hour, nil, []string{"Deployment training-operator", hook}, ""},
		// Whoever may make Deployments in one namespace would tell all others that their operator is switched off.
		"somebody else's bears its name": {[]runtime.Object{in("evil", "training-operator")}, time.Hour, nil, []string{hook}, ""},
		"somebody else's beside it":      {[]runtime.Object{in("evil", "training-operator"), deployment("training-operator")}, time.Hour, []string{"Deployment kubeflow"}, []string{hook}, ""},
		"as many as are asked about":     {append(slices.Clone(many[1:]), deployment("training-operator")), time.Hour, []string{"Deployment kubeflow"}, []string{hook}, ""},
		"one more than are asked about":  {append(slices.Clone(many), deployment("training-operator")), time.Hour, nil, []string{hook}, "Deployment training-operator: 8 namespaces have one; the rest was not looked at"},
		"it is too early":                {nil, time.Second, nil, nil, ""},
		"there is a pod":                 {[]runtime.Object{pod("train-master-0", by("kubeflow.org/v1", "PyTorchJob", "train", "job"), map[string]string{"training.kubeflow.org/job-name": "train", "training.kubeflow.org/operator-name": "pytorchjob-controller"})}, time.Hour, nil, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			u := object("kubeflow.org/v1", "PyTorchJob", "train", "job", nil, nil)
			u.SetCreationTimestamp(metav1.NewTime(now.Add(-tc.age)))
			template := map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "pytorch", "image": "x"}}}}
			if err := unstructured.SetNestedMap(u.Object, map[string]any{"Master": map[string]any{"template": template}}, "spec", "pytorchReplicaSpecs"); err != nil {
				t.Fatal(err)
			}
			from := serving(append(tc.objects, u)...)
			mayWrite(from, "update", "system:serviceaccount:kubeflow:default")
			c, err := from.Case(t.Context(), kind(t, "PyTorchJob"), u)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range c.Objects {
				got = append(got, o.GetKind()+" "+o.GetNamespace())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
			if missing := strings.Join(c.Missing, "; "); missing != tc.missing {
				t.Errorf("missing %q; want %q", missing, tc.missing)
			}
			var bundle bytes.Buffer
			if err := Save(c, &bundle); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "b.tgz")
			if err := os.WriteFile(file, bundle.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			opened, err := Open(t.Context(), file)
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(opened.Absent)
			if diff := cmp.Diff(tc.absent, opened.Absent); diff != "" {
				t.Errorf("absent (-want +got):\n%s", diff)
			}
		})
	}
}

// An operator may be given patch alone: those that apply a status on the server need no more.
func TestAnOperatorThatPatchesIsSeen(t *testing.T) {
	for verb, want := range map[string]int{"update": 1, "patch": 1, "get": 0} {
		c := serving(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "kubeflow", Name: "training-operator", UID: "d"}})
		mayWrite(c, verb, "system:serviceaccount:kubeflow:default")
		u := object("kubeflow.org/v1", "PyTorchJob", "train", "job", nil, nil)
		u.SetCreationTimestamp(metav1.NewTime(now.Add(-time.Hour)))
		template := map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "pytorch", "image": "x"}}}}
		if err := unstructured.SetNestedMap(u.Object, map[string]any{"Master": map[string]any{"template": template}}, "spec", "pytorchReplicaSpecs"); err != nil {
			t.Fatal(err)
		}
		found, err := c.Case(t.Context(), kind(t, "PyTorchJob"), u)
		if err != nil || len(found.Objects) != want {
			t.Errorf("an account that may %s the status: %d operators beside the job, %v; want %d", verb, len(found.Objects), err, want)
		}
	}
}

// mayWrite lets an account, and no other, write the status of PyTorchJobs in the namespace of the tests.
func mayWrite(c *Cluster, verb, account string) {
	c.Kube.(*kubefake.Clientset).PrependReactor("create", "subjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		review := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview).DeepCopy()
		may := authorizationv1.ResourceAttributes{Verb: verb, Group: "kubeflow.org", Version: "v1", Resource: "pytorchjobs", Subresource: "status", Namespace: "ml"}
		review.Status.Allowed = review.Spec.User == account && *review.Spec.ResourceAttributes == may && slices.Contains(review.Spec.Groups, "system:serviceaccounts:kubeflow")
		return true, review, nil
	})
}

// An operator that is gone leaves all jobs alone. They are looked at again and again, and each look costs the API server
// as little as there is: no list of pods that nobody has seen, one question about the operator for all of them.
func TestManySilentJobsAskTogether(t *testing.T) {
	silent := func(i int, status map[string]any) *unstructured.Unstructured {
		u := object("kubeflow.org/v1", "PyTorchJob", fmt.Sprint("train-", i), types.UID(fmt.Sprint("job-", i)), nil, nil)
		u.SetCreationTimestamp(metav1.NewTime(now.Add(-time.Hour)))
		template := map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "pytorch", "image": "x"}}}}
		if err := unstructured.SetNestedMap(u.Object, map[string]any{"Master": map[string]any{"template": template}}, "spec", "pytorchReplicaSpecs"); err != nil {
			t.Fatal(err)
		}
		if status != nil {
			u.Object["status"] = status
		}
		return u
	}
	c := serving(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "kubeflow", Name: "training-operator", UID: "d"}})
	mayWrite(c, "update", "system:serviceaccount:kubeflow:default")
	c.Shared = &Shared{For: time.Hour}
	c.NoPods = func(context.Context, string, labels.Selector) bool { return true }
	count := func() map[string]int {
		out := map[string]int{}
		for _, a := range c.Kube.(*kubefake.Clientset).Actions() {
			out[a.GetVerb()+" "+a.GetResource().Resource]++
		}
		return out
	}
	const jobs = 20
	for i := range jobs {
		found, err := c.Case(t.Context(), kind(t, "PyTorchJob"), silent(i, nil))
		if err != nil || len(found.Objects) != 1 {
			t.Fatalf("beside the job are %v, %v; want its operator", found.Objects, err)
		}
	}
	got := count()
	delete(got, "list events") // followed where the controller runs
	if diff := cmp.Diff(map[string]int{"list deployments": 1, "create subjectaccessreviews": 1, "list validatingwebhookconfigurations": 1, "get configmaps": jobs}, got); diff != "" {
		t.Errorf("questions about %d jobs (-want +got):\n%s", jobs, diff)
	}
	failed := map[string]any{"conditions": []any{map[string]any{"type": "Failed", "status": "True"}}}
	if _, err := c.Case(t.Context(), kind(t, "PyTorchJob"), silent(jobs, failed)); err != nil {
		t.Fatal(err)
	}
	if count()["list pods"] == 0 {
		t.Error("the pods of a job that has ended are not asked for")
	}
}
