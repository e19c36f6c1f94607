package live

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestAppendedJSONIsThatOfTheStandardLibrary(t *testing.T) {
	for name, value := range map[string]any{
		"nothing":           nil,
		"a map of nothing":  map[string]any(nil),
		"no map of labels":  map[string]string(nil),
		"labels":            map[string]string{"b": "<x>", "a": "é"},
		"no list":           []any(nil),
		"an empty list":     []any{},
		"numbers":           []any{int64(-9007199254740993), 0.1, 1e21, float64(3)},
		"what is escaped":   "a\"b\\c\n<&>\u2028\x7f\x00 é \xff",
		"keys in any order": map[string]any{"z": true, "<": false, "a": map[string]any{"y": nil, "x": []any{"1", int64(2)}}},
		"more than has room": func() map[string]any {
			m := map[string]any{}
			for i := range 100 {
				m[string(rune('a'+i%26))+string(rune('a'+i/26))] = int64(i)
			}
			return m
		}(),
		"another type": struct{ A int }{1},
	} {
		t.Run(name, func(t *testing.T) {
			want, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			got, err := AppendJSON([]byte("before "), value)
			if diff := cmp.Diff("before "+string(want), string(got)); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	if _, err := AppendJSON(nil, map[string]any{"a": []any{make(chan int)}}); err == nil {
		t.Error("what cannot be written is no error")
	}
}

func FuzzAppendJSON(f *testing.F) {
	for _, seed := range []string{`{"kind":"A","metadata":{"name":"a","labels":{"<":"é"}},"spec":{"n":1,"f":0.5,"l":[null,true,{"x":"\u0000"}]}}`, `{"kind":"A"}`, `{"kind":"A","a":"\ud800"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		u := &unstructured.Unstructured{}
		if u.UnmarshalJSON(text) != nil {
			return // no object of an API server's
		}
		want, err := json.Marshal(u.Object)
		if err != nil {
			t.Fatal(err) // what was read can be written
		}
		if got, err := AppendJSON(nil, u.Object); err != nil || string(got) != string(want) {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	})
}
