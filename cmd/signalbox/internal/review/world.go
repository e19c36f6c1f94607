// Package review reviews jobs from a shell as the webhook would: World is everything that is known besides the job, from a
// snapshot or a cluster that is listed or asked, and Reviewed what was found of one job. It prints nothing but notes. Start reading
// at Flags.Open in world.go.
package review

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

// World is everything a review knows besides the job.
type World struct {
	Checks    *check.Set
	Tuned     map[string]*check.Set // by namespace, where they differ
	Engine    preflight.Engine
	Cluster   *cluster.Snapshot  // nil: no view
	Seen      bool               // a cluster was looked at: the view is not only what the input brings
	Live      *apiserver.Cluster // nil: offline
	Silent    string             // why a cluster that is configured was not looked at
	Viewless  string             // why there is no view of a cluster; empty: there is one, or none was wanted
	Asks      bool               // nothing was listed, because Signalbox in the cluster is asked
	questions []*question        // what the cluster said of the jobs in a dry run
	fitOnly   bool               // nothing is asked but whether the jobs fit
	Nodeless  bool               // nodes may not be listed, so the webhook of the cluster is asked whether the job fits
	Now       time.Time          // when it is asked
	Quotes    *input.Quotes      // of the files that are reviewed
	names     []string           // of the namespaces of the view
	Answers   bool               // the operators' own webhooks answer too, as they do on a live cluster
	rehearsal *dryrun.Rehearsal  // nil: the API server is not asked about pods
	skipped   []preflight.Skip   // what could not be seen
	Namespace string             // for objects that name none
	Forced    bool               // the user chose the namespace
	User      string             // the user who asks: whom the cluster takes us for, or --as; empty: unknown
	Groups    []string           // of that user
	Asking    *Asking            // in which namespace, where the user says so

	settings     config.Checks // as a file tunes them
	settingsFile string        // empty: none does
	disabled     []string      // checks that --disable leaves out

	Known  func(namespace string) map[string]string                      // labels; nil: from the cluster
	Before func(o *unstructured.Unstructured) *unstructured.Unstructured // the stored job; nil: from the cluster
}

