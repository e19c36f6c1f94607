package quota

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// MaxDuration is how old the pods of a gang may become before T9k ends them, as its queue writes it.
func MaxDuration(s *cluster.Snapshot, g gang.Gang) (most time.Duration, written string, limited bool) {
	if g.System != gang.T9k || s == nil || s.Rules() == nil || len(s.Rules().T9k[g.Queue]) != 1 {
		return 0, "", false
	}
	written = s.Rules().T9k[g.Queue][0].Spec.MaxDuration
	most, limited = cluster.ParseMaxDuration(written)
	return most, written, limited
}

// OnNodesOfQueue leaves a gang the nodes of its queue, and of its flavors there: its pods come nowhere else.
func OnNodesOfQueue(s *cluster.Snapshot, g gang.Gang) gang.Gang {
	switch {
	case s == nil || s.Rules() == nil:
		return g
	case g.System == gang.Kueue:
		return onFlavors(s, g)
	case g.System != gang.T9k:
		return g
	}
	queues := s.Rules().T9k[g.Queue]
	if len(queues) != 1 || queues[0].Spec.NodeSelector == nil {
		return g
	}
	g.Groups = slices.Clone(g.Groups)
	for i := range g.Groups {
		spec := &g.Groups[i].Pod.Spec
		spec.Affinity = podspec.AlsoRequired(spec.Affinity, requirements(queues[0].Spec.NodeSelector))
	}
	return g
}

// requirements are those of a selector of labels, as a node affinity has them.
func requirements(selector *metav1.LabelSelector) (out []corev1.NodeSelectorRequirement) {
	for _, key := range slices.Sorted(maps.Keys(selector.MatchLabels)) {
		out = append(out, corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{selector.MatchLabels[key]}})
	}
	for _, e := range selector.MatchExpressions {
		out = append(out, corev1.NodeSelectorRequirement{Key: e.Key, Operator: corev1.NodeSelectorOperator(e.Operator), Values: e.Values})
	}
	return out
}

// t9k asks the queue of the T9k scheduler. Of queues of one name in several namespaces
// it is not known which is meant.
func (o *check) t9k() {
	queues := o.s.Rules().T9k[o.gang.Queue]
	switch len(queues) {
	case 0:
		o.missingQueue(cluster.T9kQueueKind, "", o.gang.Queue)
		return
	case 1:
	default:
		o.doubt("%d queues of the T9k scheduler are called %s; none is judged", len(queues), o.gang.Queue)
		return
	}
	q := queues[0]
	if q.Spec.Closed {
		o.closedQueue("Queue", q.Metadata.Namespace, o.gang.Queue, "spec.closed", "it is closed; it takes no jobs until it is opened")
	}
	if selector := q.Spec.NodeSelector; selector != nil {
		o.note("the pods of Queue %s run on nodes with %s alone", o.gang.Queue, metav1.FormatLabelSelector(selector))
	}
	if selector := q.Spec.NamespaceSelector; selector != nil && !o.namespaceHas(selector) {
		o.note("Queue %s is for namespaces with %s, or for users who were given it; whether this one was is not known", o.gang.Queue, metav1.FormatLabelSelector(selector))
	}
	if _, written, limited := MaxDuration(o.s, o.gang); limited {
		o.note("Queue %s lets no pod become older than %s (maxDuration)", o.gang.Queue, written)
	}
	o.amountsForQueue(q.Metadata.Namespace, q.Spec.Quota.Requests)
	o.shape(q.Metadata.Namespace, q.Spec.ResourceShapeProfile)
	o.queueAmounts("Queue", q.Metadata.Namespace, o.gang.Queue, job.ResourcesOf(q.Spec.Quota.Requests), cluster.QuotaAmounts(q.Status.Allocated),
		q.Status.Allocated != nil, "spec.quota.requests")
}

// amountsForQueue reports containers without a request that the quota of the queue counts: T9k refuses their pods
// (the manual of its administrators, "Queue", quota).
func (o *check) amountsForQueue(namespace string, hard corev1.ResourceList) {
	needs := inNames("requests.", hard)
	for i := range o.gang.Groups {
		o.unsaid(o.gang.Groups[i].Name, o.said(i), needs, "the quota", func(corev1.ResourceName) Violation {
			return Violation{Rule: RuleAmount, Kind: "Queue", Namespace: namespace, Name: o.gang.Queue, Path: "spec.quota.requests"}
		})
	}
}

// said is what the containers of a group say, without those that only prepare it: the manual speaks of containers.
func (o *check) said(i int) []saidPart {
	pod := &o.gang.Groups[i].Pod
	all := saidBy(pod)
	return all[:min(len(all), len(pod.Spec.Containers))]
}

