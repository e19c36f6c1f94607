// Package get is the command get jobs: the training jobs of a cluster or a snapshot, their totals, and what became of what the
// checks said of them. Start reading at New.
package get

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/reference"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Flags say which jobs are listed, and how.
type Flags struct {
	kube                             *genericclioptions.ConfigFlags
	all, watch, parts, bare          bool
	snapshot                         []string
	selector, category, owner, queue string
	kind, node                       string
	healthy, state, sortBy, groupBy  *shell.Choice
	output, coloured                 *shell.Choice
	widths                           []int                 // of the columns that --watch has printed
	missing                          apiserver.Unlisted    // at the first look
	notes                            []string              // what missing says
	contexts                         *apiserver.Remembered // what --context was given, every time
	several                          bool                  // rows are of several contexts
	there                            map[string]bool       // jobs that were listed, whether a filter takes them or not
}

// AnyJob wants every job, for a command that lists them otherwise.
func AnyJob(kube *genericclioptions.ConfigFlags, all bool) *Flags {
	return &Flags{kube: kube, all: all, healthy: shell.OneOf(""), state: shell.OneOf(""), groupBy: shell.OneOf("")}
}

// New is the command get.
func New(sh *shell.Shell) *cobra.Command {
	f := &Flags{
		kube: apiserver.Flags(), healthy: shell.OneOf("", "Yes", "No", "Unknown"), state: shell.OneOf("", slices.Sorted(maps.Values(phaseNames))...), sortBy: shell.OneOf("hurt", "age", "name"), groupBy: shell.OneOf("", "category", "owner", "queue", "namespace", "context"),
		output: shell.OneOf("text", "wide", "json", "yaml", "md", "html", "name"), coloured: shell.OneOf("auto", "always", "never"),
	}
	c := &cobra.Command{Use: "get jobs", Short: "list training jobs of all kinds with their health", Example: fmt.Sprintf("  %[1]s get jobs -A\n  %[1]s get jobs --help", sh.Name)}
	jobs := &cobra.Command{
		Use:     "jobs [NAME…]",
		Aliases: []string{"job"},
		Short:   "list training jobs with state, health, cause, first pod and what they wait for",
		Long: `Get jobs lists the training jobs of all kinds: what their operators say, and what the
controller wrote on them. Jobs that one job was made of are left out, unless --parts.

What hurts stands first: jobs that are not healthy and hold devices, by devices and time; then
those that wait, those that run, and those that have ended. DEVICES is how many a job asks for; 24/80 are
24 held of 80 asked for: a pod without a node holds nothing. SINCE (-o wide) is for how long the state has
been, and of a job that waits the wait.

--group-by prints totals instead of jobs: for each category, owner, queue, namespace or context how many jobs there are and
how many are not healthy, the GPUs that they hold, and GPU HOURS, which are the GPUs held times SINCE.

Jobs do not say who submitted them; where a label does, -l chooses by it. --owner is who has to act on the
cause of what is wrong.

--context may be given several times, or with commas: the list is then one over several clusters. One that does not answer
is named in a note, and the exit code is 4.`,
		Example: fmt.Sprintf("  %[1]s get jobs -n ml\n  %[1]s get jobs -A --healthy No -o wide\n  %[1]s get jobs -A --owner hardware -o name | xargs -L1 %[1]s diagnose\n  %[1]s get jobs -A --healthy No --group-by category\n  %[1]s get jobs -A --node gpu-7\n  %[1]s get jobs -A -w", sh.Name),
		RunE:    func(c *cobra.Command, args []string) error { return shell.Own(f.run(c.Context(), sh, args)) },
	}
	jobs.Flags().BoolVarP(&f.all, "all-namespaces", "A", false, "jobs of all namespaces")
	jobs.Flags().BoolVarP(&f.watch, "watch", "w", false, "go on, and print every job that changes")
	jobs.Flags().BoolVar(&f.bare, "no-headers", false, "without the line that names the columns")
	jobs.Flags().BoolVar(&f.parts, "parts", false, "also jobs that belong to another job: a JobSet's Jobs")
	jobs.Flags().StringSliceVar(&f.snapshot, "snapshot", nil, "jobs of this `file` instead of the cluster's")
	jobs.Flags().StringVarP(&f.selector, "selector", "l", "", "only jobs with these `labels`")
	jobs.Flags().StringVar(&f.kind, "kind", "", "only jobs of this `kind`")
	jobs.Flags().StringVar(&f.category, "category", "", "only jobs whose cause is of this `category`")
	jobs.Flags().StringVar(&f.owner, "owner", "", "only jobs on whose cause this `owner` has to act: user, platform, hardware …; not who submitted them")
	jobs.Flags().StringVar(&f.node, "node", "", "only jobs with a pod on this `node`, or that failed there first")
	jobs.Flags().StringVar(&f.queue, "queue", "", "only jobs of this Kueue or Volcano `queue`")
	f.kube.AddFlags(jobs.Flags())
	f.contexts = apiserver.SeveralContexts(jobs.Flags())
	apiserver.CompleteCluster(jobs, f.kube)
	for name, of := range map[string]func() []string{"kind": apiserver.KindWords, "category": categorySlugs, "owner": owners} {
		// It fails only for a flag that does not exist.
		_ = jobs.RegisterFlagCompletionFunc(name, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return of(), cobra.ShellCompDirectiveNoFileComp
		})
	}
	shell.AddChoice(jobs, f.healthy, "healthy", "", "only jobs that are Yes, No or Unknown")
	shell.AddChoice(jobs, f.state, "state", "", "only jobs in this state")
	shell.AddChoice(jobs, f.sortBy, "sort-by", "", "order of the list")
	shell.AddChoice(jobs, f.groupBy, "group-by", "", "totals of jobs, GPUs held and GPU hours by this, instead of the jobs")
	shell.AddChoice(jobs, f.output, "output", "o", "output format; name is kind.group/name, with -A followed by -n and the namespace, a line for xargs -L1")
	shell.AddChoice(jobs, f.coloured, "color", "", "colour of text; NO_COLOR is honoured")
	jobs.ValidArgsFunction = f.completeNames(sh)
	c.ValidArgsFunction = apiserver.CompleteKinds(f.kube)
	c.AddCommand(jobs)
	return c
}

