// Package score diagnoses labelled cases and counts what was right: the cause, the decisive
// line, the pod that went first, and how much each standing is worth. A case is a folder with
// label.yaml and the texts that its owner saved; it is read in place, as the command line
// reads the same files.
package score

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/attribute"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/bare"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/collect"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Label is what people found out about a case.
type Label struct {
	Category       string   `json:"category"`
	AlsoAcceptable []string `json:"also_acceptable"`
	KeyLine        string   `json:"key_line"`
	KeyPatterns    []string `json:"key_patterns"` // any of them is the decisive line as well
	SymptomLines   []string `json:"symptom_lines"`
	Confidence     string   `json:"confidence"` // "low" counts in no score
	FirstPod       Names    `json:"first_pod"`  // any of them; none: nobody can know
	HangNobody     bool     `json:"hang_nobody"`
	Running        bool     `json:"running"` // healthy so far: "cannot tell yet" is as good
	Taken          string   `json:"taken"`   // when a gang was looked at; empty: after its last sign
	Never          []string `json:"never"`   // categories that would be wrong, and texts no root may hold
	unsaid         []string // what the text for people may not hold, of a scenario
}

// Names are one name or several.
type Names []string

// UnmarshalJSON reads a text or a list of texts; null is none.
func (n *Names) UnmarshalJSON(data []byte) error {
	var one *string
	if json.Unmarshal(data, &one) == nil {
		if *n = nil; one != nil {
			*n = Names{*one}
		}
		return nil
	}
	var several []string
	if err := json.Unmarshal(data, &several); err != nil {
		return errors.New("first_pod is neither a name nor a list of names")
	}
	*n = several
	return nil
}

// rulesOut says that the label forbids answers.
func (l Label) rulesOut() bool { return len(l.Never)+len(l.unsaid) > 0 }

// saysOneOf says that a text for people holds what it may not.
func (l Label) saysOneOf(text string) bool {
	return slices.ContainsFunc(l.unsaid, func(part string) bool { return strings.Contains(text, part) })
}

// expectation is the label of a scenario.
type expectation struct {
	Healthy  string   `json:"healthy"` // Yes, No, Unknown
	Category string   `json:"category"`
	Pod      Names    `json:"pod"`
	Line     string   `json:"line"`
	Never    []string `json:"never"` // in the text for people
}

// Case is one case in one way of handing it over, with its diagnosis.
type Case struct {
	Name   string
	Mode   string // how a gang was handed over; empty: there is one way
	Label  Label
	Result diagnose.Result
	Cause  bool // the category is right, or as good; of a healthy case: it is called so
	Line   bool // the root's line is the one that decides
	Pod    bool // the root's pod is the one that went first
	Named  bool // the root names a pod, or a log that stands for one
	// Mistaken: the root's line is one that the label calls a consequence.
	Mistaken bool
	// Alarm: a healthy case was called unhealthy.
	Alarm bool
	// Missed: a failure was called healthy.
	Missed bool
	// Forbidden: the answer is one that the label rules out.
	Forbidden bool
}

// Healthy says that nothing was wrong, by the label.
func (c Case) Healthy() bool { return c.Label.Category == signature.HealthyCategory }

// wantsPod says that the label names who went first.
func (c Case) wantsPod() bool {
	return len(c.Label.FirstPod) > 0 && !c.Label.HangNobody && !c.Healthy()
}

// wantsLine says that the label names a decisive line.
func (c Case) wantsLine() bool {
	return !c.Healthy() && (c.Label.KeyLine != "" || len(c.Label.KeyPatterns) > 0)
}

// Right says that nothing of the answer is wrong: what a standing vouches for.
func (c Case) Right() bool {
	return c.Cause && !c.Forbidden && !(c.wantsPod() && c.Named && !c.Pod)
}

// Dir is the first of the folders that exists; "" if none does.
func Dir(candidates ...string) string {
	for _, d := range candidates {
		if info, err := os.Stat(d); d != "" && err == nil && info.IsDir() {
			return d
		}
	}
	return ""
}

// Part is which cases of a folder are looked at.
type Part int

// The parts. A case is held out by its name, so that nobody chooses.
const (
	All  Part = iota
	Open      // those that may be looked at while something is mended
	Held      // those that may not
)

// has says that a case belongs to the part: one of three is held out.
func (p Part) has(name string) bool {
	return p == All || (sha256.Sum256([]byte(name))[0]%3 == 0) == (p == Held)
}

