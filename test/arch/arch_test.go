// Package arch holds up the layer table: arrows point down.
package arch

import (
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/signalbox-dev/signalbox/"

// layers are the packages by what they may know; a package imports only lower layers,
// and of its own layer only what sideways lists. docs/architecture.md shows the table.
var layers = map[string]int{
	"preflight/job": 0, "preflight/gang": 0, "preflight/podspec": 0, "preflight/words": 0, "preflight/finding": 0, "preflight/saturate": 0, "runtime-diagnose/lazy": 0, "runtime-diagnose/turns": 0, "runtime-diagnose/redact": 0, "runtime-diagnose/tokens": 0,
	"preflight/kinds": 1, "preflight/cluster": 1, "preflight/quota": 2, "preflight/fit/internal/assign": 2, "preflight/fit/topology": 2, "preflight/fit": 2, "preflight/fit/whatif": 2, "runtime-diagnose/signature": 1, "runtime-diagnose/subject": 1, "runtime-diagnose/reduce": 1, "runtime-diagnose/familiar": 1, "runtime-diagnose/oneline": 2, "runtime-diagnose/evidence": 1,
	"preflight/manifest": 2, "preflight/fit/nodemap": 2,
	"preflight/check": 2, "preflight/checks": 2, "config/bounded": 2, "config/mounted": 2, "config/client": 2, "config/backoff": 2, "runtime-diagnose/llm": 2, "runtime-diagnose/learn": 2, "runtime-diagnose/ground": 2,
	"runtime-diagnose/attribute": 2, "runtime-diagnose/control": 2, "runtime-diagnose/ledger": 2, "runtime-diagnose/bare": 2, "runtime-diagnose/timeline": 2, "runtime-diagnose/keep": 2, "runtime-diagnose/progress": 2, "runtime-diagnose/recovery": 2, "runtime-diagnose/logscan": 2,
	"preflight": 3, "policies/plan": 2, "policies": 3, "preflight/check/checktest": 3, "runtime-diagnose": 3,
	"runtime-diagnose/report": 3, "runtime-diagnose/prompt": 3, "runtime-diagnose/explain": 3, "runtime-diagnose/trial": 3,
	"webhook": 4, "preflight/cluster/live": 4, "runtime-diagnose/collect": 4, "runtime-diagnose/capture": 4,
	"runtime-diagnose/controller": 4, "runtime-diagnose/notify": 4, "certs": 4, "config": 4, "config/labelled": 4, "config/tracing": 4, "policies/oci": 4,
	"cmd/signalbox/internal/browser": 4, "cmd/signalbox/internal/build": 4, "cmd/signalbox/internal/terminal": 4,
	// what commands share
	"cmd/signalbox/internal/shell": 5, "cmd/signalbox/internal/signatures": 5, "cmd/signalbox/internal/tuning": 5, "cmd/signalbox/internal/explanation": 5, "cmd/signalbox/internal/loopback": 5,
	"cmd/signalbox/internal/apiserver": 5, "cmd/signalbox/internal/dryrun": 5, "cmd/signalbox/internal/input": 5, "cmd/signalbox/internal/review": 5, "cmd/signalbox/internal/setting": 5,
	"cmd/signalbox/internal/fix": 5, "cmd/signalbox/internal/reference": 5, "cmd/signalbox/internal/render": 5,
	// a command each
	"cmd/signalbox/audit": 6, "cmd/signalbox/board": 6, "cmd/signalbox/bundle": 6, "cmd/signalbox/check": 6, "cmd/signalbox/config": 6, "cmd/signalbox/diagnose": 6, "cmd/signalbox/doctor": 6,
	"cmd/signalbox/fit": 6, "cmd/signalbox/get": 6, "cmd/signalbox/learn": 6, "cmd/signalbox/mcp": 6, "cmd/signalbox/model": 6, "cmd/signalbox/policy": 6, "cmd/signalbox/schema": 6,
	"cmd/signalbox/serve": 6, "cmd/signalbox/snapshot": 6, "cmd/signalbox/version": 6,
	"cmd/signalbox": 7,
}

// sideways are the imports inside one layer, one by one.
var sideways = map[string][]string{
	"preflight/job":                 {"preflight/saturate"},
	"preflight/finding":             {"preflight/job", "preflight/words"},
	"preflight/gang":                {"preflight/job", "preflight/saturate"},
	"preflight/podspec":             {"preflight/job"},
	"runtime-diagnose/redact":       {"runtime-diagnose/lazy"},
	"preflight/fit/nodemap":         {"preflight/fit"},
	"preflight/fit/internal/assign": {"preflight/quota"},               // what devices (DRA) there are is told in one place
	"preflight/fit/topology":        {"preflight/fit/internal/assign"}, // rules between pods are solved on counted nodes
	"preflight/fit":                 {"preflight/quota", "preflight/fit/internal/assign", "preflight/fit/topology"},
	"preflight/fit/whatif":          {"preflight/quota", "preflight/fit", "preflight/fit/internal/assign"},
	"preflight/check":               {"preflight/fit", "preflight/fit/whatif", "preflight/quota"},
	"preflight/checks":              {"preflight/check", "preflight/checks", "preflight/fit", "preflight/quota"},
	"policies":                      {"preflight"},                                                                                                                  // it implements the engine that preflight declares
	"runtime-diagnose/evidence":     {"preflight/kinds", "preflight/cluster", "runtime-diagnose/signature", "runtime-diagnose/reduce", "runtime-diagnose/familiar"}, // what a bundle is made of
	"runtime-diagnose/ground":       {"runtime-diagnose/llm"},
	"config/client":                 {"config/mounted"},
	"runtime-diagnose/llm":          {"config/bounded", "config/mounted"},                                                                                // its key is a file
	"runtime-diagnose/subject":      {"runtime-diagnose/signature"},                                                                                      // a subject is a signature of whatever words
	"runtime-diagnose/recovery":     {"runtime-diagnose/progress"},                                                                                       // who counts on has survived
	"runtime-diagnose/timeline":     {"runtime-diagnose/control", "runtime-diagnose/progress"},                                                           // members are pods and the courses of their logs
	"runtime-diagnose/logscan":      {"runtime-diagnose/control", "runtime-diagnose/progress", "runtime-diagnose/recovery", "runtime-diagnose/timeline"}, // a log is read with what the platform says of its container
	"runtime-diagnose/attribute":    {"runtime-diagnose/control", "runtime-diagnose/timeline"},                                                           // it decides among what both observed
	"runtime-diagnose/ledger":       {"runtime-diagnose/control"},                                                                                        // attempts are lives of pods, and what was said of their ends
	"runtime-diagnose":              {"runtime-diagnose/report"},
	"runtime-diagnose/bare":         {"runtime-diagnose/control"}, // where a pasted line is kept
	"runtime-diagnose/controller":   {"runtime-diagnose/collect", "runtime-diagnose/capture", "preflight/cluster/live", "config", "config/labelled"},
	"runtime-diagnose/capture":      {"runtime-diagnose/collect"},                     // it keeps what collect reads
	"runtime-diagnose/prompt":       {"runtime-diagnose"},                             // it asks about a Result
	"runtime-diagnose/trial":        {"runtime-diagnose", "runtime-diagnose/explain"}, // it asks as explain does
	"runtime-diagnose/explain":      {"runtime-diagnose", "runtime-diagnose/prompt"},
	"webhook":                       {"preflight/cluster/live", "certs", "config", "config/labelled"},

	"cmd/signalbox/internal/signatures":  {"cmd/signalbox/internal/shell"},
	"cmd/signalbox/internal/tuning":      {"cmd/signalbox/internal/shell"},
	"cmd/signalbox/internal/explanation": {"cmd/signalbox/internal/shell"},
	"cmd/signalbox/internal/loopback":    {"cmd/signalbox/internal/shell"},
	"cmd/signalbox/internal/apiserver":   {"cmd/signalbox/internal/shell"},
	"cmd/signalbox/internal/dryrun":      {"cmd/signalbox/internal/apiserver"},
	"cmd/signalbox/internal/input":       {"cmd/signalbox/internal/apiserver", "cmd/signalbox/internal/shell"}, // arguments may name jobs of the cluster
	"cmd/signalbox/internal/review":      {"cmd/signalbox/internal/apiserver", "cmd/signalbox/internal/dryrun", "cmd/signalbox/internal/input", "cmd/signalbox/internal/shell", "cmd/signalbox/internal/tuning"},
	"cmd/signalbox/internal/setting":     {"cmd/signalbox/internal/review", "cmd/signalbox/internal/shell"},
	"cmd/signalbox/internal/fix":         {"cmd/signalbox/internal/input", "cmd/signalbox/internal/review", "cmd/signalbox/internal/setting", "cmd/signalbox/internal/shell", "cmd/signalbox/internal/tuning"}, // a change is proven by a review
	"cmd/signalbox/internal/reference":   {"cmd/signalbox/internal/apiserver", "cmd/signalbox/internal/dryrun", "cmd/signalbox/internal/shell", "cmd/signalbox/internal/signatures", "cmd/signalbox/internal/tuning"},
	"cmd/signalbox/internal/render":      {"cmd/signalbox/internal/reference", "cmd/signalbox/internal/review", "cmd/signalbox/internal/shell"},

	"cmd/signalbox/audit":  {"cmd/signalbox/get"},                           // jobs of a snapshot
	"cmd/signalbox/board":  {"cmd/signalbox/diagnose", "cmd/signalbox/get"}, // their pages
	"cmd/signalbox/mcp":    {"cmd/signalbox/schema"},                        // of what its tools answer
	"cmd/signalbox/policy": {"cmd/signalbox/audit"},                         // policy audit
	"cmd/signalbox/schema": {"cmd/signalbox/diagnose", "cmd/signalbox/get"}, // of what they print
}

// homes are packages that may import a heavy dependency; no other may.
var homes = map[string][]string{
	"github.com/open-policy-agent/opa":    {"policies", "policies/plan"},
	"github.com/sashabaranov/go-openai":   {"runtime-diagnose/llm"},
	"github.com/pkoukk/tiktoken-go":       {"runtime-diagnose/tokens"},
	"k8s.io/component-helpers":            {"preflight/podspec"},
	"github.com/spf13/cobra":              {"cmd/signalbox"},
	"sigs.k8s.io/controller-runtime":      {"webhook", "runtime-diagnose/controller", "runtime-diagnose/collect", "preflight/cluster/live", "certs", "cmd/signalbox"},
	"k8s.io/client-go":                    {"webhook", "runtime-diagnose/controller", "runtime-diagnose/collect", "runtime-diagnose/capture", "preflight/cluster/live", "certs", "config/labelled", "policies/oci", "cmd/signalbox"},
	"oras.land/oras-go":                   {"policies/oci"},
	"github.com/prometheus/client_golang": {"webhook", "runtime-diagnose/controller", "certs", "cmd/signalbox", "preflight/cluster/live"},
}

// pure layers know no clock, no files, no processes, no network and no logger.
var impure = []string{"os", "os/exec", "net", "net/http", "log", "log/slog", "io/ioutil", "k8s.io/klog/v2", "github.com/go-logr/logr"}

// familyOf says for a package of checks which family it is; all of them stand in the table as
// preflight/checks. Empty: it is none, or the facts that all of them use.
func familyOf(name string) string {
	family, _ := strings.CutPrefix(name, "preflight/checks/")
	if family == name || strings.HasPrefix(family, "internal/") {
		return ""
	}
	return family
}

// tableName is the name under which the table has a package.
func tableName(name string) string {
	if strings.HasPrefix(name, "preflight/checks/") {
		return "preflight/checks"
	}
	return name
}

type pkg struct {
	ImportPath    string
	Imports, Deps []string // Deps: what its imports import, too
}

func TestImportsPointDown(t *testing.T) {
	for _, p := range list(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		if strings.HasPrefix(name, "test/") {
			continue
		}
		layer, known := layers[tableName(name)]
		if !known {
			t.Errorf("%s has no layer: add it to the table in test/arch and to docs/architecture.md", name)
			continue
		}
		for _, imported := range p.Imports {
			checkOwn(t, name, layer, imported)
			checkHome(t, name, imported)
			if layer <= 1 && slices.Contains(impure, imported) {
				t.Errorf("%s (layer %d, pure) imports %s", name, layer, imported)
			}
		}
	}
}

// TestOnlyEdgesLinkAClient: one import of a helper can bring all of client-go into every package above, and into every
// test binary.
func TestOnlyEdgesLinkAClient(t *testing.T) {
	for _, p := range list(t) {
		layer, known := layers[tableName(strings.TrimPrefix(p.ImportPath, module))]
		if !known || layer > 3 {
			continue
		}
		if i := slices.IndexFunc(p.Deps, func(d string) bool { return strings.HasPrefix(d, "k8s.io/client-go/") }); i >= 0 {
			t.Errorf("%s (layer %d) depends on %s; go list -deps shows by which import", p.ImportPath, layer, p.Deps[i])
		}
	}
}

func checkOwn(t *testing.T, name string, layer int, imported string) {
	t.Helper()
	own, ok := strings.CutPrefix(imported, module)
	if !ok {
		return
	}
	if strings.HasPrefix(own, "test/") {
		t.Errorf("%s imports %s: only tests may import test/", name, own)
		return
	}
	if familyOf(own) != "" && name != "preflight/checks" {
		t.Errorf("%s imports %s: only preflight/checks lists the families; what several need is in internal/facts", name, own)
	}
	name, own = tableName(name), tableName(own)
	other, known := layers[own]
	switch {
	case !known, other < layer:
	case own == "config" && layer >= 4:
	case other == layer && slices.Contains(sideways[name], own):
	default:
		t.Errorf("%s (layer %d) imports %s (layer %d)", name, layer, own, other)
	}
	if own == "config" && layer < 4 {
		t.Errorf("%s imports config: the core receives values, never a config object", name)
	}
}

// checkHome: the folders of the command line are one home.
func checkHome(t *testing.T, name, imported string) {
	t.Helper()
	if strings.HasPrefix(name, "cmd/signalbox/") {
		name = "cmd/signalbox"
	}
	for dependency, allowed := range homes {
		if (imported == dependency || strings.HasPrefix(imported, dependency+"/")) && !slices.Contains(allowed, name) {
			t.Errorf("%s imports %s; its home is %s", name, imported, strings.Join(allowed, ", "))
		}
	}
}

func list(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports,Deps", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("list packages: %v", err)
	}
	var all []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("decode go list: %v", err)
		}
		all = append(all, p)
	}
	if len(all) < 10 {
		t.Fatalf("go list found %d packages; expected the whole project", len(all))
	}
	return all
}
