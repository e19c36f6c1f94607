package quota

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// Brings says whether an autoscaler could add a node that takes a pod, as far as selectors
// and taints go; the sizes of nodes are up to the cloud. Absent is proven: every node pool
// there is keeps such pods away. why is the first reason, "node pool gpu has the taint
// gpu=yes:NoSchedule".
func Brings(s *cluster.Snapshot, spec *corev1.PodSpec) (is job.Presence, why string) {
	switch {
	case s == nil || s.Autoscaler() == "":
		return job.Absent, "nobody adds nodes"
	case !s.PoolsKnown():
		return job.Unknown, ""
	}
	for _, p := range s.Rules().Pools {
		reason := refuses(p, spec, s.Tolerations(spec))
		if reason == "" {
			return job.Unknown, "" // it may; how large its nodes are is not known
		}
		if why == "" {
			why = reason
		}
	}
	return job.Absent, why
}

// refuses is why nodes of the pool never take the pod; empty: they may.
func refuses(p *cluster.NodePool, spec *corev1.PodSpec, tolerations []corev1.Toleration) string {
	if t := podspec.Untolerated(p.Taints, tolerations); t != nil {
		return "node pool " + p.Name + " has the taint " + podspec.TaintText(t)
	}
	for _, key := range slices.Sorted(maps.Keys(spec.NodeSelector)) {
		if !allows(p, corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{spec.NodeSelector[key]}}) {
			return "node pool " + p.Name + " makes no nodes with " + key + "=" + spec.NodeSelector[key]
		}
	}
	if required := podspec.NodeAffinity(spec); required != nil {
		for _, term := range required.NodeSelectorTerms {
			if len(term.MatchFields) == 0 && !slices.ContainsFunc(term.MatchExpressions, func(r corev1.NodeSelectorRequirement) bool { return !allows(p, r) }) {
				return ""
			}
		}
		return "node pool " + p.Name + " makes no nodes that the required node affinity takes"
	}
	return ""
}

// allows says whether some node of the pool could meet a requirement. Only values that are
// written out on both sides can contradict each other. A key of which the pool says
// nothing may be one of the cloud's own, and is allowed; one with a domain of the users' is not:
// Karpenter makes no node with a label that is not declared
// (https://karpenter.sh/docs/concepts/scheduling/#user-defined-labels). NotIn and DoesNotExist
// go together, in any order
// (https://github.com/kubernetes-sigs/karpenter/blob/main/pkg/scheduling/requirements.go, Intersects).
func allows(p *cluster.NodePool, r corev1.NodeSelectorRequirement) bool {
	own := p.Requirements[r.Key]
	if len(own) == 0 {
		return wellKnown(r.Key) || r.Operator == corev1.NodeSelectorOpNotIn || r.Operator == corev1.NodeSelectorOpDoesNotExist
	}
	for _, o := range own {
		if o.Operator == corev1.NodeSelectorOpIn && !slices.ContainsFunc(o.Values, func(v string) bool { return meets(v, r) }) {
			return false
		}
		if r.Operator == corev1.NodeSelectorOpIn && !slices.ContainsFunc(r.Values, func(v string) bool { return meets(v, o) }) {
			return false
		}
	}
	is := func(operator corev1.NodeSelectorOperator) func(corev1.NodeSelectorRequirement) bool {
		return func(o corev1.NodeSelectorRequirement) bool { return o.Operator == operator }
	}
	never := slices.ContainsFunc(own, is(corev1.NodeSelectorOpDoesNotExist))
	switch r.Operator {
	case corev1.NodeSelectorOpDoesNotExist:
		// A pool that only rules values out may make nodes without the label.
		return never || slices.ContainsFunc(own, is(corev1.NodeSelectorOpNotIn)) && !slices.ContainsFunc(own, is(corev1.NodeSelectorOpIn))
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		return !never
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
	}
	return true
}

