package control

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// ReadDeleted finds pods that were deleted while they ran and by nobody who says so: not by an eviction, not
// by the operator, not with what owns them, and not after something had failed.
func ReadDeleted(c *evidence.Bundle) []evidence.Observation {
	switch {
	case c.Job == nil, c.Job.Suspended, c.State.Stopped(), c.State.Phase == kinds.Suspended, c.State.Phase == kinds.Succeeded:
		return nil
	case c.Job.Ref.Kind == "Framework": // whose status has a code for it
		return nil
	case c.Job.Source != nil && c.Job.Source.GetDeletionTimestamp() != nil:
		return nil
	}
	var out []evidence.Observation
	for i := range c.Pods {
		p := &c.Pods[i]
		at, ok := deletedAt(p)
		if !ok || endedBefore(c, at) || failedBefore(c, at) || removedByPlatform(c, p.UID, p.Name) || ownerGone(c, p) || disrupted(p) {
			continue
		}
		text := fmt.Sprintf("pod %s was deleted at %s while it ran", p.Name, at.UTC().Format(clock))
		known := Deleted
		if why, old := tooOld(c, p.CreationTimestamp.Time, at); old {
			known, text = TooOld, text+": "+why
		}
		out = append(out, evidence.Observation{
			Signature: known, Line: text, Platform: true,
			Item: evidence.Item{ID: evidence.ID("pod/" + p.Name + "/deletion"), Kind: evidence.Status, At: at, Source: c.Place(p), Text: text, Times: 1},
		})
	}
	return append(out, stoppedAndGone(c)...)
}

// deletedAt is when somebody asked for the deletion of a pod whose containers ran then.
func deletedAt(p *corev1.Pod) (time.Time, bool) {
	if p.DeletionTimestamp == nil {
		return time.Time{}, false
	}
	at := p.DeletionTimestamp.Time
	if grace := p.DeletionGracePeriodSeconds; grace != nil { // the API server writes when the pod has to be gone
		at = at.Add(-time.Duration(*grace) * time.Second)
	}
	ran := false // until a container has ended by it, it may be the beginning of a planned end
	for _, s := range p.Status.ContainerStatuses {
		if t := s.State.Terminated; t != nil {
			if t.FinishedAt.Time.Before(at) {
				return time.Time{}, false // it had ended, well or not
			}
			ran = true
		}
	}
	return at, ran
}

// endedBefore says that the job was over when the pod was deleted: operators clean up.
func endedBefore(c *evidence.Bundle, at time.Time) bool {
	since, err := time.Parse(time.RFC3339, c.State.Since)
	return c.State.Phase == kinds.Failed && err == nil && since.Before(at)
}

// failedBefore says that a pod of the job had failed before: operators take the others away.
func failedBefore(c *evidence.Bundle, at time.Time) bool {
	for i := range c.Pods {
		for _, s := range c.Pods[i].Status.ContainerStatuses {
			for _, t := range []*corev1.ContainerStateTerminated{s.State.Terminated, s.LastTerminationState.Terminated} {
				if t != nil && t.ExitCode != 0 && t.FinishedAt.Time.Before(at) {
					return true
				}
			}
		}
	}
	return false
}

// removers are reasons of events by which those who remove pods say so: kubelet, schedulers, node and taint
// controllers, and operators (the reason SuccessfulDelete names the pod in its message).
var removers = []string{
	"Evicted", "Preempted", "Preempting", "TaintManagerEviction", "DeviceTaintManagerEviction", "NodeControllerEviction",
	"ExceededGracePeriod", "Unhealthy", "ScaleDown", "Evict",
}

// removedByPlatform says that an event names who removed the pod.
func removedByPlatform(c *evidence.Bundle, uid types.UID, name string) bool {
	return slices.ContainsFunc(c.Events, func(e corev1.Event) bool {
		if strings.HasPrefix(e.Reason, "SuccessfulDelete") {
			return slices.Contains(strings.Fields(e.Message), name)
		}
		return e.InvolvedObject.Kind == "Pod" && e.InvolvedObject.Name == name && (e.InvolvedObject.UID == "" || uid == "" || e.InvolvedObject.UID == uid) &&
			slices.Contains(removers, e.Reason)
	})
}

// ownerGone says that the object between the job and its pod was deleted, and the pod with it.
func ownerGone(c *evidence.Bundle, p *corev1.Pod) bool {
	owner := metav1.GetControllerOf(p)
	if owner == nil || string(owner.UID) == c.Job.Ref.UID {
		return false
	}
	for _, u := range c.Objects {
		if u != nil && u.GetUID() == owner.UID {
			return u.GetDeletionTimestamp() != nil
		}
	}
	return true
}

