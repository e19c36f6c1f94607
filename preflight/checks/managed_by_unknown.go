package checks

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var managedByUnknown = &check.Check{
	Name:     "managed-by-unknown",
	Title:    "the job is given to a controller that its operator does not know",
	Doc:      readme("managed-by-unknown"),
	Remedy:   "Leave managedBy out, or write kueue.x-k8s.io/multikueue.",
	Severity: finding.Error, Since: "0.1",
	Kinds:           []string{"PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "MPIJob", "TrainJob", "JobSet", "Job"},
	OperatorRejects: []string{"PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "TrainJob", "JobSet", "Job"},
	Run: func(p *check.Pass) error {
		at := job.Path("spec.managedBy")
		if slices.Contains(trainingKinds, p.Job.Ref.Kind) || p.Job.Ref.Kind == "MPIJob" {
			at = "spec.runPolicy.managedBy"
		}
		name, ok := text(p.Job, at)
		if _, _, templated := job.Placeholder(name); !ok || templated {
			return nil
		}
		if known := managersOf(p.Job); known != nil && !slices.Contains(known, name) {
			p.Reportf(at, "managedBy is %q; nobody runs the job unless it is one of %s", name, `"`+strings.Join(known, `", "`)+`"`)
		} else if known == nil && len(validation.IsDomainPrefixedPath(nil, name)) > 0 {
			p.Reportf(at, "managedBy is %q; it takes a domain, a slash and a name, such as kueue.x-k8s.io/multikueue", name)
		}
		return nil
	},
}

// managersOf are the controllers that a kind may be given to; nil: any with a name of the
// right form. Sources: training-operator v1.9.3 pkg/common/util/webhooks.go and
// pkg/controller.v1/common/job.go, ManagedByExternalController (JAXJob and MPIJob have no such
// rule: their operator skips a job with any other name); mpi-operator v0.7.0
// pkg/apis/kubeflow/validation/validation.go; trainer v2.1.0 pkg/apis/trainer/v1alpha1/trainjob_types.go.
func managersOf(j *job.Job) []string {
	const multiKueue = "kueue.x-k8s.io/multikueue"
	switch {
	case j.Ref.Kind == "JobSet" || j.Ref.Kind == "Job":
		return nil
	case j.Ref.Kind == "TrainJob":
		return []string{"trainer.kubeflow.org/trainjob-controller", multiKueue}
	case j.Ref.APIVersion == "kubeflow.org/v2beta1":
		return []string{"kubeflow.org/mpi-operator", multiKueue}
	}
	return []string{"kubeflow.org/training-operator", multiKueue}
}
