package gang

import (
	"maps"
	"slices"

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
	topologyGroup         = "kueue.x-k8s.io/podset-group-name"
)

// TopologyAnnotations are the annotations by which Kueue is asked for places that lie near each other, on pod templates.
func TopologyAnnotations() []string {
	return []string{requiredTopology, preferredTopology, unconstrainedTopology, sliceTopology, topologyGroup}
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
	return slices.ContainsFunc([]string{requiredTopology, preferredTopology, unconstrainedTopology, sliceTopology}, func(key string) bool {
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
	case p.Annotations[sliceTopology] != "":
		g.Untied = "the slices of " + g.Name + " lie in one " + p.Annotations[sliceTopology] + " each"
		return
	case key == "":
		return
	case p.Annotations[topologyGroup] != "":
		g.Untied = "the roles of " + p.Annotations[topologyGroup] + " lie in one " + key
		return
	}
	g.tieTo(key, named)
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

// near keeps the pods of a group in one domain with pods that have some labels, as an annotation asks.
func (g *Group) near(by, key string, labels map[string]string) {
	p := &g.Pod
	g.Near = by
	affinity := p.Spec.Affinity.DeepCopy()
	if affinity == nil {
		affinity = &corev1.Affinity{}
	}
	if affinity.PodAffinity == nil {
		affinity.PodAffinity = &corev1.PodAffinity{}
	}
	terms := &affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	*terms = append(*terms, corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: &metav1.LabelSelector{MatchLabels: labels}})
	p.Spec.Affinity = affinity
}
