package kinds

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Operator is what the controller of a kind does, as far as checks rest on it: data, so that
// no check has to know a kind by its name.
type Operator struct {
	// Validates says who refuses a job that the operator cannot run before it is stored.
	Validates Validation
	// Hold is the field with which a job of the kind is held back; empty: spec.suspend of the API
	// that the kind is made for.
	Hold string
	// EndsWithoutPods says that the operator calls a job without pods complete.
	EndsWithoutPods bool
	// KeepsLogs is what somebody does to keep the logs of a job that is cleaned up at its end.
	KeepsLogs string
	// Launcher is what somebody does with GPUs that the launcher asks for; empty: the kind has none.
	Launcher string
}

// Validation is who looks at a job before it is stored, besides the schema of its CRD.
type Validation struct {
	APIServer bool // the API server itself: a kind of its own
	// Webhook is the name of the entry of a ValidatingWebhookConfiguration by which the operator
	// looks at its jobs; empty: there is none in any version that was read.
	Webhook string
}

// Of is what the operator of a job does; the zero Operator for a kind that nobody reads.
func Of(ref job.Ref) Operator {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return Operator{}
	}
	k := For(gv.WithKind(ref.Kind))
	if k == nil {
		return Operator{}
	}
	return k.Operator
}

// trainingWebhook is how the training-operator looks at its jobs, MPIJobs excepted
// (training-operator v1.9.3 manifests/base/webhook/manifests.yaml).
func trainingWebhook(kind string) Operator {
	return Operator{Validates: Validation{Webhook: "validator." + kind + ".training-operator.kubeflow.org"}}
}
