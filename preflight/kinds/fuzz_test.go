package kinds

import (
	"reflect"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// FuzzReadKind gives every reader whatever JSON there is: it answers with a job, with a
// *ReadError or with both, twice the same, in time, and every path it names leads
// somewhere.
func FuzzReadKind(f *testing.F) {
	for _, fix := range fixtures(f) {
		b, err := fix.object.MarshalJSON()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		for _, o := range fix.others {
			if b, err := o.MarshalJSON(); err == nil {
				f.Add(b)
			}
		}
	}
	for _, s := range []string{`{}`, `{"spec":null}`, `{"metadata":{"labels":{"a":1}},"spec":{"template":[[[]]]}}`, `{"spec":{"replicatedJobs":[[],{},null,1]}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m := map[string]any{}
		if err := utiljson.Unmarshal(data, &m); err != nil {
			t.Skip()
		}
		u := &unstructured.Unstructured{Object: m}
		for _, k := range All() {
			begun := time.Now()
			fuzzKind(t, k, u)
			if took := time.Since(begun); took > 5*time.Second {
				t.Errorf("%s: took %v", k.Name, took)
			}
		}
	})
}

func fuzzKind(t *testing.T, k *Kind, u *unstructured.Unstructured) {
	before := u.DeepCopy()
	// The object stands for its own runtime: so the reader meets every shape of that too.
	got := func(Want) (*unstructured.Unstructured, job.Presence) { return u, job.Present }
	for _, g := range []Got{nil, got} {
		j, err := k.Read(u, g)
		lawful(t, k, u, j, err)
		again, errAgain := k.Read(u, g)
		if !reflect.DeepEqual(j, again) || !reflect.DeepEqual(err, errAgain) {
			t.Errorf("%s: two reads differ", k.Name)
		}
		if j != nil && k.Pods(j.Ref) == nil {
			t.Errorf("%s: no selector for %v", k.Name, j.Ref)
		}
	}
	if k.Needs != nil {
		k.Needs(u)
	}
	k.State(u)
	if !reflect.DeepEqual(before.Object, u.Object) {
		t.Errorf("%s: the source was changed", k.Name)
	}
}
