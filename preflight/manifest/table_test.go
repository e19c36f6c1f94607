package manifest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
	with "github.com/signalbox-dev/signalbox/test/build"
)

// text is a view as it is written.
func text(t testing.TB, v manifest.View, form manifest.Form) string {
	t.Helper()
	var b bytes.Buffer
	if err := v.Write(&b, form); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// tenants are many small objects, of which every hundredth has something of its own.
func tenants(n int) manifest.View {
	v := manifest.View{Taken: with.Taken, Complete: []schema.GroupResource{{Resource: "namespaces"}}}
	for i := range n {
		o := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Namespace",
			"metadata": map[string]any{"name": fmt.Sprintf("team-%05d", i), "labels": map[string]any{"a.b/tier": "batch", "shard": fmt.Sprint(i / 3)}},
			"status":   map[string]any{"phase": "Active"},
		}}
		if i%100 == 99 {
			o.SetAnnotations(map[string]string{"note": "<&>\u2028"})
		}
		v.Objects = append(v.Objects, o)
	}
	return v
}

func TestManyObjectsAreWrittenAsWhatTheyShareAndARowEach(t *testing.T) {
	got := strings.SplitAfterN(text(t, tenants(1000), manifest.Form{}), "\n", 14)
	want := []string{
		"apiVersion: v1\n", "kind: List\n", "metadata:\n", "  annotations:\n", "    signalbox.dev/complete: namespaces\n", "    signalbox.dev/objects: \"1000\"\n",
		"    signalbox.dev/taken: \"2026-01-02T03:04:05Z\"\n", "items:\n",
		`- {"apiVersion":"snapshot.signalbox.dev/v1","kind":"Objects","like":{"apiVersion":"v1","kind":"Namespace","metadata":{"labels":{"a.b/tier":"batch","shard":null},"name":null},"status":{"phase":"Active"}},"columns":["metadata.name","metadata.labels.shard"],"rows":[` + "\n",
		`  ["team-00000","0"],` + "\n", `  ["team-00001"],` + "\n", `  ["team-00002"],` + "\n", `  ["team-00003","1"],` + "\n",
	}
	want[6] = "    signalbox.dev/taken: \"" + with.Taken.Format("2006-01-02T15:04:05Z") + "\"\n"
	if diff := cmp.Diff(want, got[:13]); diff != "" {
		t.Errorf("Write (-want +got):\n%s", diff)
	}
	few := text(t, tenants(999), manifest.Form{})
	if strings.Contains(few, "like") || few != text(t, tenants(999), manifest.Form{Plain: true}) {
		t.Error("fewer than a thousand objects are not written in full")
	}
	if strings.Contains(text(t, tenants(2000), manifest.Form{Plain: true, JSON: true}), "like") {
		t.Error("a plain snapshot has tables")
	}
}

func TestTablesAreReadBackAsTheObjectsTheyWere(t *testing.T) {
	v := tenants(2345)
	var want []string
	for _, o := range v.Objects {
		s, _ := json.Marshal(o.Object)
		want = append(want, string(s))
	}
	slices.Sort(want)
	for name, form := range map[string]manifest.Form{"t.yaml": {}, "t.json": {JSON: true}, "p.yaml": {Plain: true}} {
		s := text(t, v, form)
		if s != text(t, v, form) {
			t.Errorf("%s: written twice, it is not the same", name)
		}
		var got []string
		for d, err := range manifest.Read(name, strings.NewReader(s)) {
			if err != nil {
				t.Fatal(err)
			}
			if !d.List {
				s, _ := json.Marshal(d.Object.Object)
				got = append(got, string(s))
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: Read (-want +got):\n%s", name, diff)
		}
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
		read, err := manifest.ReadView([]string{file}, nil)
		if err != nil || len(read.Objects) != len(want) {
			t.Errorf("%s: ReadView finds %d objects, want %d: %v", name, len(read.Objects), len(want), err)
		}
	}
}

// anyPod is a pod with things in it that tables must not mix up.
func anyPod(r *rand.Rand, i int) *corev1.Pod {
	p := with.Pod(fmt.Sprintf("p-%05d", i), with.In(fmt.Sprintf("ns-%d", r.IntN(3))), with.Requests(fmt.Sprintf("cpu=%d", 1+r.IntN(3)), "memory=1Gi"), with.PodLabel("index", fmt.Sprint(i)))
	if r.IntN(4) > 0 {
		with.On(fmt.Sprintf("n-%d", r.IntN(5)))(p)
	}
	if r.IntN(2) == 0 {
		with.PodLabel("app", fmt.Sprintf("a-%d", r.IntN(4)))(p)
	}
	switch r.IntN(3) {
	case 0:
		with.OwnedBy([]string{"PyTorchJob", "DaemonSet"}[r.IntN(2)], fmt.Sprintf("o-%d", r.IntN(4)))(p)
	case 1:
		with.OwnedBy("ReplicaSet", "o")(p)
		no := false
		p.OwnerReferences[0].Controller = &no
		with.OwnedBy("Job", fmt.Sprintf("j-%d", r.IntN(4)))(p)
	}
	if r.IntN(5) == 0 {
		p.Annotations = map[string]string{"batch.kubernetes.io/job-completion-index": fmt.Sprint(r.IntN(9))}
	}
	if r.IntN(5) == 0 {
		p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}}}
	}
	if r.IntN(5) == 0 {
		most := int32(r.IntN(3))
		p.Spec.Priority = &most
	}
	return p
}