// JobsOfKind takes get KIND and get KIND/NAME, as kubectl has them, for get jobs --kind KIND NAME. A job is one of any
// kind.
func JobsOfKind(args []string) []string {
	if len(args) > 3 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) { // the last word is only begun
		return append(args[:1:1], JobsOfKind(args[1:])...)
	}
	if len(args) < 2 || args[0] != "get" {
		return args
	}
	word, name, named := strings.Cut(args[1], "/")
	every := word == "jobs" || word == "job"
	if every && !named || !every && apiserver.KindCalled(word) == nil {
		return args
	}
	out := []string{"get", "jobs"}
	if !every {
		out = append(out, "--kind", word)
	}
	if named {
		out = append(out, name)
	}
	return append(out, args[2:]...)
}

// wrong says which filter names what no job can be.
func (f *Flags) wrong(sh *shell.Shell) error {
	if f.kind != "" && apiserver.KindCalled(f.kind) == nil {
		return shell.Usagef("no kind of job is called %q; %s list kinds shows all%s", f.kind, sh.Name, check.DidYouMean(strings.ToLower(f.kind), apiserver.KindWords()))
	}
	if slugs := categorySlugs(); f.category != "" && !slices.Contains(slugs, f.category) {
		meant := check.DidYouMean(f.category, slugs).String()
		if within := reference.NamesWith(f.category, slugs); within != "" {
			meant = "; names with it: " + within
		}
		return shell.Usagef("no category is called %q; %s list categories shows all%s", f.category, sh.Name, meant)
	}
	if all := owners(); f.owner != "" && !slices.Contains(all, f.owner) {
		meant := check.DidYouMean(f.owner, all).String()
		if meant == "" { // the name of somebody
			meant = "; --owner is who has to act on the cause, and not who submitted the job"
		}
		return shell.Usagef("no owner is called %q; expected %s%s", f.owner, terminal.OrList(all), meant)
	}
	return nil
}

