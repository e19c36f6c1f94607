package quota

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// OnNodesOfQueue leaves a gang of the T9k scheduler the nodes of its queue: the scheduler puts pods nowhere else.
func OnNodesOfQueue(s *cluster.Snapshot, g gang.Gang) gang.Gang {
	if g.System != gang.T9k || s == nil || s.Rules() == nil {
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
		o.note("%d queues of the T9k scheduler are called %s; none is judged", len(queues), o.gang.Queue)
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
	o.queueAmounts("Queue", q.Metadata.Namespace, o.gang.Queue, job.ResourcesOf(q.Spec.Quota.Requests), cluster.QuotaAmounts(q.Status.Allocated),
		q.Status.Allocated != nil, "spec.quota.requests")
}

// namespaceHas says whether a selector takes the labels of the gang's namespace, as far as these are known.
func (o *check) namespaceHas(selector *metav1.LabelSelector) bool {
	s, err := metav1.LabelSelectorAsSelector(selector)
	namespace, there := o.s.Lookup(namespaceKind, "", o.gang.Namespace)
	return err == nil && there == job.Present && s.Matches(labels.Set(namespace.GetLabels()))
}
