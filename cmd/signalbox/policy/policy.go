// Package policy is the command policy: policies are begun, checked, audited, replayed, tested and measured.
package policy

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/audit"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/input"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/render"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/review"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/tuning"
	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight"
	phrase "github.com/signalbox-dev/signalbox/preflight/words"
)

// New is the command policy.
func New(sh *shell.Shell) *cobra.Command {
	c := &cobra.Command{
		Use:   "policy new|check|audit|replay|test|bench",
		Short: "begin, check, audit, replay, test and measure policies",
		Example: fmt.Sprintf(`  %[1]s policy new whole-node --dir policies/
  %[1]s policy test policies/
  %[1]s policy check job.yaml --policy policies/ --as ana
  %[1]s policy audit -A --policy policies/`, sh.Name),
	}
	c.AddCommand(newPolicyCheck(sh), audit.NewPolicyAudit(sh), newPolicyTest(sh), newPolicyReplay(sh), newPolicyNew(sh), newPolicyBench(sh))
	return c
}

func newPolicyCheck(sh *shell.Shell) *cobra.Command {
	q := question{sh: sh, from: review.NewFlags()}
	mode, output, colour := shell.OneOf("enforce", "warn"), shell.OneOf("text", "json", "yaml"), shell.OneOf("auto", "always", "never")
	c := &cobra.Command{
		Use:        "check FILE|DIR|URL|-…|KIND/NAME… --policy DIR",
		SuggestFor: []string{"eval", "validate", "lint", "run", "exec", "trace", "explain"},
		Short:      "show what policies say about jobs, and what they see of them",
		Long: `Policy check asks the policies in the folders, and no others, about every job in the
files, or KIND/NAME of the cluster as if it came now, as in a namespace that enforces, asked by
the user of --as and --as-group, or by whom the cluster takes you for. What they see of a cluster is that of the kubeconfig, or of --snapshot; a
policy that reads what was not looked at is undecided. --input prints what a policy sees; --explain
prints how each rule came to its answer: what it read, and which of its expressions did not hold,
with the values in them. What a policy prints by print() goes to standard error, with its file and line.

Exit codes: 0 no denial · 1 a denial · 2 bad usage, unreadable input, or a policy that
does not load or fails · 3 our own failure.`,
		Example: fmt.Sprintf("  %[1]s policy check job.yaml --policy policies/\n  %[1]s policy check pytorchjob/train -n ml --policy policies/ --as ana\n  %[1]s policy check -f job.yaml --policy policies/ --input", sh.Name),
		Args:    cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			q.args, q.asking.Mode = args, mode.Value
			if len(q.from.Folders) == 0 {
				for _, arg := range args {
					if filepath.Ext(arg) == ".rego" {
						return shell.Usagef("%s is a policy, and jobs are asked about; expected --policy %[1]s and a job; %s policy test %[1]s tries its own tests", arg, sh.Name)
					}
				}
				return lacksOf(need{false, "policies", fmt.Sprintf("--policy DIR (%s check asks those of the cluster)", sh.Name)}, need{len(args)+len(q.files) > 0, "jobs", "FILE…, -f FILE or -f - for standard input"})
			}
			return shell.Own(q.check(c.Context(), output.Value, terminal.NewPainter(colour.Value, sh.Out)))
		},
	}
	q.add(c)
	c.Flags().BoolVar(&q.asking.Input, "input", false, "print the input of the policies as JSON, and no answer")
	c.Flags().BoolVar(&q.asking.Why, "explain", false, "print how each rule came to its answer")
	c.MarkFlagsMutuallyExclusive("input", "explain")
	shell.AddChoice(c, mode, "mode", "", "mode of the namespace")
	shell.AddChoice(c, output, "output", "o", "output format")
	shell.AddChoice(c, colour, "color", "", "colour of text; NO_COLOR is honoured")
	return c
}

// witness is an engine that remembers what it was asked.
type witness struct {
	preflight.Policies
	seen []preflight.Input
}

// InForce implements preflight.Engine.
func (w *witness) InForce() preflight.Policies { return w }

// Decide passes the question on. The last question about a job shows all that policies see of it.
func (w *witness) Decide(ctx context.Context, in preflight.Input, q preflight.Question) (preflight.Ruled, error) {
	if q.Stage == preflight.OnTheReview {
		w.seen = append(w.seen, in)
	}
	return w.Policies.Decide(ctx, in, q)
}

// question is what policies are asked about: jobs, and who submits them where.
type question struct {
	sh          *shell.Shell
	files, args []string
	from        *review.Flags
	asking      review.Asking
}

// add gives a command the flags of a question.
func (q *question) add(c *cobra.Command) {
	input.AddFiles(c, &q.files)
	q.from.Add(c)
	q.from.PoliciesOnly(c)
	c.Flags().StringToStringVar(&q.asking.Labels, "namespace-label", nil, "`label=value` of the namespace; repeatable")
}

