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

	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/render"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
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
		var out render.JUnitSuites
		err := xml.Unmarshal(text, &out)
		return out, err
	}
	for format, read := range map[string]func([]byte) (any, error){"json": asJSON, "yaml": asYAML, "sarif": asJSON, "gitlab": asJSON, "junit": asXML} {
		var out, errs bytes.Buffer
		run(t.Context(), &shell.Shell{Name: "signalbox", Out: &out, Err: &errs, Now: time.Now}, []string{"check", "-f", name, "-o", format})
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
