package placement

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var spreadCannotHold = &check.Check{
	Name:     "spread-cannot-hold",
	Title:    "pods must spread over more places than there are",
	Remedy:   "Spread with whenUnsatisfiable ScheduleAnyway, or over a label that the nodes have.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Cluster,
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		if p.Over() {
			return
		}
		if len(r.Pod.Spec.TopologySpreadConstraints) == 0 || r.Replicas.Min == 0 {
			return
		}
		if why, _ := facts.ShapeOf(p.Cluster, r); why != facts.Fitting || facts.BringsNodes(p, r) {
			return // a check of its own says so, or nodes may come
		}
		for k, c := range r.Pod.Spec.TopologySpreadConstraints {
			if c.WhenUnsatisfiable == corev1.ScheduleAnyway || p.Over() {
				continue
			}
			at := r.Pod.At(job.Path("topologySpreadConstraints").Index(k))
			if message := brokenSpread(p, r, &c); message != "" {
				p.Reportf(at, "%s", message)
			}
		}
	}),
}

// brokenSpread is why a constraint can never hold for all pods of a role; empty: it can,
// or that is not known.
func brokenSpread(p *check.Pass, r *job.Role, c *corev1.TopologySpreadConstraint) string {
	domains := map[string]bool{}
	nodes := facts.Candidates(p.Cluster, r, c.TopologyKey)
	for _, n := range nodes {
		if v, ok := n.Labels[c.TopologyKey]; ok {
			domains[v] = true
		}
	}
	if len(nodes) == 0 {
		return ""
	}
	if len(domains) == 0 {
		return fmt.Sprintf("%s must spread over %s, but none of the %s it may use has that label", r.Name, c.TopologyKey, facts.Count(facts.NodesIn(nodes), "node"))
	}
	// With fewer domains than minDomains, the emptiest counts as 0: no domain may hold more
	// than maxSkew (https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/).
	if c.MinDomains == nil || int(*c.MinDomains) <= len(domains) || c.MaxSkew < 1 || !counts(c.LabelSelector, r.Pod.Labels) {
		return ""
	}
	if most := len(domains) * int(c.MaxSkew); r.Replicas.Min > most {
		return fmt.Sprintf("%s must spread over %d values of %s, but there are %d, which may hold %d of %s", r.Name, *c.MinDomains, c.TopologyKey, len(domains), most, facts.Count(r.Replicas.Min, "pod"))
	}
	return ""
}

// counts says whether a selector counts the role's own pods.
func counts(selector *metav1.LabelSelector, own map[string]string) bool {
	s, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && selector != nil && s.Matches(labels.Set(own))
}
