// Package audit is the command audit, and that of policy: every job that there is, reviewed as if it came now, and added up.
package audit

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	getcmd "github.com/signalbox-dev/signalbox/cmd/signalbox/get"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/input"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/render"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/review"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// auditSchema names the JSON of audit.
const auditSchema = "signalbox.dev/audit/v1"

// total is how many jobs something was found in.
type total struct {
	Name    string `json:"name"`
	Gravest string `json:"gravest,omitempty"` // deny, error, warning or note
	Jobs    int    `json:"jobs"`
	Denied  int    `json:"denied,omitempty"`
	Warned  int    `json:"warned,omitempty"`
}

// audited is what became of all jobs.
type audited struct {
	Schema     string             `json:"schema"`
	Decisions  map[string]int     `json:"decisions"`
	Checks     []total            `json:"checks"` // and policies
	Namespaces []total            `json:"namespaces"`
	Jobs       []preflight.Report `json:"jobs"`
	Ended      int                `json:"ended,omitempty"`    // jobs that have ended, and are left out
	Unlisted   []string           `json:"unlisted,omitempty"` // resources whose jobs the server did not list, with its message
}

type auditFlags struct {
	from           *review.Flags
	everything     bool
	over           bool
	rulings        bool // of policies, and nothing else
	ended          int  // jobs that are left out
	files          input.Flags
	output         *shell.Choice
	contexts       *apiserver.Remembered // what --context was given, every time
	failOn, colour *shell.Choice
}

// New is the command audit.
func New(sh *shell.Shell) *cobra.Command {
	f := &auditFlags{
		from: review.NewFlags(), output: shell.OneOf("text", "json", "yaml", "md", "html"),
		failOn: shell.OneOf("never", "error", "warning"), colour: shell.OneOf("auto", "always", "never"),
	}
	c := &cobra.Command{
		Use:   "audit [FILE…] [-A] [--policy DIR] [--enforce] [--snapshot FILE]",
		Short: "review every job of a cluster or snapshot as if it came now",
		Long: `Audit reviews every training job that a cluster or a snapshot holds, as if it came now, and adds up
what was found: by check and policy, and by namespace. With --enforce policies deny everywhere,
so that the answer is who would be refused if a namespace began to enforce.

FILE holds jobs, and the rest of a cluster as far as it is known, as --snapshot does.

Jobs that have ended are left out, unless --ended, and those that another job was made of. With several --context the
audits of the clusters stand below each other.

Exit codes: as those of check, but findings fail it only with --fail-on; a denial always does. It is 4 where
the server did not list the jobs of a kind, and the others hold nothing that fails it.`,
		Example: fmt.Sprintf("  %[1]s audit -A\n  %[1]s audit -A --policy policies/ --enforce\n  %[1]s audit --snapshot cluster.yaml -o json\n  %[1]s audit jobs/ --snapshot cluster.yaml", sh.Name),
		Args:    cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			f.from.Snapshot = append(f.from.Snapshot, args...)
			return shell.Own(f.start(c.Context(), sh))
		},
	}
	f.from.AddEnforce(c)
	f.add(c)
	shell.AddChoice(c, f.failOn, "fail-on", "", "severity from which the exit code is 1")
	return c
}

// NewPolicyAudit is audit for the author of policies.
func NewPolicyAudit(sh *shell.Shell) *cobra.Command {
	f := &auditFlags{
		from: review.NewFlags(), output: shell.OneOf("text", "json", "yaml", "md", "html"),
		failOn: shell.OneOf("never"), colour: shell.OneOf("auto", "always", "never"), rulings: true,
	}
	f.from.Enforce = true
	c := &cobra.Command{
		Use:   "audit [-A] --policy DIR",
		Short: "say which jobs that there are would be denied",
		Long: `Policy audit asks the policies in the folders, and no others, about every training job that a
cluster or a snapshot holds, as in namespaces that enforce, and adds up whom they would deny or warn.

Jobs that have ended are left out, unless --ended, and those that another job was made of.

Exit codes: 0 no denial · 1 a denial · 2 bad usage, or a policy that does not load or fails · 4 no denial, but
the server did not list the jobs of a kind.`,
		Example: fmt.Sprintf("  %[1]s policy audit -A --policy policies/\n  %[1]s policy audit --snapshot cluster.yaml --policy policies/ -o json", sh.Name),
		Args:    shell.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if len(f.from.Folders) == 0 {
				return shell.Usagef("no policies; expected --policy DIR; %s audit asks those of the cluster", sh.Name)
			}
			return shell.Own(f.start(c.Context(), sh))
		},
	}
	f.add(c)
	f.from.PoliciesOnly(c)
	return c
}

