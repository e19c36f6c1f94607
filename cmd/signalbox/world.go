package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/tools/txtar"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"

	"github.com/signalbox-dev/signalbox/config"
	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
)

// worldFlags say where a review learns about the cluster and the policies.
type worldFlags struct {
	snapshot []string
	offline  bool
	server   bool             // ask the API server about the job and its pods
	ask      *choice          // whether Signalbox in the cluster is asked instead of listing; nil: never
	names    bool             // the answer needs the names of nodes and pods
	fix      bool             // exact remedies are looked for
	cures    bool             // and for each finding by itself, because the format has a place for it
	require  bool             // an answer without a cluster is none
	disable  []string         // checks that are not wanted this time
	selected []string         // the only checks that are wanted this time; empty: all
	settings string           // file of the configuration; only what it says of checks counts
	folders  []string         // of policies
	enforce  bool             // policies deny, whatever the namespaces say
	sources  []fs.FS          // what is in them, once open
	only     bool             // no others are asked
	printed  io.Writer        // takes what they print; nil: nobody does
	asked    int              // how many policies there are, once open
	unset    []policies.Unset // that say nothing, because nothing sets what they read
	kube     *genericclioptions.ConfigFlags
}

func newWorldFlags() *worldFlags { return &worldFlags{kube: kubeFlags()} }

// kubeFlags are the few of kubectl's connection flags that a reading command needs.
func kubeFlags() *genericclioptions.ConfigFlags {
	all := genericclioptions.NewConfigFlags(false)
	return &genericclioptions.ConfigFlags{
		KubeConfig: all.KubeConfig, Context: all.Context, Namespace: all.Namespace,
		ClusterName: all.ClusterName, AuthInfoName: all.AuthInfoName, Timeout: all.Timeout,
		Impersonate: all.Impersonate, ImpersonateGroup: all.ImpersonateGroup,
	}
}

// policiesOnly says of --policy what holds for the commands about policies: they ask no others.
func (f *worldFlags) policiesOnly(c *cobra.Command) {
	c.Flags().Lookup("policy").Usage = "`folder` of policies (*.rego and data) to ask, and no others; repeatable"
	// --as says who asks, not who reads: the webhook reads the cluster by its own rights, whoever asks.
	f.only = true
	f.kube.WrapConfigFn = func(c *rest.Config) *rest.Config {
		c = rest.CopyConfig(c)
		c.Impersonate = rest.ImpersonationConfig{}
		return c
	}
}

// asker is who asks by the flags, as the API server knows it; empty: the flags do not say.
func (f *worldFlags) asker(ctx context.Context, c *liveCluster) (user string, groups []string) {
	if user, groups = *f.kube.Impersonate, *f.kube.ImpersonateGroup; user == "" || c == nil {
		return user, groups
	}
	return c.called(ctx, user, groups)
}

func (f *worldFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.snapshot, "snapshot", nil, "cluster view from a `file` or folder of Kubernetes objects (see: snapshot); repeatable")
	c.Flags().BoolVar(&f.offline, "offline", false, "do not ask a cluster, even if a kubeconfig names one")
	c.Flags().StringArrayVar(&f.folders, "policy", nil, "`folder` of policies (*.rego and data) to ask besides the built-in ones; repeatable")
	c.Flags().StringVar(&f.settings, "config", "", "`file` with settings, as serve takes it: how checks are tuned; without it the defaults hold")
	f.kube.AddFlags(c.Flags())
	completeCluster(c, f.kube)
}

// addEnforce adds --enforce, and --mode enforce as policy check has it.
func (f *worldFlags) addEnforce(c *cobra.Command) {
	c.Flags().BoolVar(&f.enforce, "enforce", false, "as if every namespace enforced its policies")
	mode := oneOf("", "enforce")
	c.Flags().Var(mode, "mode", "as policy check has it: enforce is --enforce")
	hide(c, "mode")
	c.PreRun = func(*cobra.Command, []string) { f.enforce = f.enforce || mode.value == "enforce" }
}

