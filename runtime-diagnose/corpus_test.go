package diagnose_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// corpusDirs are where labelled cases may lie, seen from this folder: SIGNALBOX_CORPUS
// names another place. The test passes where there is none.
var corpusDirs = []string{os.Getenv("SIGNALBOX_CORPUS"), "../../shared/corpus/dev", "../test/corpus/logs"}

// Floors a bit below what is reached, in percent. A change that falls below one explains
// itself or is no improvement.
const (
	floorCause   = 96.0
	floorLine    = 93.0
	mostMistaken = 2.0
)

type label struct {
	Category       string   `json:"category"`
	AlsoAcceptable []string `json:"also_acceptable"`
	KeyLine        string   `json:"key_line"`
	SymptomLines   []string `json:"symptom_lines"`
	Confidence     string   `json:"confidence"`
}

type score struct {
	name                                     string
	label                                    label
	result                                   diagnose.Result
	cause, line, cascadeMistaken, falseAlarm bool
}

func TestCorpus(t *testing.T) {
	dir := corpusDir()
	if dir == "" {
		t.Skip("no corpus here")
	}
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	var scores []score
	for _, name := range caseNames(t, dir) {
		s := scoreCase(t, catalog, dir, name)
		if s.label.Confidence != "low" {
			scores = append(scores, s)
		}
	}
	report(t, scores)
}

func corpusDir() string {
	for _, d := range corpusDirs {
		if info, err := os.Stat(d); d != "" && err == nil && info.IsDir() {
			return d
		}
	}
	return ""
}

func caseNames(t *testing.T, dir string) []string {
	t.Helper()
	labels, err := filepath.Glob(filepath.Join(dir, "*", "label.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, 0, len(labels))
	for _, l := range labels {
		names = append(names, filepath.Base(filepath.Dir(l)))
	}
	return names
}

func scoreCase(t *testing.T, catalog *signature.Catalog, dir, name string) score {
	t.Helper()
	s := score{name: name}
	data, err := os.ReadFile(filepath.Join(dir, name, "label.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, &s.label); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	c := diagnose.Case{Now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	files, err := filepath.Glob(filepath.Join(dir, name, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		base := filepath.Base(f)
		if strings.HasPrefix(base, "log") || base == "dmesg.txt" || base == "nvidia-smi.txt" {
			c.AddLog(base, data)
		} else {
			c.AddBare(base, data)
		}
	}
	s.result = diagnose.Diagnose(t.Context(), c, catalog, diagnose.Options{})
	s.cause = s.result.Category == s.label.Category || slices.Contains(s.label.AlsoAcceptable, s.result.Category)
	if s.label.Category == signature.HealthyCategory {
		s.falseAlarm = s.result.Verdict == diagnose.Diagnosed || s.result.Verdict == diagnose.Inconclusive
		return s
	}
	if s.result.Root != nil {
		s.line = sameLine(s.result.Root.Line, s.label.KeyLine)
		for _, symptom := range s.label.SymptomLines {
			s.cascadeMistaken = s.cascadeMistaken || (!s.cause && !s.line && sameLine(s.result.Root.Line, symptom))
		}
	}
	return s
}

// sameLine compares without white space: labels and logs wrap and indent differently.
func sameLine(got, want string) bool {
	g, w := squeeze(got), squeeze(want)
	if len(g) < 12 || len(w) < 12 {
		return g == w
	}
	return strings.Contains(g, w) || strings.Contains(w, g)
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

func report(t *testing.T, scores []score) {
	t.Helper()
	var sick, healthy, cause, line, mistaken, alarms int
	var b strings.Builder
	for _, s := range scores {
		if s.label.Category == signature.HealthyCategory {
			healthy++
			alarms += one(s.falseAlarm)
		} else {
			sick++
			line += one(s.line)
			mistaken += one(s.cascadeMistaken)
		}
		cause += one(s.cause)
		if !s.cause || (!s.line && s.label.Category != signature.HealthyCategory) {
			fmt.Fprintf(&b, "%s%s %-52s want %-30s got %-28s", mark(s.cause), mark(s.line), s.name, s.label.Category, s.result.Category)
			if root := s.result.Root; root != nil {
				fmt.Fprintf(&b, " %s: %.110q", root.Signature, root.Line)
			}
			if !s.line {
				fmt.Fprintf(&b, "\n     key %.160q", s.label.KeyLine)
			}
			b.WriteByte('\n')
		}
	}
	t.Logf("misses (cause, line):\n%s", b.String())
	t.Logf("%d cases: cause right %.1f %%, decisive line %.1f %% of %d, cascades mistaken %.1f %%, false alarms %d of %d healthy",
		len(scores), percent(cause, len(scores)), percent(line, sick), sick, percent(mistaken, sick), alarms, healthy)
	if p := percent(cause, len(scores)); p < floorCause {
		t.Errorf("cause right in %.1f %% of cases; the floor is %.1f", p, floorCause)
	}
	if p := percent(line, sick); p < floorLine {
		t.Errorf("decisive line right in %.1f %% of cases; the floor is %.1f", p, floorLine)
	}
	if p := percent(mistaken, sick); p > mostMistaken {
		t.Errorf("a cascade taken for the cause in %.1f %% of cases; at most %.1f", p, mostMistaken)
	}
	if alarms > 0 {
		t.Errorf("%d false alarms on healthy logs; none is allowed", alarms)
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

func mark(ok bool) string {
	if ok {
		return "+"
	}
	return "-"
}

func percent(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return 100 * float64(n) / float64(of)
}