func (f *auditFlags) add(c *cobra.Command) {
	f.from.Add(c)
	f.contexts = apiserver.SeveralContexts(c.Flags())
	shell.Hide(c, "offline")
	c.Flags().BoolVarP(&f.everything, "all-namespaces", "A", false, "jobs of all namespaces")
	c.Flags().BoolVar(&f.over, "ended", false, "also jobs that have ended")
	c.Flags().StringVarP(&f.files.Selector, "selector", "l", "", "only jobs with these `labels`")
	shell.AddChoice(c, f.output, "output", "o", "output format")
	shell.AddChoice(c, f.colour, "color", "", "colour of text; NO_COLOR is honoured")
}

func (f *auditFlags) start(ctx context.Context, sh *shell.Shell) error {
	if several := apiserver.ContextsOf(f.contexts); len(several) > 1 && len(f.from.Snapshot) == 0 {
		return f.runContexts(ctx, sh, several)
	}
	return f.run(ctx, sh)
}

func (f *auditFlags) run(ctx context.Context, sh *shell.Shell) error {
	in := &input.Input{}
	var missing apiserver.Unlisted
	if len(f.from.Snapshot) > 0 {
		objects, err := getcmd.JobsOfSnapshot(sh, f.from.Snapshot, f.files.Selector)
		if err != nil {
			return err
		}
		if len(objects) == 0 && f.files.Selector == "" {
			return shell.Usagef("no training job is in %s; signalbox snapshot --jobs saves them with the cluster, and a file of jobs may stand beside it: --snapshot jobs.yaml", terminal.OrList(f.from.Snapshot))
		}
		f.take(in, objects, *f.from.Kube.Namespace)
	} else {
		live, err := apiserver.Reach(ctx, f.from.Kube, ", or --snapshot FILE")
		if err != nil {
			return err
		}
		var objects []*unstructured.Unstructured
		if objects, missing, err = f.jobsOf(ctx, sh, live); err != nil {
			return err
		}
		f.take(in, objects, "")
	}
	w, err := f.from.Open(ctx, sh, in)
	if err != nil {
		return err
	}
	w.Forced = false // jobs say which namespace is theirs
	// Whoever audits did not make them.
	w.User, w.Groups = f.from.Asker(ctx, w.Live)
	w.Before = func(o *unstructured.Unstructured) *unstructured.Unstructured { return o }
	jobs, err := review.Jobs(ctx, in, w)
	if err != nil {
		return err
	}
	in.Say(sh)
	if f.rulings {
		review.OnlyRulings(jobs)
	}
	if len(in.Jobs) == 0 && w.Live != nil && !f.everything {
		if err := w.Live.Missing(ctx, w.Namespace); err != nil {
			return err
		}
	}
	switch {
	case len(in.Jobs) > 0:
	case len(f.from.Snapshot) > 0:
		sh.Tell("no such jobs that go on are in the snapshot")
	case !f.everything:
		sh.Tell("no jobs found in namespace %s; -A looks in all", w.Namespace)
	}
	sum := sumUp(jobs)
	sum.Unlisted, sum.Ended = missing.Failed, f.ended
	if err := f.render(sh, sum); err != nil {
		return err
	}
	if f.rulings {
		return cmp.Or(review.RulingsVerdict(jobs, in.Troubles), missing.Verdict())
	}
	return cmp.Or(review.Verdict(&review.Outcome{Jobs: jobs, Troubles: in.Troubles}, f.failOn.Value), missing.Verdict())
}

// jobsOf are the jobs of the cluster, and what was not listed.
func (f *auditFlags) jobsOf(ctx context.Context, sh *shell.Shell, live *apiserver.Cluster) (out []*unstructured.Unstructured, missing apiserver.Unlisted, err error) {
	namespace := live.Namespace
	if f.everything {
		namespace = metav1.NamespaceAll
	}
	listed := false
	missing, err = live.EachPage(ctx, namespace, f.files.Selector, apiserver.AnyKind, func(_ *kinds.Kind, _ schema.GroupVersionResource, page *unstructured.UnstructuredList) {
		for i := range page.Items {
			out = append(out, &page.Items[i])
		}
		listed = true
	})
	if err == nil && missing.Len() > 0 && !listed {
		err = missing.None(namespace)
	}
	if err == nil {
		sh.Notes(missing.Notes(namespace))
	}
	return out, missing, err
}

