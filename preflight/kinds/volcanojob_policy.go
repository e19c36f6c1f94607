package kinds

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Reasons of a job that a policy of its own ended, and of one whose end its status does not explain.
const (
	volcanoByPolicy = "EndedByPolicy"
	volcanoEither   = "EndedByPolicyOrCommand"
)

// volcanoFailures are the events that a failed pod raises
// (volcano.sh/apis v1.14.0 pkg/apis/bus/v1alpha1/events.go).
var volcanoFailures = []string{"*", "PodFailed", "TaskFailed"}

// volcanoPolicy is one policy of a job or of a task.
type volcanoPolicy struct {
	at     job.Path
	action string
	events []string
	code   string
}

// volcanoPolicies are those of the tasks, then those of the job: in this order Volcano looks for one
// (volcano ed72c7c8 pkg/controllers/job/job_controller_util.go, applyPolicies).
func volcanoPolicies(u *unstructured.Unstructured) []volcanoPolicy {
	var out []volcanoPolicy
	read := func(at job.Path, list any) {
		all, _ := list.([]any)
		for i, v := range all {
			one, _ := v.(map[string]any)
			p := volcanoPolicy{at: at.Index(i), action: text(one, "action")}
			if e := text(one, "event"); e != "" {
				p.events = append(p.events, e)
			}
			several, _ := one["events"].([]any)
			for _, e := range several {
				if name, ok := e.(string); ok {
					p.events = append(p.events, name)
				}
			}
			if n, ok := job.Whole(one["exitCode"]); ok {
				p.code = fmt.Sprintf("exit code %d", n)
			}
			out = append(out, p)
		}
	}
	for i, t := range digList(u, "spec", "tasks") {
		task, _ := t.(map[string]any)
		read(job.Path("spec.tasks").Index(i).Child("policies"), task["policies"])
	}
	read("spec.policies", dig(u, "spec", "policies"))
	return out
}

// on is what brings a policy about, as its author wrote it.
func (p volcanoPolicy) on() string {
	if p.code != "" {
		return p.code
	}
	return strings.Join(p.events, ", ")
}

// volcanoEnded says who ended a job that was aborted or terminated: a policy of its own whose event a failed pod
// raised; a policy or a command, where a policy would have done the same and nothing tells them apart; else
// somebody. action is what the policy would be.
func volcanoEnded(u *unstructured.Unstructured, s State, action string, failed int64) State {
	for _, p := range volcanoPolicies(u) {
		byFailure := p.code != "" || slices.ContainsFunc(p.events, func(e string) bool { return slices.Contains(volcanoFailures, e) })
		switch {
		case p.action != action:
		case byFailure && failed > 0:
			s.Reason = volcanoByPolicy
			s.Message = fmt.Sprintf("its own policy %s (%s on %s) ended it after a pod failed", p.at, p.action, p.on())
			return s
		case !byFailure:
			s.Reason = volcanoEither
			s.Message = fmt.Sprintf("its own policy %s (%s on %s) ended it, or somebody did by a command", p.at, p.action, p.on())
		}
	}
	return s
}