func TestAPodInATableCountsAsThePodItWas(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	var v manifest.View
	want := map[string]*cluster.Pod{}
	for i := range 6000 {
		p := anyPod(r, i)
		p.UID = "" // snapshots leave it out
		for i := range p.OwnerReferences {
			p.OwnerReferences[i].UID = ""
		}
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(p)
		if err != nil {
			t.Fatal(err)
		}
		clean(fields)
		o := &unstructured.Unstructured{Object: fields}
		o.SetAPIVersion("v1")
		o.SetKind("Pod")
		v.Objects = append(v.Objects, o)
		want[p.Name] = cluster.PodOf(cluster.LeanPod(p))
	}
	read, err := manifest.ReadView([]string{"-"}, strings.NewReader(text(t, v, manifest.Form{})))
	if err != nil {
		t.Fatal(err)
	}
	if len(read.Pods) != len(want) {
		t.Fatalf("%d pods are read, want %d", len(read.Pods), len(want))
	}
	for _, p := range read.Pods {
		if !p.Equal(want[p.Name()]) {
			t.Fatalf("pod %s counts otherwise:\n%+v\nwant\n%+v", p.Name(), p, want[p.Name()])
		}
	}
}

func TestPodsOfMoreShapesThanAreRememberedCountTheSame(t *testing.T) {
	const shapes = 1<<14 + 2
	var v manifest.View
	for i := range 2 * shapes {
		v.Objects = append(v.Objects, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": fmt.Sprint("p", i), "namespace": "ml"},
			"spec": map[string]any{"containers": []any{map[string]any{"name": "a", "resources": map[string]any{"requests": map[string]any{"cpu": fmt.Sprintf("%dm", i%shapes+1)}}}}},
		}})
	}
	read, err := manifest.ReadView([]string{"-"}, strings.NewReader(text(t, v, manifest.Form{})))
	if err != nil {
		t.Fatal(err)
	}
	if len(read.Pods) != 2*shapes {
		t.Fatalf("%d pods are read, want %d", len(read.Pods), 2*shapes)
	}
	for _, p := range read.Pods {
		i, err := strconv.Atoi(strings.TrimPrefix(p.Name(), "p"))
		if want := int64(i%shapes + 1); err != nil || p.Takes(corev1.ResourceCPU) != want {
			t.Fatalf("pod %s takes %d of cpu, want %d", p.Name(), p.Takes(corev1.ResourceCPU), want)
		}
	}
}

// clean drops nulls, as the API server does.
func clean(fields map[string]any) {
	for key, v := range fields {
		switch v := v.(type) {
		case nil:
			delete(fields, key)
		case map[string]any:
			clean(v)
		case []any:
			for _, e := range v {
				if m, ok := e.(map[string]any); ok {
					clean(m)
				}
			}
		}
	}
}

