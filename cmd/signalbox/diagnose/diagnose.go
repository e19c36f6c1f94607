// Package diagnose is the command diagnose, and prompt beside it: why a job waits or failed, from the cluster, a bundle or bare
// files, and how one run differs from another. Start reading at New; the diagnosis itself is in runtime-diagnose.
package diagnose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/browser"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/explanation"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/reference"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/signatures"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/bare"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/collect"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// diagnoseFlags say where the evidence comes from: the cluster, a bundle or bare files.
type diagnoseFlags struct {
	kube               *genericclioptions.ConfigFlags
	bundle             string
	snapshot           []string // of the cluster that the bundle is of
	logs, events, pods []string
	annotate, timeline bool
	why                bool
	watch, exitCode    bool
	against            string   // another run, by its name or the path of its evidence
	signatures         []string // folders
	noFiles            bool     // arguments are jobs of the cluster
	runbooks           reference.Runbooks
	model              explanation.Flags
	namespaces         *apiserver.Remembered // what -n was given, every time
}

// New is the command diagnose.
func New(sh *shell.Shell) *cobra.Command {
	f, everywhere := &diagnoseFlags{kube: apiserver.Flags()}, false
	output, colour := shell.OneOf("text", "json", "yaml", "md", "html", "aegis"), shell.OneOf("auto", "always", "never")
	c := &cobra.Command{
		Use:   "diagnose KIND/NAME… | KIND NAME… | NAME | FILE… | --bundle DIR|FILE.tgz | --log FILE… [--events FILE]… [--pods FILE]…",
		Short: "say why a job waits or failed, with evidence",
		Long: `Diagnose reads a job's status, pods, events, nodes and logs and says what went wrong
first, who has to act, and what to do; it reads from the cluster, from a bundle, or from
bare files. It changes nothing unless --annotate.

A pod stands for the job that owns it, and a name alone for the job, or the pod, that is
called so. A --log file is the log of one container; a folder or a .tgz is many, and a
bundle where it holds one. --events and --pods take objects (YAML,
JSON) and the text that people paste: kubectl describe, kubectl get events, kubectl get pods;
so does a file of which nothing is said, where it begins as those do.

Exit codes: 0 a diagnosis was made, whatever it says · 2 bad usage, unreadable input or no right to read ·
3 our own failure · 4 the cluster did not answer in time. With --exit-code: 0 healthy · 1 not healthy · 4 unknown.`,
		Example: fmt.Sprintf(`  %[1]s diagnose pytorchjob/train -n ml
  %[1]s diagnose pytorchjob train-a train-b -n ml -o md
  %[1]s diagnose pod/train-worker-3 -n ml --timeline
  %[1]s diagnose --bundle train.tgz --snapshot cluster.yaml -o json
  %[1]s diagnose logs/ --why
  %[1]s diagnose pytorchjob/train-2 --against pytorchjob/train-1 -n ml
  kubectl logs train-worker-0 | %[1]s diagnose -`, sh.Name),
		ValidArgsFunction: apiserver.CompleteJobs(f.kube),
		RunE: func(c *cobra.Command, args []string) error {
			defer thrifty()()
			if everywhere {
				return shell.Usagef("diagnose looks at the jobs that are named; %[1]s get jobs -A lists all with their causes, and %[1]s diagnose KIND/NAME -n NAMESPACE says why", sh.Name)
			}
			if f.model.Patience < 0 || f.model.Patience > 0 && !f.model.Explain {
				return shell.Usagef("--patience %s is how long --explain waits; expected a duration above 0 beside it: --explain --patience 1m", f.model.Patience)
			}
			if !f.model.Explain && (f.model.Record != "" || f.model.Replay != "") {
				return shell.Usagef("--record and --replay are of --explain; expected it beside them")
			}
			f.model.Explain = f.model.Explain && !f.model.Only // the question alone, whoever would be asked
			f.model.Early = output.Value == "text"
			if err := f.runbooks.Wrong(); err != nil {
				return err
			}
			if f.timeline && output.Value != "text" {
				return shell.Usagef("--timeline is a picture; expected -o text, not -o %s", output.Value)
			}
			if f.watch && output.Value == "html" {
				return shell.Usagef("-o html is one file, and --watch goes on; expected one of them")
			}
			if f.against != "" {
				return f.runAgainst(c, sh, args, output.Value, terminal.NewPainter(colour.Value, sh.Out))
			}
			to := printer{sh: sh, format: output.Value, paint: terminal.NewPainter(colour.Value, sh.Out), timeline: f.timeline, why: f.why, runbooks: f.runbooks}
			if err := f.run(c.Context(), sh, args, to.print); err != nil {
				return shell.Own(err)
			}
			if output.Value == "html" {
				if err := sh.WriteHTML("Diagnosis", to.sections...); err != nil {
					return shell.Own(err)
				}
			}
			if !f.exitCode {
				return nil
			}
			return to.verdict()
		},
	}
	f.addSources(c)
	f.model.Add(c)
	c.Flags().StringVar(&f.model.Record, "record", "", "with --explain, `folder` in which the model's answer is kept")
	c.Flags().StringVar(&f.model.Replay, "replay", "", "with --explain, `folder` of an answer that was kept: it is judged anew, and nobody is asked")
	c.Flags().BoolVar(&f.model.Explain, "explain", false, "have the model of --config explain what the rules found, as far as the evidence supports it")
	c.Flags().DurationVar(&f.model.Patience, "patience", 0, "with --explain, how long the finding waits for the model (4s): text is printed then, and again with what the model says; other forms are printed once, without it")
	c.Flags().BoolVar(&f.model.Only, "prompt-only", false, "print what a model would be asked, and ask nobody")
	c.Flags().BoolVar(&f.annotate, "annotate", false, "write the diagnosis on the job, as the controller does")
	c.Flags().BoolVar(&f.timeline, "timeline", false, "draw what became of every pod, after the text")
	c.Flags().BoolVar(&f.why, "why", false, "show what could be the cause, and the points for and against each")
	c.Flags().StringVar(&f.against, "against", "", "compare with another `run`: NAME, KIND/NAME, NAMESPACE/KIND/NAME, a bundle, a folder or a file of logs")
	c.Flags().BoolVarP(&f.watch, "watch", "w", false, "diagnose again whenever the job or a pod of it changes, until the job has ended")
	c.Flags().BoolVar(&f.exitCode, "exit-code", false, "say by the exit code whether the jobs are healthy")
	c.Flags().BoolVarP(&everywhere, "all-namespaces", "A", false, "says how all jobs are listed")
	shell.Hide(c, "all-namespaces")
	c.Flags().BoolVar(&f.noFiles, "no-files", false, "arguments are jobs of the cluster, whatever files there are")
	shell.Hide(c, "no-files")
	f.runbooks.Add(c.Flags())
	f.kube.AddFlags(c.Flags())
	f.namespaces = apiserver.Remember(c.Flags().Lookup("namespace"))
	apiserver.CompleteCluster(c, f.kube)
	shell.AddChoice(c, output, "output", "o", "output format")
	shell.AddChoice(c, colour, "color", "", "colour of text; NO_COLOR is honoured")
	return c
}