// categorySlugs are the categories that a job can have.
func categorySlugs() []string {
	out := []string{signature.HealthyCategory}
	for _, c := range signature.Categories() {
		out = append(out, c.Slug)
	}
	return out
}

// owners are all who may have to act.
func owners() []string {
	out := []string{string(signature.Nobody)}
	for _, c := range signature.Categories() {
		out = append(out, string(c.Owner))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ofKind takes KIND/NAME for --kind KIND NAME.
func (f *Flags) ofKind(args []string) (names []string, err error) {
	for _, arg := range args {
		word, name, ok := strings.Cut(arg, "/")
		switch {
		case !ok && len(names) > 0 && strings.Contains(args[0], "/"), ok && f.kind != "" && apiserver.KindCalled(word) != apiserver.KindCalled(f.kind):
			return nil, shell.Usagef("%s: jobs of one kind can be named; expected KIND/NAME of one kind, or names alone", strings.Join(args, " "))
		case !ok:
			name = arg
		case apiserver.KindCalled(word) == nil:
			return nil, shell.Usagef("%s: no kind of job is called %q; expected KIND/NAME, or a name alone%s", arg, word, check.DidYouMean(word, apiserver.KindWords()))
		default:
			f.kind = word
		}
		names = append(names, name)
	}
	return names, nil
}

func (f *Flags) run(ctx context.Context, sh *shell.Shell, names []string) error {
	if err := f.wrong(sh); err != nil {
		return err
	}
	names, err := f.ofKind(names)
	if err != nil {
		return err
	}
	if form := f.output.Value; f.watch && (form == "html" || form == "md") {
		return shell.Usagef("--watch prints rows as they change, and -o %s is one document; expected text, wide, json, yaml or name; %s board shows the jobs live in a browser", form, sh.Name)
	}
	if by, form := f.groupBy.Value, f.output.Value; by != "" && (f.watch || form == "html" || form == "name") {
		return shell.Usagef("--group-by prints totals once; expected -o text, wide, json, yaml or md, and no --watch")
	}
	if len(f.snapshot) > 0 {
		return f.runSnapshot(sh, names)
	}
	if several := apiserver.ContextsOf(f.contexts); len(several) > 1 {
		return f.runContexts(ctx, sh, several, names)
	}
	live, err := apiserver.Reach(ctx, f.kube, ", or --snapshot FILE")
	if err != nil {
		return err
	}
	seen, missingBefore := map[string]JobRow{}, 0
	for first := true; ; first = false {
		rows, missing, versions, note, err := f.listed(ctx, live, names)
		if err != nil {
			return err
		}
		if first && missing.Len() > 0 && len(versions) == 0 {
			return missing.None(f.NamespaceOf(live))
		}
		if first {
			f.missing, f.notes = missing, missing.Notes(f.NamespaceOf(live))
			sh.Notes(f.notes)
		}
		if first && note != "" {
			sh.Tell("note: %s", note)
		}
		rows = f.onNode(rows)
		SortRows(rows, f.sortBy.Value, sh.Now())
		changed := news(seen, rows)
		if missing.Len() <= missingBefore || first { // whether what is no more listed is there is not known
			changed = append(changed, f.deleted(seen)...)
		}
		missingBefore = missing.Len()
		if first || len(changed) > 0 {
			if err := f.render(sh, changed, f.all, first && !f.bare, terminal.NewPainter(f.coloured.Value, sh.Out)); err != nil {
				return err
			}
		}
		if first && len(rows) == 0 {
			if err := f.whyNone(ctx, live); err != nil {
				return err
			}
			if len(names) > 0 {
				return cmp.Or(missing.Verdict(), noneCalled(names, f.NamespaceOf(live)))
			}
			f.sayNone(sh, live, missing.Len() > 0)
		}
		if !f.watch {
			return missing.Verdict()
		}
		if err := anyChange(ctx, live, versions, f.NamespaceOf(live)); err != nil {
			return err
		}
	}
}

// whyNone is an error where there are no jobs because the namespace or the node that was named is not there.
func (f *Flags) whyNone(ctx context.Context, live *apiserver.Cluster) error {
	if !f.all {
		if err := live.Missing(ctx, live.Namespace); err != nil {
			return err
		}
	}
	if f.node == "" {
		return nil
	}
	return live.MissingNode(ctx, f.node)
}

// NamespaceOf is the namespace whose jobs are listed; empty: all.
func (f *Flags) NamespaceOf(live *apiserver.Cluster) string {
	if f.all {
		return metav1.NamespaceAll
	}
	return live.Namespace
}

// List reads the jobs of all kinds that the cluster serves, and says which were not listed.
func (f *Flags) List(ctx context.Context, live *apiserver.Cluster, names []string) (rows []JobRow, missing apiserver.Unlisted, versions map[schema.GroupVersionResource]string, err error) {
	versions = map[schema.GroupVersionResource]string{}
	rows, f.there = []JobRow{}, map[string]bool{}
	wanted := func(k *kinds.Kind) bool { return f.kind == "" || apiserver.KindCalled(f.kind) == k }
	missing, err = live.EachPage(ctx, f.NamespaceOf(live), f.selector, wanted, func(k *kinds.Kind, gvr schema.GroupVersionResource, page *unstructured.UnstructuredList) {
		for i := range page.Items {
			r := rowOf(k, &page.Items[i])
			f.there[r.key()] = true
			if f.wants(r, &page.Items[i], names) {
				r.Pods = k.Select(refOf(k, &page.Items[i]), &page.Items[i])
				rows = append(rows, r)
			}
		}
		versions[gvr] = page.GetResourceVersion()
	})
	if err != nil {
		return nil, apiserver.Unlisted{}, nil, err
	}
	return rows, missing, versions, nil
}

// noneCalled is the error of names that no job has where they were looked for.
func noneCalled(names []string, namespace string) error {
	where := "namespace " + namespace + "; -A looks in all"
	if namespace == metav1.NamespaceAll {
		where = "any namespace"
	}
	return shell.Usagef("no training job called %s is in %s", terminal.OrList(names), where)
}

// sayNone says where no job was found.
func (f *Flags) sayNone(sh *shell.Shell, live *apiserver.Cluster, partly bool) {
	what := "training jobs"
	if f.kind+f.node+f.category+f.owner+f.queue+f.selector+f.healthy.Value+f.state.Value != "" {
		what = "such training jobs"
	}
	if partly {
		what += " of the kinds that were listed"
	}
	if f.all {
		sh.Tell("no %s found in any namespace", what)
		return
	}
	sh.Tell("no %s found in namespace %s; -A looks in all", what, live.Namespace)
}

func (f *Flags) wants(r JobRow, o *unstructured.Unstructured, names []string) bool {
	return (f.parts || !apiserver.IsPart(o)) && (len(names) == 0 || slices.Contains(names, r.Name)) &&
		(f.healthy.Value == "" || f.healthy.Value == r.Healthy) && (f.state.Value == "" || f.state.Value == r.State) &&
		(f.category == "" || f.category == r.Category) && (f.owner == "" || f.owner == r.Owner) && (f.queue == "" || f.queue == r.Queue)
}

// completeNames completes the names of get jobs: those of the snapshot, or else of the cluster.
func (f *Flags) completeNames(sh *shell.Shell) cobra.CompletionFunc {
	return func(c *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
		asked, out := apiserver.KindCalled(f.kind), []string(nil)
		switch {
		case len(f.snapshot) > 0:
			objects, err := JobsOfSnapshot(sh, f.snapshot, f.selector)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			for _, o := range objects {
				if asked == nil || kinds.For(o.GroupVersionKind()) == asked {
					out = append(out, o.GetName())
				}
			}
		case asked != nil:
			out = apiserver.NamesOf(c.Context(), f.kube, asked)
		default:
			out = apiserver.NamesOf(c.Context(), f.kube, kinds.All()...)
		}
		return apiserver.Beginning(start, out), cobra.ShellCompDirectiveNoFileComp
	}
}
