package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/tools/txtar"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/dryrun"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/input"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/tuning"
	"github.com/signalbox-dev/signalbox/config"
	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
)

// world is everything a review knows besides the job.
type world struct {
	checks    *check.Set
	tuned     map[string]*check.Set // by namespace, where they differ
	engine    preflight.Engine
	cluster   *cluster.Snapshot  // nil: no view
	seen      bool               // somebody looked at a cluster: the view is not only what the input brings
	live      *apiserver.Cluster // nil: offline
	silent    string             // why a cluster that is configured was not looked at
	asks      bool               // nothing was listed, because Signalbox in the cluster is asked
	questions []*question        // what the cluster said of the jobs in a dry run
	fitOnly   bool               // nothing is asked but whether the jobs fit
	nodeless  bool               // nodes may not be listed, so the webhook of the cluster is asked whether the job fits
	now       time.Time          // when it is asked
	quotes    *input.Quotes      // of the files that are reviewed
	names     []string           // of the namespaces of the view
	answers   bool               // the operators' own webhooks answer too, as they do on a live cluster
	rehearsal *dryrun.Rehearsal  // nil: the API server is not asked about pods
	skipped   []preflight.Skip   // what could not be seen
	namespace string             // for objects that name none
	forced    bool               // the user chose the namespace
	user      string             // who asks: whom the cluster takes us for, or --as; empty: nobody knows
	groups    []string           // of that user
	asking    *asking            // in which namespace, where the user says so

	settings     config.Checks // as a file tunes them
	settingsFile string        // empty: none does
	disabled     []string      // checks that --disable leaves out

	known  func(namespace string) map[string]string                      // labels; nil: from the cluster
	before func(o *unstructured.Unstructured) *unstructured.Unstructured // the stored job; nil: from the cluster
}

// open gathers the world for the jobs of the input.
func (f *worldFlags) open(ctx context.Context, sh *shell.Shell, in *input.Input) (*world, error) {
	return f.openFor(ctx, sh, in, false)
}

// settingsNames are what people call a file with settings that they expect to be read because it is there.
var settingsNames = []string{".signalbox.yaml", ".signalbox.yml", "signalbox.yaml", "signalbox.yml"}

// sayUnread says that a file with settings in the current folder is not read, because nobody named it.
func sayUnread(sh *shell.Shell) {
	for _, name := range settingsNames {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			sh.Tell("note: %[1]s is here and was not read: settings are read where they are named: --config %[1]s", name)
			return
		}
	}
}

// openFor is open; fitOnly says that nothing is asked but whether the jobs fit.
func (f *worldFlags) openFor(ctx context.Context, sh *shell.Shell, in *input.Input, fitOnly bool) (*world, error) {
	w := &world{fitOnly: fitOnly, namespace: "default", quotes: in.Quotes, now: sh.Now(), user: *f.kube.Impersonate, groups: *f.kube.ImpersonateGroup}
	if ns := *f.kube.Namespace; ns != "" {
		w.namespace, w.forced = ns, true
	}
	if f.only && w.user == "" && len(w.groups) > 0 {
		return nil, shell.Usagef("--as-group says in which groups the user of --as is; expected --as USER beside it")
	}
	var err error
	settings := config.Default()
	if f.settings != "" {
		if settings, err = config.Load(f.settings); err != nil {
			return nil, &shell.Exit{Code: shell.ExitUsage, Cause: err}
		}
	} else {
		sayUnread(sh)
	}
	w.settings, w.settingsFile, w.disabled = settings.Checks, f.settings, f.disable
	if f.enforce {
		w.asking = &asking{mode: preflight.ModeEnforce}
	}
	others, err := tuning.OthersThan(f.selected)
	if err != nil {
		return nil, err
	}
	settings.Checks.Disable = slices.Concat(settings.Checks.Disable, f.disable, others)
	as, err := tuning.Of(settings.Checks)
	if err != nil {
		return nil, err
	}
	w.checks, w.tuned = as.Everywhere, as.In
	var view clusterView
	if view, w.seen, err = f.view(ctx, sh, w, in); err != nil {
		return nil, err
	}
	if view.addAll(in.Others, w.namespace) || w.seen {
		if w.cluster, err = view.Snapshot(); err != nil {
			return nil, &shell.Exit{Code: shell.ExitUsage, Cause: err}
		}
	}
	for _, o := range view.Objects {
		if o.GroupVersionKind() == corev1.SchemeGroupVersion.WithKind("Namespace") {
			w.names = append(w.names, o.GetName())
		}
	}
	if f.server {
		if w.live == nil {
			return nil, shell.Usagef("--server asks the API server of a cluster, and there is none; expected a kubeconfig whose cluster answers")
		}
		if w.rehearsal, err = dryrun.Rehearse(w.live); err != nil {
			return nil, err
		}
	}
	if !fitOnly {
		if w.engine, err = f.policies(ctx, w); err == nil {
			in.Notes = append(in.Notes, f.manifests()...)
		}
	}
	return w, err
}

