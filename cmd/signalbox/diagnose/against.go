package diagnose

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/signatures"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/familiar"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/report"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// comparisonSchema names the JSON of diagnose --against.
const comparisonSchema = "signalbox.dev/comparison/v1"

// What a comparison keeps of lines and fields, and what a text shows of them; the others are counted.
const (
	mostNewLines  = 200
	mostFields    = 200
	shownNewLines = 20
	shownFields   = 40
)

// Comparison is two runs side by side.
type Comparison struct {
	Schema  string      `json:"schema"`
	Run     runSummary  `json:"run"`
	Against runSummary  `json:"against"`
	Nodes   nodeChange  `json:"nodes"`
	Fields  []fieldPair `json:"fields"` // of the spec, that are written otherwise
	More    int         `json:"moreFields,omitempty"`
	// Settings are what both runs print of how they were started, with other values.
	Settings []fieldPair `json:"settings,omitempty"`
	New      []newLine   `json:"newLines"` // that the other run did not print
	Others   int         `json:"moreNewLines,omitempty"`
	Unknown  []string    `json:"unknown,omitempty"` // what was not compared, and why
	Same     bool        `json:"sameRun,omitempty"` // both are one run: there is nothing to differ
}

// runSummary is one run in a few words.
type runSummary struct {
	Name     string     `json:"name"`
	Healthy  string     `json:"healthy"`
	Verdict  string     `json:"verdict"`
	Category string     `json:"category"`
	Error    string     `json:"error,omitempty"`
	Attempts int        `json:"attempts"` // that were seen
	Began    *time.Time `json:"began,omitempty"`
	Ended    *time.Time `json:"ended,omitempty"`
	Seconds  float64    `json:"seconds,omitempty"`
}

type nodeChange struct {
	Both        []string `json:"both"`
	OnlyRun     []string `json:"onlyRun"`
	OnlyAgainst []string `json:"onlyAgainst"`
}

// fieldPair is a field of the spec in both runs; empty: it is not written there.
type fieldPair struct {
	Path    string `json:"path"`
	Run     string `json:"run"`
	Against string `json:"against"`
}

// newLine is a line that only one run printed, masked.
type newLine struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// finished is a run and what is said of it.
type finished struct {
	name   string
	of     diagnose.Case
	result diagnose.Result
	saved  bool // not read from the cluster now
}

// compare diagnoses two runs and says in what they differ.
func (f *diagnoseFlags) compare(ctx context.Context, sh *shell.Shell, args []string) (*Comparison, error) {
	catalog, err := signatures.With(f.signatures)
	if err != nil {
		return nil, err
	}
	if len(args) == 2 && !strings.Contains(args[0], "/") && apiserver.KindCalled(args[0]) != nil {
		args = []string{args[0] + "/" + args[1]}
	}
	args = slices.Concat(args, f.logs)
	if f.bundle != "" {
		args = append(args, f.bundle)
	}
	if len(args) != 1 {
		return nil, shell.Usagef("--against compares two runs; expected one before it, and %d are given", len(args))
	}
	if named := f.namespaces.Given(); len(named) > 1 {
		return nil, shell.Usagef("-n names %s, and both runs would be looked for in %s; expected NAMESPACE/KIND/NAME for one of them: --against %s/pytorchjob/train",
			strings.Join(named, " and "), named[len(named)-1], named[0])
	}
	var live *apiserver.Cluster
	var both [2]*finished
	for i, name := range []string{args[0], f.against} {
		if both[i], err = f.oneRun(ctx, sh, name, catalog, &live, f.beside(both[0])); err != nil {
			return nil, err
		}
	}
	c := compared(both[0], both[1])
	if err := c.lines(ctx, both[0].of, both[1].of); err != nil {
		return nil, err
	}
	return c, nil
}

