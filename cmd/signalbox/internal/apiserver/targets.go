package apiserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/restmapper"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/words"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/collect"
)

// Target is a job that the user names, or a pod of it.
type Target struct {
	Kind *kinds.Kind // nil: a pod
	Name string
	Any  bool // of a kind that was not named
}

// PlainName is a name without a kind: what has a dot or an upper-case letter is a file, or a slip.
var PlainName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)

// PodWords and nodeWords are the words of kubectl for what is no job.
var (
	PodWords  = []string{"pod", "pods", "po"}
	nodeWords = []string{"node", "nodes", "no"}
)

// KindCalled is the kind of a word that users write: pytorchjob, pytorchjobs,
// pytorchjobs.kubeflow.org; nil: none.
func KindCalled(word string) *kinds.Kind {
	k, _, err := collect.Resolve(kinds.All(), word+"/x")
	if err != nil {
		return nil
	}
	return k
}

// ReadTargets reads KIND/NAME… and KIND NAME…, as kubectl has them.
func ReadTargets(args []string) ([]Target, error) {
	if len(args) > 1 && !strings.Contains(args[0], "/") && !onlyNames(args) {
		word := args[0]
		args = slices.Clone(args[1:])
		for i, name := range args {
			if strings.Contains(name, "/") {
				return nil, shell.Usagef("%q follows %q; expected KIND NAME… or KIND/NAME…", name, word)
			}
			args[i] = word + "/" + name
		}
	}
	var out []Target
	for _, arg := range args {
		word, name, _ := strings.Cut(arg, "/")
		if slices.Contains(PodWords, strings.ToLower(word)) && name != "" && !strings.Contains(name, "/") {
			out = append(out, Target{Name: name})
			continue
		}
		if PlainName.MatchString(arg) && KindCalled(arg) == nil {
			out = append(out, Target{Name: arg, Any: true})
			continue
		}
		kind, name, err := collect.Resolve(kinds.All(), arg)
		if err != nil {
			return nil, unresolved(arg)
		}
		out = append(out, Target{Kind: kind, Name: name})
	}
	return out, nil
}

// onlyNames says whether all arguments are names of jobs: the first is no kind, and none written wrong.
func onlyNames(args []string) bool {
	word := strings.ToLower(args[0])
	slip := func(kind string) bool { _, near := Distance(word, kind); return near }
	return KindCalled(word) == nil && !slices.Contains(PodWords, word) && !slices.Contains(nodeWords, word) && !slices.ContainsFunc(KindWords(), slip) &&
		!slices.ContainsFunc(args, func(a string) bool { return !PlainName.MatchString(a) })
}

// unresolved is the error about what is no KIND/NAME.
func unresolved(arg string) error {
	if _, err := os.Stat(arg); err == nil && strings.ContainsAny(arg, "/.") {
		return shell.Usagef("%s is a file or folder here; expected KIND/NAME, a job of the cluster", arg)
	}
	if shell.NamesFile(arg) && !shell.IsAddress(arg) {
		return shell.Usagef("%s: no such file or folder", arg)
	}
	if namesFolder(arg) {
		return shell.Usagef("%s: no such folder", arg)
	}
	if word, name, _ := strings.Cut(arg, "/"); slices.Contains(nodeWords, strings.ToLower(word)) && name != "" && !strings.Contains(name, "/") {
		return shell.Usagef("%s: nodes are not diagnosed, jobs are; signalbox get jobs -A --node %s lists those with a pod on it", arg, name)
	}
	_, _, err := collect.Resolve(kinds.All(), arg)
	return shell.Usagef("%s%s", terminal.OneLine(err.Error()), hint(arg))
}

// namesFolder says whether an argument can be no KIND/NAME, because it ends in a slash or has more than one, and
// does not begin with a kind either.
func namesFolder(arg string) bool {
	word, name, ok := strings.Cut(arg, "/")
	return ok && (name == "" || strings.Contains(name, "/")) && !shell.IsAddress(arg) && KindCalled(word) == nil && !slices.Contains(PodWords, strings.ToLower(word))
}

// ReadNamed is readTargets where a name alone says too little.
func ReadNamed(args []string) ([]Target, error) {
	out, err := ReadTargets(args)
	for _, t := range out {
		if t.Any {
			return nil, unresolved(t.Name)
		}
	}
	return out, err
}

// KindWords are the kinds of jobs as they are typed.
func KindWords() []string {
	var out []string
	for _, k := range kinds.All() {
		out = append(out, strings.ToLower(k.Name))
	}
	return out
}