// tabled is a List with one table; parts are its fields, the rest as in a good one.
func tabled(parts ...string) string {
	fields := map[string]string{
		"apiVersion": `"snapshot.signalbox.dev/v1"`, "kind": `"Objects"`, "like": `{"apiVersion":"v1","kind":"Node","metadata":{"name":null}}`,
		"columns": `["metadata.name"]`, "rows": `[["a"]]`,
	}
	order := []string{"apiVersion", "kind", "like", "columns", "rows"}
	for i := 0; i < len(parts); i += 2 {
		if fields[parts[i]] == "" {
			order = append(order, parts[i])
		}
		fields[parts[i]] = parts[i+1]
	}
	var all []string
	for _, name := range order {
		all = append(all, fmt.Sprintf("%q:%s", name, fields[name]))
	}
	return "apiVersion: v1\nkind: List\nitems:\n- {" + strings.Join(all, ",") + "}\n"
}

func TestATableThatIsNoneIsNamed(t *testing.T) {
	if _, err := manifest.ReadView([]string{"-"}, strings.NewReader(tabled())); err != nil {
		t.Fatalf("a good table: %v", err)
	}
	cases := map[string]struct {
		parts []string
		want  string
	}{
		"of a later version": {[]string{"apiVersion", `"snapshot.signalbox.dev/v2"`}, "Objects of snapshot.signalbox.dev/v2; expected Objects of snapshot.signalbox.dev/v1 (was the snapshot taken by a newer signalbox?)"},
		"of another kind":    {[]string{"kind", `"Nodes"`}, "Nodes of snapshot.signalbox.dev/v1; expected Objects of snapshot.signalbox.dev/v1 (was the snapshot taken by a newer signalbox?)"},
		"a field too many":   {[]string{"row", `[]`}, `a table with the field "row"; expected like, columns and rows`},
		"nothing shared":     {[]string{"like", `[]`}, "like is []; expected what the objects share"},
		"no kind":            {[]string{"like", `{"apiVersion":"v1","metadata":{"name":null}}`}, "like.kind is empty; expected the kind of the objects"},
		"a list of lists":    {[]string{"like", `{"apiVersion":"v1","kind":"List","items":null}`, "columns", `["items"]`}, `like is {"apiVersion":"v1","items":null,"kind":"List"}; expected what the objects share`},
		"no columns":         {[]string{"columns", `null`}, "columns is empty; expected a list of paths, such as metadata.name"},
		"a column nowhere":   {[]string{"columns", `["metadata.uid"]`}, `columns[0] is "metadata.uid"; expected the path to a null in like, each once`},
		"a column on a word": {[]string{"columns", `["kind"]`}, `columns[0] is "kind"; expected the path to a null in like, each once`},
		"a column twice":     {[]string{"columns", `["metadata.name","metadata.name"]`}, `columns[1] is "metadata.name"; expected the path to a null in like, each once`},
		"no path":            {[]string{"columns", `["["]`}, `columns[0] is "["; expected the path to a null in like, each once`},
		"no rows":            {[]string{"rows", `"a"`}, `rows is "a"; expected a list of rows`},
		"a row that is none": {[]string{"rows", `[["a"],"b"]`}, `rows[1] is "b"; expected a list of at most 1 value`},
		"a row too long":     {[]string{"rows", `[["a"],["b","c"]]`}, `rows[1] is ["b","c"]; expected a list of at most 1 value`},
		"a value too deep":   {[]string{"rows", `[["a"],[{"b":1}]]`}, `rows[1][0] is {"b":1}; expected text, a number, true, false, or null for what the row above says`},
		"a first row short":  {[]string{"rows", `[[]]`}, `rows[0] is []; expected a first row of 1 value, none of them null`},
		"a first row empty":  {[]string{"rows", `[[null]]`}, `rows[0] is [null]; expected a first row of 1 value, none of them null`},
		"more than can be": {
			[]string{"like", `{"apiVersion":"v1","kind":"Node","metadata":{"name":null},"x":"` + strings.Repeat("x", 1<<20) + `"}`, "rows", `[["a"]` + strings.Repeat(`,[]`, 600) + `]`},
			"the tables up to here stand for more than 512 MiB; expected a snapshot of one cluster",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := tabled(tc.parts...)
			_, err := manifest.ReadView([]string{"-"}, strings.NewReader(s))
			if want := "standard input:4: " + tc.want; err == nil || err.Error() != want {
				t.Errorf("ReadView: %v\nwant %s", err, want)
			}
			var problem error
			for _, err := range manifest.Read("-", strings.NewReader(s)) {
				problem = errors.Join(problem, err)
			}
			if problem == nil {
				t.Error("Read takes it")
			}
		})
	}
	pods := tabled("like", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":null},"spec":{"overhead":{"cpu":null}}}`, "columns", `["metadata.name","spec.overhead.cpu"]`, "rows", `[["a","1"],["b","lots"]]`)
	want := `standard input:4: read Pod b: spec.overhead.cpu is "lots"; expected a quantity such as 8, 500m or 64Gi`
	if _, err := manifest.ReadView([]string{"-"}, strings.NewReader(pods)); err == nil || err.Error() != want {
		t.Errorf("ReadView: %v\nwant %s", err, want)
	}
}