// inNames are the resources of a list by their names in quotas, in order.
func inNames(prefix string, list corev1.ResourceList) (out []corev1.ResourceName) {
	for _, name := range job.ResourcesOf(list).Names() {
		out = append(out, corev1.ResourceName(prefix)+name)
	}
	return out
}

// shape reports pods that are larger than the resource shape of the queue: T9k refuses them, or the job that would
// make them. Containers that do not say an amount of cpu or memory that the shape bounds are refused as well
// (the manual of its administrators, "Resource shape profiles").
func (o *check) shape(namespace, profile string) {
	if profile == "" {
		return
	}
	all, why := o.s.ShapesOf(profile)
	if why != "" {
		o.doubt("how large the pods of Queue %s may be stands in the resource shape profile %s, which is not judged: %s", o.gang.Queue, profile, why)
	}
	by := Violation{Rule: RuleShape, When: Never, Kind: "Queue", Namespace: namespace, Name: o.gang.Queue, Path: "spec.resourceShapeProfile"}
	for i := range all {
		if !all[i].Bounds(cluster.PodsResource) && !all[i].Bounds(o.gang.Self) {
			continue
		}
		most := &all[i].Shape
		needs := append(inNames("requests.", most.Requests), inNames("limits.", most.Limits)...)
		for k := range o.gang.Groups {
			g := &o.gang.Groups[k]
			if len(g.Pod.Spec.Containers) == 0 || g.Pod.Partial || g.Count == 0 || o.exist[k] > 0 {
				continue
			}
			o.unsaid(g.Name, o.said(k), needs, "the resource shape "+profile, func(corev1.ResourceName) Violation { return by })
			o.inShape(by, g, most, profile)
		}
		if !all[i].Bounds(cluster.PodsResource) {
			o.ofAllPods(most, profile)
		}
	}
}

// ofAllPods notes what the pods of a job say together, where that is above a shape of its kind and no pod alone is:
// the manual does not say whether T9k adds them up.
func (o *check) ofAllPods(most *corev1.ResourceRequirements, profile string) {
	for _, bounds := range []struct {
		field string
		most  corev1.ResourceList
	}{{"requests", most.Requests}, {"limits", most.Limits}} {
		for _, name := range job.ResourcesOf(bounds.most).Names() {
			bound, sum, above := bounds.most[name], resource.Quantity{}, false
			for k := range o.gang.Groups {
				g := &o.gang.Groups[k]
				requests, limits := podspec.RangeAmounts(&corev1.PodSpec{Containers: g.Pod.Spec.Containers})
				has := requests[name]
				if bounds.field == "limits" {
					has = limits[name]
				}
				above = above || has.Cmp(bound) > 0
				has.Mul(int64(g.Count))
				sum.Add(has)
			}
			if !above && sum.Cmp(bound) > 0 {
				o.note("all pods together have %s of %s %s; the resource shape %s takes %s, and whether T9k adds the pods of a job up is not known", bounds.field, sum.String(), name, profile, bound.String())
			}
		}
	}
}

// inShape compares all that the containers of one pod say together with a shape.
func (o *check) inShape(by Violation, g *gang.Group, most *corev1.ResourceRequirements, profile string) {
	m := measured{who: "one pod of " + g.Name}
	m.requests, m.limits = podspec.RangeAmounts(&corev1.PodSpec{Containers: g.Pod.Spec.Containers})
	for _, bounds := range []struct {
		field     string
		has, most corev1.ResourceList
	}{{"requests", m.requests, most.Requests}, {"limits", m.limits, most.Limits}} {
		for _, name := range job.ResourcesOf(bounds.most).Names() {
			has, bound := bounds.has[name], bounds.most[name]
			if has.Cmp(bound) <= 0 {
				continue
			}
			b, _ := m.breach(name, bounds.field, has, bound, "most that the resource shape "+profile+" takes")
			by.Resource, by.Asked, by.Hard, by.Role = bounds.field+"."+string(name), b.asked, b.hard, g.Name
			by.At, by.Message = g.Pod.At(""), m.who+" "+b.text
			if len(g.Pod.Spec.Containers) == 1 {
				by.At = g.Pod.At(job.Path("containers").Index(0).Child("resources", bounds.field).Key(string(name)))
			}
			o.add(by)
		}
	}
}

// namespaceHas says whether a selector takes the labels of the gang's namespace, as far as these are known.
func (o *check) namespaceHas(selector *metav1.LabelSelector) bool {
	s, err := metav1.LabelSelectorAsSelector(selector)
	namespace, there := o.s.Lookup(namespaceKind, "", o.gang.Namespace)
	return err == nil && there == job.Present && s.Matches(labels.Set(namespace.GetLabels()))
}
