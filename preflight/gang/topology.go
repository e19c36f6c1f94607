package gang

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Annotations of pods by which Kueue is asked for places that lie near each other
// (https://kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling/).
const (
	requiredTopology      = "kueue.x-k8s.io/podset-required-topology"
	preferredTopology     = "kueue.x-k8s.io/podset-preferred-topology"
	unconstrainedTopology = "kueue.x-k8s.io/podset-unconstrained-topology"
	sliceTopology         = "kueue.x-k8s.io/podset-slice-required-topology"
	sliceSize             = "kueue.x-k8s.io/podset-slice-size"
	sliceLayers           = "kueue.x-k8s.io/podset-slice-required-topology-constraints"
	topologyGroup         = "kueue.x-k8s.io/podset-group-name"
)

// TopologyAnnotations are the annotations by which Kueue is asked for places that lie near each other, on pod templates.
func TopologyAnnotations() []string {
	return []string{requiredTopology, preferredTopology, unconstrainedTopology, sliceTopology, sliceLayers, topologyGroup}
}

// kaiTopology is the label of nodes by one value of which KAI places a whole job
// (https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/topology/README.md).
const kaiTopology = "kai.scheduler/topology-required-placement"

// tied keeps the pods of a job in one domain where it is asked of the scheduler.
func (g *Gang) tied(j *job.Job) {
	g.unnamed = j.Source != nil && j.Source.GetName() == ""
	if g.System == Kueue && !g.QueueOfPods {
		g.InKueue(g.Queue)
	}
	g.Untied = j.Gang.Together
	if j.Source == nil || g.System != KAI {
		return
	}
	key := j.Source.GetAnnotations()[kaiTopology]
	if key == "" {
		return
	}
	own := g.ownLabels()
	if g.unnamed || len(own) == 0 {
		g.Untied = "all pods lie in one " + key
		return
	}
	for i := range g.Groups {
		g.Groups[i].near(kaiTopology, key, own)
	}
}

// ownLabels are the labels that the operator puts on all pods of the job alike.
func (g *Gang) ownLabels() map[string]string {
	var own map[string]string
	for i := range g.Groups {
		marks := g.Groups[i].Pod.Marks
		if i == 0 {
			own = maps.Clone(marks.Labels)
		}
		maps.DeleteFunc(own, func(label, value string) bool {
			other, has := marks.Labels[label]
			return !has || other != value || slices.Contains(marks.Varies, label)
		})
	}
	return own
}

// InKueue puts the gang into a queue of Kueue, which keeps the pods of its roles in one domain where they ask for that.
func (g *Gang) InKueue(queue string) {
	g.Queue, g.System, g.QueueOfPods = queue, Kueue, false
	g.Groups = slices.Clone(g.Groups)
	if key := g.shared(); key != "" && !g.unnamed {
		if own := g.ownLabels(); len(own) > 0 {
			for i := range g.Groups {
				g.Groups[i].near(requiredTopology, key, own)
			}
			return
		}
	}
	for i := range g.Groups {
		g.Groups[i].tie(!g.unnamed)
	}
}

// shared is the label of nodes of which all roles share one value, where they are one group of pod sets; empty: they are not.
func (g *Gang) shared() (key string) {
	if len(g.Groups) < 2 {
		return ""
	}
	for i := range g.Groups {
		a := g.Groups[i].Pod.Annotations
		if a[sliceTopology] != "" || a[topologyGroup] == "" || a[topologyGroup] != g.Groups[0].Pod.Annotations[topologyGroup] {
			return ""
		}
		if key = a[requiredTopology]; key == "" || key != g.Groups[0].Pod.Annotations[requiredTopology] {
			return ""
		}
	}
	return key
}

// TopologyRequested says whether pods ask Kueue for places that lie near each other, in whatever way.
func TopologyRequested(p *job.Pod) bool {
	return slices.ContainsFunc([]string{requiredTopology, preferredTopology, unconstrainedTopology, sliceTopology, sliceLayers}, func(key string) bool {
		_, asked := p.Annotations[key]
		return asked
	})
}

