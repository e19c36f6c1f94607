package main

import (
	"context"
	"errors"
	"slices"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
)

// runContexts audits several clusters, one below the other: their namespaces are different ones, whatever they are called.
func (f *auditFlags) runContexts(ctx context.Context, sh *shell, contexts []string) error {
	if form := f.output.value; form != "text" && form != "md" {
		return usagef("-o %s is one document about one cluster, and --context names several; expected text or md, or one context at a time", form)
	}
	var codes []int
	for i, name := range contexts {
		one, from := *f, *f.from
		from.kube = withContext(f.from.kube, name)
		one.from = &from
		if _, err := connect(ctx, from.kube); err != nil {
			away, ok := errors.AsType[*noCluster](err)
			if !ok {
				return err
			}
			sh.tell("note: not audited: %s", away.why)
			codes = append(codes, exitUnknown)
			continue
		}
		heading := "context " + terminal.VisibleLine(name) + "\n"
		if f.output.value == "md" {
			heading = "# " + terminal.InProse(terminal.VisibleLine(name)) + "\n\n"
		}
		if i > 0 {
			heading = "\n" + heading
		}
		if err := (terminal.Page{To: sh.out}).Write(heading); err != nil {
			return err
		}
		if err := one.run(ctx, sh); err != nil {
			ended, ok := errors.AsType[*exit](err)
			if !ok || ended.cause != nil {
				return err
			}
			codes = append(codes, ended.code)
		}
	}
	for _, code := range []int{exitFindings, exitUnknown, exitBusy} { // what was found counts before what is not known
		if slices.Contains(codes, code) {
			return &exit{code: code}
		}
	}
	return nil
}
