package cluster

import (
	"slices"
	"strings"
	"unique"
)

// podTemplate is what the pods of one controller have in common, as its pod template gives it to them: they differ in their
// names, their nodes and a label or two, a number among them. It is held once: a hundred thousand pods, each with its own words,
// are a million things that the garbage collector looks at in each of its cycles. Immutable.
type podTemplate struct {
	namespace string
	owner     Owner   // the controller; empty: none
	labels    []Label // of the first of them, by key; the others have the same keys
}

// alike says that two are one but for the labels.
func (t *podTemplate) alike(o *podTemplate) bool {
	return t == o || t.namespace == o.namespace && t.owner == o.owner
}

// fewDiffer is in how many labels a pod may differ from its template however few it has.
const fewDiffer = 2

// newPod is a pod that takes nothing yet: of its template, with the labels that say something else behind it.
func newPod(namespace string, owner Owner, labels map[string]string) *Pod {
	var room [2 * fewKeys]Label
	all := appendLabels(room[:0], labels)
	key := templateKey(make([]byte, 0, 512), namespace, owner, all)
	if len(key) > mostWritten || len(all) > mostEntries {
		return firstOf(podTemplate{namespace: namespace, owner: owner}, all)
	}
	template, known := sharedTemplates.find(key)
	var differ [2 * fewKeys]Label
	own := differ[:0]
	if known {
		for i, label := range all {
			if label != template.labels[i] {
				own = append(own, label)
			}
		}
	}
	switch n := len(own); {
	case !known, n > max(fewDiffer, len(all)/2): // the first of its template, or of those that come from now on
		first := firstOf(podTemplate{namespace: namespace, owner: owner}, all)
		sharedTemplates.put(key, first.template)
		return first
	case n == 0:
		return &Pod{labelSet: labelSet{template: template}, podMore: &noMore, requests: &noRequests}
	case n <= fewDiffer:
		of := &struct {
			Pod
			room [fewDiffer]Label
		}{Pod: Pod{labelSet: labelSet{template: template}, podMore: &noMore, requests: &noRequests}}
		of.own = append(of.room[:0], own...)
		return &of.Pod
	default:
		return &Pod{labelSet: labelSet{template, slices.Clone(own)}, podMore: &noMore, requests: &noRequests}
	}
}

// templateKey is what all pods of a template say, so that nothing else says the same.
func templateKey(to []byte, namespace string, owner Owner, labels []Label) []byte {
	to = withLength(withLength(withLength(withLength(to, namespace), owner.Kind), owner.Name), owner.UID)
	for _, label := range labels {
		to = withLength(to, label.Value()[0])
	}
	return to
}

// firstOf is the first pod of a template, which stands behind it with its labels: of three objects the garbage collector would
// have to look at each, and many pods are alone. Most have five labels, or seven with those of an operator.
func firstOf(template podTemplate, labels []Label) *Pod {
	var of *templateAndPod
	var room []Label
	switch n := len(labels); {
	case n <= 3:
		of, room = templateBefore(func(r *[3]Label) []Label { return r[:0] })
	case n <= 5:
		of, room = templateBefore(func(r *[5]Label) []Label { return r[:0] })
	case n <= 7:
		of, room = templateBefore(func(r *[7]Label) []Label { return r[:0] })
	default:
		of, room = &templateAndPod{}, make([]Label, 0, n)
	}
	template.labels = append(room, labels...)
	of.template, of.pod = template, Pod{labelSet: labelSet{template: &of.template}, podMore: &noMore, requests: &noRequests}
	return &of.pod
}

type templateAndPod struct {
	template podTemplate
	pod      Pod
}

// templateBefore is a template and its first pod with room for labels behind them, which is empty.
func templateBefore[R any](empty func(*R) []Label) (*templateAndPod, []Label) {
	of := &struct {
		templateAndPod
		room R
	}{}
	return &of.templateAndPod, empty(&of.room)
}

// appendLabels appends labels in the order of their keys.
func appendLabels(to []Label, m map[string]string) []Label {
	var room [2 * fewKeys]string
	for _, key := range sortedInto(room[:0], m) {
		to = append(to, unique.Make([2]string{key, m[key]}))
	}
	return to
}

// Namespace of the pod.
func (p *Pod) Namespace() string { return p.template.namespace }

// Owner is the controller of the pod; empty: it has none.
func (p *Pod) Owner() Owner { return p.template.owner }

// Requests are what the pod takes, by name of resource; itself as one of the resource "pods" is
// not among them.
func (p *Pod) Requests() []Amount { return *p.requests }

// Labels of the pod.
func (p *Pod) Labels() Labels { return Labels{&p.labelSet} }

// Compare orders pods by namespace and name.
func (p *Pod) Compare(q *Pod) int {
	if c := strings.Compare(p.template.namespace, q.template.namespace); c != 0 {
		return c
	}
	return strings.Compare(p.name, q.name)
}