// answers are what policies said about jobs, and what they were asked.
type answers struct {
	*witness
	jobs     []review.Reviewed
	troubles []preflight.Trouble
}

// ask reviews the jobs.
func (q *question) ask(ctx context.Context) (answers, error) {
	in, err := (&input.Flags{Files: q.files, Recursive: true, Cluster: q.from.Connection, Command: "policy check"}).Read(ctx, q.sh, q.args)
	if err != nil {
		return answers{}, err
	}
	w, err := q.from.Open(ctx, q.sh, in)
	if err != nil {
		return answers{}, err
	}
	asked := &witness{Policies: w.Engine.InForce()}
	w.Engine, w.Asking = asked, &q.asking
	jobs, err := review.Jobs(ctx, in, w)
	if err != nil {
		return answers{}, err
	}
	in.Say(q.sh)
	return answers{asked, jobs, in.Troubles}, nil
}

// check prints what the policies say, what they saw, or how they came to their answers.
func (q *question) check(ctx context.Context, format string, paint terminal.Painter) error {
	q.from.Printed = q.sh.Err
	got, err := q.ask(ctx)
	if err != nil {
		return err
	}
	if note := saysUnset(q.from.Unset); note != "" {
		q.sh.Tell("note: %s", note)
	}
	if q.asking.Why {
		if err := explainPolicies(ctx, q.sh, got.Policies, got.seen, format, paint); err != nil {
			return err
		}
		return review.RulingsVerdict(got.jobs, got.troubles)
	}
	if q.asking.Input {
		for _, i := range got.seen {
			shown, err := policies.Masked(i)
			if err != nil {
				return err
			}
			if err := shell.WriteJSON(q.sh.Out, shown); err != nil {
				return err
			}
		}
		return review.RulingsVerdict(nil, got.troubles)
	}
	if err := renderRulings(q.sh.Out, format, got.jobs, got.troubles, paint, q.from.Asked); err != nil {
		return err
	}
	return review.RulingsVerdict(got.jobs, got.troubles)
}

// saysUnset names policies that rule nothing because a setting is absent; empty: there are none.
func saysUnset(all []policies.Unset) string {
	if len(all) == 0 {
		return ""
	}
	var names []string
	for _, u := range all {
		names = append(names, u.Name+" ("+strings.Join(u.Settings, ", ")+")")
	}
	verb := "say nothing, because no data sets what they read"
	if len(all) == 1 {
		verb = "says nothing, because no data sets what it reads"
	}
	return fmt.Sprintf("%s %s: %s", phrase.Count(len(all), "policy", "policies"), verb, terminal.Few(names))
}

// renderRulings writes what so many policies said.
func renderRulings(to io.Writer, format string, jobs []review.Reviewed, troubles []preflight.Trouble, paint terminal.Painter, policies int) error {
	review.OnlyRulings(jobs)
	if format != "text" {
		return shell.RenderDocument(to, format, preflight.NewDocument(render.Reports(jobs), troubles))
	}
	var b strings.Builder
	for _, j := range jobs {
		render.Text(&b, j, paint)
		if len(j.Rulings)+len(j.Undecided)+len(j.Exempted) == 0 {
			fmt.Fprintf(&b, "  nothing to say (policies asked: %d)\n", policies)
		}
	}
	return terminal.NewPage(to).Write(b.String())
}

