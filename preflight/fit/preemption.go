package fit

import (
	"fmt"
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// Preemption is the pods that would have to go for a gang of higher priority. It is said, never
// assumed: the verdict is about the cluster with these pods.
type Preemption struct {
	Class    string   `json:"class,omitempty"` // the priority class that would move them aside
	Queue    string   `json:"queue,omitempty"` // or the queue of T9k's scheduler, which decides by the priorities of queues
	Priority int32    `json:"priority"`
	Pods     int      `json:"pods"`              // of all victims
	InPart   bool     `json:"inPart,omitempty"`  // the gang does not fit all the same: its pods are placed one by one, and at most so many pods go for some of them
	Victims  []Victim `json:"victims,omitempty"` // none of them can stay: with one more pod the gang does not fit; empty: who asks may not see them
}

// Victim is a number of pods of one owner.
type Victim struct {
	Kind      string   `json:"kind,omitempty"` // of the owner; empty: the pod itself
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	Priority  int32    `json:"priority"`
	Pods      int      `json:"pods"`
	Guards    []string `json:"guards,omitempty"` // PodDisruptionBudgets that want them to stay
}

// String is "3 pods of PyTorchJob ml/x (priority 0)".
func (v Victim) String() string {
	who := words.Count(v.Pods, "pod", "pods") + " of " + v.Kind + " "
	if v.Kind == "" {
		who = "pod "
	}
	text := fmt.Sprintf("%s%s/%s (priority %d", who, v.Namespace, v.Name, v.Priority)
	if len(v.Guards) > 0 {
		text += ", guarded by PodDisruptionBudget " + strings.Join(v.Guards, ", ")
	}
	return text + ")"
}

// String is which pods would have to go, and for which class.
func (p *Preemption) String() string {
	if len(p.Victims) == 0 {
		return p.Summary()
	}
	parts := make([]string, len(p.Victims))
	for i, v := range p.Victims {
		parts[i] = v.String()
	}
	if p.Queue != "" {
		return fmt.Sprintf("%s would have to go for the queue %s (priority %d), where T9k's scheduler preempts", strings.Join(parts, ", "), p.Queue, p.Priority)
	}
	if p.Class == "" {
		return strings.Join(parts, ", ") + " would have to go, for pods without a priority class have priority 0"
	}
	return fmt.Sprintf("%s would have to go for the priority class %s (%d)", strings.Join(parts, ", "), p.Class, p.Priority)
}

// Summary is how many would have to go, without their names: for whoever may not see other people's pods.
func (p *Preemption) Summary() string {
	by := fmt.Sprintf("the priority class %s (%d)", p.Class, p.Priority)
	switch {
	case p.InPart && p.Class == "":
		return fmt.Sprintf("its pods have priority 0 and may still preempt up to %s, in vain", words.Count(p.Pods, "pod", "pods"))
	case p.InPart:
		return fmt.Sprintf("%s may still preempt up to %s, in vain", by, words.Count(p.Pods, "pod", "pods"))
	case p.Queue != "":
		by = fmt.Sprintf("the queue %s (priority %d)", p.Queue, p.Priority)
	case p.Class == "":
		by = "the priority 0 of its pods"
	}
	return fmt.Sprintf("%s would preempt %s", by, words.Count(p.Pods, "pod", "pods"))
}

// Unnamed is the same without names.
func (p *Preemption) Unnamed() *Preemption {
	if p == nil {
		return nil
	}
	out := *p
	out.Victims = nil
	return &out
}

// ranked says that the priority of the gang is known.
func ranked(s *cluster.Snapshot, g gang.Gang) bool {
	_, _, known := GangPriority(s, g)
	return known
}

// GangPriority is the lowest priority of any pod of the gang; known is false where it cannot be told.
func GangPriority(s *cluster.Snapshot, g gang.Gang) (lowest cluster.PriorityClass, value int32, known bool) {
	value, known = math.MaxInt32, false
	for i := range g.Groups {
		spec := &g.Groups[i].Pod.Spec
		if g.Groups[i].Count <= 0 {
			continue
		}
		class, ok := s.PriorityClass(spec)
		if !ok || spec.SchedulerName != "" && spec.SchedulerName != corev1.DefaultSchedulerName {
			return cluster.PriorityClass{}, 0, false
		}
		if class.Value < value {
			lowest, value = class, class.Value
		}
		known = true
	}
	return lowest, value, known
}