// runAgainst prints what a run has that another had not.
func (f *diagnoseFlags) runAgainst(cmd *cobra.Command, sh *shell.Shell, args []string, format string, paint terminal.Painter) error {
	if !slices.Contains([]string{"text", "json", "yaml", "md"}, format) {
		return shell.Usagef("--against prints text, json, yaml or md; expected one of them, not -o %s", format)
	}
	for _, other := range []string{"timeline", "why", "watch", "annotate", "explain", "prompt-only", "snapshot", "events", "pods"} {
		if cmd.Flags().Changed(other) {
			return shell.Usagef("--against and --%s are given; expected one of them", other)
		}
	}
	c, err := f.compare(cmd.Context(), sh, args)
	if err != nil {
		return shell.Own(err)
	}
	if err := renderComparison(sh.Out, c, format, paint); err != nil {
		return shell.Own(fmt.Errorf("write the comparison: %w", err))
	}
	switch {
	case !f.exitCode || c.Run.Healthy == "Yes":
		return nil
	case c.Run.Healthy == "No":
		return &shell.Exit{Code: shell.ExitFindings}
	}
	return &shell.Exit{Code: shell.ExitUnknown}
}

// beside is the namespace in which a job is looked for that is compared with a saved one: its own, unless -n names
// another; empty: nothing saved says it.
func (f *diagnoseFlags) beside(first *finished) string {
	if first == nil || !first.saved || first.of.Job == nil || *f.kube.Namespace != "" {
		return ""
	}
	return first.of.Job.Ref.Namespace
}

// oneRun is a run by what the user calls it: a path of saved evidence, or a job of the cluster; beside is the namespace
// of a job that names none.
func (f *diagnoseFlags) oneRun(ctx context.Context, sh *shell.Shell, name string, catalog *signature.Catalog, live **apiserver.Cluster, beside string) (*finished, error) {
	var c diagnose.Case
	_, err := os.Stat(name)
	saved := err == nil
	switch {
	case saved:
		one := &diagnoseFlags{logs: []string{name}}
		if c, err = one.bare(ctx, sh); err != nil {
			return nil, err
		}
	default:
		namespace, short := ofNamespace(name)
		targets, err := apiserver.ReadTargets([]string{short})
		if err != nil {
			return nil, err
		}
		if *live == nil {
			if *live, err = apiserver.Reach(ctx, f.kube, ", or "+terminal.FileName(name)+" as a folder or a file of logs"); err != nil {
				return nil, err
			}
		}
		there := **live
		there.Namespace = cmp.Or(namespace, beside, there.Namespace)
		if c, err = there.CaseOf(ctx, sh, targets[0]); err != nil {
			return nil, err
		}
	}
	r := diagnose.Diagnose(ctx, c, catalog, diagnose.Options{})
	return &finished{name, c, r, saved}, ctx.Err()
}

// ofNamespace splits NAMESPACE/KIND/NAME, which names a job of another namespace than -n does; empty: none is named.
func ofNamespace(name string) (namespace, rest string) {
	before, after, ok := strings.Cut(name, "/")
	if kind, _, more := strings.Cut(after, "/"); ok && more && apiserver.PlainName.MatchString(before) && apiserver.KindCalled(kind) != nil {
		return before, after
	}
	return "", name
}

// compared is everything but the lines.
func compared(a, b *finished) *Comparison {
	c := &Comparison{Schema: comparisonSchema, Run: a.summary(), Against: b.summary(), Fields: []fieldPair{}, New: []newLine{}}
	c.Same = a.same(b)
	here, there := nodesOf(a.of.Pods), nodesOf(b.of.Pods)
	c.Nodes = nodeChange{[]string{}, []string{}, []string{}}
	for _, n := range here {
		if slices.Contains(there, n) {
			c.Nodes.Both = append(c.Nodes.Both, n)
		} else {
			c.Nodes.OnlyRun = append(c.Nodes.OnlyRun, n)
		}
	}
	for _, n := range there {
		if !slices.Contains(here, n) {
			c.Nodes.OnlyAgainst = append(c.Nodes.OnlyAgainst, n)
		}
	}
	if a.of.Job == nil || b.of.Job == nil || a.of.Job.Source == nil || b.of.Job.Source == nil {
		c.Unknown = append(c.Unknown, "the specs: a job object is in one of the runs at most")
		return c
	}
	ours, theirs := map[string]string{}, map[string]string{}
	flatten(ours, "spec", redact.Tree(a.of.Job.Source.Object["spec"]))
	flatten(theirs, "spec", redact.Tree(b.of.Job.Source.Object["spec"]))
	paths := slices.Sorted(maps.Keys(ours))
	for p := range theirs {
		if _, known := ours[p]; !known {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	for _, p := range paths {
		if ours[p] == theirs[p] {
			continue
		}
		if len(c.Fields) == mostFields {
			c.More++
			continue
		}
		c.Fields = append(c.Fields, fieldPair{p, ours[p], theirs[p]})
	}
	return c
}

// same says that two runs are one: an object of the cluster, or what was saved at one path.
func (f *finished) same(g *finished) bool {
	if f.of.Job != nil && g.of.Job != nil && f.of.Job.Ref.UID != "" {
		return f.of.Job.Ref.UID == g.of.Job.Ref.UID
	}
	return f.saved && g.saved && filepath.Clean(f.name) == filepath.Clean(g.name)
}

// flatten writes the leaves of a value by path.
func flatten(to map[string]string, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			flatten(to, path+"."+k, e)
		}
	case []any:
		for i, e := range v {
			at := fmt.Sprintf("%s[%d]", path, i)
			if m, ok := e.(map[string]any); ok {
				if name, ok := m["name"].(string); ok {
					at = fmt.Sprintf("%s[%s]", path, name)
				}
			}
			flatten(to, at, e)
		}
	default:
		text, err := json.Marshal(v)
		if err == nil {
			to[path] = string(text)
		}
	}
}

