package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/capacity"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/collect"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// diagnoseFlags say where the evidence comes from: the cluster, a bundle or bare files.
type diagnoseFlags struct {
	kube               *genericclioptions.ConfigFlags
	bundle             string
	logs, events, pods []string
	annotate, timeline bool
	signatures         []string // folders
}

func newDiagnose(sh *shell) *cobra.Command {
	f := &diagnoseFlags{kube: kubeFlags()}
	output, colour := oneOf("text", "json", "yaml"), oneOf("auto", "always", "never")
	c := &cobra.Command{
		Use:   "diagnose KIND/NAME | --bundle DIR|FILE.tgz | --log FILE… [--events FILE]… [--pods FILE]…",
		Short: "say why a job waits or failed, with evidence",
		Long: `Diagnose reads a job's status, pods, events, nodes and logs and says what went wrong
first, who has to act, and what to do; it reads from the cluster, from a bundle, or from
bare files. It changes nothing unless --annotate.

A --log file is the log of one container. --events and --pods take objects (YAML, JSON)
and the text that people paste: kubectl describe, kubectl get events, kubectl get pods.

Exit codes: 0 a diagnosis was made, whatever it says · 2 bad usage, unreadable input or no right to read ·
3 our own failure.`,
		Example: fmt.Sprintf(`  %[1]s diagnose pytorchjob/train -n ml
  %[1]s diagnose --bundle train.tgz -o json
  %[1]s diagnose --bundle train.tgz --timeline
  kubectl logs train-worker-0 | %[1]s diagnose --log -`, sh.name),
		RunE: func(c *cobra.Command, args []string) error {
			defer thrifty()()
			if f.timeline && output.value != "text" {
				return usagef("--timeline is a picture; expected -o text, not -o %s", output.value)
			}
			result, err := f.run(c.Context(), sh, args)
			if err != nil {
				return own(err)
			}
			paint := newPainter(colour.value, sh.out)
			if err := renderDiagnosis(sh.out, output.value, result, paint); err != nil || !f.timeline {
				return own(err)
			}
			return own(renderTimeline(sh.out, result, paint))
		},
	}
	c.Flags().StringVar(&f.bundle, "bundle", "", "saved evidence: a `file` or folder written by the bundle command")
	c.Flags().StringArrayVar(&f.logs, "log", nil, "log `file` of one container, - is standard input; repeatable")
	c.Flags().StringArrayVar(&f.events, "events", nil, "`file` with events, as objects or as kubectl prints them; repeatable")
	c.Flags().StringArrayVar(&f.pods, "pods", nil, "`file` with pods or nodes, as objects or as kubectl prints them; repeatable")
	c.Flags().StringArrayVar(&f.signatures, "signatures", nil, "`folder` of signatures of your own, <id>.yaml; repeatable")
	c.Flags().BoolVar(&f.annotate, "annotate", false, "write the diagnosis on the job, as the controller does")
	c.Flags().BoolVar(&f.timeline, "timeline", false, "draw what became of every pod, after the text")
	f.kube.AddFlags(c.Flags())
	addChoice(c, output, "output", "o", "output format")
	addChoice(c, colour, "color", "", "colour of text; NO_COLOR is honoured")
	return c
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

func (f *diagnoseFlags) run(ctx context.Context, sh *shell, args []string) (diagnose.Result, error) {
	catalog, err := catalogWith(f.signatures)
	if err != nil {
		return diagnose.Result{}, err
	}
	files := len(f.logs)+len(f.events)+len(f.pods) > 0
	if files {
		f.logs = append(f.logs, args...) // --log *.txt: the shell leaves all but the first as arguments
	}
	sources := 0
	for _, given := range []bool{files, f.bundle != "", !files && len(args) > 0} {
		if given {
			sources++
		}
	}
	switch {
	case sources != 1 || !files && len(args) > 1:
		return diagnose.Result{}, usagef("%d sources of evidence given; expected one: KIND/NAME, --bundle, or --log, --events and --pods", max(sources, len(args)))
	case f.annotate && len(args) == 0:
		return diagnose.Result{}, usagef("--annotate writes on a job of the cluster; expected KIND/NAME")
	}
	var c diagnose.Case
	switch {
	case files:
		c, err = f.bare(sh)
	case f.bundle != "":
		if c, err = collect.Open(ctx, f.bundle); err != nil {
			err = usagef("%w", err)
		}
	default:
		return f.live(ctx, sh, catalog, args[0])
	}
	if err != nil {
		return diagnose.Result{}, err
	}
	return diagnose.Diagnose(ctx, c, catalog, diagnose.Options{}), ctx.Err()
}

// bare is a case of files that people saved or pasted.
func (f *diagnoseFlags) bare(sh *shell) (diagnose.Case, error) {
	c := diagnose.Case{Now: sh.now()}
	read := newFiles(sh.in)
	for _, name := range f.logs {
		open, err := read.log(name)
		if err != nil {
			return c, err
		}
		c.Logs = append(c.Logs, diagnose.Log{Source: evidence.Source{File: shown(name), Rank: diagnose.RankIn(name)}, Open: open})
	}
	for _, name := range slices.Concat(f.events, f.pods) {
		text, err := read.all(name)
		if err != nil {
			return c, err
		}
		c.AddBare(shown(name), text)
	}
	c.Adopt()
	return c, nil
}

// files reads evidence; standard input only once.
type files struct {
	stdin io.Reader
	used  bool
}

func newFiles(stdin io.Reader) *files { return &files{stdin: stdin} }

// maxEvidence bounds a file of events or pods, which is held in memory. Logs are not: they are
// read as they come.
const maxEvidence = 64 << 20

// open opens a file as text. What is empty or no text is an error here, not later.
func (f *files) open(name, want string) (io.ReadCloser, error) {
	in := io.NopCloser(f.stdin)
	if name == "-" {
		if f.used {
			return nil, usagef("- is given twice; standard input can be read once")
		}
		f.used = true
	} else {
		file, err := os.Open(name)
		if err != nil {
			return nil, unreadable(name, strings.TrimPrefix(err.Error(), "open "+name+": "), "a readable file")
		}
		in = file
	}
	text, err := plain(in)
	if err != nil {
		_ = in.Close() // what is wrong with it is said already
		if said, ok := strings.CutPrefix(err.Error(), "read "+name+": "); ok {
			return nil, unreadable(name, said, "a readable file")
		}
		return nil, unreadable(name, err.Error(), want+" as text")
	}
	r := bufio.NewReader(text)
	if _, err := r.Peek(1); errors.Is(err, io.EOF) {
		_ = in.Close() // what is wrong with it is said already
		return nil, unreadable(name, "is empty", "a log, events or pods")
	}
	return readCloser{r, in}, nil
}

type readCloser struct {
	io.Reader
	io.Closer
}

func unreadable(name, have, want string) error {
	return &manifest.Problem{Source: name, Have: have, Want: want}
}

// log opens a log of a case: now, and anew whenever it is read again, which standard input
// cannot be.
func (f *files) log(name string) (func() (io.ReadCloser, error), error) {
	first, err := f.open(name, "a log")
	if err != nil {
		return nil, err
	}
	if at, err := os.Stat(name); name != "-" && err == nil && at.Mode().IsRegular() {
		_ = first.Close() // it can be read; a gang of a thousand is not kept open at once
		first = nil
	}
	return func() (io.ReadCloser, error) {
		if first != nil {
			in := first
			first = nil
			return in, nil
		}
		return f.open(name, "a log")
	}, nil
}

// all reads a whole file of events or pods. Of a compressed one that was cut, what is there is read.
func (f *files) all(name string) ([]byte, error) {
	in, err := f.open(name, "events or pods")
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxEvidence+1))
	switch {
	case len(text) > maxEvidence:
		return nil, unreadable(name, fmt.Sprintf("holds more than %d MiB", maxEvidence>>20), "the part about this job")
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return nil, unreadable(name, strings.TrimPrefix(err.Error(), "read "+name+": "), "a readable file")
	}
	return text, nil
}

