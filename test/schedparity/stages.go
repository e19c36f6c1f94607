package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
)

// stages let later roles of some gangs wait until earlier ones have completed. Seeds decide, so that
// the scenarios of the other seeds stay what they are.
func (w *writer) stages(seed uint64) {
	groups := w.s.gang.Groups
	if seed%10 != 7 || len(groups) < 2 || w.s.gang.Own != nil {
		return
	}
	w.about("stages")
	switch last := len(groups) - 1; {
	case last == 2 && seed%20 == 7: // one after the other
		groups[1].After = []string{groups[0].Name}
		groups[2].After = []string{groups[1].Name}
	case last == 2 && seed%30 == 17: // the last waits for both
		groups[2].After = []string{groups[0].Name, groups[1].Name}
	default: // others go on beside the last
		groups[last].After = []string{groups[0].Name}
	}
}

// gates hold the pods of some gangs back, or hand them to another scheduler: then the answer is about
// what the default scheduler would say of them. Seeds decide, as for stages.
func (w *writer) gates(seed uint64) {
	pod := &w.s.gang.Groups[0].Pod.Spec
	switch seed % 50 {
	case 3:
		w.about("scheduling gates")
		pod.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/quota"}}
	case 13:
		w.about("another scheduler")
		pod.SchedulerName = "volcano"
	}
}

// before are the roles that have completed when a role starts.
func (s *scenario) before(role string) []string {
	out := []string{role}
	for at := 0; at < len(out); at++ {
		for _, g := range s.gang.Groups {
			if g.Name != out[at] {
				continue
			}
			for _, name := range g.After {
				if !slices.Contains(out, name) {
					out = append(out, name)
				}
			}
		}
	}
	return out[1:]
}

// depth is the number of the stage in which a role starts: it comes after those of all roles that it
// waits for.
func (s *scenario) depth(role string) (n int) {
	for _, name := range s.before(role) {
		if !slices.Contains(s.before(name), role) { // a circle is no order
			n = max(n, 1+s.depth(name))
		}
	}
	return n
}

// inStages sorts what is done for pods into stages, each with the roles that have completed before
// all of its pods start; without stages there is one.
func inStages[T any](s *scenario, all []T, role func(T) string) (out []stage[T]) {
	for depth := range s.gang.Groups {
		var one stage[T]
		for _, t := range all {
			if s.depth(role(t)) != depth {
				continue
			}
			gone := s.before(role(t))
			if len(one.items) > 0 {
				gone = slices.DeleteFunc(gone, func(name string) bool { return !slices.Contains(one.gone, name) })
			}
			one.items, one.gone = append(one.items, t), gone
		}
		if len(one.items) > 0 {
			out = append(out, one)
		}
	}
	return out
}

type stage[T any] struct {
	items []T
	gone  []string
}

// scheduleStages places stage after stage; the pods of the first that does not come to run whole are
// left.
func (o *oracle) scheduleStages(s *scenario, r *rand.Rand, pods []*corev1.Pod, byScore bool) ([]*corev1.Pod, error) {
	for _, st := range inStages(s, pods, roleOf) {
		if err := o.finish(st.gone); err != nil {
			return nil, err
		}
		left, err := o.schedule(r, st.items, byScore)
		if err != nil || len(left) > 0 {
			return left, err
		}
		if o.cannotRun() != "" {
			return st.items, nil
		}
	}
	if o.cannotRun() != "" {
		return pods, nil
	}
	return nil, nil
}

// replayStages binds a plan stage after stage.
func (o *oracle) replayStages(s *scenario, plan []binding) (string, error) {
	for _, st := range inStages(s, plan, func(b binding) string { return roleOf(b.pod) }) {
		if err := o.finish(st.gone); err != nil {
			return "", err
		}
		if why, err := o.replay(st.items); why != "" || err != nil {
			return why, err
		}
	}
	return o.cannotRun(), nil
}

func roleOf(pod *corev1.Pod) string { return pod.Annotations[gangMark] }

// finish takes the pods of roles that have completed from their nodes.
func (o *oracle) finish(roles []string) error {
	if len(roles) == 0 {
		return nil
	}
	logger := klog.FromContext(o.ctx)
	if err := o.cache.UpdateSnapshot(logger, o.snapshot); err != nil {
		return fmt.Errorf("update the snapshot: %w", err)
	}
	all, err := o.snapshot.NodeInfos().List()
	if err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	var gone []*corev1.Pod
	for _, n := range all {
		for _, p := range n.GetPods() {
			if slices.Contains(roles, roleOf(p.GetPod())) {
				gone = append(gone, p.GetPod())
			}
		}
	}
	for _, pod := range gone {
		if err := o.cache.ForgetPod(logger, pod); err != nil { // they are assumed, see bind
			return fmt.Errorf("end pod %s: %w", pod.Name, err)
		}
	}
	return nil
}