func newPolicyTest(sh *shell.Shell) *cobra.Command {
	var update, verbose bool
	var only string
	covered, least := false, 0
	output := shell.OneOf("text", "json", "junit")
	c := &cobra.Command{
		Use:        "test DIR",
		SuggestFor: []string{"verify", "coverage"},
		Short:      "run the examples and tests of policies",
		Example:    fmt.Sprintf("  %[1]s policy test policies/\n  %[1]s policy test policies/ --coverage -o junit > policies.xml\n  %[1]s policy test policies/ --update", sh.Name),
		Long: `Policy test runs, for every policy of the folder, the examples beside it in testdata/NAME, with the
name of its file or of its package: allow-*.yaml, about which it must say nothing, and deny-*.yaml or
warn-*.yaml, each with a .want that holds what it must say. An example is a job, the
objects of the cluster it needs, and at most one ReviewRequest that says who asks. Then it runs the
rules test_* of files *_test.rego, as opa test does. What policies and tests print is shown where
something is not as expected, and with --verbose everywhere. --update writes
what the policies say into the .want files; --coverage prints which lines of the policies nothing has
evaluated, and with --least-coverage a policy below so many percent fails.

Exit codes: 0 all as expected · 1 not · 2 bad usage or a policy that does not load.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return shell.Usagef("%s takes one folder of policies; have %d arguments", c.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return shell.Own(policyTest(c.Context(), sh, args[0], output.Value, testOptions{update, covered || least > 0, least, verbose, only}))
		},
	}
	c.Flags().BoolVar(&covered, "coverage", false, "print which lines nothing has evaluated")
	c.Flags().IntVar(&least, "least-coverage", 0, "percent of the lines of each policy that have to be evaluated")
	c.Flags().StringVarP(&only, "run", "r", "", "only examples and tests whose policy or name matches this `regexp`")
	c.Flags().BoolVarP(&verbose, "verbose", "v", false, "show what is printed also where all is as expected")
	c.Flags().BoolVar(&update, "update", false, "write what the policies say into the .want files")
	shell.AddChoice(c, output, "output", "o", "output format")
	return c
}

// testOptions says what else policy test does.
type testOptions struct {
	update, covered bool
	least           int    // percent
	verbose         bool   // what policies and tests print is shown also where all is as expected
	run             string // regular expression of what is told; empty: all
}

func policyTest(ctx context.Context, sh *shell.Shell, dir, format string, also testOptions) error {
	fsys, err := review.PolicyFolder(dir)
	if err != nil {
		return err
	}
	set, err := tuning.All()
	if err != nil {
		return err
	}
	if note := review.PassedOver(dir, fsys); note != "" {
		sh.Tell("note: %s", note)
	}
	tested, covered, err := policies.Test(ctx, fsys, set)
	if err != nil {
		return &shell.Exit{Code: shell.ExitUsage, Cause: err}
	}
	if len(tested) == 0 {
		return shell.Usagef("%s: no policy; expected *.rego files", dir)
	}
	named, err := regexp.Compile(also.run)
	if err != nil {
		return shell.Usagef("--run: %w", err)
	}
	tested = slices.DeleteFunc(tested, func(t policies.Tested) bool {
		return !named.MatchString(t.Policy) && !named.MatchString(t.Fixture)
	})
	if len(tested) == 0 {
		return shell.Usagef("%s: no example and no test matches --run %q", dir, also.run)
	}
	if also.update {
		if err := policyUpdate(dir, tested); err != nil {
			return err
		}
	}
	if also.covered {
		tested = append(tested, tooLittle(covered, also.least)...)
	}
	text, wrong := testedText(tested, also.verbose)
	switch format {
	case "json":
		document := any(tested)
		if also.covered {
			document = map[string]any{"tested": tested, "covered": covered}
		}
		err = shell.WriteJSON(sh.Out, document)
	case "junit":
		err = render.WriteJUnit(sh.Out, junitOfPolicies(tested))
	default:
		if also.covered {
			coverageText(text, covered)
		}
		fmt.Fprintf(text, "%d of %d as expected\n", len(tested)-wrong, len(tested))
		_, err = io.WriteString(sh.Out, text.String())
	}
	switch {
	case err != nil:
		return err
	case wrong > 0:
		return &shell.Exit{Code: shell.ExitFindings}
	}
	return nil
}

// testedText has a line for each fixture and test, with what is wrong below; verbose: and what was printed. It counts the wrong ones.
func testedText(tested []policies.Tested, verbose bool) (b *strings.Builder, wrong int) {
	b = &strings.Builder{}
	for _, t := range tested {
		word := "ok   "
		if t.Problem != "" {
			wrong++
			word = "WRONG"
		}
		fmt.Fprintf(b, "%s %s %s\n", word, t.Policy, t.Fixture)
		if t.Printed != "" && (verbose || t.Problem != "") {
			fmt.Fprintf(b, "      printed: %s\n", strings.ReplaceAll(strings.TrimSpace(t.Printed), "\n", "\n               "))
		}
		if t.Problem != "" {
			fmt.Fprintf(b, "      %s\n", strings.ReplaceAll(strings.TrimSpace(t.Problem), "\n", "\n      "))
		}
	}
	return b, wrong
}

// junitOfPolicies has a suite for each policy, and a case for each fixture and test.
func junitOfPolicies(tested []policies.Tested) render.JUnitSuites {
	all := render.JUnitSuites{Name: "signalbox policy test"}
	for len(tested) > 0 {
		s := render.JUnitSuite{Name: tested[0].Policy}
		for len(tested) > 0 && tested[0].Policy == s.Name {
			t := tested[0]
			tested = tested[1:]
			c := render.JUnitCase{Name: t.Fixture, Class: t.Policy, Out: t.Printed}
			if t.Problem != "" {
				s.Failures++
				c.Failure = &render.JUnitMessage{Message: terminal.OneLine(t.Problem), Text: t.Problem}
			}
			s.Cases = append(s.Cases, c)
		}
		all.Add(s)
	}
	return all
}

// policyUpdate writes what was said beside the examples that expect something.
func policyUpdate(dir string, tested []policies.Tested) error {
	for i, t := range tested {
		if t.Problem == "" || t.Got == "" || strings.HasPrefix(path.Base(t.Fixture), "allow-") {
			continue
		}
		to := filepath.Join(dir, filepath.FromSlash(strings.TrimSuffix(t.Fixture, ".yaml")+".want"))
		if err := os.WriteFile(to, []byte(t.Got), 0o644); err != nil {
			return fmt.Errorf("write what a policy says: %w", err)
		}
		tested[i].Problem = ""
	}
	return nil
}
