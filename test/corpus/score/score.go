// Package score diagnoses labelled cases of real failures and counts what was right: the
// cause, the decisive line, and how often a consequence was taken for the cause. A case is a
// folder with label.yaml and the texts that its owner saved; it is read in place.
package score

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Label is what people found out about a case.
type Label struct {
	Category       string   `json:"category"`
	AlsoAcceptable []string `json:"also_acceptable"`
	KeyLine        string   `json:"key_line"`
	SymptomLines   []string `json:"symptom_lines"`
	Confidence     string   `json:"confidence"` // "low" counts in no score
}

// Case is one case with its diagnosis.
type Case struct {
	Name   string
	Label  Label
	Result diagnose.Result
	Cause  bool // the category is right, or as good
	Line   bool // the root's line is the one that decides
	// Mistaken: the root's line is one that the label calls a consequence.
	Mistaken bool
	// Alarm: a healthy case was called unhealthy.
	Alarm bool
}

// Healthy says that nothing was wrong, by the label.
func (c Case) Healthy() bool { return c.Label.Category == signature.HealthyCategory }

// Dir is the first of the folders that exists; "" if none does.
func Dir(candidates ...string) string {
	for _, d := range candidates {
		if info, err := os.Stat(d); d != "" && err == nil && info.IsDir() {
			return d
		}
	}
	return ""
}

// All diagnoses every case of a folder, by name. Cases whose label is of low confidence are
// left out. An unreadable case is an error.
func All(ctx context.Context, catalog *signature.Catalog, dir string) ([]Case, error) {
	labels, err := filepath.Glob(filepath.Join(dir, "*", "label.yaml"))
	if err != nil {
		return nil, fmt.Errorf("list cases of %s: %w", dir, err)
	}
	slices.Sort(labels)
	var out []Case
	for _, l := range labels {
		c, err := one(ctx, catalog, filepath.Dir(l))
		if err != nil {
			return nil, err
		}
		if c.Label.Confidence != "low" {
			out = append(out, c)
		}
	}
	return out, nil
}

// now is the clock of every case: a score that changes with the day is none.
var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func one(ctx context.Context, catalog *signature.Catalog, dir string) (Case, error) {
	c := Case{Name: filepath.Base(dir)}
	text, err := os.ReadFile(filepath.Join(dir, "label.yaml"))
	if err != nil {
		return c, fmt.Errorf("read label: %w", err)
	}
	if err := yaml.Unmarshal(text, &c.Label); err != nil {
		return c, fmt.Errorf("read label of %s: %w", c.Name, err)
	}
	story, err := Open(dir)
	if err != nil {
		return c, err
	}
	c.Result = diagnose.Diagnose(ctx, story, catalog, diagnose.Options{})
	c.judge()
	return c, nil
}

// Open reads the texts of a case: logs, dmesg and nvidia-smi are logs, the rest is what
// people paste.
func Open(dir string) (diagnose.Case, error) {
	story := diagnose.Case{Now: now}
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return story, fmt.Errorf("list %s: %w", dir, err)
	}
	slices.Sort(files)
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return story, fmt.Errorf("read case: %w", err)
		}
		base := filepath.Base(f)
		if strings.HasPrefix(base, "log") || base == "dmesg.txt" || base == "nvidia-smi.txt" {
			story.AddLog(base, text)
		} else {
			story.AddBare(base, text)
		}
	}
	return story, nil
}