// hint is what somebody may mean whose argument is no KIND/NAME.
func hint(arg string) string {
	word, name, ok := strings.Cut(arg, "/")
	names := KindWords()
	switch {
	case shell.IsAddress(arg):
		return fmt.Sprintf("; for a log behind an address: curl -s %s | signalbox diagnose -", arg)
	case !ok && KindCalled(arg) != nil:
		return "; a kind needs a name"
	case !ok || strings.Contains(name, "/"):
		return fmt.Sprintf("; for a log that does exist: --log %s", arg)
	}
	if near := check.DidYouMean(strings.ToLower(word), names).String(); near != "" {
		return near
	}
	return fmt.Sprintf("; if %s is a namespace: %s -n %s", word, name, word)
}

// Reach is the cluster, or an error that says what else would do.
func Reach(ctx context.Context, kube *genericclioptions.ConfigFlags, or string) (*Cluster, error) {
	live, err := Connect(ctx, kube)
	if none, ok := errors.AsType[*NoCluster](err); ok {
		return nil, shell.Usagef("%s; expected a kubeconfig whose cluster answers%s", none.Why, or)
	}
	return live, err
}

// CaseOf collects everything about a target.
func (c *Cluster) CaseOf(ctx context.Context, sh *shell.Shell, t Target) (diagnose.Case, error) {
	p := sh.Progress()
	defer p.Done()
	from := c.collector(ctx, sh, p)
	if t.Kind == nil {
		var err error
		if t.Any {
			t, err = c.jobCalled(ctx, t.Name)
		} else {
			t, err = c.jobOfPod(ctx, t.Name)
		}
		if err != nil {
			return diagnose.Case{}, err
		}
	}
	object, err := from.Find(ctx, t.Kind, c.Namespace, t.Name)
	switch {
	case apierrors.IsNotFound(err):
		return diagnose.Case{}, shell.Usagef("%s %s/%s: not found%s", t.Kind.Name, c.Namespace, t.Name, c.elsewhere(ctx, t))
	case apierrors.IsForbidden(err):
		return diagnose.Case{}, shell.Usagef("%s %s/%s: %s may not read %s in namespace %s%s", t.Kind.Name, c.Namespace, t.Name, c.asker(), t.Kind.Resource, c.Namespace, GrantRead(c.Namespace))
	case err != nil:
		return diagnose.Case{}, err
	}
	p.Step("reading pods, events and logs of %s …", t.Name)
	found, err := from.Case(ctx, t.Kind, object)
	if apierrors.IsForbidden(err) && len(found.Missing) > 0 { // the last says all that may not be read
		return found, shell.Usagef("%s %s/%s: %s", t.Kind.Name, c.Namespace, t.Name, found.Missing[len(found.Missing)-1])
	}
	return found, err
}

// asker is whose rights decide what is read, as sentences name them.
func (c *Cluster) asker() string {
	if c.Config != nil && c.Config.Impersonate.UserName != "" {
		return c.Config.Impersonate.UserName
	}
	return "you"
}

// Missing is the error of a namespace that is not there, and nil where it is or where that may not be read.
func (c *Cluster) Missing(ctx context.Context, namespace string) error {
	near, gone := absent(ctx, c.Clients.CoreV1().Namespaces(), namespace)
	if !gone {
		return nil
	}
	return shell.Usagef("namespace %q does not exist%s", namespace, near)
}

// MissingNode is the same of a node.
func (c *Cluster) MissingNode(ctx context.Context, node string) error {
	near, gone := absent(ctx, c.Clients.CoreV1().Nodes(), node)
	if !gone {
		return nil
	}
	return shell.Usagef("no node is called %q, and no job failed on one of that name%s", node, near)
}

// absent says that the cluster has no object of a name among those that have no namespace, and which name is near it.
func absent[T any, L runtime.Object](ctx context.Context, of namedObjects[T, L], name string) (near check.Suggestion, gone bool) {
	if _, err := of.Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return near, false
	}
	var names []string
	if all, err := of.List(ctx, metav1.ListOptions{Limit: mostCompleted}); err == nil {
		_ = meta.EachListItem(all, func(o runtime.Object) error { // a typed list always has items
			if named, err := meta.Accessor(o); err == nil {
				names = append(names, named.GetName())
			}
			return nil
		})
	}
	return check.DidYouMean(name, names), true
}

// namedObjects are the objects of one kind, as a typed client reads them.
type namedObjects[T any, L runtime.Object] interface {
	Get(ctx context.Context, name string, o metav1.GetOptions) (*T, error)
	List(ctx context.Context, o metav1.ListOptions) (L, error)
}

