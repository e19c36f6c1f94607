package apiserver

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic/fake"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// blanks is an answer of so many bytes.
type blanks int64

func (n blanks) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(io.LimitReader(blank{}, int64(n)))}, nil
}

type blank struct{}

func (blank) Read(p []byte) (int, error) { return len(p), nil }

// One answer may have half a gigabyte, and not a byte more.
func TestAnAnswerMayBeSoLong(t *testing.T) {
	for n, want := range map[int64]string{512 << 20: "", 512<<20 + 1: "the answer to /api/v1/pods has more than 512 MiB"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://cluster/api/v1/pods", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := newBoundedTransport(blanks(n)).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, resp.Body, make([]byte, 1<<20))
		if cerr := resp.Body.Close(); cerr != nil {
			t.Fatal(cerr)
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("of %d bytes: %v; want %q", n, err, want)
		}
	}
}

// A list goes on while the objects that were read take four gigabytes, and not when they take a byte more.
func TestAListGoesOnWhileItsObjectsTakeSoMuch(t *testing.T) {
	for held, want := range map[uint64]string{4 << 30: "", 4<<30 + 1: "the cluster has sent more than 4096 MiB of objects"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://cluster/api/v1/pods?limit=500&continue=more", nil)
		if err != nil {
			t.Fatal(err)
		}
		b := newBoundedTransport(answering("{}")).(boundedTransport)
		b.now = func() uint64 { return held }
		resp, err := b.RoundTrip(r)
		if err == nil {
			_ = resp.Body.Close()
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("where %d bytes are held: %v; want %q", held, err, want)
		}
	}
}

// A name that is nearly that of a node is found among five hundred, and the five hundred and first is not read.
func TestANameIsLookedForAmongSoMany(t *testing.T) {
	for before, want := range map[int]string{499: `did you mean "gpu-rack"`, 500: ""} {
		var nodes []runtime.Object
		for i := range before {
			nodes = append(nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("a%04d", i)}})
		}
		kube := kubefake.NewClientset(append(nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "gpu-rack"}})...)
		kube.PrependReactor("list", "nodes", func(a clienttesting.Action) (bool, runtime.Object, error) { // the fake sends all, whatever the limit
			all, err := kube.Tracker().List(a.GetResource(), corev1.SchemeGroupVersion.WithKind("Node"), "")
			if err != nil {
				return true, nil, err
			}
			list := all.(*corev1.NodeList)
			slices.SortFunc(list.Items, func(a, b corev1.Node) int { return strings.Compare(a.Name, b.Name) })
			list.Items = list.Items[:min(int64(len(list.Items)), a.(clienttesting.ListActionImpl).ListOptions.Limit)]
			return true, list, nil
		})
		c := &Cluster{Clients: kube}
		if got := fmt.Sprint(c.MissingNode(t.Context(), "gpu-rak")); strings.Contains(got, "did you mean") != (want != "") || !strings.Contains(got, want) {
			t.Errorf("after %d other nodes: %s; want %q", before, got, want)
		}
	}
}

// Of a namespace the annotations are kept that policies may read; a longer one is a document of somebody else.
func TestLongAnnotationsOfANamespaceAreNotKept(t *testing.T) {
	for n, want := range map[int]bool{128: true, 129: false} {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
		o.SetName("ml")
		o.SetAnnotations(map[string]string{"team.example/about": strings.Repeat("x", n)})
		if _, kept := Trim(o).GetAnnotations()["team.example/about"]; kept != want {
			t.Errorf("an annotation of %d bytes is kept: %t, want %t", n, kept, want)
		}
	}
}

// Owners may stand above each other, but not for ever: a circle of them is one clear error.
func TestOwnersOfAPodAreFollowedUpToABound(t *testing.T) {
	for owners, want := range map[int]string{1: "Job j0", 8: "Job j7", 9: "Pod ml/p: more than 8 owners stand above each other"} {
		by := func(i int) []metav1.OwnerReference {
			if i == owners {
				return nil
			}
			return []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: fmt.Sprintf("j%d", i), Controller: new(true)}}
		}
		var jobs []runtime.Object
		for i := range owners {
			o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "batch/v1", "kind": "Job"}}
			o.SetNamespace("ml")
			o.SetName(fmt.Sprintf("j%d", i))
			o.SetOwnerReferences(by(i + 1))
			jobs = append(jobs, o)
		}
		c := &Cluster{Namespace: "ml"}
		c.Clients = kubefake.NewClientset(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "p", OwnerReferences: by(0)}})
		c.Objects = fake.NewSimpleDynamicClient(runtime.NewScheme(), jobs...)
		found, err := c.jobOfPod(t.Context(), "p")
		got := fmt.Sprint(err)
		if err == nil {
			got = found.Kind.Name + " " + found.Name
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("of %d owners: %s; want %s", owners, got, want)
		}
	}
}