func (c *Case) judge() {
	r := c.Result
	c.Cause = r.Category == c.Label.Category || slices.Contains(c.Label.AlsoAcceptable, r.Category)
	if c.Healthy() {
		c.Alarm = r.Verdict == diagnose.Diagnosed || r.Verdict == diagnose.Inconclusive
		return
	}
	if r.Root == nil {
		return
	}
	c.Line = sameLine(r.Root.Line, c.Label.KeyLine)
	for _, symptom := range c.Label.SymptomLines {
		c.Mistaken = c.Mistaken || (!c.Cause && !c.Line && sameLine(r.Root.Line, symptom))
	}
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

// Count is what one category, or all of them, come to.
type Count struct {
	Category                               string
	Cases, Sick, Cause, Line               int
	Mistaken, Inconclusive, Healthy, Alarm int
}

func (n *Count) add(c Case) {
	n.Cases++
	n.Cause += one01(c.Cause)
	n.Inconclusive += one01(c.Result.Verdict == diagnose.Inconclusive)
	if c.Healthy() {
		n.Healthy++
		n.Alarm += one01(c.Alarm)
		return
	}
	n.Sick++
	n.Line += one01(c.Line)
	n.Mistaken += one01(c.Mistaken)
}

func one01(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Percent is a share in percent; 0 of nothing.
func Percent(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return 100 * float64(n) / float64(of)
}

// Counts sums cases up: of each category by name, and of all.
func Counts(cases []Case) (by []Count, all Count) {
	at := map[string]int{}
	for _, c := range cases {
		k, ok := at[c.Label.Category]
		if !ok {
			k = len(by)
			at[c.Label.Category] = k
			by = append(by, Count{Category: c.Label.Category})
		}
		by[k].add(c)
		all.add(c)
	}
	slices.SortFunc(by, func(a, b Count) int { return cmp.Compare(a.Category, b.Category) })
	return by, all
}

// Goals are what a score has to reach, in percent.
type Goals struct{ Cause, Line, Mistaken float64 }

// Missed says which goals are missed, in sentences; none: all are reached.
func (g Goals) Missed(n Count) []string {
	var out []string
	if p := Percent(n.Cause, n.Cases); p < g.Cause {
		out = append(out, fmt.Sprintf("cause right in %.1f %% of cases; at least %.1f wanted", p, g.Cause))
	}
	if p := Percent(n.Line, n.Sick); p < g.Line {
		out = append(out, fmt.Sprintf("decisive line found in %.1f %% of cases; at least %.1f wanted", p, g.Line))
	}
	if p := Percent(n.Mistaken, n.Sick); p > g.Mistaken {
		out = append(out, fmt.Sprintf("a consequence taken for the cause in %.1f %% of cases; at most %.1f wanted", p, g.Mistaken))
	}
	if n.Alarm > 0 {
		out = append(out, fmt.Sprintf("%d of %d healthy cases called unhealthy; none wanted", n.Alarm, n.Healthy))
	}
	return out
}

// Table is a score for people: a line for each category and the totals.
func Table(cases []Case) string {
	by, all := Counts(cases)
	var b strings.Builder
	fmt.Fprintf(&b, "%-34s %6s %12s %12s %9s %13s\n", "category", "cases", "cause", "line", "mistaken", "inconclusive")
	row := func(name string, n Count) {
		line, mistaken := "-", "-"
		if n.Sick > 0 {
			line, mistaken = share(n.Line, n.Sick), fmt.Sprint(n.Mistaken)
		}
		fmt.Fprintf(&b, "%-34s %6d %12s %12s %9s %13d\n", name, n.Cases, share(n.Cause, n.Cases), line, mistaken, n.Inconclusive)
	}
	for _, n := range by {
		row(n.Category, n)
	}
	row("all", all)
	fmt.Fprintf(&b, "\ncause right %.1f %% of %d · decisive line %.1f %% of %d · consequence taken for the cause %.1f %% · healthy called unhealthy %d of %d\n",
		Percent(all.Cause, all.Cases), all.Cases, Percent(all.Line, all.Sick), all.Sick, Percent(all.Mistaken, all.Sick), all.Alarm, all.Healthy)
	return b.String()
}

func share(n, of int) string { return fmt.Sprintf("%d %3.0f %%", n, Percent(n, of)) }

// Misses lists the cases that are not right, with what was said and what was wanted.
func Misses(cases []Case) string {
	var b strings.Builder
	for _, s := range cases {
		if s.Cause && (s.Line || s.Healthy()) {
			continue
		}
		fmt.Fprintf(&b, "%s%s %-52s want %-30s got %-28s", mark(s.Cause), mark(s.Line), s.Name, s.Label.Category, s.Result.Category)
		if root := s.Result.Root; root != nil {
			fmt.Fprintf(&b, " %s: %.110q", root.Signature, root.Line)
		}
		if !s.Line {
			fmt.Fprintf(&b, "\n     key %.160q", s.Label.KeyLine)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func mark(ok bool) string {
	if ok {
		return "+"
	}
	return "-"
}