// take makes the jobs that are to be reviewed the input.
func (f *auditFlags) take(in *input.Input, objects []*unstructured.Unstructured, namespace string) {
	for _, o := range objects {
		k := kinds.For(o.GroupVersionKind())
		if apiserver.IsPart(o) || namespace != "" && o.GetNamespace() != namespace {
			continue
		}
		if !f.over && hasEnded(k, o) {
			f.ended++
			continue
		}
		in.Jobs = append(in.Jobs, manifest.Document{Object: o, Source: k.Resource})
	}
	slices.SortStableFunc(in.Jobs, func(a, b manifest.Document) int {
		return cmp.Or(strings.Compare(a.Object.GetNamespace(), b.Object.GetNamespace()), strings.Compare(a.Object.GetName(), b.Object.GetName()))
	})
}

func hasEnded(k *kinds.Kind, o *unstructured.Unstructured) bool {
	defer func() { _ = recover() }() // a status that cannot be read has not ended
	return apiserver.Ended(k.State(o))
}

// sumUp counts in how many jobs each check and policy spoke, and what became of each namespace.
func sumUp(jobs []review.Reviewed) audited {
	out := audited{Schema: auditSchema, Decisions: map[string]int{}, Jobs: render.Reports(jobs)}
	checks, namespaces := map[string]*total{}, map[string]*total{}
	get := func(m map[string]*total, name string) *total {
		if m[name] == nil {
			m[name] = &total{Name: name}
		}
		return m[name]
	}
	gravest := map[string]finding.Severity{}
	denies := map[string]bool{}
	for _, j := range jobs {
		out.Decisions[string(j.Decision)]++
		n := get(namespaces, j.Job.Namespace)
		n.Jobs++
		switch j.Decision {
		case preflight.Denied:
			n.Denied++
		case preflight.Warned:
			n.Warned++
		case preflight.Allowed:
		}
		for _, r := range j.Rulings {
			denies[r.Policy] = denies[r.Policy] || r.Effect == preflight.Deny
		}
		spoke := map[string]bool{}
		for _, l := range j.Lines() {
			gravest[l.Check] = max(gravest[l.Check], l.Severity)
			if !spoke[l.Check] {
				get(checks, l.Check).Jobs++
				spoke[l.Check] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(checks)) {
		c := checks[name]
		if c.Gravest = gravest[name].String(); denies[name] {
			c.Gravest = string(preflight.Deny)
		}
		out.Checks = append(out.Checks, *c)
	}
	slices.SortStableFunc(out.Checks, func(a, b total) int {
		weight := func(t total) int { return slices.Index([]string{"note", "warning", "error", "deny"}, t.Gravest) }
		return cmp.Or(weight(b)-weight(a), b.Jobs-a.Jobs)
	})
	for _, name := range slices.Sorted(maps.Keys(namespaces)) {
		out.Namespaces = append(out.Namespaces, *namespaces[name])
	}
	return out
}

func (f *auditFlags) render(sh *shell.Shell, a audited) error {
	switch f.output.Value {
	case "json", "yaml":
		a.Checks, a.Namespaces, a.Jobs = append([]total{}, a.Checks...), append([]total{}, a.Namespaces...), append([]preflight.Report{}, a.Jobs...)
		return shell.RenderDocument(sh.Out, f.output.Value, a)
	case "html":
		return sh.WriteHTML("Audit", auditSections(a)...)
	}
	paint := terminal.NewPainter(f.colour.Value, sh.Out)
	p := terminal.NewPage(sh.Out)
	head := auditHead(a)
	found, spaces := [][]string{{"CHECK OR POLICY", "JOBS", "GRAVEST"}}, [][]string{{"NAMESPACE", "JOBS", "DENIED", "WARNED"}}
	for _, c := range a.Checks {
		found = append(found, []string{c.Name, fmt.Sprint(c.Jobs), paint.Word(c.Gravest)})
	}
	for _, n := range a.Namespaces {
		spaces = append(spaces, []string{words.VisibleLine(n.Name), fmt.Sprint(n.Jobs), fmt.Sprint(n.Denied), fmt.Sprint(n.Warned)})
	}
	named := auditNames(a)
	var b strings.Builder
	if f.output.Value == "md" {
		b.WriteString("## " + head + "\n")
		if left := auditLeftOut(a); left != "" {
			b.WriteString("\n" + left)
		}
		for _, t := range [][][]string{found, spaces} {
			if len(t) > 1 {
				b.WriteString("\n" + terminal.MarkdownTable(t))
			}
		}
		for _, list := range named {
			fmt.Fprintf(&b, "\n### %s%s\n\n", strings.ToUpper(list.title[:1]), list.title[1:])
			for _, line := range list.lines {
				b.WriteString("- " + terminal.InProse(line) + "\n")
			}
		}
		return terminal.Page{To: sh.Out}.Write(b.String())
	}
	b.WriteString(paint.As("bold", head) + "\n" + auditLeftOut(a))
	for _, t := range [][][]string{found, spaces} {
		if len(t) > 1 {
			b.WriteString("\n" + p.Table(t))
		}
	}
	for _, list := range named {
		b.WriteString("\n" + paint.As("bold", list.title) + "\n")
		for _, line := range list.lines {
			b.WriteString("  " + line + "\n")
		}
	}
	return p.Write(b.String())
}

// mostErrorsNamed is how many errors of jobs that nobody denies are named, and how many jobs that are warned of; of denials and
// failures each is.
const mostErrorsNamed = 20

// auditList is a part of an audit that names jobs, a line each.
type auditList struct {
	title string
	lines []string
}

// auditNames are the jobs of which a sum says too little: who is denied, whose findings are errors, which checks warn of whom,
// and of whom something could not be said.
func auditNames(a audited) (out []auditList) {
	var denied, errs, warned, undecided []string
	for _, j := range a.Jobs {
		var checks []string
		for _, l := range onePerMessage(j.Lines()) {
			line := words.VisibleLine(fmt.Sprintf("%s: [%s] %s%s", j.Job, l.Check, terminal.OneLine(l.Message), l.places()))
			switch {
			case l.Severity == finding.Warning:
				if !slices.Contains(checks, l.Check) {
					checks = append(checks, l.Check)
				}
			case l.Severity != finding.Error:
			case j.Decision == preflight.Denied:
				denied = append(denied, line)
			default:
				errs = append(errs, line)
			}
		}
		if len(checks) > 0 {
			warned = append(warned, words.VisibleLine(fmt.Sprintf("%s: %s", j.Job, strings.Join(checks, ", "))))
		}
		for _, why := range j.Failures() {
			undecided = append(undecided, words.VisibleLine(fmt.Sprintf("%s: %s", j.Job, terminal.OneLine(why))))
		}
	}
	if more := len(errs) - mostErrorsNamed; more > 0 {
		errs = append(errs[:mostErrorsNamed], fmt.Sprintf("%d more; -o json has all", more))
	}
	if more := len(warned) - mostErrorsNamed; more > 0 {
		warned = append(warned[:mostErrorsNamed], fmt.Sprintf("%s more; -o json has all", terminal.Count(more, "job")))
	}
	for _, list := range []auditList{{"denied", denied}, {"errors", errs}, {"warnings", warned}, {"not decided", undecided}, {"not listed", a.Unlisted}} {
		if len(list.lines) > 0 {
			out = append(out, list)
		}
	}
	return out
}

// repeated is a finding, with the places of all that say the same.
type repeated struct {
	finding.Finding
	paths []string
}

// onePerMessage has what a policy says of each role by the same words once.
func onePerMessage(all []finding.Finding) (out []repeated) {
	for _, f := range all {
		at := slices.IndexFunc(out, func(r repeated) bool {
			return r.Check == f.Check && r.Severity == f.Severity && r.Message == f.Message
		})
		if at < 0 {
			out, at = append(out, repeated{Finding: f}), len(out)
		}
		out[at].paths = append(out[at].paths, string(f.Path))
	}
	return out
}

// places is " (2 places: PATH, PATH)", or without the paths where they do not differ; empty: there is one.
func (r repeated) places() string {
	if len(r.paths) == 1 {
		return ""
	}
	if each := slices.Compact(slices.Sorted(slices.Values(r.paths))); len(each) == len(r.paths) && each[0] != "" {
		return fmt.Sprintf(" (%d places: %s)", len(r.paths), terminal.Few(each))
	}
	return fmt.Sprintf(" (%d places)", len(r.paths))
}

// auditHead is the sum in one line.
func auditHead(a audited) string {
	return fmt.Sprintf("%s in %s: %d denied, %d warned, %d allowed", terminal.Count(len(a.Jobs), "job"), terminal.Count(len(a.Namespaces), "namespace"),
		a.Decisions["denied"], a.Decisions["warned"], a.Decisions["allowed"])
}

// auditLeftOut says how many jobs the sum leaves out; empty: none.
func auditLeftOut(a audited) string {
	if a.Ended == 0 {
		return ""
	}
	return terminal.Count(a.Ended, "ended job") + " left out (--ended)\n"
}
