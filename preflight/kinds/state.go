package kinds

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// condition is one element of status.conditions, as far as it can be read.
type condition struct {
	kind, status, reason, message, since string
}

// verdict says what a condition that is True means.
type verdict struct {
	condition string
	phase     Phase
}

// conditions reads what an operator wrote. Nothing in it is an error: status is not the
// user's, and a part that cannot be read says nothing.
func conditions(u *unstructured.Unstructured) []condition {
	var out []condition
	for _, e := range digList(u, "status", "conditions") {
		m, ok := e.(map[string]any)
		if !ok {
			continue
		}
		out = append(out, condition{
			kind: text(m, "type"), status: text(m, "status"), reason: text(m, "reason"),
			message: text(m, "message"), since: text(m, "lastTransitionTime"),
		})
	}
	return out
}

// decide takes the first verdict whose condition is True: operators do not keep their
// conditions in the order of truth.
func decide(all []condition, order []verdict) (State, bool) {
	for _, v := range order {
		for _, c := range all {
			if c.kind == v.condition && c.status == "True" {
				return State{Phase: v.phase, Reason: c.reason, Message: c.message, Since: c.since}, true
			}
		}
	}
	return State{}, false
}

// kubeflowOrder is by what cannot change any more (training-operator v1.9.3
// pkg/util/status.go: Running and Restarting replace each other, Failed is final).
var kubeflowOrder = []verdict{
	{"Failed", Failed},
	{"Succeeded", Succeeded},
	{"Suspended", Suspended},
	{"Restarting", Restarting},
	{"Running", Running},
	{"Created", Created},
}

// kubeflowState reads the conditions of kubeflow.org jobs. MPIJob v1 writes its kind
// twice in front of some reasons.
func kubeflowState(u *unstructured.Unstructured) State {
	s, _ := decide(conditions(u), kubeflowOrder)
	if rest, doubled := strings.CutPrefix(s.Reason, "MPIJobMPIJob"); doubled {
		s.Reason = "MPIJob" + rest
	}
	return s
}

// dig walks down maps; nil where the way ends.
func dig(u *unstructured.Unstructured, path ...string) any {
	if u == nil {
		return nil
	}
	var v any = u.Object
	for _, key := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[key]
	}
	return v
}

func digList(u *unstructured.Unstructured, path ...string) []any {
	l, _ := dig(u, path...).([]any)
	return l
}

func text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

func number(m map[string]any, key string) int64 {
	n, _ := job.Whole(m[key])
	return n
}
