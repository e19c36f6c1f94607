// Package doctor is the command doctor, which inspects an installation part by part, and the list of namespaces with their
// modes. It changes nothing. Start reading at doctor.examine in parts.go.
package doctor

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/dryrun"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// doctorSchema names the JSON of doctor.
const doctorSchema = "signalbox.dev/doctor/v1"

// The states of a part of an installation.
const (
	partFine    = "ok"
	partWrong   = "wrong"
	partUnknown = "unknown" // it could not be looked at
)

// Examined is one part of an installation: how it is, and the command that mends it.
type Examined struct {
	Part   string `json:"part"`
	State  string `json:"state"`
	Says   string `json:"says"`
	Remedy string `json:"remedy,omitempty"`
}

// examination is all of them.
type examination struct {
	Schema    string     `json:"schema"`
	Namespace string     `json:"namespace"` // that Signalbox runs in
	Parts     []Examined `json:"parts"`
}

func (e *examination) fine(part, format string, args ...any) {
	e.Parts = append(e.Parts, Examined{part, partFine, fmt.Sprintf(format, args...), ""})
}

func (e *examination) wrong(part, remedy, format string, args ...any) {
	e.Parts = append(e.Parts, Examined{part, partWrong, terminal.OneLine(fmt.Sprintf(format, args...)), remedy})
}

func (e *examination) unknown(part string, err error) {
	e.Parts = append(e.Parts, Examined{part, partUnknown, apiserver.ServerSays(err), ""})
}

// New is the command doctor.
func New(sh *shell.Shell) *cobra.Command {
	kube := apiserver.Flags()
	output, colour := shell.OneOf("text", "json", "yaml"), shell.OneOf("auto", "always", "never")
	c := &cobra.Command{
		Use:   "doctor",
		Short: "inspect an installation, and say what is wrong and what mends it",
		Long: `Doctor looks at Signalbox in a cluster: whether the API server reaches the webhook, certificate, pods,
who leads, settings, policies, signatures, the bounds and rights of its account, the kinds it covers,
operators' webhooks, and clocks. It writes nothing: the job it asks about is a dry run.

A namespace whose jobs the webhook is not asked about is passed over for another, unless -n names it.

Exit codes: 0 all is well · 1 something is wrong · 2 bad usage, or the cluster does not answer ·
3 our own failure · 4 something could not be looked at.`,
		Example: fmt.Sprintf("  %[1]s doctor\n  %[1]s doctor -o json", sh.Name),
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			live, skew, err := reachWithClock(c.Context(), kube, sh.Now)
			if err != nil {
				return shell.Own(err)
			}
			d := &doctor{
				kube: live.Clients, served: live.Served, namespace: live.Namespace, named: *kube.Namespace != "", skew: skew, now: sh.Now,
				ask: func(ctx context.Context, namespace string) (bool, error) {
					said := dryrun.Of(ctx, live, dryrun.Probe(namespace))
					return said.Record != nil, said.Err
				},
			}
			e := d.examine(c.Context())
			if err := renderExamination(sh, output.Value, e, terminal.NewPainter(colour.Value, sh.Out)); err != nil {
				return shell.Own(err)
			}
			switch {
			case slices.ContainsFunc(e.Parts, func(p Examined) bool { return p.State == partWrong }):
				return &shell.Exit{Code: shell.ExitFindings}
			case slices.ContainsFunc(e.Parts, func(p Examined) bool { return p.State == partUnknown }):
				return &shell.Exit{Code: shell.ExitUnknown}
			}
			return nil
		},
	}
	kube.AddFlags(c.Flags())
	apiserver.CompleteCluster(c, kube)
	shell.AddChoice(c, output, "output", "o", "output format")
	shell.AddChoice(c, colour, "color", "", "colour of text; NO_COLOR is honoured")
	return c
}

// reachWithClock reaches the cluster, and says how far its clock is from ours once it has answered.
func reachWithClock(ctx context.Context, kube *genericclioptions.ConfigFlags, now func() time.Time) (*apiserver.Cluster, func() time.Duration, error) {
	var skew atomic.Int64
	before := kube.WrapConfigFn
	kube.WrapConfigFn = func(c *rest.Config) *rest.Config {
		if before != nil {
			c = before(c)
		}
		c.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return apiserver.ClockOf{Next: next, Now: now, Skew: &skew}
		})
		return c
	}
	live, err := apiserver.Reach(ctx, kube, "")
	return live, func() time.Duration { return time.Duration(skew.Load()) }, err
}

func renderExamination(sh *shell.Shell, format string, e examination, paint terminal.Painter) error {
	if format == "json" || format == "yaml" {
		return shell.RenderDocument(sh.Out, format, e)
	}
	width := 0
	for _, p := range e.Parts {
		width = max(width, len(p.Part))
	}
	count := map[string]int{}
	var b strings.Builder
	fmt.Fprintf(&b, "Signalbox in namespace %s\n", words.VisibleLine(e.Namespace))
	for _, p := range e.Parts {
		count[p.State]++
		colour := map[string]string{partFine: "ok", partWrong: "error", partUnknown: "warning"}[p.State]
		fmt.Fprintf(&b, "  %s%s  %-*s  %s\n", paint.As(colour, p.State), strings.Repeat(" ", len(partUnknown)-len(p.State)), width, p.Part, words.VisibleLine(p.Says))
		if p.Remedy != "" {
			fmt.Fprintf(&b, "  %s  → %s\n", strings.Repeat(" ", len(partUnknown)+width+2), words.VisibleLine(p.Remedy))
		}
	}
	fmt.Fprintf(&b, "%d wrong, %d unknown, %d well\n", count[partWrong], count[partUnknown], count[partFine])
	return terminal.NewPage(sh.Out).Write(b.String())
}

// whyNotReady is what the first pod that is not ready waits for, in the kubelet's or the scheduler's words.
func whyNotReady(pods []corev1.Pod) string {
	for _, p := range pods {
		for _, c := range p.Status.ContainerStatuses {
			if w := c.State.Waiting; w != nil {
				return fmt.Sprintf(": %s: %s %s", p.Name, w.Reason, w.Message)
			}
		}
		for _, c := range p.Status.Conditions {
			if c.Status == corev1.ConditionFalse && c.Message != "" {
				return fmt.Sprintf(": %s: %s", p.Name, c.Message)
			}
		}
	}
	return ""
}