// elsewhere says where a job of the name is, if its namespace is another one, or which name is meant; no kind: any.
func (c *Cluster) elsewhere(ctx context.Context, t Target) string {
	all := kinds.All()
	if t.Kind != nil {
		all = []*kinds.Kind{t.Kind}
	}
	var served []schema.GroupVersionResource
	for _, k := range all {
		if gvrs := c.resources(k); len(gvrs) > 0 {
			served = append(served, gvrs[0])
		}
	}
	var in []string
	for _, gvr := range served {
		found, err := c.Objects.Resource(gvr).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + t.Name, Limit: terminal.MostNames + 2}) // the one here is none of them, and one more says that there are more
		for i := 0; err == nil && i < len(found.Items); i++ {
			if o := &found.Items[i]; o.GetName() == t.Name && o.GetNamespace() != c.Namespace && !slices.Contains(in, o.GetNamespace()) {
				in = append(in, o.GetNamespace())
			}
		}
	}
	switch len(in) {
	case 0:
	case 1:
		return fmt.Sprintf("; there is one in namespace %[1]s: -n %[1]s", in[0])
	default:
		slices.Sort(in)
		more := ""
		if len(in) > terminal.MostNames {
			more = " and more"
		}
		return fmt.Sprintf("; there are some in the namespaces %s%s: -n %s", strings.Join(in[:min(len(in), terminal.MostNames)], ", "), more, in[0])
	}
	if err := c.Missing(ctx, c.Namespace); err != nil {
		return "; " + err.Error()
	}
	var names []string
	for _, gvr := range served {
		here, err := c.Objects.Resource(gvr).Namespace(c.Namespace).List(ctx, metav1.ListOptions{Limit: mostCompleted})
		for i := 0; err == nil && i < len(here.Items); i++ {
			names = append(names, here.Items[i].GetName())
		}
	}
	if meant := check.DidYouMean(t.Name, names).String(); meant != "" || len(names) == 0 || t.Kind == nil {
		return meant
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return fmt.Sprintf("; namespace %s has %s", c.Namespace, terminal.Few(names))
}

// Asked is the job of the cluster that an argument names.
func (c *Cluster) Asked(ctx context.Context, t Target) (*unstructured.Unstructured, error) {
	if t.Kind == nil {
		return nil, shell.Usagef("%s is a pod; expected a job: KIND/NAME", t.Name)
	}
	served := c.resources(t.Kind)
	if len(served) == 0 {
		return nil, shell.Usagef("%s %s/%s: the cluster serves no %s", t.Kind.Name, c.Namespace, t.Name, t.Kind.Resource)
	}
	object, err := c.Objects.Resource(served[0]).Namespace(c.Namespace).Get(ctx, t.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, shell.Usagef("%s %s/%s: not found%s", t.Kind.Name, c.Namespace, t.Name, c.elsewhere(ctx, t))
	case err != nil:
		return nil, unanswered(fmt.Sprintf("read %s %s/%s", t.Kind.Name, c.Namespace, t.Name), err)
	}
	return object, nil
}

// resources are the versions of a kind that the cluster serves, best first.
func (c *Cluster) resources(k *kinds.Kind) (out []schema.GroupVersionResource) {
	for _, gvk := range k.GVKs {
		if slices.Contains(c.Served[gvk.Group], gvk.Version) {
			out = append(out, gvk.GroupVersion().WithResource(k.Resource))
		}
	}
	return out
}

// jobCalled is the job of a name, of whatever kind; else the job of the pod of that name. Jobs
// that one of the others was made of do not count.
func (c *Cluster) jobCalled(ctx context.Context, name string) (Target, error) {
	var found []Target
	var failed error
	unread := 0
	for _, k := range kinds.All() {
		served := c.resources(k)
		if len(served) == 0 {
			continue
		}
		o, err := c.Objects.Resource(served[0]).Namespace(c.Namespace).Get(ctx, name, metav1.GetOptions{})
		switch {
		case err == nil && !IsPart(o):
			found = append(found, Target{Kind: k, Name: name})
		case apierrors.IsForbidden(err):
			unread++
		case err != nil && !apierrors.IsNotFound(err):
			failed = unanswered(fmt.Sprintf("whether %s/%s is in namespace %s is not known", strings.ToLower(k.Name), name, c.Namespace), err)
		}
	}
	switch len(found) {
	case 0:
		if failed != nil {
			return Target{}, failed
		}
		if unread > 0 {
			return Target{}, shell.Usagef("%s may not read %s of jobs in namespace %s, so whether one is called %q is not known%s", c.asker(), terminal.Count(unread, "kind"), c.Namespace, name, GrantRead(c.Namespace))
		}
		t, err := c.jobOfPod(ctx, name)
		if code := (*shell.Exit)(nil); errors.As(err, &code) {
			if meant := c.elsewhere(ctx, Target{Name: name}); meant != "" {
				return t, shell.Usagef("no job and no pod of one is called %q in namespace %s%s", name, c.Namespace, meant)
			}
			return t, shell.Usagef("no job and no pod of one is called %q in namespace %s; -n NAMESPACE looks in another; expected KIND/NAME, for example pytorchjob/train, or for a log that does exist: --log %s", name, c.Namespace, name)
		}
		return t, err
	case 1:
		return found[0], nil
	}
	var names []string
	for _, t := range found {
		names = append(names, strings.ToLower(t.Kind.Name)+"/"+name)
	}
	return Target{}, shell.Usagef("%d jobs are called %q in namespace %s; expected %s", len(found), name, c.Namespace, terminal.OrList(names))
}

