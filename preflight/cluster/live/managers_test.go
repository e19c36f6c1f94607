package live

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestManagersAreTakenOutOfTheText(t *testing.T) {
	const list = `[{"manager":"a\"]\\","time":"2026-11-20T08:00:00Z","fieldsV1":{"f:spec":{"f:x":{}}}},{"manager":"b"}]`
	for name, tc := range map[string]struct{ text, rest, managers, created string }{
		"between others":      {`{"kind":"J","metadata":{"creationTimestamp":"2026-11-20T08:00:00Z","managedFields":` + list + `,"name":"a"},"spec":{}}`, `{"kind":"J","metadata":{"creationTimestamp":"2026-11-20T08:00:00Z","name":"a"},"spec":{}}`, list, "2026-11-20T08:00:00Z"},
		"at the end":          {`{"metadata":{"name":"a","managedFields":` + list + `}}`, `{"metadata":{"name":"a"}}`, list, ""},
		"alone":               {`{"metadata":{"managedFields":` + list + `},"a":1}`, `{"metadata":{},"a":1}`, list, ""},
		"none":                {`{"metadata":{"name":"a"},"spec":{"managedFields":[]}}`, `{"metadata":{"name":"a"},"spec":{"managedFields":[]}}`, "", ""},
		"of the template":     {`{"spec":{"metadata":{"managedFields":[]}},"metadata":{"name":"a"}}`, `{"spec":{"metadata":{"managedFields":[]}},"metadata":{"name":"a"}}`, "", ""},
		"no metadata":         {`{"metadata":3}`, `{"metadata":3}`, "", ""},
		"written with room":   {`{"metadata": {"managedFields": []}}`, `{"metadata": {"managedFields": []}}`, "", ""},
		"no object":           {`[1]`, `[1]`, "", ""},
		"cut off":             {`{"metadata":{"managedFields":[{"a":"`, `{"metadata":{"managedFields":[{"a":"`, "", ""},
		"nothing":             {``, ``, "", ""},
		"a name with escapes": {`{"a\"b":"\\","metadata":{"managedFields":[],"x":"\\\""}}`, `{"a\"b":"\\","metadata":{"x":"\\\""}}`, "[]", ""},
	} {
		t.Run(name, func(t *testing.T) {
			managers, created := managersOf([]byte(tc.text))
			text, stood := string(managers), managers != nil
			rest := WithoutManagers([]byte(tc.text))
			if stood != (tc.managers != "") {
				t.Errorf("it has managers: %t", stood)
			}
			if diff := cmp.Diff([]string{tc.rest, tc.managers, tc.created}, []string{string(rest), text, created}); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	entries, ok := EntriesOf([]byte(list))
	if !ok || len(entries) != 2 || TextOf(entries[0], "time") != "2026-11-20T08:00:00Z" || TextOf(entries[0], "manager") != "" || TextOf(entries[1], "manager") != "b" || TextOf(entries[1], "time") != "" {
		t.Errorf("the entries are %q, %t", entries, ok)
	}
	for _, text := range []string{`[]x`, `{}`, `[`, `[1`, `[1 ,2]`, ``} {
		if _, ok := EntriesOf([]byte(text)); ok {
			t.Errorf("%q is a list", text)
		}
	}
}

// Whatever is sent, what is left is the object without its managers, or the object.
func FuzzWithoutManagers(f *testing.F) {
	for _, seed := range []string{`{"metadata":{"a":1,"managedFields":[{"x":"]}\\\""}],"b":{}},"spec":[1,"x",null,{"metadata":{"managedFields":1}}]}`, `{"metadata":{"managedFields":{}}}`, `{}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var want map[string]any
		if json.Unmarshal(text, &want) != nil {
			WithoutManagers(bytes.Clone(text)) // it does not panic
			return
		}
		managers, _ := managersOf(text)
		rest := WithoutManagers(bytes.Clone(text))
		if managers != nil && !json.Valid(managers) {
			t.Errorf("%q has managers %q", text, managers)
		}
		var got map[string]any
		if err := json.Unmarshal(rest, &got); err != nil {
			t.Fatalf("of %q %q is left: %v", text, rest, err)
		}
		if metadata, ok := want["metadata"].(map[string]any); ok && managers != nil && !twice(text) {
			delete(metadata, "managedFields")
		}
		if diff := cmp.Diff(want, got); diff != "" && !twice(text) {
			t.Errorf("%q: -want +got:\n%s", text, diff)
		}
	})
}

// twice says that a text may name something twice: what that means differs.
func twice(text []byte) bool {
	seen := map[string]bool{}
	for rest := text; len(rest) > 0; {
		at := 0
		for at < len(rest) && rest[at] != '"' {
			at++
		}
		if at == len(rest) {
			return false
		}
		end := stringEnd(rest, at+1)
		if end < 0 {
			return false
		}
		name := string(rest[at:end])
		if seen[name] {
			return true
		}
		seen[name], rest = true, rest[end:]
	}
	return false
}
