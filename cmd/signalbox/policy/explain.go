package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// explainedJob is how each rule came to its answer about one job.
type explainedJob struct {
	Kind      string                 `json:"kind"`
	Namespace string                 `json:"namespace"`
	Name      string                 `json:"name"`
	Rules     []policies.Explanation `json:"rules"`
}

func explainPolicies(ctx context.Context, sh *shell.Shell, set preflight.Policies, inputs []preflight.Input, format string, paint terminal.Painter) error {
	jobs := []explainedJob{}
	for _, in := range inputs {
		rules, err := policies.Explain(ctx, set, in)
		if err != nil {
			return err
		}
		jobs = append(jobs, explainedJob{in.Job.Kind, in.Job.Namespace, in.Job.Name, rules})
	}
	if format != "text" {
		return shell.RenderDocument(sh.Out, format, jobs)
	}
	var b strings.Builder
	for _, j := range jobs {
		fmt.Fprintf(&b, "%s %s/%s\n", j.Kind, words.VisibleLine(j.Namespace), words.VisibleLine(j.Name))
		for i := range j.Rules {
			explainedText(&b, &j.Rules[i], paint)
		}
	}
	return terminal.NewPage(sh.Out).Write(b.String())
}

func explainedText(b *strings.Builder, e *policies.Explanation, paint terminal.Painter) {
	answer, colour := "says nothing", "ok"
	switch {
	case e.Failure != "":
		answer, colour = "gave no answer: "+e.Failure, "error"
	case e.Silent:
		answer = "is not configured: no data makes it say anything"
	case e.Rule == "exempt" && len(e.Says) > 0:
		answer = "makes an exception"
	case len(e.Says) > 0:
		answer, colour = "says:", "warning"
	}
	fmt.Fprintf(b, "  %s %s (%s) %s\n", words.VisibleLine(e.Policy), e.Rule, words.VisibleLine(e.File), paint.As(colour, words.VisibleLine(answer)))
	for _, r := range e.Says {
		at := ""
		if r.Path != "" {
			at = string(r.Path) + ": "
		}
		fmt.Fprintf(b, "    %s%s\n", words.VisibleLine(at), words.VisibleLine(r.Message))
	}
	for _, f := range e.Read {
		value := string(f.Value)
		if f.Cut {
			_ = json.Unmarshal(f.Value, &value) // it is a text
		}
		fmt.Fprintf(b, "    read %s = %s\n", words.VisibleLine(f.Place), words.VisibleLine(value))
	}
	for _, f := range e.Failed {
		with := make([]string, 0, len(f.With))
		for _, o := range f.With {
			with = append(with, strings.TrimPrefix(o.Name+" = "+o.Value, " = "))
		}
		values := ""
		if len(with) > 0 {
			values = "  (" + strings.Join(with, ", ") + ")"
		}
		fmt.Fprintf(b, "    does not hold: %s:%d: %s%s\n", words.VisibleLine(f.File), f.Line, words.VisibleLine(f.Text), words.VisibleLine(values))
	}
	if e.More > 0 {
		fmt.Fprintf(b, "    and %d more\n", e.More)
	}
}