// addSources adds the flags that name saved evidence.
func (f *diagnoseFlags) addSources(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.snapshot, "snapshot", nil, "`file` or folder with the cluster that the bundle is of, for why its pods wait (see: snapshot); repeatable")
	c.Flags().StringVar(&f.bundle, "bundle", "", "saved evidence: a `file` or folder written by the bundle command")
	c.Flags().StringArrayVar(&f.logs, "log", nil, "log `file` of one container, a folder or .tgz of them, - is standard input; repeatable")
	c.Flags().StringArrayVar(&f.events, "events", nil, "`file` with events, as objects or as kubectl prints them; repeatable")
	c.Flags().StringArrayVar(&f.pods, "pods", nil, "`file` with pods or nodes, as objects or as kubectl prints them; repeatable")
	c.Flags().StringArrayVar(&f.signatures, "signatures", nil, "`folder` of signatures of your own, <id>.yaml; repeatable")
}

// printer writes diagnoses one after the other and remembers what they amount to.
type printer struct {
	sh        *shell.Shell
	format    string
	paint     terminal.Painter
	timeline  bool
	why       bool
	runbooks  reference.Runbooks
	printed   int
	sick, dim bool // one is not healthy; one is unknown
	sections  []browser.Section
}

func (p *printer) print(r diagnose.Result) error {
	if p.printed++; p.printed > 1 {
		if between := map[string]string{"text": "\n", "md": "\n", "yaml": "---\n"}[p.format]; between != "" {
			if _, err := io.WriteString(p.sh.Out, between); err != nil {
				return err
			}
		}
	}
	p.sick = p.sick || r.Verdict == diagnose.Diagnosed || r.Verdict == diagnose.Inconclusive
	p.dim = p.dim || r.Verdict == diagnose.Unknown
	r.Why = p.why
	r.Runbook = p.runbooks.Page("categories.md", r.Category)
	if p.format == "html" {
		p.sections = append(p.sections, DiagnosisSection(r))
		return nil
	}
	if err := renderDiagnosis(p.sh.Out, p.format, r, p.paint); err != nil || !p.timeline {
		return err
	}
	return renderTimeline(p.sh.Out, r, p.paint)
}