func nodesOf(pods []corev1.Pod) (out []string) {
	for i := range pods {
		if n := pods[i].Spec.NodeName; n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

func (f *finished) summary() runSummary {
	r := f.result
	s := runSummary{Name: terminal.FileName(f.name), Verdict: string(r.Verdict), Category: r.Category, Error: r.Error, Healthy: report.HealthyWord(r.Verdict), Attempts: max(1, len(r.Attempts.Attempts))}
	for _, m := range r.Members {
		for _, at := range []time.Time{m.Started, m.FirstLine} {
			if !at.IsZero() && (s.Began == nil || at.Before(*s.Began)) {
				s.Began = &at
			}
		}
		for _, at := range []time.Time{m.Ended, m.Done, m.LastLine} {
			if !at.IsZero() && (s.Ended == nil || at.After(*s.Ended)) {
				s.Ended = &at
			}
		}
	}
	if s.Began != nil && s.Ended != nil && s.Ended.After(*s.Began) {
		s.Seconds = s.Ended.Sub(*s.Began).Seconds()
	}
	return s
}

// lines finds what only the first run printed. Of a run that printed more forms of lines than are remembered
// it is unknown what it did not print.
func (c *Comparison) lines(ctx context.Context, a, b diagnose.Case) error {
	var known familiar.Lines
	ours, theirs := newSettings(), newSettings()
	if err := eachLine(ctx, b, func(file string, l *reduce.Line) {
		known.Add(reduce.Mask(l.Body()))
		theirs.add(file, l)
	}); err != nil {
		return err
	}
	switch {
	case known.Over():
		c.Unknown = append(c.Unknown, fmt.Sprintf("the lines: %s printed more than %d different ones", c.Against.Name, familiar.Most))
		return nil
	case !known.Tell():
		c.Unknown = append(c.Unknown, "the lines: no log of "+c.Against.Name+" is there")
		return nil
	}
	var seen familiar.Lines
	defer func() {
		if c.Settings = ours.differ(theirs); ours.over || theirs.over {
			c.Unknown = append(c.Unknown, fmt.Sprintf("all settings: one of the runs printed more than %d", mostSettings))
		}
	}()
	return eachLine(ctx, a, func(file string, l *reduce.Line) {
		ours.add(file, l)
		body := reduce.Mask(l.Body())
		switch {
		case l.Code || !known.New(body) || seen.Has(body) || seen.Over():
		case len(c.New) == mostNewLines:
			c.Others++
		default:
			c.New = append(c.New, newLine{file, l.Number, strings.TrimSpace(body)})
		}
		seen.Add(body)
	})
}

// eachLine reads every log of a case.
func eachLine(ctx context.Context, c diagnose.Case, do func(file string, l *reduce.Line)) error {
	for _, log := range c.Logs {
		if err := ctx.Err(); err != nil {
			return err
		}
		in, err := log.Open()
		if err != nil {
			continue // what could not be read is said by the diagnosis
		}
		name := log.Source.File
		if name == "" {
			name = log.Source.Place()
		}
		_, err = reduce.Read(in, reduce.Options{
			Budget: 1, Numbers: log.Numbers, Now: c.Now, Suspect: func(string) bool { return false }, Watch: func(l *reduce.Line) { do(name, l) },
		})
		_ = in.Close() // it was only read
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
	}
	return nil
}
