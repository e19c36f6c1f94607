package cluster

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// PriorityClass is what a priority class says, or what the system says for it.
type PriorityClass struct {
	Name  string
	Value int32
	Never bool
}

// systemPriorities are those classes that exist in every cluster
// (https://kubernetes.io/docs/tasks/administer-cluster/guaranteed-scheduling-critical-addon-pods/).
var systemPriorities = map[string]int32{"system-cluster-critical": 2000000000, "system-node-critical": 2000001000}

// PriorityClass is the priority class that a pod gets when it is created; false where that is not known.
func (s *Snapshot) PriorityClass(spec *corev1.PodSpec) (PriorityClass, bool) {
	never := spec.PreemptionPolicy != nil && *spec.PreemptionPolicy == corev1.PreemptNever
	if v, ok := systemPriorities[spec.PriorityClassName]; ok {
		return PriorityClass{spec.PriorityClassName, v, never}, true
	}
	c := s.rules.fallback
	if spec.PriorityClassName != "" {
		c = s.rules.priorities[spec.PriorityClassName]
	}
	switch {
	case c != nil:
	case spec.PriorityClassName == "": // 0, if no class is the default
		return PriorityClass{Never: never}, s.Holds(priorityClasses)
	default:
		return PriorityClass{}, false
	}
	return PriorityClass{c.Name, c.Value, never || c.PreemptionPolicy != nil && *c.PreemptionPolicy == corev1.PreemptNever}, true
}

var priorityClasses = schema.GroupResource{Group: "scheduling.k8s.io", Resource: "priorityclasses"}

// mayYield says that the priority of a pod may be below that of pods that name no class.
func (p *Pod) mayYield() bool { return p.class != "" || p.priority < 0 }

// PriorityOf is the priority of a pod that exists.
func (s *Snapshot) PriorityOf(p *Pod) int32 {
	if p.class == "" {
		return p.priority // a pod without class and number has priority 0, or none is written
	}
	class, _ := s.PriorityClass(&corev1.PodSpec{PriorityClassName: p.class})
	return class.Value
}

// PriorityClassName is the priority class that a pod has once it is created; known is
// false where a default class may be filled in that the view does not hold.
func (s *Snapshot) PriorityClassName(spec *corev1.PodSpec) (name string, known bool) {
	switch {
	case spec.PriorityClassName != "":
		return spec.PriorityClassName, true
	case s.rules.fallback != nil:
		return s.rules.fallback.Name, true
	}
	return "", s.Holds(priorityClasses)
}
