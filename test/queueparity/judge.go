package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	resourcehelper "k8s.io/component-helpers/resource"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/workload"

	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/preflight/quota"
)

// verdict is what one scenario showed.
type verdict struct {
	ours, kueue string // none, now, never
	notes       string
	unknown     bool // we do not say
	greedy      bool // Kueue gets stuck where another choice would do
	numbers     int
	wrong       string // the disagreement; empty: none
}

func judge(ctx context.Context, s *scenario) (verdict, error) {
	now, err := newOracle(ctx, s, s.held)
	if err != nil {
		return verdict{}, err
	}
	ever, err := newOracle(ctx, s, nil)
	if err != nil {
		return verdict{}, err
	}
	limit, notes, err := ask(ctx, s, now)
	if err != nil {
		return verdict{}, err
	}
	v := verdict{ours: "none", notes: notes}
	if limit != nil {
		v.ours = limit.When.String()
	}
	for _, about := range []string{"has no quota for", "what may be borrowed is not known", "may borrow is not known", "depends on labels"} {
		if strings.Contains(notes, about) {
			v.unknown = true
			return v, nil
		}
	}
	word := func(ask func(*oracle) (bool, error)) string {
		for _, try := range []struct {
			on   *oracle
			word string
		}{{now, "none"}, {ever, "now"}} {
			ok, failed := ask(try.on)
			if failed != nil {
				err = failed
			}
			if ok {
				return try.word
			}
		}
		return "never"
	}
	v.kueue = word(func(o *oracle) (bool, error) { return o.admits(ctx, s.asked, s.sets) })
	if err == nil && v.kueue != v.ours && len(s.sets) > 1 {
		choices, failed := newChoices(ctx, s)
		if failed != nil {
			return v, failed
		}
		other := word(func(o *oracle) (bool, error) { return choices.fit(o), nil })
		v.greedy, v.kueue = other == v.ours, other
	}
	if err != nil {
		return v, err
	}
	if v.kueue != v.ours {
		v.wrong = fmt.Sprintf("we say %s, Kueue says %s (%s)", v.ours, v.kueue, message(limit))
		return v, nil
	}
	if limit != nil && limit.Resource != "" {
		v.numbers = 1
		v.wrong, err = s.compare(ctx, limit, now)
	}
	return v, err
}

func message(l *quota.Violation) string {
	if l == nil {
		return ""
	}
	return l.Message
}

// queue is the ClusterQueue that is asked.
func (s *scenario) queue() *kueue.ClusterQueue {
	return s.queues[slices.IndexFunc(s.queues, func(q *kueue.ClusterQueue) bool { return q.Name == s.asked })]
}

// ask is our answer: the limit about quota, nil where there is none, and what was not looked at.
func ask(ctx context.Context, s *scenario, o *oracle) (*quota.Violation, string, error) {
	objects, err := s.objects(o)
	if err != nil {
		return nil, "", err
	}
	group := func(plural string) schema.GroupResource {
		return schema.GroupResource{Group: kueue.SchemeGroupVersion.Group, Resource: plural}
	}
	whole := []schema.GroupResource{group("clusterqueues"), group("cohorts"), group("localqueues"), group("resourceflavors"), {Resource: "namespaces"}}
	view, err := manifest.View{Objects: objects, Taken: time.Unix(0, 0), Complete: whole}.Snapshot()
	if err != nil {
		return nil, "", err
	}
	asked := gang.Gang{Name: "asked", Namespace: namespace, Queue: localName, System: gang.Kueue}
	for _, set := range s.sets {
		spec := set.Template.Spec
		asked.Groups = append(asked.Groups, gang.Group{
			Name: string(set.Name), Count: int(set.Count), Min: int(set.Count),
			Pod: job.Pod{Spec: spec, Requests: podspec.Effective(&spec)},
		})
	}
	r := whatif.Answer(ctx, view, asked)
	assumed := strings.Join(r.Assumed, "; ")
	switch {
	case len(r.Violations) == 0:
		return nil, assumed, nil
	case r.Violations[0].Rule == quota.RuleQueueQuota:
		return &r.Violations[0], assumed, nil
	default:
		return nil, "", fmt.Errorf("a limit that no scenario has: %+v", r.Violations[0])
	}
}

