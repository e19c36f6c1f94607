package ledger

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Input is what is known of a job's attempts now.
type Input struct {
	Pods  []corev1.Pod  // those that are there, and those that are gone and were kept
	Seen  []control.Pod // the same in short, for which container counts
	Nodes []corev1.Node
	Place func(*corev1.Pod) evidence.Source
	GPUs  func(role string) int64 // of one pod of a role
	Words []evidence.Observation  // what was seen of them
	Cause *evidence.Observation   // of the last attempt; nil: none is known
}

// life is one run of the program of a pod.
type life struct {
	pod          *corev1.Pod
	source       evidence.Source
	began, ended time.Time // ended is zero while it runs
	failed       bool
	code         int32
	mark         string // of the attempt, where its operator writes one
	later        int    // lives of the same place that came after it
	after        int    // lives of the same pod that came after it: what a log counts
}

// restartAttempt is on the pods of JobSets (https://jobset.sigs.k8s.io, api/jobset/v1alpha2: RestartsKey).
const restartAttempt = "jobset.sigs.k8s.io/restart-attempt"

// Read makes a ledger of what is there: an attempt lasts until one of its pods fails, and the next begins when
// something that was part of it starts again.
func Read(in Input) Ledger {
	lives := livesOf(&in)
	var out Ledger
	for _, g := range group(lives) {
		first := firstFailed(g)
		if first == nil {
			continue
		}
		began := g[0].began
		a := Attempt{Began: began, Ended: first.ended, Pod: first.pod.Name, Node: first.pod.Spec.NodeName}
		in.name(&a, first, g)
		a.GPUHours = in.gpuHours(lives, began, first.ended)
		if i := slices.IndexFunc(in.Nodes, func(n corev1.Node) bool { return n.Name == a.Node }); i >= 0 {
			n := &in.Nodes[i]
			a.System = System(n)
			if a.Platform {
				a.Upgrade = control.UpgradeMark(n)
			}
			if a.Says == evicted && (n.Spec.Unschedulable || a.Upgrade != "") {
				a.Says = "its node was drained"
			}
		}
		out.Attempts = append(out.Attempts, a)
	}
	out.bound(Most)
	return out
}

func livesOf(in *Input) []life {
	programs := map[string]string{}
	for i := range in.Seen {
		programs[string(in.Seen[i].UID)+"/"+in.Seen[i].Name] = in.Seen[i].Program
	}
	var out []life
	for i := range in.Pods {
		p := &in.Pods[i]
		out = append(out, podLives(p, in.Place(p), programs[string(p.UID)+"/"+p.Name])...)
	}
	slices.SortStableFunc(out, func(a, b life) int {
		return cmp.Or(a.began.Compare(b.began), cmp.Compare(a.pod.Name, b.pod.Name))
	})
	count := map[string]int{}
	for i := len(out) - 1; i >= 0; i-- {
		slot := out[i].slot()
		pod := "\x00" + string(out[i].pod.UID) + "/" + out[i].pod.Name
		out[i].later, out[i].after = count[slot], count[pod]
		count[slot]++
		count[pod]++
	}
	return out
}

// slot is a pod's place in the job: replaced pods have the same role and index, often under another name.
func (l *life) slot() string {
	if l.source.Role != "" && l.source.Rank >= 0 {
		return l.source.Role + "\x00" + string(rune(l.source.Rank))
	}
	return l.pod.Name
}

