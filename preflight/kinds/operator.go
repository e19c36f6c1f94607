package kinds

// Operator is what the controller of a kind does, as far as checks rest on it: data, so that
// no check has to know a kind by its name.
type Operator struct {
	// Validates says who refuses a job that the operator cannot run before it is stored.
	Validates Validation
}

// Validation is who looks at a job before it is stored, besides the schema of its CRD.
type Validation struct {
	APIServer bool // the API server itself: a kind of its own
	// Webhook is the name of the entry of a ValidatingWebhookConfiguration by which the operator
	// looks at its jobs; empty: there is none in any version that was read.
	Webhook string
}

// trainingWebhook is how the training-operator looks at its jobs, MPIJobs excepted
// (training-operator v1.9.3 manifests/base/webhook/manifests.yaml).
func trainingWebhook(kind string) Operator {
	return Operator{Validates: Validation{Webhook: "validator." + kind + ".training-operator.kubeflow.org"}}
}
