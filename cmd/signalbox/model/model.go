// Package model is the command model, which tries what a model can do on cases whose causes are known.
package model

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/explanation"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/config"
	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
	explainer "github.com/signalbox-dev/signalbox/runtime-diagnose/explain"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/llm"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/trial"
)

// New is the command model.
func New(sh *shell.Shell) *cobra.Command {
	c := &cobra.Command{
		Use:     "model test",
		Short:   "try a language model before it is trusted",
		Example: fmt.Sprintf("  %s model test --config config.yaml", sh.Name),
	}
	c.AddCommand(newModelTest(sh))
	return c
}

func newModelTest(sh *shell.Shell) *cobra.Command {
	var file, record, replay string
	c := &cobra.Command{
		Use:   "test --config FILE",
		Short: "say what the model's server can do, and how the model does on twenty built-in cases",
		Long: `Model test asks the model of a settings file a few small questions (does its server answer, count tokens, hold JSON to a
schema, write Chinese, stream), then about twenty built-in cases as the controller asks about jobs: eleven failures that no
rule knows, of which it is to name the line, five traps, in which it is to name none, and four failures that the rules know,
which it is to explain. Each line says what came of it, in tokens and seconds. Nothing of a cluster is read or sent.

--record DIR keeps the answers of the cases; --replay DIR reads them back and asks nobody.

Exit codes: 0 tried · 1 the server does not answer · 2 bad usage or unreadable input · 3 our own failure.`,
		Example: fmt.Sprintf("  %s model test --config config.yaml", sh.Name),
		Args:    shell.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if record != "" && replay != "" {
				return shell.Usagef("--record and --replay are given; expected one of them")
			}
			return shell.Own(modelTest(c.Context(), sh, file, record, replay))
		},
	}
	c.Flags().StringVar(&file, "config", "", "`file` with settings of the server: llm is read")
	c.Flags().StringVar(&record, "record", "", "`folder` that answers are kept in")
	c.Flags().StringVar(&replay, "replay", "", "`folder` that answers are read from")
	return c
}

// asManyAsNeeded a minute: a trial waits for the answers of the model, not for a turn.
const asManyAsNeeded = 6000

func modelTest(ctx context.Context, sh *shell.Shell, file, record, replay string) error {
	settings := config.Default()
	if file != "" {
		var err error
		if settings, err = config.Load(file); err != nil {
			return &shell.Exit{Code: shell.ExitUsage, Cause: err}
		}
	}
	settings.LLM.PerMinute = asManyAsNeeded
	client, err := controller.Model(settings)
	name := settings.LLM.Model
	switch {
	case err != nil:
		return &shell.Exit{Code: shell.ExitUsage, Cause: err}
	case replay != "":
		client, name = llm.Recorded(replay), "replayed"
	case client == llm.Off:
		return shell.Usagef("no model is configured; expected --config FILE with llm.provider, llm.baseURL and llm.model")
	}
	client = explanation.Patient(client, settings)
	fmt.Fprintf(sh.Out, "%s\n", words.VisibleLine(name))
	if replay == "" {
		for _, a := range trial.Abilities(ctx, client) {
			if a.Why == "" {
				fmt.Fprintf(sh.Out, "  yes  %s\n", a.What)
				continue
			}
			fmt.Fprintf(sh.Out, "  no   %s: %s\n", a.What, words.VisibleLine(a.Why))
			if a.What == "answers" {
				return &shell.Exit{Code: shell.ExitFindings}
			}
		}
	}
	if record != "" {
		client = llm.Recording(client, record)
	}
	e := explainer.Explainer{Client: client, MaxTokens: settings.LLM.MaxTokens, PromptBytes: settings.LLM.PromptBytes, PromptTokens: settings.LLM.PromptTokens, Language: settings.LLM.Language, Pseudonyms: settings.LLM.Pseudonyms}
	return tryCases(ctx, sh, e, settings.LLM.Price)
}

// tryCases prints a line for each case, then the sum.
func tryCases(ctx context.Context, sh *shell.Shell, e explainer.Explainer, price config.Price) error {
	n, right, in, out := 0, 0, 0, 0
	var took, longest time.Duration
	fmt.Fprintln(sh.Out)
	err := trial.Run(ctx, e, sh.Now, func(a trial.Answer) {
		n++
		word := "wrong"
		if a.Right {
			word = "right"
			right++
		}
		in, out, took, longest = in+a.In, out+a.Out, took+a.Took, max(longest, a.Took)
		line := fmt.Sprintf("  %s  %-40s %5d + %4d tokens  %5.1f s", word, a.Case, a.In, a.Out, a.Took.Seconds())
		if a.Why != "" {
			line += "  " + words.VisibleLine(a.Why)
		}
		fmt.Fprintln(sh.Out, line)
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(sh.Out, "\n%d of %d right; %d tokens in, %d out; %.1f s in all, %.1f s the longest", right, n, in, out, took.Seconds(), longest.Seconds())
	if cost := (explainer.Price{In: price.In, Out: price.Out}).Of(in, out); cost > 0 {
		fmt.Fprintf(sh.Out, "; cost %.4f", cost)
	}
	_, err = fmt.Fprintln(sh.Out)
	return err
}
