package main

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/xeipuuv/gojsonschema"
	"golang.org/x/tools/txtar"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/preflight/checks"
)

// printed is what a command writes to its output.
func printed(t *testing.T, args ...string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	run(t.Context(), &shell.Shell{Name: "signalbox", Out: &out, Err: &errs, Now: time.Now}, args)
	if out.Len() == 0 {
		t.Fatalf("%v: nothing was printed: %s", args, errs.String())
	}
	return out.Bytes()
}

// A viewer makes a link of what is written as one, in plain text, too.
func TestASarifMessageHoldsNoLinkOfAnAuthor(t *testing.T) {
	file := filepath.Join(t.TempDir(), "job.yaml")
	const job = `{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: x}, spec: {pytorchReplicaSpecs: {Master: {restartPolicy: "[click](https://evil.example)", template: {spec: {containers: [{name: pytorch, image: "x:1"}]}}}}}}`
	if err := os.WriteFile(file, []byte(job), 0o600); err != nil {
		t.Fatal(err)
	}
	out := printed(t, "check", "--offline", "-f", file, "-o", "sarif")
	if !bytes.Contains(out, []byte("[click] (https://evil.example)")) || bytes.Contains(out, []byte("](https://evil")) {
		t.Errorf("%s", out)
	}
}

// manifests are all that the tests of the checks and of the command line hold, a folder for each case.
func manifests(t *testing.T) (dirs []string) {
	t.Helper()
	dir := t.TempDir()
	add := func(from string, files []txtar.File) {
		for _, f := range files {
			if ext := filepath.Ext(f.Name); ext != ".yaml" && ext != ".json" || !bytes.Contains(f.Data, []byte("kind")) {
				continue
			}
			at := filepath.Join(dir, from, filepath.Base(f.Name))
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, f.Data, 0o600); err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(dirs, filepath.Dir(at)) {
				dirs = append(dirs, filepath.Dir(at))
			}
		}
	}
	for _, c := range checks.All() {
		for _, e := range checks.Examples(c.Name) {
			add(c.Name+"/"+e.Name, e.Files)
		}
	}
	scripts, err := filepath.Glob("../../test/cli/check-*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range scripts {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		add("a script, "+filepath.Base(name), archive.Files) // with what an address writes otherwise
	}
	if len(dirs) < 400 {
		t.Fatalf("only %d cases", len(dirs))
	}
	return dirs
}

// TestSARIFIsWhatItsSchemaSays reviews every manifest that the tests hold, and judges the answer by the schema of
// the standard: testdata/sarif-schema-2.1.0.json, as OASIS publishes it
// (https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json). Each fix is applied
// to its file, and then the finding is gone.
func TestSARIFIsWhatItsSchemaSays(t *testing.T) {
	t.Setenv("KUBECONFIG", os.DevNull)
	t.Setenv("SIGNALBOX_RUNBOOKS", "")
	text, err := os.ReadFile("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := gojsonschema.NewSchema(gojsonschema.NewBytesLoader(text))
	if err != nil {
		t.Fatal(err)
	}
	fixed := map[string]int{}
	var cases [][]string
	for _, dir := range manifests(t) {
		cases = append(cases, []string{dir, "-R", "--offline"})
		if strings.HasSuffix(dir, "check-fix.txtar") { // a gang that fits with other numbers
			cases = append(cases, []string{dir + "/big.yaml", "--snapshot", dir + "/cluster.yaml", "--snapshot", dir + "/third.yaml"})
		}
	}
	for _, args := range cases {
		out := printed(t, append([]string{"check", "-o", "sarif"}, args...)...)
		result, err := schema.Validate(gojsonschema.NewBytesLoader(out))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range result.Errors() {
			t.Errorf("%s: %s", args[0], e)
		}
		var log struct {
			Runs []struct {
				Tool struct {
					Driver struct {
						Rules []struct{ ID, HelpURI string }
					}
				}
				Results []fixedResult
			}
		}
		if err := json.Unmarshal(out, &log); err != nil {
			t.Fatal(err)
		}
		for _, r := range log.Runs[0].Tool.Driver.Rules {
			if r.HelpURI == "" && r.ID != "unreadable-input" {
				t.Errorf("%s: rule %s has no address", args[0], r.ID)
			}
		}
		for _, r := range log.Runs[0].Results {
			if len(r.Fixes) > 0 {
				fixed[r.RuleID]++
				applied(t, r, args)
			}
		}
	}
	for _, rule := range []string{"container-name-missing", "requests-above-limits", "volume-not-declared", "gang-does-not-fit", "unknown-restart-policy"} {
		if fixed[rule] == 0 {
			t.Errorf("no fix for %s; there are %v", rule, fixed)
		}
	}
}

// fixedResult is what a test reads of one result.
type fixedResult struct {
	RuleID string
	Fixes  []struct {
		Description struct{ Text string }
		Changes     []struct {
			Artifact     struct{ URI string } `json:"artifactLocation"`
			Replacements []struct {
				Deleted  struct{ StartLine, StartColumn, EndColumn int } `json:"deletedRegion"`
				Inserted struct{ Text string }                           `json:"insertedContent"`
			}
		} `json:"artifactChanges"`
	}
}

// applied writes a fix into its file, for as long as it takes to see that the finding is gone.
func applied(t *testing.T, r fixedResult, args []string) {
	t.Helper()
	found := func() int {
		return strings.Count(string(printed(t, append([]string{"check", "-o", "json"}, args...)...)), `"check": "`+r.RuleID+`"`)
	}
	name, err := url.PathUnescape(r.Fixes[0].Changes[0].Artifact.URI)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	for _, p := range r.Fixes[0].Changes[0].Replacements {
		at := &lines[p.Deleted.StartLine-1]
		*at = string([]rune(*at)[:p.Deleted.StartColumn-1]) + p.Inserted.Text + string([]rune(*at)[p.Deleted.EndColumn-1:])
	}
	was := found()
	if err := os.WriteFile(name, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	is := found()
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if is >= was {
		t.Errorf("%s: %s: %d times before, %d after %q", name, r.RuleID, was, is, r.Fixes[0].Description.Text)
	}
}
