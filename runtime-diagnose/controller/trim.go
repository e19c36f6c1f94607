package controller

import (
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// podTrimmer keeps of a pod who it is, whose, where, and how it is. Each pod is decoded with words of its own, although
// thousands have the same labels, owners and conditions: what many pods say is kept once.
type podTrimmer struct {
	mu    sync.Mutex
	words map[string]string
}

// mostWords bounds the words that are remembered. Above it they are forgotten: a pod that has one keeps it.
const mostWords = 16384

// longestWord is the longest that is looked up: messages differ from pod to pod.
const longestWord = 128

func (t *podTrimmer) trim(o any) (any, error) {
	p, ok := o.(*corev1.Pod)
	if !ok {
		return o, nil // a tombstone
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.identity(&p.ObjectMeta)
	p.Spec = corev1.PodSpec{NodeName: t.word(p.Spec.NodeName)}
	p.Status = corev1.PodStatus{
		Phase: corev1.PodPhase(t.word(string(p.Status.Phase))), Reason: t.word(p.Status.Reason), Message: p.Status.Message,
		StartTime:             p.Status.StartTime,
		Conditions:            t.conditions(p.Status.Conditions),
		InitContainerStatuses: t.containers(p.Status.InitContainerStatuses),
		ContainerStatuses:     t.containers(p.Status.ContainerStatuses),
		ResourceClaimStatuses: p.Status.ResourceClaimStatuses,
	}
	return p, nil
}

func (t *podTrimmer) identity(m *metav1.ObjectMeta) {
	m.ManagedFields, m.Annotations, m.Finalizers, m.GenerateName = nil, nil, nil, ""
	m.Namespace = t.word(m.Namespace)
	labels := make(map[string]string, len(m.Labels))
	for key, value := range m.Labels {
		if value == m.Name {
			value = m.Name // one string for both
		} else {
			value = t.word(value)
		}
		labels[t.word(key)] = value
	}
	m.Labels = labels
	for i := range m.OwnerReferences {
		r := &m.OwnerReferences[i]
		r.APIVersion, r.Kind, r.Name, r.UID = t.word(r.APIVersion), t.word(r.Kind), t.word(r.Name), types.UID(t.word(string(r.UID)))
	}
}

// conditions are those that say more than that a step of a start is done: most of what a healthy pod has is five of
// the others.
func (t *podTrimmer) conditions(all []corev1.PodCondition) []corev1.PodCondition {
	var out []corev1.PodCondition
	for _, c := range all {
		if c.Status == corev1.ConditionTrue && c.Type != corev1.DisruptionTarget {
			continue
		}
		out = append(out, corev1.PodCondition{
			Type: corev1.PodConditionType(t.word(string(c.Type))), Status: corev1.ConditionStatus(t.word(string(c.Status))),
			LastTransitionTime: c.LastTransitionTime, Reason: t.word(c.Reason), Message: t.word(c.Message),
		})
	}
	return slices.Clip(out)
}

func (t *podTrimmer) containers(all []corev1.ContainerStatus) []corev1.ContainerStatus {
	if len(all) == 0 {
		return nil
	}
	out := make([]corev1.ContainerStatus, len(all))
	for i, c := range all {
		out[i] = corev1.ContainerStatus{
			Name: t.word(c.Name), State: t.state(c.State), LastTerminationState: t.state(c.LastTerminationState),
			Ready: c.Ready, RestartCount: c.RestartCount, AllocatedResourcesStatus: c.AllocatedResourcesStatus,
		}
	}
	return out
}

func (t *podTrimmer) state(s corev1.ContainerState) corev1.ContainerState {
	if s.Waiting != nil {
		s.Waiting.Reason, s.Waiting.Message = t.word(s.Waiting.Reason), t.word(s.Waiting.Message)
	}
	if s.Terminated != nil {
		s.Terminated.Reason, s.Terminated.ContainerID = t.word(s.Terminated.Reason), ""
	}
	return s
}

// word is the same text, as the first pod had it.
func (t *podTrimmer) word(s string) string {
	if s == "" || len(s) > longestWord {
		return s
	}
	if known, ok := t.words[s]; ok {
		return known
	}
	if t.words == nil || len(t.words) >= mostWords {
		t.words = map[string]string{}
	}
	t.words[s] = s
	return s
}
