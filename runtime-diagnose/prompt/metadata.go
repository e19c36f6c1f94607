package prompt

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
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
	for _, role := range roles(c) {
		name := title(role.name)
		m[name+"Expected"] = role.expected
		m[name+"CreatedCount"] = len(role.pods)
		m[name+"Status"] = role.status()
		m[name+"Diagnosis"] = fence("role "+role.name, role.lines(items))
		all = append(all, fmt.Sprintf("%s: %d expected, %d created (%s)", role.name, role.expected, len(role.pods), role.status()))
	}
	m["Roles"] = all
	// After the roles: one may be called job.
	m["JobName"], m["JobKind"], m["Namespace"] = r.Job.Name, r.Job.Kind, r.Job.Namespace
	m["JobStatus"], m["JobReason"] = phaseName(c.State.Phase), safe(c.State.Reason)
	return m
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

// lines are the pieces of evidence that come from the role's pods, without logs: those have
// their own place.
func (v roleView) lines(items []evidence.Item) []string {
	mine := map[string]bool{}
	for _, p := range v.pods {
		mine[p.Name] = true
	}
	out := []string{v.status()}
	for _, item := range items {
		if mine[item.Source.Pod] && item.Kind != evidence.Log {
			out = append(out, line(item))
		}
	}
	return out
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