// world is everything a review knows besides the job.
type world struct {
	checks    *check.Set
	tuned     map[string]*check.Set // by namespace, where they differ
	engine    preflight.Engine
	cluster   *cluster.Snapshot // nil: no view
	seen      bool              // somebody looked at a cluster: the view is not only what the input brings
	live      *liveCluster      // nil: offline
	silent    string            // why a cluster that is configured was not looked at
	asks      bool              // nothing was listed, because Signalbox in the cluster is asked
	questions []*question       // what the cluster said of the jobs in a dry run
	fitOnly   bool              // nothing is asked but whether the jobs fit
	nodeless  bool              // nodes may not be listed, so the webhook of the cluster is asked whether the job fits
	now       time.Time         // when it is asked
	quotes    *quotes           // of the files that are reviewed
	names     []string          // of the namespaces of the view
	answers   bool              // the operators' own webhooks answer too, as they do on a live cluster
	rehearsal *rehearsal        // nil: the API server is not asked about pods
	skipped   []preflight.Skip  // what could not be seen
	namespace string            // for objects that name none
	forced    bool              // the user chose the namespace
	user      string            // who asks: whom the cluster takes us for, or --as; empty: nobody knows
	groups    []string          // of that user
	asking    *asking           // in which namespace, where the user says so

	settings     config.Checks // as a file tunes them
	settingsFile string        // empty: none does
	disabled     []string      // checks that --disable leaves out

	known  func(namespace string) map[string]string                      // labels; nil: from the cluster
	before func(o *unstructured.Unstructured) *unstructured.Unstructured // the stored job; nil: from the cluster
}

// open gathers the world for the jobs of the input.
func (f *worldFlags) open(ctx context.Context, sh *shell, in *input) (*world, error) {
	return f.openFor(ctx, sh, in, false)
}

// settingsNames are what people call a file with settings that they expect to be read because it is there.
var settingsNames = []string{".signalbox.yaml", ".signalbox.yml", "signalbox.yaml", "signalbox.yml"}

// sayUnread says that a file with settings in the current folder is not read, because nobody named it.
func sayUnread(sh *shell) {
	for _, name := range settingsNames {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			sh.tell("note: %[1]s is here and was not read: settings are read where they are named: --config %[1]s", name)
			return
		}
	}
}

// openFor is open; fitOnly says that nothing is asked but whether the jobs fit.
func (f *worldFlags) openFor(ctx context.Context, sh *shell, in *input, fitOnly bool) (*world, error) {
	w := &world{fitOnly: fitOnly, namespace: "default", quotes: in.quotes, now: sh.now(), user: *f.kube.Impersonate, groups: *f.kube.ImpersonateGroup}
	if ns := *f.kube.Namespace; ns != "" {
		w.namespace, w.forced = ns, true
	}
	if f.only && w.user == "" && len(w.groups) > 0 {
		return nil, usagef("--as-group says in which groups the user of --as is; expected --as USER beside it")
	}
	var err error
	settings := config.Default()
	if f.settings != "" {
		if settings, err = config.Load(f.settings); err != nil {
			return nil, &exit{exitUsage, err}
		}
	} else {
		sayUnread(sh)
	}
	w.settings, w.settingsFile, w.disabled = settings.Checks, f.settings, f.disable
	if f.enforce {
		w.asking = &asking{mode: preflight.ModeEnforce}
	}
	others, err := othersThan(f.selected)
	if err != nil {
		return nil, err
	}
	settings.Checks.Disable = slices.Concat(settings.Checks.Disable, f.disable, others)
	as, err := tune(settings.Checks)
	if err != nil {
		return nil, err
	}
	w.checks, w.tuned = as.everywhere, as.in
	var view clusterView
	if view, w.seen, err = f.view(ctx, sh, w, in); err != nil {
		return nil, err
	}
	if view.addAll(in.others, w.namespace) || w.seen {
		if w.cluster, err = view.Snapshot(); err != nil {
			return nil, &exit{exitUsage, err}
		}
	}
	for _, o := range view.Objects {
		if o.GroupVersionKind() == corev1.SchemeGroupVersion.WithKind("Namespace") {
			w.names = append(w.names, o.GetName())
		}
	}
	if f.server {
		if w.live == nil {
			return nil, usagef("--server asks the API server of a cluster, and there is none; expected a kubeconfig whose cluster answers")
		}
		if w.rehearsal, err = w.live.rehearse(); err != nil {
			return nil, err
		}
	}
	if !fitOnly {
		if w.engine, err = f.policies(ctx, w); err == nil {
			in.notes = append(in.notes, f.manifests()...)
		}
	}
	return w, err
}

