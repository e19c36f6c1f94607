package audit

import (
	"context"
	"errors"
	"slices"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// runContexts audits several clusters, one below the other: their namespaces are different ones, whatever they are called.
func (f *auditFlags) runContexts(ctx context.Context, sh *shell.Shell, contexts []string) error {
	if form := f.output.Value; form != "text" && form != "md" {
		return shell.Usagef("-o %s is one document about one cluster, and --context names several; expected text or md, or one context at a time", form)
	}
	var codes []int
	for i, name := range contexts {
		one, from := *f, *f.from
		from.Kube = apiserver.WithContext(f.from.Kube, name)
		one.from = &from
		if _, err := apiserver.Connect(ctx, from.Kube); err != nil {
			away, ok := errors.AsType[*apiserver.NoCluster](err)
			if !ok {
				return err
			}
			sh.Tell("note: not audited: %s", away.Why)
			codes = append(codes, shell.ExitUnknown)
			continue
		}
		heading := "context " + words.VisibleLine(name) + "\n"
		if f.output.Value == "md" {
			heading = "# " + terminal.InProse(words.VisibleLine(name)) + "\n\n"
		}
		if i > 0 {
			heading = "\n" + heading
		}
		if err := (terminal.Page{To: sh.Out}).Write(heading); err != nil {
			return err
		}
		if err := one.run(ctx, sh); err != nil {
			ended, ok := errors.AsType[*shell.Exit](err)
			if !ok || ended.Cause != nil {
				return err
			}
			codes = append(codes, ended.Code)
		}
	}
	for _, code := range []int{shell.ExitFindings, shell.ExitUnknown, shell.ExitBusy} { // what was found counts before what is not known
		if slices.Contains(codes, code) {
			return &shell.Exit{Code: code}
		}
	}
	return nil
}
