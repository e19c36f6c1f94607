package main

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
)

// Priorities of a scenario in which the gang may move others aside.
const (
	gangClass    = "training"
	gangPriority = 1000
)

// priorities give the gang a priority class, and running pods some above and some below.
func (w *writer) priorities(seed uint64) {
	if !w.one(4) {
		return
	}
	w.about("priorities")
	if isRare(seed) && w.one(3) { // the gang names no class, and has priority 0
		w.about(noClass)
		w.s.ranked = true
		for _, p := range w.s.pods {
			p.Spec.Priority = new(pick(w, int32(-10), -10, 0, 500))
		}
		return
	}
	class := &schedulingv1.PriorityClass{Value: gangPriority}
	class.Name = gangClass
	w.s.ranks, w.s.ranked, w.s.priority = []runtime.Object{class}, true, gangPriority
	if isRare(seed) && w.one(3) {
		w.about(neverPreempts)
		class.PreemptionPolicy = new(corev1.PreemptNever)
	}
	for i := range w.s.gang.Groups {
		w.s.gang.Groups[i].Pod.Spec.PriorityClassName = gangClass
	}
	for _, p := range w.s.pods {
		p.Spec.Priority = new(pick(w, int32(0), 0, 500, 2000))
	}
	if allocated(w.s.without(w.s.mayGo).objects) < allocated(w.s.objects) {
		w.about(deviceOfVictim)
	}
}

// noClass is a gang whose pods move aside those below 0.
const noClass = "priorities without a class"

// neverPreempts is a priority class that moves no pod aside.
const neverPreempts = "priorities that never preempt"

// mayGo says whether pods of the gang may move a pod aside.
func (s *scenario) mayGo(p *corev1.Pod) bool {
	return p.Annotations[gangMark] == "" && p.Spec.Priority != nil && *p.Spec.Priority < s.priority
}

// ownerOf is the kind and the name of a pod's controller, or those of the pod.
func ownerOf(p *corev1.Pod) string {
	if len(p.OwnerReferences) > 0 {
		return p.OwnerReferences[0].Kind + "/" + p.OwnerReferences[0].Name
	}
	return "/" + p.Name
}

// without is the scenario with some pods gone, and no devices in the claims that they held.
func (s *scenario) without(gone func(*corev1.Pod) bool) *scenario {
	out := *s
	out.pods = slices.DeleteFunc(slices.Clone(s.pods), gone)
	out.objects = slices.Clone(s.objects)
	for i, o := range out.objects {
		if claim, ok := o.(*resourcev1.ResourceClaim); ok && len(claim.Status.ReservedFor) > 0 && slices.ContainsFunc(s.pods, func(p *corev1.Pod) bool {
			return p.Namespace == claim.Namespace && p.Name == claim.Status.ReservedFor[0].Name && gone(p)
		}) {
			claim = claim.DeepCopy()
			claim.Status, out.objects[i] = resourcev1.ResourceClaimStatus{}, claim
		}
	}
	return &out
}

// allocated is how many claims have devices.
func allocated(objects []runtime.Object) (n int) {
	for _, o := range objects {
		if claim, ok := o.(*resourcev1.ResourceClaim); ok && claim.Status.Allocation != nil {
			n++
		}
	}
	return n
}

// moved asks the real scheduler which pods would have to go. Without the victims it takes
// the plan of the fit; with any one of them there, it leaves a pod. Where nobody would have
// to go, it leaves one even without all pods that might.
func (o *oracle) moved(s *scenario, r fit.Result, orders int) (string, error) {
	if !s.ranked || r.Verdict != fit.Full && r.Verdict != fit.Fragmented {
		return "", nil
	}
	if r.Preempts != nil && slices.Contains(s.about, neverPreempts) {
		return "pods are said to have to go, though the class moves nobody aside", nil
	}
	if r.Preempts == nil || r.Preempts.InPart { // in vain: it does not fit without them, either
		if slices.ContainsFunc(r.Assumed, func(a string) bool { return strings.Contains(a, "priority class") }) {
			return "", nil // not worked out, and said so
		}
		why, err := o.refute(s, &s.without(s.mayGo).clusterState, orders)
		if why != "" {
			why = "nobody is said to have to go, and without all that may " + why
		}
		return why, err
	}
	var victims []string // a controller stands for those of its pods that go, and which they are is not said
	for _, v := range r.Preempts.Victims {
		victims = append(victims, v.Namespace+"/"+v.Kind+"/"+v.Name)
	}
	gone := func(p *corev1.Pod) bool { return slices.Contains(victims, p.Namespace+"/"+ownerOf(p)) }
	rest := s.without(gone)
	snapshot, err := rest.snapshot()
	if err != nil {
		return "", err
	}
	if then := whatif.Answer(o.ctx, snapshot, s.gang); then.Verdict != fit.Fits {
		return fmt.Sprintf("without %s the fit still says %s", strings.Join(victims, ", "), then), nil
	} else if why, err := o.confirm(rest, then); why != "" || err != nil {
		return "without the victims " + why, err
	}
	for _, v := range r.Preempts.Victims {
		if v.Pods < countPods(s.pods, func(p *corev1.Pod) bool { return p.Namespace == v.Namespace && ownerOf(p) == v.Kind+"/"+v.Name }) {
			return "", nil // which of them go is not said, so neither is who could stay beside the others
		}
	}
	for _, p := range s.pods {
		if !gone(p) || len(p.OwnerReferences) > 0 {
			continue
		}
		if !s.mayGo(p) {
			return p.Name + " cannot be moved aside", nil
		}
		others := s.without(func(q *corev1.Pod) bool { return q != p && gone(q) })
		if why, err := o.refute(s, &others.clusterState, orders); why != "" || err != nil {
			return p.Name + " could stay: " + why, err
		}
	}
	return "", nil
}

func countPods(pods []*corev1.Pod, is func(*corev1.Pod) bool) (n int) {
	for _, p := range pods {
		if is(p) {
			n++
		}
	}
	return n
}
