package podspec

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-helpers/nodedeclaredfeatures"
	schedulinghelper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// TaintsText tells lists of taints apart.
func TaintsText(taints []corev1.Taint) string {
	var all strings.Builder
	for i := range taints {
		all.WriteString(TaintText(&taints[i]) + "\n")
	}
	return all.String()
}

// TaintText writes a taint the way kubectl does: key=value:effect, or key:effect.
func TaintText(t *corev1.Taint) string {
	if t.Value == "" {
		return t.Key + ":" + string(t.Effect)
	}
	return t.Key + "=" + t.Value + ":" + string(t.Effect)
}

// SelectorKeys are the label keys that the choice of nodes rests on; byName: it rests on
// names of nodes too.
func SelectorKeys(spec *corev1.PodSpec) (keys []string, byName bool) {
	if required := NodeAffinity(spec); required != nil {
		keys, byName = TermKeys(required.NodeSelectorTerms)
	}
	for key := range spec.NodeSelector {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return slices.Compact(keys), byName || spec.NodeName != ""
}

// TermKeys are the label keys that node selector terms look at; byName: they look at names of nodes, too.
func TermKeys(terms []corev1.NodeSelectorTerm) (keys []string, byName bool) {
	for _, term := range terms {
		byName = byName || len(term.MatchFields) > 0
		for _, e := range term.MatchExpressions {
			keys = append(keys, e.Key)
		}
	}
	return keys, byName
}

// NamesNodes says that a pod goes only to nodes that it names. An autoscaler gives the nodes that it adds names of its own.
func NamesNodes(spec *corev1.PodSpec) bool {
	if _, named := spec.NodeSelector[corev1.LabelHostname]; named || spec.NodeName != "" {
		return true
	}
	required := NodeAffinity(spec)
	if required == nil {
		return false
	}
	names := func(keys ...string) func(corev1.NodeSelectorRequirement) bool {
		return func(r corev1.NodeSelectorRequirement) bool {
			return r.Operator == corev1.NodeSelectorOpIn && slices.Contains(keys, r.Key)
		}
	}
	return !slices.ContainsFunc(required.NodeSelectorTerms, func(t corev1.NodeSelectorTerm) bool {
		return !slices.ContainsFunc(t.MatchExpressions, names(corev1.LabelHostname)) && !slices.ContainsFunc(t.MatchFields, names(metav1.ObjectNameField))
	})
}

// TransientTaint says of a taint, by its key or its text, that it comes and goes with the state of the node: it says
// nothing about what the node is for, so that pods which it keeps away now may run there later.
func TransientTaint(taint string) bool {
	key := taint
	if end := strings.IndexAny(taint, "=:"); end >= 0 {
		key = taint[:end]
	}
	return slices.Contains(transientTaints, key) ||
		slices.ContainsFunc(transientDomains, func(domain string) bool { return len(key) > len(domain) && strings.HasPrefix(key, domain) })
}

var (
	// transientDomains are the domains of taints that controllers set from the state of nodes, and take away again (read 2026-11):
	// https://kubernetes.io/docs/reference/labels-annotations-taints/ (the node controller, from conditions; cloud providers),
	// https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/utils/taints/taints.go (StartupTaintPrefix,
	// StatusTaintPrefix, IgnoreTaintPrefix), https://github.com/aws/aws-node-termination-handler/blob/main/pkg/node/node.go,
	// https://github.com/kubernetes-sigs/node-readiness-controller.
	transientDomains = []string{
		"node.kubernetes.io/", "node.cloudprovider.kubernetes.io/",
		"startup-taint.cluster-autoscaler.kubernetes.io/", "status-taint.cluster-autoscaler.kubernetes.io/",
		"ignore-taint.cluster-autoscaler.kubernetes.io/", "aws-node-termination-handler/", "readiness.k8s.io/",
	}
	// transientTaints are such taints of programs whose other taints may be for good: Cluster Autoscaler's of a node that it
	// takes away (there, ToBeDeletedTaint), Karpenter's (https://github.com/kubernetes-sigs/karpenter/blob/main/pkg/apis/v1/taints.go,
	// and before it https://karpenter.sh/v0.37/concepts/disruption/), GKE's
	// (https://cloud.google.com/kubernetes-engine/docs/concepts/spot-vms), Cluster API's of a new node
	// (https://cluster-api.sigs.k8s.io/reference/labels_and_annotations), and those of agents that a node waits for
	// (https://docs.cilium.io/en/stable/installation/taints/, https://github.com/kubernetes-sigs/aws-ebs-csi-driver/blob/master/docs/install.md
	// and the drivers beside it).
	transientTaints = []string{
		"ToBeDeletedByClusterAutoscaler",
		"karpenter.sh/disrupted", "karpenter.sh/disruption", "karpenter.sh/unregistered",
		"cloud.google.com/impending-node-termination",
		"node.cluster.x-k8s.io/uninitialized",
		"node.cilium.io/agent-not-ready",
		"ebs.csi.aws.com/agent-not-ready", "efs.csi.aws.com/agent-not-ready", "fsx.csi.aws.com/agent-not-ready",
	}
)

// Selects prepares the node selector and the required node affinity of a pod. An
// expression that cannot be parsed matches no node, as in the scheduler.
func Selects(spec *corev1.PodSpec) func(*corev1.Node) bool {
	chosen := func(n *corev1.Node) bool {
		for key, value := range spec.NodeSelector {
			if has, ok := n.Labels[key]; !ok || has != value {
				return false
			}
		}
		return true
	}
	required := NodeAffinity(spec)
	if required == nil {
		return chosen
	}
	var terms []nodeTerm
	for _, t := range required.NodeSelectorTerms {
		if term, ok := termOf(t); ok {
			terms = append(terms, term)
		}
	}
	return func(n *corev1.Node) bool {
		set := labels.Set(n.Labels)
		return chosen(n) && slices.ContainsFunc(terms, func(t nodeTerm) bool { return t.matches(n, set) })
	}
}

// nodeTerm is a term of a node affinity. It makes nothing for a node that is asked, unless it looks at fields.
type nodeTerm struct {
	labels labels.Selector
	fields *nodeaffinity.LazyErrorNodeSelector // nil: it looks at labels alone, as most do
}

func (t nodeTerm) matches(n *corev1.Node, set labels.Set) bool {
	if !t.labels.Matches(set) {
		return false
	}
	if t.fields == nil {
		return true
	}
	ok, err := t.fields.Match(n)
	return ok && err == nil
}

// operators are those of node selector terms, as labels knows them
// (k8s.io/component-helpers v0.37 scheduling/corev1/nodeaffinity).
var operators = map[corev1.NodeSelectorOperator]selection.Operator{
	corev1.NodeSelectorOpIn: selection.In, corev1.NodeSelectorOpNotIn: selection.NotIn, corev1.NodeSelectorOpExists: selection.Exists,
	corev1.NodeSelectorOpDoesNotExist: selection.DoesNotExist, corev1.NodeSelectorOpGt: selection.GreaterThan, corev1.NodeSelectorOpLt: selection.LessThan,
}

// termOf is a term as it is asked; false where it matches no node, being empty or not to be read. The scheduler's own
// reader adds labels one by one, which copies and sorts those before each time: thousands take seconds.
func termOf(t corev1.NodeSelectorTerm) (out nodeTerm, ok bool) {
	requirements := make([]labels.Requirement, 0, len(t.MatchExpressions))
	for _, e := range t.MatchExpressions {
		r, err := labels.NewRequirement(e.Key, operators[e.Operator], e.Values)
		if err != nil {
			return nodeTerm{}, false
		}
		requirements = append(requirements, *r)
	}
	out.labels = labels.NewSelector().Add(requirements...)
	if len(t.MatchFields) > 0 {
		out.fields = nodeaffinity.NewLazyErrorNodeSelector(&corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: t.MatchFields}}})
	}
	return out, len(t.MatchExpressions)+len(t.MatchFields) > 0
}

