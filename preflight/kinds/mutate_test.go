package kinds

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// TestEveryValueMayBeWrong puts, into every place of every fixture, every kind of value
// that does not belong there, and takes the place away. Whatever is written, the reader
// answers, and its paths lead somewhere. Bytes that a fuzzer flips rarely get this far.
func TestEveryValueMayBeWrong(t *testing.T) {
	wrong := []any{
		nil, "", "text", "${X}", "1e9999", int64(0), int64(-1), int64(1) << 62, 1.5, true,
		[]any{},
		map[string]any{},
		[]any{nil},
		[]any{"text"},
		[]any{map[string]any{"name": "a"}},
		map[string]any{"name": nil, "spec": "text", "": int64(1), `odd["key"]`: []any{}},
	}
	if testing.Short() {
		wrong = wrong[:6]
	}
	for file, f := range fixtures(t) {
		t.Run(strings.TrimPrefix(file, "testdata/"), func(t *testing.T) {
			t.Parallel()
			reads := 0
			everywhere(f.object.Object, func() {
				reads++
				read(t, f)
			}, wrong)
			for i, o := range f.others {
				f.others[i] = o.DeepCopy()
				everywhere(f.others[i].Object, func() {
					reads++
					read(t, f)
				}, wrong)
			}
			if reads < len(wrong) {
				t.Errorf("only %d reads: no place was changed", reads)
			}
		})
	}
}

func read(t *testing.T, f fixture) {
	t.Helper()
	got := func(w Want) (*unstructured.Unstructured, job.Presence) {
		if len(f.others) == 0 {
			return nil, job.Unknown
		}
		return f.others[0], job.Present
	}
	j, err := f.kind.Read(f.object, got)
	lawful(t, f.kind, f.object, j, err)
	f.kind.State(f.object)
	if f.kind.Needs != nil {
		f.kind.Needs(f.object)
	}
}

// everywhere puts every value into every place below v, one at a time, and restores it.
func everywhere(v any, visit func(), values []any) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range sortedKeys(v) {
			before := v[k]
			delete(v, k)
			visit()
			for _, w := range values {
				v[k] = w
				visit()
			}
			v[k] = before
			everywhere(before, visit, values)
		}
	case []any:
		for i := range v {
			before := v[i]
			for _, w := range values {
				v[i] = w
				visit()
			}
			v[i] = before
			everywhere(before, visit, values)
		}
	}
}
