package diagnose

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/explanation"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/words"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	explainer "github.com/signalbox-dev/signalbox/runtime-diagnose/explain"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/prompt"
)

// NewPrompt is the command prompt.
func NewPrompt(sh *shell.Shell) *cobra.Command {
	c := &cobra.Command{
		Use:     "prompt render|show|lint",
		Short:   "show what a language model would be asked, and check prompts",
		Example: fmt.Sprintf("  %[1]s prompt show pytorchjob > prompts/pytorchjob.tmpl\n  %[1]s prompt lint prompts/*.tmpl\n  %[1]s prompt render pytorchjob/train -n ml --prompts prompts/", sh.Name),
	}
	c.AddCommand(newPromptRender(sh), newPromptShow(sh), newPromptLint(sh))
	return c
}

func newPromptRender(sh *shell.Shell) *cobra.Command {
	f := &diagnoseFlags{kube: apiserver.Flags(), model: explanation.Flags{Only: true}}
	c := &cobra.Command{
		Use:   "render KIND/NAME | FILE… | --bundle DIR|FILE.tgz | --log FILE…",
		Short: "print exactly what a model would be asked about a job, to the letter",
		Long: `Prompt render diagnoses a job by the rules and prints the question that the server would send
to a language model: the system message, then the prompt, with secrets masked. Nobody is asked.

Exit codes: 0 printed · 2 bad usage, unreadable input, or a job without a failure · 3 our own failure.`,
		Example: fmt.Sprintf("  %[1]s prompt render pytorchjob/train -n ml\n  %[1]s prompt render --bundle train.tgz --prompts prompts/", sh.Name),
		RunE: func(c *cobra.Command, args []string) error {
			defer thrifty()()
			return shell.Own(f.run(c.Context(), sh, args, func(diagnose.Result) error { return nil }))
		},
	}
	f.addSources(c)
	f.model.Add(c)
	f.kube.AddFlags(c.Flags())
	apiserver.CompleteCluster(c, f.kube)
	return c
}

func newPromptShow(sh *shell.Shell) *cobra.Command {
	language := ""
	c := &cobra.Command{
		Use:   "show KIND",
		Short: "print the built-in prompt for a kind of job, to begin one of your own with",
		Long: `Prompt show prints the template that is asked where nobody wrote another: there is one for every kind, in
English and in Chinese. The system message, which no template changes, is printed by prompt render.

Exit codes: 0 printed · 2 bad usage.`,
		Example: fmt.Sprintf("  %[1]s prompt show pytorchjob > prompts/pytorchjob.tmpl\n  %[1]s prompt show trainjob --language Chinese", sh.Name),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return shell.Usagef("expected one KIND, like pytorchjob; got %d arguments", len(args))
			}
			if k := apiserver.KindCalled(args[0]); k != nil {
				_, err := io.WriteString(sh.Out, prompt.Builtin(k, language).Source())
				return err
			}
			return shell.Usagef("no kind is called %s%s", args[0], check.DidYouMean(strings.ToLower(args[0]), lowerKinds("")))
		},
		ValidArgsFunction: func(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
			return apiserver.Beginning(start, lowerKinds("")), cobra.ShellCompDirectiveNoFileComp
		},
	}
	c.Flags().StringVar(&language, "language", "", "`language` of the prompt: Chinese; every other is English")
	return c
}

func newPromptLint(sh *shell.Shell) *cobra.Command {
	return &cobra.Command{
		Use:   "lint FILE…",
		Short: "check prompts of your own: what does not parse or run, names that no job has",
		Long: `Prompt lint reads templates (<kind>.tmpl, default.tmpl), or those of a ConfigMap in a manifest, as the server
does and runs each on jobs of different shapes. A fault that keeps a template from being used is an error: the built-in prompt
would stand in for it. Names that nothing fills, and a prompt that shows no evidence, are warnings.

Exit codes: 0 no error · 1 an error · 2 bad usage or unreadable input.`,
		Example: fmt.Sprintf("  %[1]s prompt lint prompts/*.tmpl\n  %[1]s prompt lint aegis-prompts.yaml", sh.Name),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return shell.Usagef("nothing to check; expected FILE…")
			}
			bad := false
			for _, name := range args {
				text, err := os.ReadFile(name)
				if err != nil {
					return unreadable(name, strings.TrimPrefix(err.Error(), "open "+name+": "), "a prompt, or a manifest of a ConfigMap with some")
				}
				templates, of := map[string]string{filepath.Base(name): string(text)}, ""
				if manifest := prompt.Manifest(text); manifest != nil {
					templates, of = manifest, name
				}
				if len(templates) == 0 {
					return shell.Usagef("%s is a ConfigMap without data; expected templates by the names of kinds, like pytorchjob.tmpl", terminal.FileName(name))
				}
				for _, key := range slices.Sorted(maps.Keys(templates)) {
					place := terminal.FileName(name)
					if of != "" {
						place += ": " + words.VisibleLine(key)
					}
					fatal, err := lintOne(sh.Out, place, key, templates[key])
					if err != nil {
						return err
					}
					bad = bad || fatal
				}
			}
			if bad {
				return &shell.Exit{Code: shell.ExitFindings}
			}
			return nil
		},
	}
}