func podLives(p *corev1.Pod, source evidence.Source, program string) []life {
	one := life{pod: p, source: source, mark: markOf(p)}
	at, removed := removedAt(p)
	var out []life
	for i := range p.Status.ContainerStatuses {
		c := &p.Status.ContainerStatuses[i]
		if program != "" && c.Name != program {
			continue
		}
		for _, t := range []*corev1.ContainerStateTerminated{c.LastTerminationState.Terminated, c.State.Terminated} {
			if t == nil || t.FinishedAt.IsZero() {
				continue
			}
			l := one
			l.began, l.ended, l.failed, l.code = t.StartedAt.Time, t.FinishedAt.Time, t.ExitCode != 0, t.ExitCode
			if l.began.IsZero() {
				l.began = p.CreationTimestamp.Time
			}
			out = append(out, l)
		}
		if r := c.State.Running; r != nil {
			l := one
			l.began = r.StartedAt.Time
			out = append(out, l)
		}
	}
	switch n := len(out); {
	case n == 0 && p.Status.Phase == corev1.PodFailed: // refused, evicted, or failed before its program began
		one.began, one.ended, one.failed = startOf(p), at, true
		if !one.ended.IsZero() {
			out = append(out, one)
		}
	case n > 0 && removed:
		if l := &out[n-1]; !l.failed && (l.ended.IsZero() || !l.ended.Before(at)) {
			l.failed, l.ended = true, at
		}
	}
	return slices.DeleteFunc(out, func(l life) bool { return l.began.IsZero() || !l.ended.IsZero() && l.ended.Before(l.began) })
}

func startOf(p *corev1.Pod) time.Time {
	if p.Status.StartTime != nil {
		return p.Status.StartTime.Time
	}
	return p.CreationTimestamp.Time
}

// removedAt is when a pod ended other than by its program, and whether the platform says that it took it away.
func removedAt(p *corev1.Pod) (at time.Time, removed bool) {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time, true
		}
	}
	for _, all := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for i := range all {
			if t := all[i].State.Terminated; t != nil && t.ExitCode != 0 && (at.IsZero() || t.FinishedAt.Time.Before(at)) {
				at = t.FinishedAt.Time
			}
		}
	}
	for _, c := range p.Status.Conditions {
		if at.IsZero() && c.Type == corev1.PodReady && c.Status == corev1.ConditionFalse {
			at = c.LastTransitionTime.Time
		}
	}
	return at, false
}

// markOf is what says of which attempt a pod is: the label of JobSets, or the ConfigMap that FrameworkController
// makes for each attempt of a Framework and that owns its pods.
func markOf(p *corev1.Pod) string {
	if n := p.Labels[restartAttempt]; n != "" {
		return n
	}
	if owner := metav1.GetControllerOf(p); owner != nil && owner.Kind == "ConfigMap" {
		return string(owner.UID)
	}
	return ""
}

// group splits lives, ordered by when they began, into attempts.
func group(lives []life) [][]life {
	var out [][]life
	var slots map[string]bool
	var failed time.Time
	for _, l := range lives {
		slot := l.slot()
		again := !failed.IsZero() && !l.began.Before(failed) && slots[slot]
		if n := len(out); n == 0 || again || l.mark != out[n-1][0].mark {
			out, slots, failed = append(out, nil), map[string]bool{}, time.Time{}
		}
		n := len(out) - 1
		out[n], slots[slot] = append(out[n], l), true
		if l.failed && !l.ended.IsZero() && (failed.IsZero() || l.ended.Before(failed)) {
			failed = l.ended
		}
	}
	return out
}

func firstFailed(g []life) *life {
	var first *life
	for i := range g {
		if l := &g[i]; l.failed && !l.ended.IsZero() && (first == nil || l.ended.Before(first.ended)) {
			first = l
		}
	}
	return first
}

// name says of what an attempt ended: of the last one the diagnosis does, of one before the first word about
// the pod that failed first.
func (in *Input) name(a *Attempt, first *life, g []life) {
	if c := in.Cause; c != nil {
		for i := range g {
			if l := &g[i]; l.later == 0 && l.failed && l.pod.Name == c.Item.Source.Pod && c.Item.Source.Attempt == 0 && l.about(c) {
				a.Pod, a.Node, a.Decided = l.pod.Name, l.pod.Spec.NodeName, true
				a.take(c)
				return
			}
		}
	}
	var best *evidence.Observation
	for i := range in.Words {
		s := &in.Words[i]
		if s.Signature.Role != signature.Root || s.Signature.Weak || s.Mild || s.Item.Source.Pod != first.pod.Name || !first.about(s) {
			continue
		}
		if best == nil || s.Signature.DepthOf() > best.Signature.DepthOf() {
			best = s
		}
	}
	switch {
	case best != nil:
		a.take(best)
	case first.code != 0:
		a.Says = control.ExitPhrase(first.code)
	}
}

