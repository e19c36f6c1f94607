package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/xeipuuv/gojsonschema"
	"go.yaml.in/yaml/v3"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/schema"
	"github.com/signalbox-dev/signalbox/config"
)

// keepsConfigSchema says what the published schema holds against a file with settings.
func keepsConfigSchema(t *testing.T, text string) []gojsonschema.ResultError {
	t.Helper()
	published, err := schema.Text("config")
	if err != nil {
		t.Fatal(err)
	}
	var document map[string]any
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	result, err := gojsonschema.Validate(gojsonschema.NewBytesLoader(published), gojsonschema.NewGoLoader(document))
	if err != nil {
		t.Fatal(err)
	}
	return result.Errors()
}

// heldAgainst says what the program itself holds against the same file.
func heldAgainst(t *testing.T, text string) error {
	t.Helper()
	file := filepath.Join(t.TempDir(), "settings.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	if code := run(t.Context(), &shell.Shell{Name: "signalbox", Out: io.Discard, Err: &said, Now: time.Now}, []string{"config", "check", file}); code != shell.ExitFine {
		return errors.New(said.String())
	}
	return nil
}

var yamlBlock = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```")

// TestRealSettingsKeepTheSchema judges every file with settings that the repository holds, and every such piece of its
// documentation: what the program reads, the schema takes.
func TestRealSettingsKeepTheSchema(t *testing.T) {
	texts := map[string]string{}
	for _, file := range []string{"../../config/config.yaml", "../../config/manager/config.yaml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[file] = string(text)
	}
	all, err := config.Settings()
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	for _, s := range all {
		top, _, _ := strings.Cut(s.Name, ".")
		known = append(known, top)
	}
	pages, err := filepath.Glob("../../docs/how-to/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range yamlBlock.FindAllStringSubmatch(string(text), -1) {
			var top map[string]any
			ours := yaml.Unmarshal([]byte(block[1]), &top) == nil && len(top) > 0
			for name := range top {
				ours = ours && slices.Contains(known, name)
			}
			if ours {
				texts[page+": "+block[1]] = block[1]
			}
		}
	}
	if len(texts) < 5 {
		t.Errorf("%d pieces of settings; the test looks in the wrong place", len(texts))
	}
	for at, text := range texts {
		if err := heldAgainst(t, text); err != nil {
			t.Errorf("%s: %v", at, err)
		}
		for _, e := range keepsConfigSchema(t, text) {
			t.Errorf("%s: %s", at, e)
		}
	}
}

// TestTheSchemaOfSettingsSaysWhatTheReaderSays writes settings right and wrong: both refuse the same.
func TestTheSchemaOfSettingsSaysWhatTheReaderSays(t *testing.T) {
	for text, right := range map[string]bool{
		"kinds: [TrainJob]\n":     true,
		"kinds:\nllm:\nchecks:\n": true,
		"diagnosis: {refresh: 30s, pendingAfter: 0, debounce: 1m30s}\n": true,
		"diagnosis: {refresh: 30}\n":                                    false,
		"diagnosis: {refresh: half an hour}\n":                          false,
		"diagnosis: {pendingafter: 5s}\n":                               false,
		"cheks: {}\n":                                                   false,
		"kinds: TrainJob\n":                                             false,
		"log: {level: debug}\n":                                         true,
		"log: {level: loud}\n":                                          false,
		"certificates: {mode: magic}\n":                                 false,
		"llm: {provider: oracle, baseURL: 'http://localhost/v1', model: m}\n": false,
		"checks: {disable: [shm-missing]}\n":                                  true,
		"checks: {disable: [shm-mising]}\n":                                   false,
		"checks: {severity: {shm-missing: off}}\n":                            true,
		"checks: {severity: {shm-missing: fatal}}\n":                          false,
		"checks: {severity: {shm-mising: note}}\n":                            false,
		"checks: {params: {ttl-deletes-logs: {leastSeconds: 5}}}\n":           true,
		"checks: {params: {ttl-deletes-logs: {leastSecond: 5}}}\n":            false,
		"checks: {params: {ttl-deletes-logs: {leastSeconds: five}}}\n":        false,
		"checks: {params: {shm-missing: {size: 5}}}\n":                        false,
		"checks: {namespaces: {ml: {severity: {shm-missing: worst}}}}\n":      false,
		"checks: {namespaces: {ml: {disabled: [shm-missing]}}}\n":             false,
		"notifications: {receivers: [{name: a, form: slack, urlFile: /a}]}\n": true,
		"notifications: {receivers: [{name: a, form: pager, urlFile: /a}]}\n": false,
		"tracing: {sample: much}\n":                                           false,
	} {
		if err := heldAgainst(t, text); (err == nil) != right {
			t.Errorf("%s is read with %v, want right %t", text, err, right)
		}
		if found := keepsConfigSchema(t, text); (len(found) == 0) != right {
			t.Errorf("the schema holds against %s %v, want right %t", text, found, right)
		}
	}
}