// TestTablesThatWereCutOffAreAnError cuts a file of more than a mebibyte, which is read
// item by item, everywhere around its middle and its end.
func TestTablesThatWereCutOffAreAnError(t *testing.T) {
	v := tenants(60_000)
	for _, form := range []manifest.Form{{}, {JSON: true}} {
		s := text(t, v, form)
		if len(s) < 1<<20 {
			t.Fatalf("the file has %d bytes", len(s))
		}
		middle := strings.Index(s[len(s)/2:], `- {"apiVersion"`) // between two items
		if form.JSON {
			middle = strings.Index(s[len(s)/2:], `{"apiVersion"`)
		}
		middle += len(s) / 2
		for _, at := range []int{400, middle - 3, middle - 2, middle - 1, middle, middle + 1, middle + 500, len(s) - 10, len(s) - 4} {
			_, err := manifest.ReadView([]string{"-"}, strings.NewReader(s[:at]))
			problem, ok := errors.AsType[*manifest.Problem](err)
			if !ok || strings.Contains(problem.Error(), "\n") || len(problem.Error()) > 300 {
				t.Errorf("cut at %d of %d bytes: %v; want one line that says what is there and what was expected", at, len(s), err)
			}
		}
	}
}

// FuzzTable: both ways of reading a table see the same objects, or an error.
func FuzzTable(f *testing.F) {
	f.Add(tabled())
	f.Add(tabled("like", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":null,"labels":{"a":null}}}`, "columns", `["metadata.name","metadata.labels.a"]`, "rows", `[["a","x"],["b"],["c","y"],["d",1]]`))
	f.Add(tabled("like", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","ownerReferences":[{"controller":true,"kind":"Job","name":null}]},"spec":{"nodeName":"n","priority":null}}`,
		"columns", `["metadata.ownerReferences[0].name","spec.priority"]`, "rows", `[["o",1],["",2],["p"]]`))
	f.Add(text(f, tenants(1003), manifest.Form{})[:4000])
	f.Fuzz(func(t *testing.T, s string) {
		objects, pods := 0, []*cluster.Pod{}
		var problem error
		for d, err := range manifest.Read("-", strings.NewReader(s)) {
			problem = errors.Join(problem, err)
			if err != nil || d.List {
				continue
			}
			p := &corev1.Pod{}
			if d.Object.GroupVersionKind() != corev1.SchemeGroupVersion.WithKind("Pod") {
				objects++
			} else if err := cluster.Decode(d.Object, p); err != nil {
				problem = errors.Join(problem, err)
			} else {
				pods = append(pods, cluster.PodOf(cluster.LeanPod(p)))
			}
		}
		read, err := manifest.ReadView([]string{"-"}, strings.NewReader(s))
		if err != nil || problem != nil {
			return
		}
		if len(read.Objects) != objects || len(read.Pods) != len(pods) {
			t.Fatalf("one way sees %d objects and %d pods, the other %d and %d", objects, len(pods), len(read.Objects), len(read.Pods))
		}
		for i, p := range pods {
			if !read.Pods[i].Equal(p) {
				t.Fatalf("pod %d counts as\n%+v\nread as a table as\n%+v", i, p, read.Pods[i])
			}
		}
	})
}