// unwanted are the checks that neither --disable nor the settings want in a namespace.
func (w *world) unwanted(namespace string) (names []string) {
	all, err := allChecks()
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
func (f *worldFlags) view(ctx context.Context, sh *shell, w *world, in *input) (v clusterView, known bool, err error) {
	if len(f.snapshot) > 0 {
		v.View, err = manifest.ReadView(f.snapshot, sh.in, trim)
		return v, true, err
	}
	if f.offline {
		return v, false, nil
	}
	asked, err := f.reach(ctx, w, in)
	if none, ok := errors.AsType[*noCluster](err); ok {
		in.notes = append(in.notes, "no cluster view: "+none.why+"; --snapshot FILE gives one")
		if f.mustAsk() && !none.silent {
			return v, false, usagef("--ask asks the Signalbox of a cluster, and there is none: %s; expected a kubeconfig whose cluster answers", none.why)
		}
		if none.silent {
			in.notes = append(in.notes, "no cluster was asked; give --offline if that is what you want")
			w.silent = none.why
			w.skipped = []preflight.Skip{{Check: "cluster", Reason: none.why}}
		}
		return v, false, nil
	}
	if err != nil {
		return v, false, err
	}
	w.answers = true
	p := sh.progress()
	defer p.done()
	if asked {
		w.asks, w.nodeless = true, true
		if !w.fitOnly {
			w.skipped, err = w.live.ask(ctx, &v.View, readJobs(in, v.View, w.namespace))
		}
		return v, true, err
	}
	if v.View, w.skipped, err = w.live.look(ctx, sh.now(), p); err != nil {
		return v, false, err
	}
	w.nodeless = slices.ContainsFunc(w.skipped, func(s preflight.Skip) bool { return s.Check == "nodes" })
	p.step("reading what the jobs name …")
	skipped, err := w.live.ask(ctx, &v.View, readJobs(in, v.View, w.namespace))
	w.skipped = append(w.skipped, skipped...)
	return v, true, err
}

// reach reaches the cluster of the kubeconfig. Where its Signalbox answers about all jobs of the
// input, or nothing else is wanted, asked is true, and nothing more was asked of the cluster.
func (f *worldFlags) reach(ctx context.Context, w *world, in *input) (asked bool, err error) {
	c, err := dial(f.kube)
	if err != nil {
		return false, err
	}
	if !w.forced {
		w.namespace = c.namespace
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
		in.notes = append(in.notes, "the cluster is listed: "+why)
	}
	if err := c.greet(ctx); err != nil {
		w.live = nil
		return false, c.unreached(err)
	}
	if user, groups := f.asker(ctx, c); f.only && user != "" {
		c.user, c.groups = user, groups
	}
	if c.user != "" {
		w.user, w.groups = c.user, c.groups
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
		return nil, &exit{exitUsage, err}
	}
	f.asked, f.unset = len(engine.Docs()), engine.Unset()
	if w.live == nil || w.asks || f.only {
		return engine, nil
	}
	fsys, why, err := w.live.policies(ctx)
	if err != nil {
		return nil, err
	}
	if fsys != nil {
		if err := engine.Swap(append(sources, fsys)...); err != nil { //nolint:contextcheck // as above
			why = "the cluster's policies do not load: " + oneLine(err.Error())
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
	return fmt.Sprintf("%s: %s of Kubernetes passed over, as no data of policies: %s", dir, count(len(names), "manifest"), few(names))
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
		return folderOf(name), nil
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