// unwanted are the checks that neither --disable nor the settings want in a namespace.
func (w *world) unwanted(namespace string) (names []string) {
	all, err := tuning.All()
	if err != nil {
		return nil // there would be no world
	}
	on := w.checks
	if tuned := w.tuned[namespace]; tuned != nil {
		on = tuned
	}
	wanted := on.Names()
	for _, name := range all.Names() {
		if !slices.Contains(wanted, name) {
			names = append(names, name)
		}
	}
	return names
}

// view is the cluster as the flags say. known is false where nobody could look.
func (f *worldFlags) view(ctx context.Context, sh *shell.Shell, w *world, in *input.Input) (v clusterView, known bool, err error) {
	if len(f.snapshot) > 0 {
		v.View, err = manifest.ReadView(f.snapshot, sh.In, apiserver.Trim)
		return v, true, err
	}
	if f.offline {
		return v, false, nil
	}
	asked, err := f.reach(ctx, w, in)
	if none, ok := errors.AsType[*apiserver.NoCluster](err); ok {
		in.Notes = append(in.Notes, "no cluster view: "+none.Why+"; --snapshot FILE gives one")
		if f.mustAsk() && !none.Silent {
			return v, false, shell.Usagef("--ask asks the Signalbox of a cluster, and there is none: %s; expected a kubeconfig whose cluster answers", none.Why)
		}
		if none.Silent {
			in.Notes = append(in.Notes, "no cluster was asked; give --offline if that is what you want")
			w.silent = none.Why
			w.skipped = []preflight.Skip{{Check: "cluster", Reason: none.Why}}
		}
		return v, false, nil
	}
	if err != nil {
		return v, false, err
	}
	w.answers = true
	p := sh.Progress()
	defer p.Done()
	if asked {
		w.asks, w.nodeless = true, true
		if !w.fitOnly {
			w.skipped, err = ask(ctx, w.live, &v.View, readJobs(in, v.View, w.namespace))
		}
		return v, true, err
	}
	if v.View, w.skipped, err = w.live.Look(ctx, sh.Now(), p); err != nil {
		return v, false, err
	}
	w.nodeless = slices.ContainsFunc(w.skipped, func(s preflight.Skip) bool { return s.Check == "nodes" })
	p.Step("reading what the jobs name …")
	skipped, err := ask(ctx, w.live, &v.View, readJobs(in, v.View, w.namespace))
	w.skipped = append(w.skipped, skipped...)
	return v, true, err
}

// reach reaches the cluster of the kubeconfig. Where its Signalbox answers about all jobs of the
// input, or nothing else is wanted, asked is true, and nothing more was asked of the cluster.
func (f *worldFlags) reach(ctx context.Context, w *world, in *input.Input) (asked bool, err error) {
	c, err := apiserver.Dial(f.kube)
	if err != nil {
		return false, err
	}
	if !w.forced {
		w.namespace = c.Namespace
	}
	w.live = c
	if f.mayAsk() {
		why, err := w.askInstalled(ctx, in)
		if err != nil {
			w.live = nil
			return false, err
		}
		if why == "" || f.mustAsk() {
			return true, nil
		}
		in.Notes = append(in.Notes, "the cluster is listed: "+why)
	}
	if err := c.Greet(ctx); err != nil {
		w.live = nil
		return false, c.Unreached(err)
	}
	if user, groups := f.asker(ctx, c); f.only && user != "" {
		c.User, c.Groups = user, groups
	}
	if c.User != "" {
		w.user, w.groups = c.User, c.Groups
	}
	return false, nil
}

// policies is the built-in set, the folders of --policy and what the cluster holds. A
// set of the cluster that cannot be read or does not load is said, and left out.
func (f *worldFlags) policies(ctx context.Context, w *world) (preflight.Engine, error) {
	if len(f.folders) == 0 && (w.live == nil || w.asks) {
		return policies.Quiet() // nobody brings data
	}
	var sources []fs.FS
	if !f.only {
		sources = append(sources, policies.Library())
	}
	for _, dir := range f.folders {
		fsys, err := policyFolder(dir)
		if err != nil {
			return nil, err
		}
		sources, f.sources = append(sources, fsys), append(f.sources, fsys)
	}
	var engine *policies.OPA
	var err error
	if f.printed != nil {
		engine, err = policies.LoadPrinting(f.printed, sources...) //nolint:contextcheck // compiling policies blocks on nothing
	} else {
		engine, err = policies.Load(sources...) //nolint:contextcheck // compiling policies blocks on nothing
	}
	if err != nil {
		return nil, &shell.Exit{Code: shell.ExitUsage, Cause: err}
	}
	f.asked, f.unset = len(engine.Docs()), engine.Unset()
	if w.live == nil || w.asks || f.only {
		return engine, nil
	}
	fsys, why, err := w.live.Policies(ctx)
	if err != nil {
		return nil, err
	}
	if fsys != nil {
		if err := engine.Swap(append(sources, fsys)...); err != nil { //nolint:contextcheck // as above
			why = "the cluster's policies do not load: " + terminal.OneLine(err.Error())
		}
	}
	if why != "" {
		w.skipped = append(w.skipped, preflight.Skip{Check: "policies", Reason: why})
	}
	return engine, nil
}

