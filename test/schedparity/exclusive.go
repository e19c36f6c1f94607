package main

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/test/build"
)

// exclusiveEvery is how often a scenario has jobs whose parts each have a place to themselves.
const exclusiveEvery = 20

// Features of those.
const (
	exclusiveJobs   = "Jobs with places of their own"
	exclusiveGroups = "groups with places of their own"
	exclusiveOthers = "places that others have to themselves"
)

const (
	jobKey   = "jobset.sigs.k8s.io/job-key"
	groupKey = "leaderworkerset.sigs.k8s.io/group-key"
	rankKey  = "jobset.sigs.k8s.io/priority"
)

// ordinary is the priority of pods that name no class.
func ordinary(*corev1.PodSpec) (value int32, known bool) { return 0, true }

// exclusive makes a gang whose parts have places to themselves, as its author writes it.
func (w *writer) exclusive() {
	w.namespaces()
	w.nodes()
	w.running()
	key := pick(w, jobKey, jobKey, groupKey)
	w.places(key)
	text := w.jobSet()
	if key == groupKey {
		text = w.groups()
	}
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		panic(err)
	}
	j, err := kinds.For(u.GroupVersionKind()).Read(u, func(kinds.Want) (*unstructured.Unstructured, job.Presence) { return nil, job.Unknown })
	if err != nil {
		panic(err)
	}
	w.s.gang = named(gang.Of(j).InParts(ordinary))
	w.own()
}

// jobSet is one or two replicated Jobs, of which at least one asks for places.
func (w *writer) jobSet() string {
	w.about(exclusiveJobs)
	var b strings.Builder
	all := w.one(2)
	b.WriteString("apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata:\n  name: train\n  namespace: " + home + "\n")
	where := "alpha.jobset.sigs.k8s.io/exclusive-topology: " + pick(w, zone, rack, rack)
	if all {
		b.WriteString("  annotations: {" + where + "}\n")
	}
	b.WriteString("spec:\n  replicatedJobs:\n")
	for i, name := range []string{"slice", "data"}[:1+w.IntN(2)] {
		fmt.Fprintf(&b, "  - name: %s\n    replicas: %d\n    template:\n", name, 1+w.IntN(5))
		if !all && i == 0 {
			b.WriteString("      metadata: {annotations: {" + where + "}}\n")
		}
		pods := 1 + w.IntN(4)
		fmt.Fprintf(&b, "      spec:\n        parallelism: %d\n        completions: %d\n        template:\n          spec:\n            containers:\n            - %s\n", pods, pods, w.container())
	}
	return b.String()
}

// groups is a LeaderWorkerSet.
func (w *writer) groups() string {
	w.about(exclusiveGroups)
	return fmt.Sprintf("apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: train, namespace: %s, annotations: {leaderworkerset.sigs.k8s.io/exclusive-topology: %s}}\n"+
		"spec:\n  replicas: %d\n  leaderWorkerTemplate:\n    size: %d\n    workerTemplate:\n      spec:\n        containers:\n        - %s\n",
		home, pick(w, zone, rack, rack), 1+w.IntN(4), 1+w.IntN(4), w.container())
}

func (w *writer) container() string {
	return fmt.Sprintf("{name: c, image: a, resources: {requests: {cpu: %d, memory: 1Gi}, limits: {nvidia.com/gpu: %d}}}", 1+w.IntN(8), pick(w, 0, 1, 2, 4, 8))
}

// places are in the hands of others: of another job of that sort, or of pods that carry such a label and ask for nothing.
func (w *writer) places(key string) {
	for i := range w.IntN(4) {
		n := w.s.nodes[w.IntN(len(w.s.nodes))]
		value := fmt.Sprintf("other-%d", i%2)
		p := build.Pod(fmt.Sprintf("other-%d", i), build.In(pick(w, home, other)), build.On(n.Name), build.PodLabel(key, value), build.Requests("cpu=1", "memory=1Gi"))
		others := []metav1.LabelSelectorRequirement{
			{Key: key, Operator: metav1.LabelSelectorOpExists}, {Key: key, Operator: metav1.LabelSelectorOpNotIn, Values: []string{value}},
		}
		if rank := pick(w, "0", "0", "1000"); key == jobKey && !w.one(4) {
			p.Labels[rankKey] = rank
			others = append(others, metav1.LabelSelectorRequirement{Key: rankKey, Operator: metav1.LabelSelectorOpIn, Values: []string{rank}})
		}
		if w.one(2) {
			p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
				TopologyKey: pick(w, zone, rack), NamespaceSelector: &metav1.LabelSelector{}, LabelSelector: &metav1.LabelSelector{MatchExpressions: others},
			}}}}
		}
		if w.run(p, n) {
			w.about(exclusiveOthers)
		}
	}
}

// named gives parts of a role names of their own, by which a plan tells them apart.
func named(g gang.Gang) gang.Gang {
	names := map[string][]string{} // of the parts of a role
	for i := range g.Groups {
		if one := &g.Groups[i]; one.Part != nil {
			role := one.Name
			one.Name = fmt.Sprintf("%s-%d", role, len(names[role]))
			names[role] = append(names[role], one.Name)
		}
	}
	for i := range g.Groups {
		var after []string
		for _, role := range g.Groups[i].After {
			if parts := names[role]; parts != nil {
				after = append(after, parts...)
			} else {
				after = append(after, role)
			}
		}
		g.Groups[i].After = after
	}
	return g
}
