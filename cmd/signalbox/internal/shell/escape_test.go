package shell

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// TestYAMLOfWhatIsNotSeen: only what has to be is written otherwise, and it is the same value.
func TestYAMLOfWhatIsNotSeen(t *testing.T) {
	for _, tc := range []struct{ json, want string }{
		{`{"a":["b c"],"long":"` + strings.Repeat("word ", 40) + `"}`, ""},
		{`{"z":{},"b":[],"a":"1 ` + "\u0085" + ` 2\u2028","n":null,"l":"x\ny\n","e":1e3}`, `a: "1 \N 2\L"
b: []
e: 1e3
l: "x\ny\n"
"n": null
z: {}
`},
		{`{"a":["b\u202ec","'\\\"\u202e"],"k\u200b":{"n":1,"s":"1","t":"\u202e` + strings.Repeat("word ", 40) + `x"}}`, `a:
- "b\U0000202ec"
- "'\\\"\U0000202e"
"k\U0000200b":
  "n": 1
  s: "1"
  t: "\U0000202e` + strings.Repeat("word ", 40) + `x"
`},
	} {
		got, err := asYAML([]byte(tc.json))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := yaml.JSONToYAML([]byte(tc.json))
		if err != nil {
			t.Fatal(err)
		}
		want := tc.want
		if want == "" {
			want = string(plain)
		}
		if string(got) != want {
			t.Errorf("%s is written as\n%s\nwant\n%s", tc.json, got, want)
		}
		back, err := yaml.YAMLToJSON(got)
		if err != nil {
			t.Fatal(err)
		}
		var is, was any
		if err := json.Unmarshal(back, &is); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(tc.json), &was); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(was, is); diff != "" {
			t.Errorf("%s is read as another value (-want +got):\n%s", got, diff)
		}
	}
}
