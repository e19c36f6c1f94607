package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	view "github.com/signalbox-dev/signalbox/preflight/cluster/live"
)

// contextsOf are the contexts that --context names, repeated or with commas. kubectl takes one: of one nothing is different.
func contextsOf(given *remembered) (out []string) {
	for _, value := range given.given() {
		for name := range strings.SplitSeq(value, ",") {
			if name != "" && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// severalContexts lets a command take --context more than once.
func severalContexts(flags *pflag.FlagSet) *remembered {
	flag := flags.Lookup("context")
	flag.Usage = "The name of the kubeconfig context to use; repeatable, with commas"
	return remember(flag)
}

// withContext are the flags for one of several contexts.
func withContext(kube *genericclioptions.ConfigFlags, name string) *genericclioptions.ConfigFlags {
	out := kubeFlags()
	*out.KubeConfig, *out.Namespace, *out.Timeout = *kube.KubeConfig, *kube.Namespace, *kube.Timeout
	*out.ClusterName, *out.AuthInfoName = *kube.ClusterName, *kube.AuthInfoName
	*out.Impersonate, *out.ImpersonateGroup = *kube.Impersonate, *kube.ImpersonateGroup
	*out.Context, out.WrapConfigFn = name, kube.WrapConfigFn
	return out
}

// runContexts is run over several clusters as one list. One that does not answer takes away nothing of the others: a note
// names it, and the exit code says that the list is not whole.
func (f *getFlags) runContexts(ctx context.Context, sh *shell, contexts, names []string) error {
	if f.watch {
		return usagef("--watch follows one cluster, and the contexts %s are given; expected one", strings.Join(contexts, " and "))
	}
	rows, first := []jobRow{}, (*liveCluster)(nil)
	f.several = true
	for _, name := range contexts {
		live, missing, err := f.oneContext(ctx, sh, withContext(f.kube, name), name, names, &rows)
		if away, ok := errors.AsType[*noCluster](err); ok {
			f.missing.failed = append(f.missing.failed, away.why)
			f.notes = append(f.notes, "not listed: "+away.why)
			sh.tell("note: not listed: %s", away.why)
			continue
		}
		if err != nil {
			return err
		}
		if first == nil {
			first = live
		}
		notes := missing.notes(f.namespaceOf(live))
		for i := range notes {
			notes[i] = "context " + name + ": " + notes[i]
		}
		for _, one := range missing.failed {
			f.missing.failed = append(f.missing.failed, "context "+name+": "+one)
		}
		f.notes = append(f.notes, notes...)
		sh.notes(notes)
	}
	if first == nil {
		return &exit{exitUnknown, errors.New("none of the clusters answers, so whether there are training jobs is not known")}
	}
	rows = f.onNode(rows)
	sortRows(rows, f.sortBy.value, sh.now())
	if err := f.render(sh, rows, f.all, !f.bare, newPainter(f.coloured.value, sh.out)); err != nil {
		return err
	}
	if len(rows) == 0 {
		f.sayNone(sh, first, f.missing.len() > 0)
	}
	return f.missing.verdict()
}

// oneContext adds the jobs of one of several clusters to the rows.
func (f *getFlags) oneContext(ctx context.Context, sh *shell, kube *genericclioptions.ConfigFlags, name string, names []string, rows *[]jobRow) (*liveCluster, unlisted, error) {
	live, err := connect(ctx, kube)
	if err != nil {
		return nil, unlisted{}, err
	}
	found, missing, _, err := f.list(ctx, live, names)
	if err != nil {
		return nil, unlisted{}, err
	}
	clients, err := view.Connect(live.config)
	if err != nil {
		return nil, unlisted{}, err
	}
	note, err := f.placeLive(ctx, live, clients.Kube, found)
	if err != nil {
		return nil, unlisted{}, err
	}
	if note != "" {
		sh.tell("note: context %s: %s", name, note)
	}
	for i := range found {
		found[i].Context = name
	}
	*rows = append(*rows, found...)
	return live, missing, nil
}

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
		heading := "context " + visibleLine(name) + "\n"
		if f.output.value == "md" {
			heading = "# " + inProse(visibleLine(name)) + "\n\n"
		}
		if i > 0 {
			heading = "\n" + heading
		}
		if err := (page{to: sh.out}).write(heading); err != nil {
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