// meets says whether a value meets a requirement.
func meets(value string, r corev1.NodeSelectorRequirement) bool {
	switch r.Operator {
	case corev1.NodeSelectorOpIn:
		return slices.Contains(r.Values, value)
	case corev1.NodeSelectorOpNotIn:
		return !slices.Contains(r.Values, value)
	case corev1.NodeSelectorOpDoesNotExist:
		return false
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		is, err := strconv.ParseInt(value, 10, 64)
		if err != nil || len(r.Values) != 1 {
			return false
		}
		bound, err := strconv.ParseInt(r.Values[0], 10, 64)
		return err == nil && (r.Operator == corev1.NodeSelectorOpGt && is > bound || r.Operator == corev1.NodeSelectorOpLt && is < bound)
	case corev1.NodeSelectorOpExists:
	}
	return true
}

// wellKnown says whether a label may be on a node without being declared: those of
// Kubernetes, of Karpenter and of clouds.
func wellKnown(key string) bool {
	domain, _, ok := strings.Cut(key, "/")
	if !ok {
		return false
	}
	for _, known := range []string{"kubernetes.io", "k8s.io", "karpenter.sh", "k8s.aws", "azure.com", "gke.io", "google.com", "amazonaws.com", "nvidia.com", "amd.com", "intel.com"} {
		if domain == known || strings.HasSuffix(domain, "."+known) {
			return true
		}
	}
	return false
}

// nodePools reports a gang that asks for more than the node pools which may take it ever add,
// beside the nodes there are: limits are on all nodes of a pool, those that exist included.
func (o *check) nodePools() {
	s := o.s
	if !s.PoolsKnown() {
		return
	}
	each := o.demands()
	for _, name := range namesIn(each) {
		if job.AcceleratorUnit(name) == job.NotAccelerator {
			continue // nodes that Karpenter did not make have these too, and their pods move
		}
		var asked, most int64
		limited := true
		for i := range each {
			asked = saturate.Add(asked, saturate.Mul(each[i][name], o.wanted(i)))
		}
		var names []string
		for _, p := range s.Rules().Pools {
			if !o.usable(p, each, name) {
				continue
			}
			limit, ok := p.Limits[name]
			limited = limited && ok
			most = saturate.Add(most, max(0, limit))
			names = append(names, p.Name)
		}
		for _, n := range s.Alike(cluster.KarpenterNodePool) {
			if _, made := n.Labels[cluster.KarpenterNodePool]; !made {
				most = saturate.Add(most, saturate.Mul(max(0, n.Allocatable[name]), int64(n.Count)))
			}
		}
		if asked == 0 || len(names) == 0 || !limited || asked <= most {
			continue
		}
		at := o.largest(each, name)
		o.add(Violation{
			Rule: RulePool, When: Never, Kind: cluster.NodePoolKind.Kind, Name: strings.Join(names, ","), Resource: string(name),
			Asked: asked, Hard: most, Path: job.Path("spec.limits").Key(string(name)), At: at,
			Message: fmt.Sprintf("%s; the limits of %s and other nodes allow %s", o.asksFor(each, name, job.Format(name, asked)),
				words.Count(len(names), "node pool", "node pools"), job.Format(name, most)),
		})
	}
}

// usable says whether a pool may make nodes for some pods that ask for a resource.
func (o *check) usable(p *cluster.NodePool, each []job.Resources, name corev1.ResourceName) bool {
	for i := range each {
		spec := &o.gang.Groups[i].Pod.Spec
		if each[i][name] > 0 && refuses(p, spec, o.s.Tolerations(spec)) == "" {
			return true
		}
	}
	return false
}

// namesIn are the names of resources in any of the amounts, in order.
func namesIn(each []job.Resources) []corev1.ResourceName {
	all := job.Resources{}
	for _, r := range each {
		for name := range r {
			all[name] = 0
		}
	}
	return all.Names()
}
