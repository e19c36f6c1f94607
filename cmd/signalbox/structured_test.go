package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/config"
)

// TestProgramsReadWhatTerminalsDoNotObey: what a program reads has every character of a name, and what a terminal or a diff shows
// none that turns a line around or stays unseen.
func TestProgramsReadWhatTerminalsDoNotObey(t *testing.T) {
	const hostile = "n\u202egnp\u2066s\u200b\u0085\U000e0041e"
	name := filepath.Join(t.TempDir(), "a.yaml")
	job := `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"` + hostile + `"},"spec":{"template":{"spec":{"restartPolicy":"Never","priorityClassName":"` + hostile + `","containers":[{"name":"` + hostile + `","image":"i","resources":{"limits":{"nvidia.com/gpu":"1"}}}]}}}}`
	if err := os.WriteFile(name, []byte(job), 0o600); err != nil {
		t.Fatal(err)
	}
	asJSON := func(text []byte) (out any, err error) { return out, json.Unmarshal(text, &out) }
	asYAML := func(text []byte) (out any, err error) { return out, yaml.Unmarshal(text, &out) }
	asXML := func(text []byte) (any, error) {
		var out junitSuites
		err := xml.Unmarshal(text, &out)
		return out, err
	}
	for format, read := range map[string]func([]byte) (any, error){"json": asJSON, "yaml": asYAML, "sarif": asJSON, "gitlab": asJSON, "junit": asXML} {
		var out, errs bytes.Buffer
		run(t.Context(), &shell{name: "signalbox", out: &out, err: &errs, now: time.Now}, []string{"check", "-f", name, "-o", format})
		if said := out.String() + errs.String(); strings.ContainsAny(said, hostile[1:4]+"\u2066\u200b\u0085\U000e0041") {
			t.Errorf("%s has a character that is not seen:\n%q", format, said)
		}
		value, err := read(out.Bytes())
		if err != nil {
			t.Errorf("%s: %v\n%s", format, err, out.String())
		}
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), hostile) {
			t.Errorf("%s does not say the name to who reads it:\n%s", format, text)
		}
	}
}

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

// TestALineOfTheLogIsOneLine: whatever a name holds, the log has a line for each record, and a terminal shows what stands there.
func TestALineOfTheLogIsOneLine(t *testing.T) {
	const hostile = "a\n{\"level\":\"INFO\"}\x1b[2J\u202egnp\u2028b\U000e0041"
	for _, format := range []string{"json", "text"} {
		var out bytes.Buffer
		log, _ := newLog(&out, config.Log{Format: format, Level: "info"})
		log.Info("denied "+hostile, "name", hostile, hostile, 1)
		said := out.String()
		if strings.Count(said, "\n") != 1 || strings.ContainsAny(said, "\x1b\u202e\u2028\U000e0041") {
			t.Errorf("%s: %q", format, said)
		}
		var read map[string]any
		if err := json.Unmarshal(out.Bytes(), &read); format == "json" && (err != nil || read["name"] != hostile || read[hostile] != 1.) {
			t.Errorf("%v is read: %v", read, err)
		}
	}
}
