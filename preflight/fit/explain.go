package fit

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit/internal/assign"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// explain fills in why nodes were refused to the first pod set without a place, and what the
// text will talk about.
func explain(q *assign.Solver, r *Result, podSets []*assign.PodSet) {
	r.Rejected.Total = len(q.Snapshot.Nodes())
	if len(podSets) == 0 {
		r.Rejected.Open = len(q.Snapshot.Nodes())
		return
	}
	subject := podSets[0]
	if r.Verdict != Fits {
		subject, r.Group = FirstWithout(q, podSets)
	}
	Reject(q, &r.Rejected, subject)
	for _, k := range podSets {
		if last := len(r.Asks) - 1; last < 0 || q.Gang.Groups[k.Groups[0]].Part == nil || r.Asks[last].Role != k.Name {
			r.Asks = append(r.Asks, askOf(q, k))
		}
	}
	if len(podSets) == 1 && r.Verdict != TooBig { // it has just been counted
		r.Usable = r.Rejected.Open + r.Rejected.Full
		return
	}
	r.Usable = usable(q, podSets, r.Verdict == TooBig)
}

// usable counts the nodes that may take pods of any of the pod sets, or could with what is free now, or when idle.
func usable(q *assign.Solver, podSets []*assign.PodSet, idle bool) (nodes int) {
	seen := make([]bool, len(q.Cycle.Grouping.Class))
	for _, k := range podSets {
		refuses := k.Refuses()
		for _, nodeGroups := range k.Open {
			for _, nodeGroup := range nodeGroups {
				if !seen[nodeGroup] && (k.Now[nodeGroup] > 0 || takesNow(refuses(nodeGroup)) || idle && refuses(nodeGroup).Passes()) {
					seen[nodeGroup] = true
					nodes += int(q.Cycle.Grouping.Size[nodeGroup])
				}
			}
		}
	}
	return nodes
}

// FirstWithout is the first group that has not all its pods placed, and its pod set.
func FirstWithout(q *assign.Solver, podSets []*assign.PodSet) (*assign.PodSet, string) {
	placed := map[string]int{} // what is left of it for groups that come later
	for _, p := range q.Plan {
		placed[q.Gang.Groups[p.Group].Name] += p.Count
	}
	for i, g := range q.Gang.Groups {
		if placed[g.Name] -= g.Least(); placed[g.Name] >= 0 {
			continue
		}
		for _, k := range podSets {
			if slices.Contains(k.Groups, i) {
				return k, g.Name
			}
		}
	}
	return podSets[0], podSets[0].Name
}

// Reject counts the nodes by why they were refused to a pod set.
func Reject(q *assign.Solver, out *Rejections, k *assign.PodSet) {
	taints := map[string]int{}
	for _, r := range k.Refused {
		out.add(r.Reason, int(r.Nodes))
		if r.Reason == assign.Tainted {
			taints[k.Taints[k.RefusingTaint[q.Snapshot.Columns().TaintSet[q.Cycle.Grouping.Class[r.NodeGroups[0]]]]-1]] += int(r.Nodes)
		}
	}
	out.Open = int(k.Takers)
	refuses := k.Refuses()
	for _, nodeGroups := range k.Open {
		for _, nodeGroup := range nodeGroups {
			if k.Now[nodeGroup] == 0 {
				out.add(refuses(nodeGroup), int(q.Cycle.Grouping.Size[nodeGroup]))
			}
		}
	}
	out.Taints = slices.SortedFunc(maps.Keys(taints), func(a, b string) int {
		return cmp.Or(cmp.Compare(taints[b], taints[a]), cmp.Compare(a, b))
	})
	if out.Selector > 0 {
		out.Selectors = nowhere(q.Snapshot, q.Gang.Groups[k.Groups[0]].Pod.Spec.NodeSelector)
	}
}

// mostSelected bounds the labels of a selector of which is asked whether a node has them: its author writes as many as he likes.
const mostSelected = 16

// nowhere are the labels of a selector that no node has.
func nowhere(view *cluster.Snapshot, selector map[string]string) (out []string) {
	keys := slices.Sorted(maps.Keys(selector))
	for _, key := range keys[:min(mostSelected, len(keys))] {
		if !slices.ContainsFunc(view.Alike(key), func(n cluster.NodeGroup) bool { return n.Labels[key] == selector[key] }) {
			out = append(out, key+"="+selector[key])
		}
	}
	return out
}

// add counts nodes that are refused.
func (r *Rejections) add(g assign.FilterReason, nodes int) {
	switch g {
	case assign.NotReady:
		r.NotReady += nodes
	case assign.Cordoned:
		r.Cordoned += nodes
	case assign.NotSelected:
		r.Selector += nodes
	case assign.Tainted:
		r.Taint += nodes
	case assign.TooSmall:
		r.TooSmall += nodes
	case assign.Full:
		r.Full += nodes
	case assign.Otherwise, assign.Closed:
		r.Other += nodes
	default:
		r.Open += nodes
	}
}

func askOf(q *assign.Solver, k *assign.PodSet) Ask {
	a := Ask{Role: k.Name, Each: job.Resources{}, OnePerNode: k.OnePerNode, Nodes: int(k.Takers)}
	var roles words.Roles
	groups := k.Groups
	if q.Gang.Groups[groups[0]].Part != nil { // what is said of a role is said of all its parts
		names := map[string]bool{}
		for _, i := range k.Groups {
			names[q.Gang.Groups[i].Name] = true
		}
		groups = nil
		for i := range q.Gang.Groups {
			if names[q.Gang.Groups[i].Name] {
				groups = append(groups, i)
			}
		}
	}
	for _, i := range groups {
		g := &q.Gang.Groups[i]
		pods := max(0, g.Count) - q.Running[i]
		roles.Add(g.Name, pods)
		a.Pods = int(saturate.Add(int64(a.Pods), int64(pods)))
	}
	a.Roles = roles.String()
	for _, n := range k.Needs {
		if n.Name != corev1.ResourcePods {
			a.Each[n.Name] = n.N
		}
	}
	return a
}