// DeclaredFeatures are the features that a node must have declared for kube-scheduler 1.36 and later to place
// the pod there, such as the one that restarts all of its containers
// (https://kubernetes.io/docs/concepts/scheduling-eviction/node-declared-features/).
func DeclaredFeatures(spec *corev1.PodSpec) []string {
	required, err := nodedeclaredfeatures.DefaultFramework.InferForPodScheduling(&nodedeclaredfeatures.PodInfo{Spec: spec}, version.MajorMinor(1, 37))
	if err != nil || required.IsEmpty() {
		return nil
	}
	names, err := nodedeclaredfeatures.DefaultFramework.Unmap(required)
	if err != nil {
		return nil
	}
	return names
}

// ReachableFrom prepares the node affinity of a volume. The scheduler and the kubelet compare labels alone:
// fields of a node, such as its name, are passed over (k8s.io/component-helpers v0.37 storage/volume,
// CheckNodeAffinity).
func ReachableFrom(required *corev1.NodeSelector) func(*corev1.Node) bool {
	selector := nodeaffinity.NewLazyErrorNodeSelector(required)
	return func(n *corev1.Node) bool {
		labelled := &corev1.Node{}
		labelled.Labels = n.Labels
		ok, err := selector.Match(labelled)
		return ok && err == nil
	}
}

// Untolerated is the first taint that keeps the pod from being placed on the node; nil
// if there is none. PreferNoSchedule keeps no pod away.
func Untolerated(taints []corev1.Taint, tolerations []corev1.Toleration) *corev1.Taint {
	for i := range taints {
		hard := taints[i].Effect == corev1.TaintEffectNoSchedule || taints[i].Effect == corev1.TaintEffectNoExecute
		if hard && !quietly(schedulinghelper.TolerationsTolerateTaint, tolerations, &taints[i]) {
			return &taints[i]
		}
	}
	return nil
}

// quietly calls with a logger that says nothing: this package knows no logger. Tolerations
// that compare numbers are stored only by clusters that have them switched on.
func quietly[L any](tolerate func(L, []corev1.Toleration, *corev1.Taint, bool) bool, tolerations []corev1.Toleration, taint *corev1.Taint) bool {
	var silent L
	return tolerate(silent, tolerations, taint, true)
}
