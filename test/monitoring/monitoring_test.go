// Package monitoring holds the alerts and the dashboard of config/monitoring to the metrics that there are,
// and makes each alert fire with promtool.
package monitoring

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

var root = filepath.Join("..", "..")

type rule struct {
	Alert  string `json:"alert,omitempty"`
	Record string `json:"record,omitempty"`
	Expr   string `json:"expr"`

	For         string            `json:"for,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type groups struct {
	Groups []struct {
		Name  string `json:"name"`
		Rules []rule `json:"rules"`
	} `json:"groups"`
}

func alerts(t *testing.T) groups {
	t.Helper()
	var object struct {
		Spec groups `json:"spec"`
	}
	read(t, "config/monitoring/rules.yaml", &object)
	if len(object.Spec.Groups) != 1 || len(object.Spec.Groups[0].Rules) == 0 {
		t.Fatal("config/monitoring/rules.yaml holds no group of rules")
	}
	return object.Spec
}

func read(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// panels are the queries of the dashboard by panel, with Grafana's own variables filled in.
func panels(t *testing.T) map[string][]string {
	t.Helper()
	var dashboard struct {
		Panels []struct {
			Title, Type string
			Targets     []struct{ Expr string }
		}
	}
	read(t, "config/monitoring/dashboard.json", &dashboard)
	out := map[string][]string{}
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			out[p.Title] = append(out[p.Title], strings.NewReplacer("$__rate_interval", "5m", "$__range", "6h").Replace(target.Expr))
		}
		if p.Type != "row" && len(out[p.Title]) == 0 {
			t.Errorf("panel %q asks nothing", p.Title)
		}
	}
	return out
}

// foreign are metrics of libraries that the server gathers with its own.
var foreign = []string{
	"leader_election_master_status", "controller_runtime_reconcile_errors_total", "workqueue_depth", "rest_client_requests_total",
	"process_resident_memory_bytes", "process_cpu_seconds_total", "go_goroutines",
}

var (
	words  = regexp.MustCompile(`"[^"]*"`)
	metric = regexp.MustCompile(`\b(?:signalbox|leader|controller|workqueue|rest|process|go)_[a-z_]+\b`)
)

func TestOnlyMetricsThatThereAreAreAsked(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "reference", "metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	for _, m := range regexp.MustCompile(`(?m)^\| (signalbox_[a-z_]+) \| ([a-z]+) \|`).FindAllStringSubmatch(string(page), -1) {
		if known = append(known, m[1]); m[2] == "histogram" {
			known = append(known, m[1]+"_bucket", m[1]+"_count", m[1]+"_sum")
		}
	}
	queries := panels(t)
	for _, r := range alerts(t).Groups[0].Rules {
		queries[r.Alert] = []string{r.Expr}
	}
	for where, exprs := range queries {
		for _, expr := range exprs {
			for _, name := range metric.FindAllString(words.ReplaceAllString(expr, `""`), -1) {
				if !slices.Contains(known, name) && !slices.Contains(foreign, name) {
					t.Errorf("%s asks for %s, which nothing counts", where, name)
				}
			}
		}
	}
}

// promtool runs the tool that comes with Prometheus.
func promtool(t *testing.T, args ...string) string {
	t.Helper()
	program, err := filepath.Abs(filepath.Join(root, "bin", "tools", "promtool"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Skip("there is no promtool; make bin/tools/promtool builds it")
	}
	said, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("promtool %s: %v\n%s", strings.Join(args, " "), err, said)
	}
	return string(said)
}

func write(t *testing.T, path string, what any) {
	t.Helper()
	text, err := json.Marshal(what) // JSON is YAML
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRulesAndPanelsAreReadByPrometheus(t *testing.T) {
	all := alerts(t)
	i := 0
	for _, exprs := range panels(t) {
		for _, expr := range exprs {
			all.Groups[0].Rules = append(all.Groups[0].Rules, rule{Record: fmt.Sprintf("panel:%d", i), Expr: expr})
			i++
		}
	}
	path := filepath.Join(t.TempDir(), "rules.yaml")
	write(t, path, all)
	if said := promtool(t, "check", "rules", path); !strings.Contains(said, fmt.Sprintf("%d rules found", len(all.Groups[0].Rules))) {
		t.Errorf("promtool says %s", said)
	}
}

// Each alert fires on the fault that it is for, and is silent on a server that does well.
func TestEachAlertFiresOnItsFault(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "rules.yaml"), alerts(t))
	text, err := os.ReadFile(filepath.Join("testdata", "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "alerts.yaml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	var tests struct {
		Tests []struct {
			AlertRuleTest []struct {
				Alertname string
				ExpAlerts []any `json:"exp_alerts"`
			} `json:"alert_rule_test"`
		}
	}
	if err := yaml.Unmarshal(text, &tests); err != nil {
		t.Fatal(err)
	}
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, tc := range tests.Tests {
		for _, a := range tc.AlertRuleTest {
			fires[a.Alertname] = fires[a.Alertname] || len(a.ExpAlerts) > 0
			silent[a.Alertname] = silent[a.Alertname] || len(a.ExpAlerts) == 0
		}
	}
	for _, r := range alerts(t).Groups[0].Rules {
		if !fires[r.Alert] || !silent[r.Alert] {
			t.Errorf("%s: a test in which it fires %v, one in which it is silent %v", r.Alert, fires[r.Alert], silent[r.Alert])
		}
	}
	promtool(t, "test", "rules", filepath.Join(dir, "alerts.yaml"))
}