// manifests says which folders of policies hold manifests, which are no data.
func (f *worldFlags) manifests() (notes []string) {
	for i, fsys := range f.sources {
		if note := passedOver(f.folders[i], fsys); note != "" {
			notes = append(notes, note)
		}
	}
	return notes
}

// passedOver says that a folder of policies holds manifests; empty: it holds none.
func passedOver(dir string, fsys fs.FS) string {
	names, err := policies.PassedOver(fsys)
	if err != nil || len(names) == 0 {
		return "" // an error comes where the policies are read
	}
	return fmt.Sprintf("%s: %s of Kubernetes passed over, as no data of policies: %s", dir, terminal.Count(len(names), "manifest"), terminal.Few(names))
}

// policyFolder is a folder of policies, or the one file that was named.
func policyFolder(name string) (fs.FS, error) {
	at, err := os.Stat(name)
	if err != nil {
		have := "no such folder"
		if why, ok := errors.AsType[*fs.PathError](err); ok && !errors.Is(err, fs.ErrNotExist) {
			have = why.Err.Error()
		}
		return nil, &manifest.Problem{Source: name, Have: have, Want: "a folder with *.rego files"}
	}
	if at.IsDir() {
		return os.DirFS(name), nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read policy: %w", err)
	}
	return txtar.FS(&txtar.Archive{Files: []txtar.File{{Name: filepath.Base(name), Data: text}}})
}

// request is the review of one document in this world.
func (w *world) request(ctx context.Context, d manifest.Document) (preflight.Request, error) {
	o, err := w.object(d)
	if err != nil {
		return preflight.Request{}, err
	}
	req := preflight.Request{
		Object: o, Cluster: w.cluster, Operation: "CREATE", Source: d.Where(),
		Namespace: w.labels(o.GetNamespace()), Live: w.answers, DuplicateKeys: d.DuplicateKeys(), Now: w.now,
		User: w.user, Groups: w.groups,
	}
	if w.asking != nil {
		w.asking.fill(&req)
	}
	if old := w.stored(ctx, o); old != nil {
		o.SetUID(old.GetUID()) // the pods it has are its own
		if status, there := old.Object["status"]; there && !over(old) {
			o.Object["status"] = status // which pods have completed
		}
		if !preflight.SameWork(old, o) { // a job as it is is asked about as if it came now
			req.Operation, req.Old = "UPDATE", old
		}
	} else if w.before == nil && w.live == nil {
		o.SetUID(w.seenByPods(o))
	}
	return req, nil
}

// off says which checks the file with settings leaves out for jobs of a namespace.
func (w *world) off(namespace string) []string {
	if w.settingsFile == "" {
		return nil
	}
	names := slices.Sorted(slices.Values(slices.Concat(w.settings.Disable, w.settings.Namespaces[namespace].Disable)))
	return slices.Compact(names)
}

// object is the job of a document in the namespace it would go to.
func (w *world) object(d manifest.Document) (*unstructured.Unstructured, error) {
	o := d.Object.DeepCopy()
	switch ns := o.GetNamespace(); {
	case ns == "":
		o.SetNamespace(w.namespace)
	case w.forced && ns != w.namespace:
		return nil, &manifest.Problem{
			Source: d.Source, Line: d.Position("metadata.namespace"),
			Have: fmt.Sprintf("metadata.namespace is %q, and --namespace is %q", ns, w.namespace), Want: "one and the same",
		}
	}
	return o, nil
}

// labels are those of a namespace; nil where nobody knows.
func (w *world) labels(namespace string) map[string]string {
	if w.known != nil {
		return w.known(namespace)
	}
	if w.cluster == nil {
		return nil
	}
	o, presence := w.cluster.Lookup(corev1.SchemeGroupVersion.WithKind("Namespace"), "", namespace)
	if presence != job.Present {
		return nil
	}
	if labels := o.GetLabels(); labels != nil {
		return labels
	}
	return map[string]string{}
}