// lintOne prints what is wrong with a template, and says whether that keeps it from being used.
func lintOne(out io.Writer, place, key, text string) (fatal bool, err error) {
	faults := prompt.Lint(key, text)
	if why := unasked(key); why != "" {
		faults = append(faults, prompt.Fault{Text: why})
	}
	for _, f := range faults {
		word := "warning"
		if f.Fatal {
			word, fatal = "error", true
		}
		if _, err := fmt.Fprintf(out, "%s: %s: %s\n", word, place, f.Text); err != nil {
			return fatal, err
		}
	}
	if len(faults) == 0 {
		_, err = io.WriteString(out, "ok: "+place+"\n")
	}
	return fatal, err
}

// lowerKinds are the names of kinds in small letters, each with an end.
func lowerKinds(end string) (out []string) {
	for _, k := range kinds.All() {
		out = append(out, strings.ToLower(k.Name)+end)
	}
	return out
}

// unasked says why no question is made from a template of this name; empty: one is.
func unasked(key string) string {
	names := append(lowerKinds(".tmpl"), "default.tmpl")
	if slices.Contains(names, key) {
		return ""
	}
	return "no kind of job is asked about by " + words.VisibleLine(key) + "; expected a name like pytorchjob.tmpl, or default.tmpl" + check.DidYouMean(key, names).String()
}

// asked answers about a diagnosis that was made: the question alone, or the diagnosis and what a model
// says of it.
func (f *diagnoseFlags) asked(ctx context.Context, sh *shell.Shell, c diagnose.Case, r diagnose.Result, live *apiserver.Cluster, to func(diagnose.Result) error) error {
	m := f.model.Model
	tell := to
	to = func(r diagnose.Result) error { return tell(explainer.WithStory(r)) }
	if m == nil {
		return to(r)
	}
	m.Sources = f.model.Sources(m.Settings, nil)
	if live != nil {
		m.Sources = f.model.Sources(m.Settings, live.Clients)
	}
	q, err := m.Question(ctx, sh, c, r)
	if err != nil {
		if f.model.Only {
			return err
		}
		sh.Tell("%s", err)
		return to(r)
	}
	if f.model.Only {
		var kube kubernetes.Interface
		if live != nil {
			kube = live.Clients
		}
		sh.Tell("note: %s", explanation.WouldAsk(ctx, kube, r.Job.Namespace))
		_, err := io.WriteString(sh.Out, explanation.Spoken(q))
		return err
	}
	if live != nil {
		if err := explanation.MayAsk(ctx, live.Clients, r.Job.Namespace); err != nil {
			sh.Tell("%s", err)
			return to(r) // the finding needs no model
		}
	}
	rules, printed := r, false
	var failed error
	// What reading and the rules took, which is seconds where a machine is busy, is no longer to be waited: an hour that a user
	// gives is for the model alone.
	limit := cmp.Or(sh.Patience, explanation.Patience)
	wait := max(0, limit-sh.Now().Sub(f.model.Began))
	if f.model.Patience > 0 {
		limit, wait = f.model.Patience, f.model.Patience
	}
	asking, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	added := m.Tell(asking, sh, wait, q, &r, func() {
		if f.model.Replay != "" {
			return // nothing waits for it
		}
		if f.model.Early {
			printed, failed = true, to(rules)
			return
		}
		if f.model.Record != "" {
			return // the answer is what is wanted
		}
		leave(fmt.Errorf("%s has not answered within %s (--patience 2m waits longer)", m.Settings.LLM.Model, limit))
	})
	if failed != nil || printed && !added {
		return failed
	}
	return to(r)
}
