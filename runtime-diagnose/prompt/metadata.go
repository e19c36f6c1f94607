package prompt

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/words"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// documented are the names that aegis promises; a job without such a role has 0 and "".
// Source: scitix/aegis 8101f47 and its manual of the PyTorchJob diagnosis.
func documented() map[string]any {
	return map[string]any{
		"JobName": "", "JobStatus": "", "LauncherStatus": "",
		"MasterExpected": 0, "MasterCreatedCount": 0, "MasterDiagnosis": "",
		"WorkerExpected": 0, "WorkerCreatedCount": 0, "WorkerDiagnosis": "",
	}
}

func metadata(c diagnose.Case, r diagnose.Result, items []evidence.Item) map[string]any {
	m := documented()
	var all []string
	cause := ""
	if r.Root != nil {
		cause = r.Root.Source.Pod
	}
	for _, role := range roles(c) {
		name := title(role.name)
		m[name+"Expected"] = role.expected
		m[name+"CreatedCount"] = len(role.pods)
		m[name+"Status"] = role.status()
		m[name+"Diagnosis"] = fence("role "+role.name, role.lines(slices.DeleteFunc(slices.Clone(items), func(i evidence.Item) bool { return i.Kind == evidence.Log && !rests(r, i.ID) }), cause))
		all = append(all, fmt.Sprintf("%s: %d expected, %d created (%s)", role.name, role.expected, len(role.pods), role.status()))
	}
	m["Roles"] = all
	// After the roles: one may be called job.
	m["JobName"], m["JobKind"], m["Namespace"] = r.Job.Name, r.Job.Kind, r.Job.Namespace
	m["JobStatus"], m["JobReason"] = phaseName(c.State.Phase), safe(c.State.Reason)
	return m
}

// rests says that the finding cites a piece of evidence: of a pod's log that is the line to show beside it.
func rests(r diagnose.Result, id evidence.ID) bool {
	return r.Root != nil && slices.Contains(r.Root.Cites, id) ||
		slices.ContainsFunc(r.Effects, func(e diagnose.Cause) bool { return slices.Contains(e.Cites, id) })
}

// roleView is what is known of one role.
type roleView struct {
	name     string
	expected int
	pods     []*corev1.Pod
}

// roles are the roles of the job in its order; pods of no known role are left out.
func roles(c diagnose.Case) []roleView {
	var out []roleView
	if c.Job != nil {
		for _, r := range c.Job.Roles {
			out = append(out, roleView{name: r.Name, expected: r.Replicas.Max})
		}
	}
	if c.Kind == nil || c.Kind.Place == nil {
		return out
	}
	for i := range c.Pods {
		name, _, ok := c.Kind.Place(&c.Pods[i])
		if !ok {
			continue
		}
		for k := range out {
			if strings.EqualFold(out[k].name, name) {
				out[k].pods = append(out[k].pods, &c.Pods[i])
			}
		}
	}
	return out
}

// status counts the pods by phase, in a fixed order: "4 Running, 2 Pending".
func (v roleView) status() string {
	count := map[corev1.PodPhase]int{}
	for _, p := range v.pods {
		count[p.Status.Phase]++
	}
	var out []string
	for _, phase := range []corev1.PodPhase{corev1.PodFailed, corev1.PodPending, corev1.PodUnknown, corev1.PodRunning, corev1.PodSucceeded} {
		if n := count[phase]; n > 0 {
			out = append(out, fmt.Sprintf("%d %s", n, phase))
		}
	}
	if len(out) == 0 {
		return "no pods"
	}
	return strings.Join(out, ", ")
}

// mostPods are told one by one, as aegis tells them: five that are not well.
const mostPods = 5

// causeFirst are the pods of the role, the one in which the cause lies before all others.
func (v roleView) causeFirst(cause string) []*corev1.Pod {
	out := slices.Clone(v.pods)
	slices.SortStableFunc(out, func(a, b *corev1.Pod) int {
		switch {
		case (a.Name == cause) == (b.Name == cause):
			return 0
		case a.Name == cause:
			return -1
		default:
			return 1
		}
	})
	return out
}

// lines are the role's pods one by one, those that are not well, each with the evidence that comes from it
// and one line of its log; the others are counted.
func (v roleView) lines(items []evidence.Item, cause string) []string {
	out := []string{v.status()}
	well, unwell := 0, 0
	for _, p := range v.causeFirst(cause) {
		if isWell(p) {
			well++
			continue
		}
		if unwell++; unwell > mostPods {
			continue
		}
		out = append(out, describe(p))
		said := false
		for _, item := range items {
			if item.Source.Pod != p.Name || item.Kind == evidence.Log && said {
				continue
			}
			said = said || item.Kind == evidence.Log
			out = append(out, line(item))
		}
	}
	if n := unwell - mostPods; n > 0 {
		out = append(out, fmt.Sprintf("%d more pod%s of the role %s not well", n, words.S(n), words.Is(n)))
	}
	switch {
	case well == 1:
		out = append(out, "1 other pod of the role runs and is ready, or has ended well")
	case well > 1:
		out = append(out, fmt.Sprintf("%d other pods of the role run and are ready, or have ended well", well))
	}
	return out
}

// describe is a pod in one line: "train-worker-0: Failed on gpu-3, container pytorch: exit code 137 OOMKilled".
func describe(p *corev1.Pod) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %s", p.Name, p.Status.Phase)
	if p.Status.Phase == corev1.PodRunning {
		text.WriteString(", not ready")
	}
	if p.Spec.NodeName != "" {
		text.WriteString(" on " + p.Spec.NodeName)
	}
	for _, c := range p.Status.ContainerStatuses {
		if t := c.State.Terminated; t != nil {
			text.WriteString(strings.TrimRight(fmt.Sprintf(", container %s: exit code %d %s", c.Name, t.ExitCode, safe(t.Reason)), " "))
		}
		if w := c.State.Waiting; w != nil {
			fmt.Fprintf(&text, ", container %s waits: %s", c.Name, safe(w.Reason))
		}
		if c.RestartCount > 0 {
			fmt.Fprintf(&text, ", started again %d times", c.RestartCount)
		}
	}
	return text.String()
}

// isWell is a pod that runs and is ready, or has ended well. Ready is what nothing denies.
func isWell(p *corev1.Pod) bool {
	if p.Status.Phase == corev1.PodSucceeded {
		return true
	}
	if p.Status.Phase != corev1.PodRunning {
		return false
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionFalse {
			return false
		}
	}
	for _, c := range p.Status.ContainerStatuses {
		if c.State.Waiting != nil || c.State.Terminated != nil && c.State.Terminated.ExitCode != 0 {
			return false
		}
	}
	return true
}

func phaseName(p kinds.Phase) string {
	switch p {
	case kinds.Created:
		return "Created"
	case kinds.Running:
		return "Running"
	case kinds.Restarting:
		return "Restarting"
	case kinds.Suspended:
		return "Suspended"
	case kinds.Succeeded:
		return "Succeeded"
	case kinds.Failed:
		return "Failed"
	case kinds.PhaseUnknown:
	}
	return "Unknown"
}
