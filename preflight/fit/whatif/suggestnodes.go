package whatif

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/internal/assign"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/preflight/quota"
)

// freerSelector drops one key of the node selector, or the required node affinity.
func (q *suggester) freerSelector() {
	for _, label := range q.selectors() {
		by := ""
		g := q.with(func(_ int, g *gang.Group) {
			if label.in(g) {
				delete(g.Pod.Spec.NodeSelector, label.key)
				by = label.broughtBy(g)
			}
		})
		q.keep(g, "fits without the node selector %s=%s%s", label.key, label.value, by)
	}
	affine := false
	g := q.with(func(_ int, g *gang.Group) {
		if podspec.NodeAffinity(&g.Pod.Spec) != nil {
			affine = true
			free := *g.Pod.Spec.Affinity
			free.NodeAffinity = nil
			g.Pod.Spec.Affinity = &free
		}
	})
	if affine {
		q.keep(quota.OnNodesOfQueue(q.s, g), "fits without the required node affinity") // the queue's nodes stay
	}
}

type label struct{ key, value string }

// in says whether the group selects nodes by the label.
func (l label) in(g *gang.Group) bool {
	value, ok := g.Pod.Spec.NodeSelector[l.key]
	return ok && value == l.value
}

// broughtBy says what brings the selector where the job does not write it: the runtime that it names.
func (l label) broughtBy(g *gang.Group) string {
	if at := string(g.Pod.At(job.Path("nodeSelector").Key(l.key))); at != "" && !strings.Contains(at, "odeSelector") {
		return " that " + at + " brings"
	}
	return ""
}

// selectors are the node selectors of the gang, in order.
func (q *suggester) selectors() []label {
	seen := map[label]bool{}
	for _, g := range q.gang.Groups {
		for key, value := range g.Pod.Spec.NodeSelector {
			seen[label{key, value}] = true
		}
	}
	return firstOf(q, "node selectors", slices.SortedFunc(maps.Keys(seen), func(a, b label) int { return strings.Compare(a.key+"="+a.value, b.key+"="+b.value) }))
}

// firstOf are those of some variants of a change that are tried.
func firstOf[T any](q *suggester, what string, all []T) []T {
	if len(all) > mostVariants {
		q.pass("of %d %s only %d were tried as changes", len(all), what, mostVariants)
	}
	return all[:min(mostVariants, len(all))]
}

// toleration tolerates one of the taints that refuse nodes.
func (q *suggester) toleration() {
	for _, taint := range q.taints() {
		q.keep(taint.gang, "fits with a toleration of the taint %s", taint.text)
	}
}

// tolerationAndFewer is a toleration and fewer pods, where no change alone is enough.
func (q *suggester) tolerationAndFewer() {
	for _, taint := range q.taints() {
		if len(q.found)+len(q.halves) > 0 {
			return
		}
		tolerant := q.on(taint.gang)
		fewer, ok := tolerant.fewest(tolerant.fits)
		q.tries = tolerant.tries
		for _, text := range tolerant.passed {
			q.pass("%s", text)
		}
		if ok {
			q.keep(fewer, "fits with a toleration of the taint %s, and %s", taint.text, tolerant.fewer(fewer))
		}
	}
}

// tolerated is the gang with a toleration of a taint.
type tolerated struct {
	text string
	gang gang.Gang
}

// taints are the taints that refuse nodes to the gang and that it could tolerate.
func (q *suggester) taints() (out []tolerated) {
	for _, text := range firstOf(q, "taints", q.was.Rejected.Taints) {
		if g, ok := q.tolerating(q.gang, text); ok {
			out = append(out, tolerated{text, g})
		}
	}
	return out
}

// on is a suggester of changes to a gang that is changed already; what it finds is its own.
func (q *suggester) on(g gang.Gang) *suggester {
	out := newSuggester(q.s, g, q.was, q.cycle)
	out.tries = q.tries
	return out
}

// tolerating adds a toleration of a taint, given as text, to every group. Taints that
// follow the health of a node are not for tolerating.
func (q *suggester) tolerating(g gang.Gang, text string) (gang.Gang, bool) {
	for _, set := range q.s.Columns().TaintSets {
		for i := range set {
			if podspec.TaintText(&set[i]) != text || podspec.TransientTaint(set[i].Key) {
				continue
			}
			t := corev1.Toleration{Key: set[i].Key, Operator: corev1.TolerationOpEqual, Value: set[i].Value, Effect: set[i].Effect}
			g.Groups = slices.Clone(g.Groups)
			for at := range g.Groups {
				spec := &g.Groups[at].Pod.Spec
				spec.Tolerations = append(slices.Clone(spec.Tolerations), t)
			}
			return g, true
		}
	}
	return g, false
}

// otherPool selects the nodes of another value of a node selector's key, and tolerates
// their taints.
func (q *suggester) otherPool() {
	for _, was := range q.selectors() {
		values := map[string]bool{}
		for _, n := range q.s.Nodes() {
			if v, ok := n.Labels[was.key]; ok && v != was.value {
				values[v] = true
			}
		}
		if was.key == corev1.LabelHostname {
			continue
		}
		for _, value := range firstOf(q, "values of "+was.key, slices.Sorted(maps.Keys(values))) {
			g := q.with(func(_ int, g *gang.Group) {
				if was.in(g) {
					g.Pod.Spec.NodeSelector[was.key] = value
				}
			})
			text := fmt.Sprintf("fits with the node selector %s=%s instead of %s", was.key, value, was.value)
			if q.keep(g, "%s", text) {
				continue
			}
			if taint := q.taintOf(g); taint != "" {
				if tolerant, ok := q.tolerating(g, taint); ok {
					q.keep(tolerant, "%s and a toleration of the taint %s", text, taint)
				}
			}
		}
	}
}

// taintOf is the taint that refuses most nodes to a changed gang.
func (q *suggester) taintOf(g gang.Gang) string {
	a, fits := q.try(g, assign.Keeping)
	if a == nil || fits || len(a.podSets) == 0 {
		return ""
	}
	subject, _ := fit.FirstWithout(a.Solver, a.podSets)
	var r fit.Rejections
	if fit.Reject(a.Solver, &r, subject); len(r.Taints) > 0 {
		return r.Taints[0]
	}
	return ""
}