// objects are what a cluster with these queues shows, the status written by Kueue.
func (s *scenario) objects(o *oracle) ([]*unstructured.Unstructured, error) {
	local := &kueue.LocalQueue{ObjectMeta: metav1.ObjectMeta{Name: localName, Namespace: namespace}, Spec: kueue.LocalQueueSpec{ClusterQueue: kueue.ClusterQueueReference(s.asked)}}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}, Status: corev1.NodeStatus{
		Allocatable: corev1.ResourceList{"cpu": resource.MustParse("1"), "pods": resource.MustParse("110")},
		Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
	}}
	kinds := map[string][]any{"LocalQueue": {local}, "Node": {node}, "Namespace": {&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}}, "RuntimeClass": {&sandboxed}}
	for _, f := range s.flavors {
		kinds["ResourceFlavor"] = append(kinds["ResourceFlavor"], f)
	}
	for _, c := range s.cohorts {
		kinds["Cohort"] = append(kinds["Cohort"], c)
	}
	for _, q := range s.queues {
		q = q.DeepCopy()
		used, err := o.usage(q)
		if err != nil {
			return nil, err
		}
		q.Status.FlavorsReservation = used
		kinds["ClusterQueue"] = append(kinds["ClusterQueue"], q)
	}
	var out []*unstructured.Unstructured
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		for _, typed := range kinds[kind] {
			fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
			if err != nil {
				return nil, err
			}
			u := &unstructured.Unstructured{Object: fields}
			u.SetGroupVersionKind(kueue.SchemeGroupVersion.WithKind(kind))
			switch kind {
			case "Node", "Namespace":
				u.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
			case "RuntimeClass":
				u.SetGroupVersionKind(nodev1.SchemeGroupVersion.WithKind(kind))
			}
			out = append(out, u)
		}
	}
	return out, nil
}

// choices are all ways to give each pod set one flavor of each resource group.
type choices struct {
	queue string
	steps []step
}

// step is a pod set that needs a flavor of a resource group.
type step struct {
	flavors []kueue.ResourceFlavorReference
	asks    map[corev1.ResourceName]int64
}

func newChoices(ctx context.Context, s *scenario) (*choices, error) {
	out := &choices{queue: s.asked}
	q := s.queue()
	for i := range q.Spec.ResourceGroups {
		g := &q.Spec.ResourceGroups[i]
		for _, set := range s.sets {
			asks := requests(g, set)
			if len(asks) == 0 {
				continue
			}
			may, err := allowed(ctx, s, g, set)
			if err != nil {
				return nil, err
			}
			st := step{asks: asks}
			for _, f := range g.Flavors {
				if may[string(f.Name)] {
					st.flavors = append(st.flavors, f.Name)
				}
			}
			out.steps = append(out.steps, st)
		}
	}
	return out, nil
}

// requests are what a pod set asks of a resource group, in sum.
func requests(g *kueue.ResourceGroup, set kueue.PodSet) map[corev1.ResourceName]int64 {
	out := map[corev1.ResourceName]int64{}
	for name, q := range resourcehelper.PodRequests(&corev1.Pod{Spec: set.Template.Spec}, resourcehelper.PodResourcesOptions{}) {
		if slices.Contains(g.CoveredResources, name) {
			out[name] = resources.ResourceValue(name, q) * int64(set.Count)
		}
	}
	if slices.Contains(g.CoveredResources, corev1.ResourcePods) {
		out[corev1.ResourcePods] = int64(set.Count)
	}
	return out
}

// fit says whether one of the choices has room, by Kueue's arithmetic.
func (c *choices) fit(o *oracle) bool {
	return c.from(o, 0, resources.FlavorResourceQuantities{})
}

func (c *choices) from(o *oracle, i int, taken resources.FlavorResourceQuantities) bool {
	if i == len(c.steps) {
		return o.view.ClusterQueue(kueue.ClusterQueueReference(c.queue)).Fits(workload.Usage{Quota: taken}) == 0
	}
	for _, f := range c.steps[i].flavors {
		with := maps.Clone(taken)
		for name, n := range c.steps[i].asks {
			fr := resources.FlavorResource{Flavor: f, Resource: name}
			with[fr] = with[fr].Add(resources.NewAmount(n))
		}
		if c.from(o, i+1, with) {
			return true
		}
	}
	return false
}

// compare holds the numbers of a limit against Kueue's: what the flavors that the pods may
// use could ever hold, and what is left of that. It returns the disagreement.
func (s *scenario) compare(ctx context.Context, l *quota.Violation, o *oracle) (string, error) {
	name := corev1.ResourceName(l.Resource)
	q := s.queue()
	view := o.view.ClusterQueue(kueue.ClusterQueueReference(s.asked))
	var asked, hard, left int64
	for i := range q.Spec.ResourceGroups {
		g := &q.Spec.ResourceGroups[i]
		if !slices.Contains(g.CoveredResources, name) {
			continue
		}
		usable := map[string]bool{}
		for _, set := range s.sets {
			n := requests(g, set)[name]
			if n == 0 {
				continue
			}
			asked += n
			may, err := allowed(ctx, s, g, set)
			if err != nil {
				return "", err
			}
			for f, ok := range may {
				usable[f] = usable[f] || ok
			}
		}
		for f, ok := range usable {
			if fr := (resources.FlavorResource{Flavor: kueue.ResourceFlavorReference(f), Resource: name}); ok {
				hard += max(0, view.PotentialAvailable(fr).Int64())
				left += max(0, view.Available(fr).Int64())
			}
		}
	}
	used := max(0, hard-left)
	if l.When == quota.Never {
		used = 0
	}
	if l.Asked != asked || l.Hard != hard || l.Used != used {
		return fmt.Sprintf("%s: we say asked %d, used %d of %d; Kueue says asked %d, used %d of %d (%s)", name, l.Asked, l.Used, l.Hard, asked, used, hard, l.Message), nil
	}
	return "", nil
}