func (a *Attempt) take(s *evidence.Observation) {
	a.Cause, a.Says, a.Platform = s.Signature.Category, s.Signature.Title, s.Signature.Domain == signature.Platform && slices.Contains(takenAway, s.Signature.Category)
	if said := removals[s.Facts["reason"]]; said != "" {
		a.Says = said
	}
}

// takenAway are the categories of what the platform ends, and not only is to be asked about.
var takenAway = []string{"sigterm-preempted", "evicted", "node-lost"}

const evicted = "the pod was evicted by the API, as drains do"

// removals are the reasons with which the platform says that it takes a pod away
// (https://kubernetes.io/docs/concepts/workloads/pods/disruptions/#pod-disruption-conditions).
var removals = map[string]string{
	"EvictionByEvictionAPI":  evicted,
	"DeletionByTaintManager": "the pod was removed for a taint of its node",
	"DeletionByPodGC":        "the pod was removed because its node was gone",
	"TerminationByKubelet":   "the pod ended with its node's shutdown, or was evicted by its kubelet",
}

// settles is how long after a pod's end the platform still writes about it.
const settles = 2 * time.Minute

// about says that something was seen of this life of the pod, not of another one.
func (l *life) about(s *evidence.Observation) bool {
	if s.Item.Kind == evidence.Log {
		return s.Item.Source.Attempt == l.after
	}
	at := s.Item.At
	return at.IsZero() && l.after == 0 || !at.Before(l.began) && !at.After(l.ended.Add(settles))
}

// gpuHours are those that pods held from the begin of an attempt to its end.
func (in *Input) gpuHours(lives []life, from, to time.Time) float64 {
	if in.GPUs == nil {
		return 0
	}
	hours := 0.0
	for i := range lives {
		l := &lives[i]
		began, ended := l.began, l.ended
		if ended.IsZero() || ended.After(to) {
			ended = to
		}
		if began.Before(from) {
			began = from
		}
		if ended.After(began) {
			hours += float64(in.GPUs(l.source.Role)) * ended.Sub(began).Hours()
		}
	}
	return float64(int64(hours*100+0.5)) / 100
}

// imageLabels name the machine image of a node, where its provider does
// (https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html,
// https://learn.microsoft.com/azure/aks/node-image-upgrade).
var imageLabels = []string{"eks.amazonaws.com/nodegroup-image", "kubernetes.azure.com/node-image-version"}

// System is what a node runs, in one line.
func System(n *corev1.Node) string {
	info := n.Status.NodeInfo
	parts := []string{}
	for _, s := range []string{info.KubeletVersion, info.OSImage, info.KernelVersion} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	for _, label := range imageLabels {
		if v := n.Labels[label]; v != "" {
			parts = append(parts, v)
		}
	}
	return strings.Join(parts, ", ")
}

// Upgraded marks the attempts that the platform ended and whose node runs something else since, or whose job
// runs on nodes of another kubelet since.
func (l *Ledger) Upgraded(nodes []corev1.Node) {
	now := map[string]string{}
	kubelets := map[string]bool{}
	for i := range nodes {
		now[nodes[i].Name] = System(&nodes[i])
		kubelets[nodes[i].Status.NodeInfo.KubeletVersion] = true
	}
	for i := range l.Attempts {
		a := &l.Attempts[i]
		was, _, _ := strings.Cut(a.System, ", ")
		since, there := now[a.Node]
		switch {
		case !a.Platform || a.System == "" || a.Upgrade != "":
		case there && since != "" && since != a.System:
			a.Upgrade = difference(a.System, since)
		case !there && len(kubelets) == 1 && was != "" && !kubelets[was] && !kubelets[""]:
			for kubelet := range kubelets {
				a.Upgrade = was + " then, " + kubelet + " on the job's nodes since"
			}
		}
	}
}

// difference is what changed between two systems.
func difference(was, is string) string {
	a, b := strings.Split(was, ", "), strings.Split(is, ", ")
	if len(a) != len(b) {
		return was + " then, " + is + " since"
	}
	var parts []string
	for i := range a {
		if a[i] != b[i] {
			parts = append(parts, a[i]+" then, "+b[i]+" since")
		}
	}
	return strings.Join(parts, "; ")
}