// jobOfPod is the job at the end of the owners of a pod.
func (c *Cluster) jobOfPod(ctx context.Context, name string) (Target, error) {
	pod, err := c.Clients.CoreV1().Pods(c.Namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return Target{}, shell.Usagef("Pod %s/%s: not found", c.Namespace, name)
	case err != nil:
		return Target{}, fmt.Errorf("read Pod %s/%s: %w", c.Namespace, name, err)
	}
	var found Target
	for owner, n := metav1.GetControllerOf(pod), 0; owner != nil; n++ {
		if n == mostOwners {
			return Target{}, shell.Usagef("Pod %s/%s: more than %d owners stand above each other; expected pod, Job, JobSet, TrainJob at most", c.Namespace, name, mostOwners)
		}
		gvk := schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind)
		k := kinds.For(gvk)
		if k == nil {
			break
		}
		found = Target{Kind: k, Name: owner.Name}
		above, err := c.Objects.Resource(gvk.GroupVersion().WithResource(k.Resource)).Namespace(c.Namespace).Get(ctx, owner.Name, metav1.GetOptions{})
		if err != nil {
			break // the job below is found already
		}
		owner = metav1.GetControllerOf(above)
	}
	if found.Kind == nil {
		return Target{}, shell.Usagef("Pod %s/%s: no training job owns it", c.Namespace, name)
	}
	return found, nil
}

// everyChange is how often a watched job is looked at.
const everyChange = 5 * time.Second

// Change waits until the job of a case, or one of its pods, is another one.
func (c *Cluster) Change(ctx context.Context, from diagnose.Case) error {
	before := ""
	tick := time.NewTicker(everyChange)
	defer tick.Stop()
	for {
		now, err := c.versions(ctx, from)
		if err != nil {
			return err
		}
		if before == "" {
			before = now
		}
		if now != before {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// versions are the resource versions of a job and its pods, in one string.
func (c *Cluster) versions(ctx context.Context, from diagnose.Case) (string, error) {
	ref := from.Job.Ref
	gvk := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	o, err := c.Objects.Resource(gvk.GroupVersion().WithResource(from.Kind.Resource)).Namespace(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("read %s: %w", ref, err)
	}
	pods, err := c.Clients.CoreV1().Pods(ref.Namespace).List(ctx, metav1.ListOptions{LabelSelector: from.Kind.Pods(ref).String()})
	if err != nil {
		return "", fmt.Errorf("list pods of %s: %w", ref, err)
	}
	seen := []string{stateOf(from.Kind, o)}
	for i := range pods.Items {
		seen = append(seen, pods.Items[i].Name+pods.Items[i].ResourceVersion)
	}
	slices.Sort(seen)
	return strings.Join(seen, " "), nil
}

// stateOf is what the operator says of a job; our own annotations are no change.
func stateOf(k *kinds.Kind, o *unstructured.Unstructured) string {
	s := k.State(o)
	return fmt.Sprint(s.Phase, s.Reason, s.Since)
}

// Ended says whether a job in a state has ended.
func Ended(s kinds.State) bool { return s.Phase == kinds.Succeeded || s.Phase == kinds.Failed }

// Distance is how many letters differ, and whether so few that one word is meant: none in a
// short one, because Job and Pod are two words.
func Distance(word, known string) (n int, near bool) {
	n = words.Distance(strings.ToLower(word), strings.ToLower(known), len(known))
	return n, n <= min(3, len(known)/4)
}

// IsPart says whether a job was made for another one that is listed itself.
func IsPart(o *unstructured.Unstructured) bool {
	owner := metav1.GetControllerOf(o)
	return owner != nil && kinds.For(schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind)) != nil
}

// collector reads jobs through this cluster. The view of the whole cluster is made when
// it is asked for; without the right to list nodes there is none.
func (c *Cluster) collector(ctx context.Context, sh *shell.Shell, p *shell.Progress) *collect.Cluster {
	return &collect.Cluster{
		Kube: c.Clients, Dynamic: c.Objects, Now: sh.Now, Asker: c.asker(), Beyond: !c.ForOthers,
		Mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.Clients.Discovery())),
		Snapshot: func() *cluster.Snapshot {
			view, _, err := c.Look(ctx, sh.Now(), p)
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