// Folder diagnoses every case of a folder, by name. Cases whose label is of low confidence
// are left out. An unreadable case is an error, and so is a folder that is not there.
func Folder(ctx context.Context, catalog *signature.Catalog, dir string, part Part, o diagnose.Options) ([]Case, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list cases: %w", err)
	}
	var out []Case
	for _, e := range entries {
		if !e.IsDir() || !part.has(e.Name()) {
			continue
		}
		at := filepath.Join(dir, e.Name())
		label, err := labelOf(at)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if label.Confidence == "low" {
			continue
		}
		ways, err := waysOf(ctx, at, label)
		if err != nil {
			return nil, err
		}
		for _, w := range ways {
			c := Case{Name: e.Name(), Mode: w.mode, Label: label, Result: diagnose.Diagnose(ctx, w.story, catalog, o)}
			if err := c.judge(); err != nil {
				return nil, fmt.Errorf("judge %s: %w", at, err)
			}
			out = append(out, c)
		}
	}
	return out, nil
}

func labelOf(dir string) (Label, error) {
	var label Label
	text, err := os.ReadFile(filepath.Join(dir, "label.yaml"))
	if errors.Is(err, fs.ErrNotExist) {
		return expected(dir)
	}
	if err != nil {
		return label, fmt.Errorf("read label: %w", err)
	}
	if err := yaml.Unmarshal(text, &label); err != nil {
		return label, fmt.Errorf("read label of %s: %w", dir, err)
	}
	return label, nil
}

func expected(dir string) (Label, error) {
	text, err := os.ReadFile(filepath.Join(dir, "expect.yaml"))
	if err != nil {
		return Label{}, fmt.Errorf("read label: %w", err)
	}
	var e expectation
	if err := yaml.Unmarshal(text, &e); err != nil {
		return Label{}, fmt.Errorf("read expectation of %s: %w", dir, err)
	}
	label := Label{Category: e.Category, FirstPod: e.Pod, unsaid: e.Never}
	if e.Line != "" {
		label.KeyPatterns = []string{regexp.QuoteMeta(e.Line)}
	}
	switch e.Healthy {
	case "Yes":
		label.Category = signature.HealthyCategory
	case "Unknown":
		label.Category, label.Running = signature.HealthyCategory, true
	}
	return label, nil
}

// way is one way of handing a case over.
type way struct {
	mode  string
	story diagnose.Case
}

func waysOf(ctx context.Context, dir string, label Label) ([]way, error) {
	if _, err := os.Stat(filepath.Join(dir, "bundle.json")); err == nil {
		story, err := collect.Open(ctx, dir)
		return []way{{"", story}}, err
	}
	if _, err := os.Stat(filepath.Join(dir, "ts")); err == nil {
		return gangWays(dir, label)
	}
	story, err := Read(dir)
	return []way{{"", story}}, err
}

// now is the clock of every case: a score that changes with the day is none.
var now = time.Date(2026, 12, 1, 3, 4, 5, 0, time.UTC)