func shown(name string) string {
	if name == "-" {
		return "stdin"
	}
	return filepath.ToSlash(name)
}

// live reads the evidence of a job from the cluster.
func (f *diagnoseFlags) live(ctx context.Context, sh *shell, catalog *signature.Catalog, arg string) (diagnose.Result, error) {
	c, live, err := liveCase(ctx, sh, f.kube, arg)
	if err != nil {
		return diagnose.Result{}, err
	}
	result := diagnose.Diagnose(ctx, c, catalog, diagnose.Options{})
	if f.annotate {
		if err := live.annotate(ctx, sh, c, result); err != nil {
			return result, err
		}
	}
	return result, ctx.Err()
}

// liveCase collects everything about KIND/NAME.
func liveCase(ctx context.Context, sh *shell, kube *genericclioptions.ConfigFlags, arg string) (diagnose.Case, *cluster, error) {
	kind, name, err := collect.Resolve(kinds.All(), arg)
	if err != nil {
		return diagnose.Case{}, nil, usagef("%w", err)
	}
	live, err := connect(ctx, kube)
	if none, ok := errors.AsType[*noCluster](err); ok {
		return diagnose.Case{}, nil, usagef("%s; expected a kubeconfig whose cluster answers, --bundle or --log", none.why)
	}
	if err != nil {
		return diagnose.Case{}, nil, err
	}
	p := sh.progress()
	defer p.done()
	from := live.collector(ctx, sh, p)
	object, err := from.Find(ctx, kind, live.namespace, name)
	switch {
	case apierrors.IsNotFound(err):
		return diagnose.Case{}, nil, usagef("%s %s/%s: not found", kind.Name, live.namespace, name)
	case err != nil:
		return diagnose.Case{}, nil, err
	}
	p.step("reading pods, events and logs of %s …", name)
	c, err := from.Case(ctx, kind, object)
	return c, live, err
}

