package report

import (
	"context"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
)

// fitOfJob asks the capacity side whether the whole job fits, the pods that have a node in
// their places; ok is false where nothing is known, or no pod waits.
func (d *draft) fitOfJob(ctx context.Context) (result fit.Result, ok bool) {
	if d.Cluster == nil || d.Job == nil {
		return result, false
	}
	gang := gang.Of(d.Job)
	gang.MinMembers, gang.NodesOnly = 0, true
	gang.Groups = slices.Clone(gang.Groups)
	roles, waits := d.bound(gang), false
	if len(roles) > 0 { // of a job without a pod on a node no pod of the view has to be asked about
		gang.Own = func(p *corev1.Pod) (string, bool) { role, ok := roles[p.Name]; return role, ok }
	}
	for i := range gang.Groups {
		g := &gang.Groups[i]
		there := 0
		for _, p := range d.Seen.Pods {
			if _, own := roles[p.Name]; p.Source.Role == g.Name && p.Placed && !own {
				g.Count = max(0, g.Count-1) // it has ended, or the view is older than it
			} else if own && p.Source.Role == g.Name {
				there++
			}
		}
		g.Min = min(g.Min, g.Count)
		waits = waits || there < g.Count
	}
	if !waits {
		return result, false
	}
	result = whatif.Answer(ctx, d.Cluster, gang)
	return result, result.Verdict != fit.Unknown
}

// bound are the roles of pods of the job that the view of the cluster counts on their
// nodes, by name.
func (d *draft) bound(gang gang.Gang) map[string]string {
	roles := map[string]string{}
	for _, p := range d.Seen.Pods {
		if p.Placed && !p.Deleted && d.Cluster.Bound(gang.Namespace, p.Name) {
			roles[p.Name] = p.Source.Role
		}
	}
	return roles
}

// lacks is what the pods that wait do not get, for the reason the scheduler names: the
// resource with its numbers, or the labels that no node has; "" where nothing is known.
func (d *draft) lacks(u *control.Unschedulable) string {
	result, ok := d.fit()
	if !ok {
		if slices.ContainsFunc(u.Reasons, func(r control.Refusal) bool { return strings.Contains(r.Reason, "selector") }) {
			return d.selects(u.Pod) // which of its labels no node has is not known
		}
		return ""
	}
	for _, refusal := range u.Reasons {
		if text := result.Lacks(refusal.Resource); text != "" {
			return text
		}
	}
	return d.selects(u.Pod)
}

// selects is what a pod's node selector asks for, as it stands in the pod or else in the job.
func (d *draft) selects(pod string) string {
	var selector map[string]string
	for i := range d.Pods {
		if d.Pods[i].Name == pod {
			selector = d.Pods[i].Spec.NodeSelector
		}
	}
	for _, p := range d.Seen.Pods {
		if len(selector) > 0 || d.Job == nil || p.Name != pod {
			continue
		}
		if role := d.Job.Role(p.Source.Role); role != nil {
			selector = role.Pod.Spec.NodeSelector
		}
	}
	if len(selector) == 0 {
		return ""
	}
	var labels []string
	for _, key := range slices.Sorted(maps.Keys(selector)) {
		labels = append(labels, key+"="+selector[key])
	}
	return "it selects nodes with " + strings.Join(labels, ", ")
}

// unplaced is why pods wait, after a sentence that says how many have a place.
func unplaced(answer fit.Result, placed int, asked string) string {
	busy := answer.Verdict == fit.Full || answer.Verdict == fit.Fragmented
	if why := answer.Why(); why != "" && busy && answer.Placed == placed { // nothing of the headline is new
		return ": " + untold(why, asked) + "."
	}
	return "; " + answer.String() + "."
}

// untold is why pods wait without what they ask for, which stands before it.
func untold(why, asked string) string {
	head, short, ok := strings.Cut(why, ", but ")
	if ok && asked != "" && strings.HasSuffix(strings.TrimSuffix(head, " each"), " for "+asked) {
		return short
	}
	return why
}