// Open gathers the world for the jobs of the input.
func (f *Flags) Open(ctx context.Context, sh *shell.Shell, in *input.Input) (*World, error) {
	return f.OpenFor(ctx, sh, in, false)
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

// OpenFor is open; fitOnly says that nothing is asked but whether the jobs fit.
func (f *Flags) OpenFor(ctx context.Context, sh *shell.Shell, in *input.Input, fitOnly bool) (*World, error) {
	w := &World{fitOnly: fitOnly, Namespace: "default", Quotes: in.Quotes, Now: sh.Now(), User: *f.Kube.Impersonate, Groups: *f.Kube.ImpersonateGroup}
	if ns := *f.Kube.Namespace; ns != "" {
		w.Namespace, w.Forced = ns, true
	}
	if f.Only && w.User == "" && len(w.Groups) > 0 {
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
	w.settings, w.settingsFile, w.disabled = settings.Checks, f.settings, f.Disable
	if f.Enforce {
		w.Asking = &Asking{Mode: preflight.ModeEnforce}
	}
	others, err := tuning.OthersThan(f.Selected)
	if err != nil {
		return nil, err
	}
	settings.Checks.Disable = slices.Concat(settings.Checks.Disable, f.Disable, others)
	as, err := tuning.Of(settings.Checks)
	if err != nil {
		return nil, err
	}
	w.Checks, w.Tuned = as.Everywhere, as.In
	var view clusterView
	if view, w.Seen, err = f.view(ctx, sh, w, in); err != nil {
		return nil, err
	}
	if view.addAll(in.Others, w.Namespace) || w.Seen {
		if w.Cluster, err = view.Snapshot(); err != nil {
			return nil, &shell.Exit{Code: shell.ExitUsage, Cause: err}
		}
	}
	for _, o := range view.Objects {
		if o.GroupVersionKind() == corev1.SchemeGroupVersion.WithKind("Namespace") {
			w.names = append(w.names, o.GetName())
		}
	}
	if f.Server {
		if w.Live == nil {
			return nil, shell.Usagef("--server asks the API server of a cluster, and there is none; expected a kubeconfig whose cluster answers")
		}
		if w.rehearsal, err = dryrun.Rehearse(w.Live); err != nil {
			return nil, err
		}
	}
	if !fitOnly {
		if w.Engine, err = f.Policies(ctx, w); err == nil {
			in.Notes = append(in.Notes, f.manifests()...)
		}
	}
	return w, err
}

// unwanted are the checks that neither --disable nor the settings want in a namespace.
func (w *World) unwanted(namespace string) (names []string) {
	all, err := tuning.All()
	if err != nil {
		return nil // there would be no world
	}
	on := w.Checks
	if tuned := w.Tuned[namespace]; tuned != nil {
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

// view is the cluster as the flags say. known is false where it could not be looked at.
func (f *Flags) view(ctx context.Context, sh *shell.Shell, w *World, in *input.Input) (v clusterView, known bool, err error) {
	if len(f.Snapshot) > 0 {
		v.View, err = manifest.ReadView(f.Snapshot, sh.In, apiserver.Trim)
		return v, true, err
	}
	if f.offline {
		return v, false, nil
	}
	asked, err := f.reach(ctx, w, in)
	if none, ok := errors.AsType[*apiserver.NoCluster](err); ok {
		note := "no cluster view: " + none.Why + "; --snapshot FILE gives one"
		if none.Silent {
			note += ", --offline wants none"
		}
		w.Viewless = none.Why
		if none.Silent || len(in.Jobs) > 0 && !w.fitOnly { // the fit says so itself, and of no job nothing is asked
			in.Notes = append(in.Notes, note)
		}
		if f.MustAsk() && !none.Silent {
			return v, false, shell.Usagef("--ask asks the Signalbox of a cluster, and there is none: %s; expected a kubeconfig whose cluster answers", none.Why)
		}
		if none.Silent {
			w.Silent = none.Why
			w.skipped = []preflight.Skip{{Check: "cluster", Reason: none.Why}}
		}
		return v, false, nil
	}
	if err != nil {
		return v, false, err
	}
	w.Answers = true
	p := sh.Progress()
	defer p.Done()
	if asked {
		w.Asks, w.Nodeless = true, true
		if !w.fitOnly {
			w.skipped, err = ask(ctx, w.Live, &v.View, readJobs(in, v.View, w.Namespace))
		}
		return v, true, err
	}
	if v.View, w.skipped, err = w.Live.Look(ctx, sh.Now(), p); err != nil {
		return v, false, err
	}
	w.Nodeless = slices.ContainsFunc(w.skipped, func(s preflight.Skip) bool { return s.Check == "nodes" })
	p.Step("reading what the jobs name …")
	skipped, err := ask(ctx, w.Live, &v.View, readJobs(in, v.View, w.Namespace))
	w.skipped = append(w.skipped, skipped...)
	return v, true, err
}

// reach reaches the cluster of the kubeconfig. Where its Signalbox answers about all jobs of the
// input, or nothing else is wanted, asked is true, and nothing more was asked of the cluster.
func (f *Flags) reach(ctx context.Context, w *World, in *input.Input) (asked bool, err error) {
	c, err := apiserver.Dial(f.Kube)
	if err != nil {
		return false, err
	}
	if !w.Forced {
		w.Namespace = c.Namespace
	}
	w.Live = c
	if f.mayAsk() {
		why, err := w.askInstalled(ctx, in)
		if err != nil {
			w.Live = nil
			return false, err
		}
		if why == "" || f.MustAsk() {
			return true, nil
		}
		in.Notes = append(in.Notes, "the cluster is listed: "+why)
	}
	if err := c.Greet(ctx); err != nil {
		w.Live = nil
		return false, c.Unreached(err)
	}
	if user, groups := f.Asker(ctx, c); f.Only && user != "" {
		c.User, c.Groups = user, groups
	}
	if c.User != "" {
		w.User, w.Groups = c.User, c.Groups
	}
	return false, nil
}

// Policies is the built-in set, the folders of --policy and what the cluster holds. A
// set of the cluster that cannot be read or does not load is said, and left out.
func (f *Flags) Policies(ctx context.Context, w *World) (preflight.Engine, error) {
	if len(f.Folders) == 0 && (w.Live == nil || w.Asks) {
		return policies.Quiet() // there is no data
	}
	var sources []fs.FS
	if !f.Only {
		sources = append(sources, policies.Library())
	}
	for _, dir := range f.Folders {
		fsys, err := PolicyFolder(dir)
		if err != nil {
			return nil, err
		}
		sources, f.sources = append(sources, fsys), append(f.sources, fsys)
	}
	var engine *policies.OPA
	var err error
	if f.Printed != nil {
		engine, err = policies.LoadPrinting(f.Printed, sources...) //nolint:contextcheck // compiling policies blocks on nothing
	} else {
		engine, err = policies.Load(sources...) //nolint:contextcheck // compiling policies blocks on nothing
	}
	if err != nil {
		return nil, &shell.Exit{Code: shell.ExitUsage, Cause: err}
	}
	f.Asked, f.Unset = len(engine.Docs()), engine.Unset()
	if w.Live == nil || w.Asks || f.Only {
		return engine, nil
	}
	fsys, why, err := w.Live.Policies(ctx)
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
func (f *Flags) manifests() (notes []string) {
	for i, fsys := range f.sources {
		if note := PassedOver(f.Folders[i], fsys); note != "" {
			notes = append(notes, note)
		}
	}
	return notes
}

// PassedOver says that a folder of policies holds manifests, or nothing; empty: it holds policies, or data, alone.
func PassedOver(dir string, fsys fs.FS) string {
	names, err := policies.PassedOver(fsys)
	switch {
	case err != nil: // it comes where the policies are read
		return ""
	case len(names) > 0:
		return fmt.Sprintf("%s: %s of Kubernetes passed over, as no data of policies: %s", dir, terminal.Count(len(names), "manifest"), terminal.Few(names))
	}
	if held, err := fs.ReadDir(fsys, "."); err == nil && len(held) == 0 {
		return dir + ": the folder is empty; expected *.rego files, or data"
	}
	return ""
}

// PolicyFolder is a folder of policies, or the one file that was named.
func PolicyFolder(name string) (fs.FS, error) {
	at, err := os.Stat(name)
	if err != nil {
		return nil, &manifest.Problem{Source: name, Have: shell.NoFolder(err), Want: "a folder with *.rego files"}
	}
	if at.IsDir() {
		return shell.Folder(name), nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read policy: %w", err)
	}
	fsys, err := txtar.FS(&txtar.Archive{Files: []txtar.File{{Name: filepath.Base(name), Data: text}}})
	return oneFile{fsys, name}, err
}

// oneFile is a source of one file.
type oneFile struct {
	fs.FS
	path string
}

// Path implements policies.Located.
func (f oneFile) Path(string) string { return f.path }

// Request is the review of one document in this world.
func (w *World) Request(ctx context.Context, d manifest.Document) (preflight.Request, error) {
	o, err := w.object(d)
	if err != nil {
		return preflight.Request{}, err
	}
	req := preflight.Request{
		Object: o, Cluster: w.Cluster, Operation: "CREATE", Source: d.Where(),
		Namespace: w.labels(o.GetNamespace()), Live: w.Answers, DuplicateKeys: d.DuplicateKeys(), Now: w.Now,
		User: w.User, Groups: w.Groups,
	}
	if w.Asking != nil {
		w.Asking.fill(&req)
	}
	if old := w.stored(ctx, o); old != nil {
		o.SetUID(old.GetUID()) // the pods it has are its own
		if status, there := old.Object["status"]; there && !over(old) {
			o.Object["status"] = status // which pods have completed
		}
		if !preflight.SameWork(old, o) { // a job as it is is asked about as if it came now
			req.Operation, req.Old = "UPDATE", old
		}
	} else if w.Before == nil && w.Live == nil {
		o.SetUID(w.seenByPods(o))
	}
	return req, nil
}

// off says which checks the file with settings leaves out for jobs of a namespace.
func (w *World) off(namespace string) []string {
	if w.settingsFile == "" {
		return nil
	}
	names := slices.Sorted(slices.Values(slices.Concat(w.settings.Disable, w.settings.Namespaces[namespace].Disable)))
	return slices.Compact(names)
}

// object is the job of a document in the namespace it would go to.
func (w *World) object(d manifest.Document) (*unstructured.Unstructured, error) {
	o := d.Object.DeepCopy()
	switch ns := o.GetNamespace(); {
	case ns == "":
		o.SetNamespace(w.Namespace)
	case w.Forced && ns != w.Namespace:
		return nil, &manifest.Problem{
			Source: d.Source, Line: d.Position("metadata.namespace"),
			Have: fmt.Sprintf("metadata.namespace is %q, and --namespace is %q", ns, w.Namespace), Want: "one and the same",
		}
	}
	return o, nil
}

// labels are those of a namespace; nil where they are not known.
func (w *World) labels(namespace string) map[string]string {
	if w.Known != nil {
		return w.Known(namespace)
	}
	if w.Cluster == nil {
		return nil
	}
	o, presence := w.Cluster.Lookup(corev1.SchemeGroupVersion.WithKind("Namespace"), "", namespace)
	if presence != job.Present {
		return nil
	}
	if labels := o.GetLabels(); labels != nil {
		return labels
	}
	return map[string]string{}
}