// verdict is the exit code that the diagnoses amount to, as an error.
func (p *printer) verdict() error {
	switch {
	case p.sick:
		return &shell.Exit{Code: shell.ExitFindings}
	case p.dim:
		return &shell.Exit{Code: shell.ExitUnknown}
	}
	return nil
}

// thrifty lets garbage grow to three tenths of what is in use before it is collected, not to as much: logs of
// thousands of pods are read on laptops too, and it costs a few per cent of the time. What the
// user says by GOGC counts.
func thrifty() (back func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(30)
	return func() { debug.SetGCPercent(before) }
}

func (f *diagnoseFlags) run(ctx context.Context, sh *shell.Shell, args []string, to func(diagnose.Result) error) error {
	catalog, err := signatures.With(f.signatures)
	if err != nil {
		return err
	}
	if err := f.model.Open(); err != nil {
		return err
	}
	if f.noFiles {
		return f.live(ctx, sh, catalog, args, to)
	}
	args, f.logs = matched(args), matched(f.logs)
	files := len(f.logs)+len(f.events)+len(f.pods) > 0
	if files || f.bundle == "" && allFiles(args) {
		f.logs, args = append(f.logs, args...), nil // --log *.txt: the shell leaves all but the first as arguments
		files = len(f.logs)+len(f.events)+len(f.pods) > 0
	}
	if !files && f.bundle == "" && len(args) == 0 && shell.Piped(sh.In) {
		f.logs, files = []string{"-"}, true
		sh.SayQuiet("waiting for a log on standard input, which is a pipe that says nothing; to ask for something else: %[1]s diagnose KIND/NAME, or a file", sh.Name)
	}
	switch {
	case files && f.bundle != "":
		return shell.Usagef("--bundle and files are given; expected one of them: a bundle holds logs, events and pods")
	case len(args) > 0 && f.bundle != "":
		return shell.Usagef("%s and --bundle are given; expected one of them", strings.Join(args, " "))
	case len(f.snapshot) > 0 && f.bundle == "":
		return shell.Usagef("--snapshot is of the cluster that a bundle is of; expected --bundle beside it: a job of a cluster is compared with that cluster")
	case f.annotate && len(args) == 0:
		return shell.Usagef("--annotate writes on a job of the cluster; expected KIND/NAME")
	case f.watch && len(args) != 1:
		return shell.Usagef("--watch follows one job of the cluster; expected KIND/NAME")
	case files || f.bundle != "":
		f.model.Began = sh.Now()
		c, err := f.saved(ctx, sh)
		if err != nil {
			return err
		}
		if files {
			if parts := bare.ByJob(&c); parts != nil {
				return f.byJob(ctx, sh, catalog, parts, to)
			}
		}
		r := recalling(c, diagnose.Diagnose(ctx, c, catalog, diagnose.Options{Nominees: f.model.Model != nil}))
		if err := ctx.Err(); err != nil {
			return err
		}
		if files && manifestOnly(c, r) {
			r.Remarks = append(slices.Clip(r.Remarks), f.leadOn(sh, c.Job.Ref))
		}
		return f.asked(ctx, sh, c, r, nil, to)
	case len(args) == 0:
		return shell.Usagef("nothing to diagnose; expected KIND/NAME, --bundle FILE, or logs: --log FILE, or a pipe; %s get jobs --healthy No lists what is not healthy", sh.Name)
	}
	return f.live(ctx, sh, catalog, args, to)
}