// disrupted says that whoever deleted the pod said why on it
// (https://kubernetes.io/docs/concepts/workloads/pods/disruptions/#pod-disruption-conditions).
func disrupted(p *corev1.Pod) bool {
	return p.Status.Reason != "" || slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue
	})
}

// stoppedAndGone finds pods of which only the kubelet's word is left that it stopped their containers: they
// were deleted, and another pod has their name or none has.
func stoppedAndGone(c *evidence.Bundle) []evidence.Observation {
	present := map[types.UID]bool{}
	for i := range c.Pods {
		present[c.Pods[i].UID] = true
	}
	var out []evidence.Observation
	said := map[types.UID]bool{}
	for i := range c.Events {
		e := &c.Events[i]
		of := e.InvolvedObject
		if e.Reason != "Killing" || !strings.HasPrefix(e.Message, "Stopping container") || of.Kind != "Pod" || of.UID == "" || present[of.UID] || said[of.UID] {
			continue
		}
		at := When(e)
		if at.IsZero() || endedBefore(c, at.Add(-announced(c))) || failedBefore(c, at) || removedByPlatform(c, of.UID, of.Name) || c.Job.Source == nil || throughJobs(c) {
			continue
		}
		said[of.UID] = true
		if s, ok := disruptionOf(c, of.UID); ok {
			s.Over = replaced(c, of.Name)
			out = append(out, s)
			continue
		}
		text := fmt.Sprintf("pod %s was deleted at %s while it ran", of.Name, at.UTC().Format(clock))
		out = append(out, evidence.Observation{
			Signature: Deleted, Line: text, Platform: true, Over: replaced(c, of.Name),
			Item: evidence.Item{ID: evidence.ID("pod/" + of.Name + "/deletion"), Kind: evidence.Event, At: at, Source: evidence.Source{Pod: of.Name, Rank: -1}, Text: text, Times: 1},
		})
	}
	return out
}

// announced is how long after the end of a job a pod may be stopped and still have been deleted before: operators of
// Kubeflow count a running pod that is being deleted as failed at once, a little before its kubelet stops it
// (training-operator v1.9.3 pkg/controller.v1/common/pod.go), and say of each pod that they delete themselves that they did.
func announced(c *evidence.Bundle) time.Duration {
	if strings.HasPrefix(c.Job.Ref.APIVersion, "kubeflow.org/") {
		return 2 * time.Second
	}
	return 0
}

// throughJobs says that the pods belong to Jobs that the kind's operator makes and deletes: their own going
// is no sign of anybody else.
func throughJobs(c *evidence.Bundle) bool {
	return c.Job.Ref.Kind == "JobSet" || c.Job.Ref.Kind == "TrainJob"
}

// replaced says that the job goes on: another pod of the name runs, or an elastic one has as many as it takes.
func replaced(c *evidence.Bundle, name string) bool {
	if c.State.Phase != kinds.Running {
		return false
	}
	runs, again := 0, false
	for i := range c.Pods {
		if p := &c.Pods[i]; p.Status.Phase == corev1.PodRunning {
			runs++
			again = again || p.Name == name
		}
	}
	return again || c.Job.MinPods() > 0 && runs >= c.Job.MinPods()
}

// disruptionOf is what a pod that is gone said, when it was seen last, of whoever took it away.
func disruptionOf(c *evidence.Bundle, uid types.UID) (evidence.Observation, bool) {
	for i := range c.Gone {
		p := &c.Gone[i]
		if p.UID != uid {
			continue
		}
		for _, said := range p.Status.Conditions {
			found := ruleForReason(said.Reason)
			if said.Type != corev1.DisruptionTarget || said.Status != corev1.ConditionTrue || found == nil {
				continue
			}
			text := fmt.Sprintf("pod %s: %s=%s %s: %s", p.Name, said.Type, said.Status, said.Reason, said.Message)
			return evidence.Observation{
				Signature: found, Line: text, Platform: true, Facts: map[string]string{"reason": said.Reason},
				Item: evidence.Item{ID: id("pod", p.Name, "status", string(said.Type)), Kind: evidence.Status, At: said.LastTransitionTime.Time, Source: c.Place(p), Text: text, Times: 1},
			}, true
		}
	}
	return evidence.Observation{}, false
}
