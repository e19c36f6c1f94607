package control

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

var ruleNotReady = rule("container-not-ready", "the container runs and is not ready", "hang-no-progress", signature.General,
	signature.User, signature.RetryUnknown,
	"The kubelet says that the container runs and its readiness probe fails, or that a readiness gate of the pod is not met.",
	"That training stands still: a probe says no more than what it asks.",
	"Look at what the probe asks, or at who sets the gate: kubectl describe pod shows both, with the last answer.\nTake the probe away where nobody sends requests to the pod: training needs none.")

// NotReadyButTrains is the same of a container whose log shows steps since: nothing hangs, what is asked of it is wrong.
var NotReadyButTrains = rule("container-not-ready-but-trains", "the container trains and is not ready", "argument-or-config-error", signature.General,
	signature.User, signature.Useless,
	"The kubelet says that the container's readiness probe fails, or that a readiness gate of the pod is not met, and its log counts steps since.",
	"That the job suffers from it: only what sends requests to the pod, or waits for it to be ready, does.",
	"Take the probe away where nobody sends requests to the pod, or let it ask what the program answers: kubectl describe pod shows the last answer.")

// TrainsUnready is the rule for an observation of a pod that is not ready, where its program has trained since; nil: it is another one.
func TrainsUnready(s *evidence.Observation) *signature.Signature {
	if s.Signature != ruleNotReady {
		return nil
	}
	return NotReadyButTrains
}

const (
	// StartsWithin is how long a container may run without having been ready at all, at least: where a
	// probe waits for longer, that counts.
	StartsWithin = time.Minute
	// Flaps is for how long a pod that was ready may not be before it is said: one answer of a probe that
	// came too late is made good by the next.
	Flaps = 10 * time.Second
)

// readReadiness says that the program of a pod runs and is not ready, or a gate of the pod is not met. A node
// that is lost makes its pods unready, too, and leaves what their containers were; that is said of the node.
func (r *reader) readReadiness(pod *corev1.Pod, p *Pod) {
	c, ready := statusOf(pod, p.Program), conditionOf(pod, corev1.PodReady)
	if c == nil || ready == nil || ready.Status != corev1.ConditionFalse || pod.Status.Phase != corev1.PodRunning || pod.DeletionTimestamp != nil ||
		c.State.Running == nil || c.LastTerminationState.Terminated != nil { // of one that was started again its end is told
		return
	}
	since, wait, why := ready.LastTransitionTime.Time, Flaps, ""
	switch began := c.State.Running.StartedAt.Time; {
	case c.Ready && ready.Reason == "ReadinessGatesNotReady":
		wait, why = StartsWithin, "pod "+pod.Name+" is not ready, though its containers are: "+ready.Message
	case c.Ready:
		return
	case since.After(began): // a condition that stays false keeps its time: it was true in between
		why = fmt.Sprintf("pod %s: container %s was ready and is not since %s", pod.Name, c.Name, since.UTC().Format(time.RFC3339))
	default:
		since, wait = began, patienceOf(pod, c.Name)
		why = fmt.Sprintf("pod %s: container %s has run since %s and was never ready", pod.Name, c.Name, since.UTC().Format(time.RFC3339))
	}
	if since.IsZero() || r.Now.Sub(since) < wait {
		return
	}
	if probe := probeOf(pod, c.Name); probe != "" && !c.Ready {
		why += "; its readiness probe asks " + probe
	}
	if answer := r.lastAnswer(pod); answer != "" && !c.Ready {
		why += "; " + answer
	}
	r.sight(ruleNotReady, evidence.Item{ID: id("pod", pod.Name, "status", "Ready"), Kind: evidence.Status, At: since, Source: p.Source, Text: why}, nil)
}

func statusOf(pod *corev1.Pod, container string) *corev1.ContainerStatus {
	for i := range pod.Status.ContainerStatuses {
		if c := &pod.Status.ContainerStatuses[i]; c.Name == container {
			return c
		}
	}
	return nil
}

func conditionOf(pod *corev1.Pod, of corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == of {
			return c
		}
	}
	return nil
}

func readinessProbe(pod *corev1.Pod, container string) *corev1.Probe {
	for i := range pod.Spec.Containers {
		if c := &pod.Spec.Containers[i]; c.Name == container {
			return c.ReadinessProbe
		}
	}
	return nil
}

// patienceOf is how long a container may take until it is ready: the probe's delay and its failures
// (kubernetes.io/docs, Configure Probes: every 10 s, three of them, where nothing else is said).
func patienceOf(pod *corev1.Pod, container string) time.Duration {
	probe := readinessProbe(pod, container)
	if probe == nil {
		return StartsWithin
	}
	seconds := time.Duration(probe.InitialDelaySeconds) + time.Duration(cmp.Or(probe.PeriodSeconds, 10))*time.Duration(cmp.Or(probe.FailureThreshold, 3))
	return max(StartsWithin, seconds*time.Second)
}

// probeOf is what a readiness probe asks, in few words.
func probeOf(pod *corev1.Pod, container string) string {
	probe := readinessProbe(pod, container)
	switch {
	case probe == nil:
		return ""
	case probe.HTTPGet != nil:
		return fmt.Sprintf("for %s on port %s", cmp.Or(probe.HTTPGet.Path, "/"), probe.HTTPGet.Port.String())
	case probe.TCPSocket != nil:
		return "for port " + probe.TCPSocket.Port.String()
	case probe.GRPC != nil:
		return fmt.Sprintf("for gRPC health on port %d", probe.GRPC.Port)
	case probe.Exec != nil:
		return "for " + strings.Join(probe.Exec.Command, " ")
	}
	return ""
}

// lastAnswer is the newest event by which the kubelet says why a pod is not ready.
func (r *reader) lastAnswer(pod *corev1.Pod) string {
	var newest *corev1.Event
	for i := range r.Events {
		e := &r.Events[i]
		if e.Reason == "Unhealthy" && strings.HasPrefix(e.Message, "Readiness probe") && e.InvolvedObject.Kind == "Pod" && e.InvolvedObject.Name == pod.Name &&
			(e.InvolvedObject.UID == "" || e.InvolvedObject.UID == pod.UID) && (newest == nil || When(newest).Before(When(e))) {
			newest = e
		}
	}
	if newest == nil {
		return ""
	}
	return strings.TrimSpace(newest.Message)
}