// TopologyLevels are the labels of nodes that pods name when they ask Kueue for places that lie near each other.
func TopologyLevels(p *job.Pod) (keys []string) {
	for _, by := range []string{requiredTopology, preferredTopology, sliceTopology} {
		if key := p.Annotations[by]; key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// tie keeps the pods of a group in one domain where Kueue is asked for that: it admits them only there, so they are as if
// each had to lie where the others do. What cannot be said so is noted.
func (g *Group) tie(named bool) {
	p := &g.Pod
	key := p.Annotations[requiredTopology]
	switch {
	case p.Annotations[sliceLayers] != "":
		g.Untied = "the slices of " + g.Name + " lie in domains within domains"
		return
	case p.Annotations[sliceTopology] != "":
		g.inSlices(p.Annotations[sliceTopology], key, named)
		return
	case key == "":
		return
	case p.Annotations[topologyGroup] != "":
		g.Untied = "the roles of " + p.Annotations[topologyGroup] + " lie in one " + key
		return
	}
	g.tieTo(key, named)
}

// slice is the label that stands for the slice of a pod: Kueue writes none, it chooses the nodes of each slice.
const slice = "kueue.x-k8s.io/podset-slice"

// inSlices keeps each slice of a group in one domain of a label of nodes, and all of them in one of another, where that is
// asked for, too. Pods of a slice are told from those of others by a label that only the fit knows. A group that has parts
// of its own, or whose pods no whole number of slices makes, is noted.
func (g *Group) inSlices(topology, all string, named bool) {
	p := &g.Pod
	size, err := strconv.Atoi(p.Annotations[sliceSize])
	if err != nil || size < 1 || g.Count == 0 || g.Count%size != 0 || g.Count/size > mostParts || g.Parts != nil || g.Along != "" || !named {
		g.Untied = "the slices of " + g.Name + " lie in one " + topology + " each"
		return
	}
	if all != "" {
		g.tieTo(all, named)
	}
	if !g.near(sliceTopology, topology, nil) {
		return
	}
	terms := g.Pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	selector := terms[len(terms)-1].LabelSelector
	selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: slice, Operator: metav1.LabelSelectorOpIn, Values: []string{job.Own}}}
	p.Marks.Varies = append(slices.Clip(p.Marks.Varies), slice)
	g.Parts = &job.Parts{Label: slice, By: sliceTopology}
	for i := range g.Count / size {
		g.Parts.Values = append(g.Parts.Values, g.Name+"-"+strconv.Itoa(i))
	}
}

// tieTo keeps the pods of a group in one domain of a label of nodes; where the pods of a job that has no name yet could not
// be told from others, that is noted.
func (g *Group) tieTo(key string, named bool) {
	p := &g.Pod
	own := maps.Clone(p.Marks.Labels)
	maps.DeleteFunc(own, func(label, _ string) bool { return slices.Contains(p.Marks.Varies, label) })
	if !named || len(own) == 0 {
		g.Untied = "the pods of " + g.Name + " lie in one " + key
		return
	}
	g.near(requiredTopology, key, own)
}

// near keeps the pods of a group in one domain with pods that have some labels, as an annotation asks. A term says so only
// where it is the only one: of several the scheduler counts pods that all of them select
// (k8s.io/kubernetes v1.37 pkg/scheduler/framework/plugins/interpodaffinity/filtering.go, podMatchesAllAffinityTerms), and
// whoever reads the annotation chooses nodes instead. Beside others it is noted, and false.
func (g *Group) near(by, key string, labels map[string]string) bool {
	p := &g.Pod
	affinity := p.Spec.Affinity.DeepCopy()
	if affinity == nil {
		affinity = &corev1.Affinity{}
	}
	if affinity.PodAffinity == nil {
		affinity.PodAffinity = &corev1.PodAffinity{}
	}
	terms := &affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if len(*terms) > 0 {
		g.Untied = "the pods that " + by + " keeps together lie in one " + key
		return false
	}
	*terms = []corev1.PodAffinityTerm{{TopologyKey: key, LabelSelector: &metav1.LabelSelector{MatchLabels: labels}}}
	g.Near, p.Spec.Affinity = by, affinity
	return true
}