// recalling adds to a diagnosis what stands on the job of what admission warned of.
func recalling(c diagnose.Case, r diagnose.Result) diagnose.Result {
	if c.Job != nil {
		if said := controller.Recall(c.Job.Source, r, c.State); said != "" {
			r.Remarks = append(slices.Clip(r.Remarks), said)
		}
	}
	return r
}

// manifestOnly says whether a case is a job as it was written, and nothing that became of it.
func manifestOnly(c diagnose.Case, r diagnose.Result) bool {
	if r.Verdict != diagnose.Unknown || c.Job == nil || c.Job.Source == nil || len(c.Pods)+len(c.Events)+len(c.Logs) > 0 {
		return false
	}
	status, _, _ := unstructured.NestedMap(c.Job.Source.Object, "status")
	return c.Job.Source.GetUID() == "" && len(status) == 0
}

// leadOn says which commands answer about a manifest, and about the job of the cluster that it became.
func (f *diagnoseFlags) leadOn(sh *shell.Shell, ref job.Ref) string {
	file := "FILE"
	if given := slices.Concat(f.logs, f.events, f.pods); len(given) == 1 && given[0] != "-" {
		file = terminal.FileName(given[0])
	}
	in := ""
	if ref.Namespace != "" {
		in = " -n " + ref.Namespace
	}
	return fmt.Sprintf("this is a manifest, and nothing that ran is in it: %[1]s check %[2]s reviews it, %[1]s fit %[2]s says whether it fits, %[1]s diagnose %[3]s/%[4]s%[5]s asks the cluster",
		sh.Name, file, strings.ToLower(ref.Kind), ref.Name, in)
}

// matched are names with patterns replaced by the files that are called so: a shell that was given quotes, or
// none at all, leaves them as they are.
func matched(names []string) (out []string) {
	for _, name := range names {
		found, err := filepath.Glob(name)
		if _, missing := os.Stat(name); err != nil || missing == nil || len(found) == 0 {
			found = []string{name}
		}
		out = append(out, found...)
	}
	return out
}

// allFiles says whether all arguments are files, folders or standard input, and none is the name of a job.
func allFiles(args []string) bool {
	for _, a := range args {
		if a == "-" {
			continue
		}
		if _, _, err := collect.Resolve(kinds.All(), a); err == nil {
			return false
		}
		if _, err := os.Stat(a); err != nil {
			return false
		}
	}
	return len(args) > 0
}

// saved is a case that somebody saved: a bundle, or files.
func (f *diagnoseFlags) saved(ctx context.Context, sh *shell.Shell) (diagnose.Case, error) {
	if f.bundle != "" {
		c, err := collect.Open(ctx, f.bundle)
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				err = &shell.Exit{Code: shell.ExitUsage, Cause: err}
			}
			return c, err
		}
		c.Cluster, err = f.cluster(sh)
		return c, err
	}
	return f.bare(ctx, sh)
}

