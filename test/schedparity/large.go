package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/test/build"
)

// Every so many scenarios one has more roles, or more pods and nodes, than a small number or a word
// of 64 bits can count.
const (
	manyRolesEvery = 40
	manyPodsEvery  = 500 // the real scheduler places each of some 1,000 pods, in several orders
)

// Features that need no scenario by chance.
const (
	manyRoles       = "more than 64 roles"
	manyPods        = "more than 1,000 pods"
	manyNodes       = "more than 500 nodes"
	severalOfClass  = "several claims of one class"
	severalOfPod    = "several claims of one pod"
	storageCapacity = "storage capacity"
)

// large makes such a scenario where the seed is that of one; false: it is not.
func (w *writer) large(seed uint64) bool {
	switch {
	case seed%manyPodsEvery == 0:
		w.manyPods()
	case seed%manyRolesEvery == 7:
		w.namespaces()
		w.nodes()
		w.running()
		w.manyRoles()
	case seed%exclusiveEvery == 16:
		w.exclusive()
	default:
		return false
	}
	return true
}

// manyRoles are more than 64 roles of a pod each, which look at each other in sets.
func (w *writer) manyRoles() {
	w.about(manyRoles)
	w.s.gang = gang.Gang{Name: "train", Namespace: home}
	sets := pick(w, 1+w.IntN(4), 30+w.IntN(40))
	rules := []func(p *corev1.Pod, set string){
		func(p *corev1.Pod, set string) { apart(w, p, pick(w, zone, rack), map[string]string{"set": set}) },
		func(p *corev1.Pod, set string) {
			near(w, p, w.term(pick(w, zone, rack), map[string]string{"set": set}))
		},
		func(p *corev1.Pod, set string) {
			p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, spreadOver(w, pick(w, zone, rack, host), map[string]string{"set": set}))
		},
	}
	rule, only := rules[w.IntN(len(rules))], w.one(3)
	for i := range 65 + w.IntN(40) {
		set := fmt.Sprintf("s%d", i%sets)
		p := build.Pod("x", build.In(home), build.PodLabel("set", set), build.Requests(fmt.Sprintf("cpu=%dm", 10+i)))
		if !only || i%sets == 0 {
			rule(p, set)
		}
		name := fmt.Sprintf("role-%03d", i)
		w.s.gang.Groups = append(w.s.gang.Groups, gang.Group{Name: name, Count: 1, Pod: job.Pod{Spec: p.Spec, Labels: p.Labels, Marks: marksOf(name)}.WithMarks()})
	}
}

// manyPods is a gang of up to 2,048 pods on up to 1,000 nodes.
func (w *writer) manyPods() {
	w.namespaces()
	nodes, pods := 1000, 2048
	if w.one(4) {
		nodes, pods = 501+w.IntN(500), 1001+w.IntN(1048)
	} else if w.one(2) {
		nodes, pods = 300+w.IntN(701), 256+w.IntN(1793)
	}
	if nodes > 500 {
		w.about(manyNodes)
	}
	if pods > 1000 {
		w.about(manyPods)
	}
	for i := range nodes {
		name := fmt.Sprintf("n%03d", i)
		n := build.Node(name, build.GPUs(8), build.Label(zone, fmt.Sprintf("z%d", i%3)), build.Label(rack, fmt.Sprintf("r%d", i/20)))
		w.s.nodes = append(w.s.nodes, n)
		if gpus := w.IntN(9); gpus > 0 {
			w.s.pods = append(w.s.pods, build.Pod("run-"+name, build.In(other), build.On(name), build.Asks(fmt.Sprint(gpus)), build.PodLabel("app", "web")))
		}
	}
	p := build.Pod("x", build.In(home), build.PodLabel("role", "worker"), build.Asks(fmt.Sprint(pick(w, 1, 2, 4))))
	if w.one(2) {
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{spreadOver(w, pick(w, zone, host), map[string]string{"role": "worker"})}
	}
	w.s.gang = gang.Gang{Name: "train", Namespace: home, Groups: []gang.Group{
		{Name: "worker", Count: pods, Pod: job.Pod{Spec: p.Spec, Labels: p.Labels}},
	}}
}