// Read reads the texts of a case: logs, dmesg and nvidia-smi are logs, the rest is what
// people save or paste.
func Read(dir string) (diagnose.Case, error) {
	story := diagnose.Case{Now: now}
	var files []string
	for _, pattern := range []string{"*.txt", "*.log", "*.yaml"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return story, fmt.Errorf("list %s: %w", dir, err)
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	for _, f := range files {
		base := filepath.Base(f)
		if base == "label.yaml" || base == "expect.yaml" {
			continue
		}
		text, err := os.ReadFile(f)
		if err != nil {
			return story, fmt.Errorf("read case: %w", err)
		}
		if strings.HasPrefix(base, "log") || filepath.Ext(base) == ".log" || base == "dmesg.txt" || base == "nvidia-smi.txt" {
			story.AddLog(base, text)
		} else {
			bare.Add(&story, base, text)
		}
	}
	story.Adopt()
	return story, nil
}

// stamp is what kubectl puts before a line where it is asked for times.
var stamp = regexp.MustCompile(`^\d{4}-\d\d-\d\dT[\d:.]+Z `)

// podOf is the pod that a file of a log was saved from.
var podOf = regexp.MustCompile(`^(?:.*/)?log-(.*?)(?:\.txt)?$`)

// Mark is what is right and wrong of one answer.
type Mark struct {
	Cause, Line, Pod bool
	Named            bool // it names a pod, or a log that stands for one
	Forbidden        bool
}

// mark holds an answer against the label: its category, its decisive line and where that stands.
func (c *Case) mark(category, line string, at evidence.Source) (Mark, error) {
	line = stamp.ReplaceAllString(line, "")
	pod := at.Pod
	if m := podOf.FindStringSubmatch(at.File); pod == "" && m != nil && c.Mode != "" {
		pod = m[1]
	}
	m := Mark{
		Cause: c.Label.Category == "" || category == c.Label.Category || slices.Contains(c.Label.AlsoAcceptable, category),
		Line:  len(c.Label.KeyPatterns) == 0 && sameLine(line, c.Label.KeyLine),
		Pod:   slices.Contains(c.Label.FirstPod, pod), Named: pod != "",
	}
	for _, never := range c.Label.Never {
		m.Forbidden = m.Forbidden || category == never || never != "" && strings.Contains(line, never)
	}
	for _, p := range c.Label.KeyPatterns {
		re, err := regexp.Compile(p)
		if err != nil {
			return m, fmt.Errorf("read key_patterns: %w", err)
		}
		m.Line = m.Line || re.MatchString(line)
	}
	if c.Mode != "" && c.Label.Category == "host-oom-killed" {
		m.Line = m.Line || strings.Contains(line, "reason OOMKilled") // the platform's word is as good
	}
	return m, nil
}

// MarkOf is what would be right and wrong if a candidate were the answer.
func (c *Case) MarkOf(a *attribute.Candidate) (Mark, error) {
	return c.mark(a.Category, a.Line, a.Item.Source)
}

// Judged is a case whose diagnosis was made elsewhere.
func Judged(name string, label Label, r diagnose.Result) (Case, error) {
	c := Case{Name: name, Mode: "bundle", Label: label, Result: r}
	err := c.judge()
	return c, err
}

func (c *Case) judge() error {
	r := c.Result
	line, at := "", evidence.Source{}
	if r.Root != nil {
		line, at = r.Root.Line, r.Root.Source
	}
	m, err := c.mark(r.Category, line, at)
	if err != nil {
		return err
	}
	c.Forbidden = m.Forbidden || c.Label.saysOneOf(diagnose.Text(r))
	sick := r.Verdict == diagnose.Diagnosed || r.Verdict == diagnose.Inconclusive
	if c.Healthy() {
		c.Cause = r.Verdict == diagnose.Healthy || c.Label.Running && !sick
		c.Alarm = sick
		return nil
	}
	c.Missed = r.Verdict == diagnose.Healthy
	c.Cause = !c.Missed && m.Cause
	if r.Root == nil {
		return nil
	}
	c.Line, c.Pod, c.Named = m.Line, m.Pod, m.Named
	for _, symptom := range c.Label.SymptomLines {
		c.Mistaken = c.Mistaken || (!c.Cause && !c.Line && sameLine(stamp.ReplaceAllString(line, ""), symptom))
	}
	return nil
}

// InPrompt says whether a text holds the line that decides, by the label; asked is false where the label names none.
func (c Case) InPrompt(text string) (holds, asked bool, err error) {
	if !c.wantsLine() {
		return false, false, nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(shownAs.ReplaceAllString(line, ""), " ")
		m, err := c.mark("", line, evidence.Source{})
		if err != nil {
			return false, true, err
		}
		// A piece of the line is not the line, though sameLine takes it: labels are of one line.
		if m.Line && (len(c.Label.KeyPatterns) > 0 || 2*len(squeeze(line)) >= len(squeeze(c.Label.KeyLine))) {
			return true, true, nil
		}
	}
	return false, true, nil
}

// shownAs is what stands before a line of a log in a prompt.
var shownAs = regexp.MustCompile(`^\| (?:\[\S+\] )?`)

// sameLine compares without white space: labels and logs wrap and indent differently.
func sameLine(got, want string) bool {
	g, w := squeeze(got), squeeze(want)
	if len(g) < 12 || len(w) < 12 {
		return g == w
	}
	return strings.Contains(g, w) || strings.Contains(w, g)
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

// ID is a case's name, and how it was handed over.
func (c Case) ID() string {
	if c.Mode == "" {
		return c.Name
	}
	return c.Name + "/" + c.Mode
}