// cluster is the view that was saved beside a bundle, which holds no pods of others; nil: none was.
func (f *diagnoseFlags) cluster(sh *shell.Shell) (*cluster.Snapshot, error) {
	if len(f.snapshot) == 0 {
		return nil, nil
	}
	view, err := manifest.ReadView(f.snapshot, sh.In, apiserver.Trim)
	if err != nil {
		return nil, err
	}
	s, err := view.Snapshot()
	if err != nil {
		return nil, &shell.Exit{Code: shell.ExitUsage, Cause: err}
	}
	return s, nil
}

// bare is a case of files that people saved or pasted.
func (f *diagnoseFlags) bare(ctx context.Context, sh *shell.Shell) (diagnose.Case, error) {
	c := diagnose.Case{Now: savedAt(sh.Now(), slices.Concat(f.logs, f.events, f.pods))}
	read := newFiles(sh.In)
	var refused error // the first of the files whose content cannot be read
	for _, name := range f.logs {
		if many(name) {
			part, bundle, err := collect.Folder(ctx, filepath.Clean(name), plain)
			if err != nil {
				return c, &shell.Exit{Code: shell.ExitUsage, Cause: err}
			}
			if bundle && len(f.logs)+len(f.events)+len(f.pods) == 1 {
				return part, nil
			}
			for i := range part.Logs {
				part.Logs[i].Source.Rank = evidence.RankIn(part.Logs[i].Source.File)
			}
			collect.Join(&c, part)
			continue
		}
		switch err := read.add(&c, name); {
		case err == nil:
		case !there(name) || len(f.logs) == 1:
			return c, err
		default: // what the others say is worth having, and proves no health beside one that was not read
			refused = cmp.Or(refused, err)
			c.Missing, c.Unread = append(c.Missing, cantRead(err)), true
		}
	}
	if refused != nil && len(c.Logs)+len(c.Pods)+len(c.Events)+len(c.Objects) == 0 {
		return c, refused
	}
	for _, name := range slices.Concat(f.events, f.pods) {
		text, err := read.all(name)
		if err != nil {
			return c, err
		}
		bare.Add(&c, terminal.FileName(name), text)
	}
	c.Adopt()
	return c, nil
}

// live diagnoses jobs of the cluster.
func (f *diagnoseFlags) live(ctx context.Context, sh *shell.Shell, catalog *signature.Catalog, args []string, to func(diagnose.Result) error) error {
	targets, err := apiserver.ReadTargets(args)
	if err != nil {
		return err
	}
	if named := f.namespaces.Given(); len(targets) > 1 && len(named) > 1 {
		return shell.Usagef("-n names %s, and every job would be looked for in %s; expected one namespace for all, or a call for each job: xargs -L1",
			strings.Join(named, " and "), named[len(named)-1])
	}
	live, err := apiserver.Reach(ctx, f.kube, ", --bundle or --log")
	if err != nil {
		for _, t := range targets {
			if t.Any && !f.noFiles { // a slip rather than the name of a job
				return shell.Usagef("%s; no file is called %s, and KIND/NAME is a job, for example pytorchjob/train", terminal.OneLine(err.Error()), t.Name)
			}
		}
		return err
	}
	live.ForOthers = f.annotate
	for _, t := range targets {
		for before := ""; ; {
			f.model.Began = sh.Now()
			c, err := live.CaseOf(ctx, sh, t)
			if err != nil {
				return err
			}
			r := recalling(c, diagnose.Diagnose(ctx, c, catalog, diagnose.Options{Nominees: true}))
			if err := ctx.Err(); err != nil {
				return err
			}
			if now := diagnose.Text(r); !f.watch || now != before {
				before = now
				r.Story = controller.StoryOn(c.Job.Source, r)
				if err := f.asked(ctx, sh, c, r, live, to); err != nil {
					return err
				}
			}
			if f.annotate {
				if err := annotate(ctx, live, sh, c, r); err != nil {
					return err
				}
			}
			if !f.watch || apiserver.Ended(c.State) {
				break
			}
			if err := live.Change(ctx, c); err != nil {
				return err
			}
		}
	}
	return nil
}