// collector reads jobs through this cluster. The view of the whole cluster is made when
// it is asked for; without the right to list nodes there is none.
func (c *cluster) collector(ctx context.Context, sh *shell, p *progress) *collect.Cluster {
	return &collect.Cluster{
		Kube: c.clients, Dynamic: c.objects, Now: sh.now,
		Mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.clients.Discovery())),
		Snapshot: func() *capacity.Snapshot {
			view, _, err := c.gather(ctx, sh.now(), p)
			if err != nil {
				return nil
			}
			snapshot, err := view.Snapshot()
			if err != nil {
				return nil
			}
			return snapshot
		},
	}
}

// widestPicture bounds a timeline: beyond it the eye loses the row.
const widestPicture = 160

// renderTimeline draws the pods below the text, as wide as the terminal, or COLUMNS says.
func renderTimeline(to io.Writer, r diagnose.Result, paint painter) error {
	p := diagnose.Picture{Width: min(screen(to), widestPicture), ASCII: !speaksUTF8(runtime.GOOS, os.Getenv), Paint: paint.as}
	picture := diagnose.Timeline(r, p)
	if picture == "" {
		picture = "no timeline: nothing that was read says when it happened\n"
	}
	_, err := io.WriteString(to, "\n"+picture)
	return err
}

// renderDiagnosis writes a diagnosis in one of the documented formats.
func renderDiagnosis(to io.Writer, format string, r diagnose.Result, paint painter) error {
	text := []byte(plainly(diagnose.Text(r), os.Getenv))
	if format == "text" {
		for _, words := range []struct{ plain, like string }{{": not healthy", "error"}, {": healthy", "allowed"}} {
			if paint.on && strings.Contains(string(text), words.plain) {
				text = []byte(strings.Replace(string(text), words.plain, ": "+paint.as(words.like, words.plain[2:]), 1))
				break
			}
		}
	} else {
		var err error
		if text, err = diagnose.JSON(r); err != nil {
			return err
		}
		if format == "yaml" {
			if text, err = yaml.JSONToYAML(text); err != nil {
				return err
			}
		}
	}
	_, err := to.Write(text)
	return err
}
