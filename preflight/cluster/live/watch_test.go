package live

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

var jobResource = schema.GroupVersionResource{Group: "kubeflow.org", Version: "v1", Resource: "pytorchjobs"}

// watched is what comes of a watch that is answered so, each event in a line; the dynamic client says the same.
func watched(t *testing.T, answer http.HandlerFunc, wanted func([]byte, string) bool) (ours, theirs []string) {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	clients, err := Connect(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	read := func(w watch.Interface, err error) (out []string) {
		if err != nil {
			return []string{"error: " + err.Error()}
		}
		defer w.Stop()
		for e := range w.ResultChan() {
			if status, ok := e.Object.(*metav1.Status); ok {
				out = append(out, fmt.Sprint(e.Type, " ", status.Code, " ", status.Reason))
				continue
			}
			o, err := meta.Accessor(e.Object)
			if err != nil {
				t.Error(err)
				continue
			}
			out = append(out, fmt.Sprint(e.Type, " ", o.GetName(), " ", len(o.GetManagedFields()), " ", len(fmt.Sprint(e.Object.(*unstructured.Unstructured).Object["spec"]))))
		}
		return out
	}
	o := metav1.ListOptions{ResourceVersion: "7", Watch: true}
	ours = read(WatchObjects(clients, jobResource, wanted)(t.Context(), o))
	return ours, read(clients.Dynamic.Resource(jobResource).Watch(t.Context(), o))
}

func job(name, spec string) string {
	return `{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"creationTimestamp":"2026-11-20T08:00:00Z","managedFields":[{"manager":"kubectl","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}],"name":"` + name + `"},"spec":` + spec + `}`
}

func TestAWatchOfLinesIsThatOfTheClient(t *testing.T) {
	long := `"` + strings.Repeat("x", mostLine+1) + `"`
	gone := `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old","reason":"Expired","code":410}`
	lines := func(all ...string) string { return strings.Join(all, "\n") + "\n" }
	for name, tc := range map[string]struct {
		body string
		want []string
	}{
		"new, changed and gone": {
			lines(`{"type":"ADDED","object":`+job("a", "1")+`}`, `{"type":"MODIFIED","object":`+job("a", "22")+`}`, `{"type":"DELETED","object":`+job("a", "22")+`}`),
			[]string{"ADDED a 1 1", "MODIFIED a 1 2", "DELETED a 1 2"},
		},
		"a bookmark":                         {lines(`{"type":"BOOKMARK","object":` + job("", "1") + `}`), []string{"BOOKMARK  1 1"}},
		"an error":                           {lines(`{"type":"ERROR","object":` + gone + `}`), []string{"ERROR 410 Expired"}},
		"one byte more than a line may keep": {lines(`{"type":"ADDED","object":`+job("a", long)+`}`, `{"type":"ADDED","object":`+job("b", "1")+`}`), []string{fmt.Sprint("ADDED a 1 ", len(long)-2), "ADDED b 1 1"}},
		"written otherwise":                  {lines(`{ "object": ` + job("a", "1") + `, "type" : "ADDED" }`), []string{"ADDED a 1 1"}},
		"more in it":                         {lines(`{"type":"ADDED","object":` + job("a", "1") + `,"more":1}`), []string{"ADDED a 1 1"}},
		"without an end of line":             {`{"type":"ADDED","object":` + job("a", "1") + `}`, []string{"ADDED a 1 1"}},
		"cut off":                            {lines(`{"type":"ADDED","object":`+job("a", "1")+`}`) + `{"type":"ADDED","object":{"apiVer`, []string{"ADDED a 1 1"}},
		"nothing":                            {"", nil},
		"no JSON":                            {lines("<html>"), []string{"ERROR 500 InternalError"}},
		"an unknown type":                    {lines(`{"type":"MOVED","object":` + job("a", "1") + `}`), []string{"ERROR 500 InternalError"}},
	} {
		t.Run(name, func(t *testing.T) {
			ours, theirs := watched(t, func(w http.ResponseWriter, r *http.Request) {
				if q := r.URL.Query(); r.URL.Path != "/apis/kubeflow.org/v1/pytorchjobs" || q.Get("watch") == "" || q.Get("resourceVersion") != "7" {
					t.Errorf("%s is asked for", r.URL)
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, tc.body)
			}, nil)
			if diff := cmp.Diff(tc.want, ours); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if diff := cmp.Diff(theirs, ours); diff != "" && name != "no JSON" && name != "an unknown type" { // in other words
				t.Errorf("-client +ours:\n%s", diff)
			}
		})
	}
	ours, theirs := watched(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusGone)
		_, _ = io.WriteString(w, gone)
	}, nil)
	if diff := cmp.Diff(theirs, ours); diff != "" || len(ours) != 1 || !strings.Contains(ours[0], "too old") {
		t.Errorf("of a watch that is refused: -client +ours:\n%s", diff)
	}
}

// Managers that are not wanted are not there; a reader that wants them has them.
func TestManagersAreDecodedForWhoWantsThem(t *testing.T) {
	answer := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"type":"ADDED","object":`+job("a", "1")+"}\n"+`{"type":"ADDED","object":`+strings.Replace(job("b", "1"), "kubectl", "wanted", 1)+"}\n")
	}
	ours, _ := watched(t, answer, func(managers []byte, created string) bool {
		if created != "2026-11-20T08:00:00Z" {
			t.Errorf("it was created at %s", created)
		}
		return strings.Contains(string(managers), "wanted")
	})
	if diff := cmp.Diff([]string{"ADDED a 0 1", "ADDED b 1 1"}, ours); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Room that was needed for a large object is given back, and what was packed in it stays.
func TestALargeObjectIsPackedAsOthersAre(t *testing.T) {
	for _, size := range []int{1, mostPackRoom + 1} {
		u := &unstructured.Unstructured{Object: map[string]any{"kind": "J", "metadata": map[string]any{"name": "a"}, "spec": strings.Repeat("x", size)}}
		want := u.DeepCopy()
		packed, err := Pack(u)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Pack(&unstructured.Unstructured{Object: map[string]any{"kind": "K", "spec": strings.Repeat("y", size)}}); err != nil {
			t.Fatal(err)
		}
		packed.decoded = (&PackedObject{}).decoded
		if diff := cmp.Diff(want.Object, packed.Object().Object); diff != "" {
			t.Errorf("of %d bytes: -want +got:\n%.200s", size, diff)
		}
	}
}
