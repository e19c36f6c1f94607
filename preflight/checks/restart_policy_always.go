package checks

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var restartPolicyAlways = &check.Check{
	Name:     "restart-policy-always",
	Title:    "pods that end well are started again",
	Doc:      readme("restart-policy-always"),
	Remedy:   "Write restartPolicy OnFailure or Never.",
	Severity: finding.Warning, Since: "0.1",
	Kinds:           []string{"PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "MPIJob", "JobSet", "Job"},
	OperatorRejects: []string{"Job"},
	Run: func(p *check.Pass) error {
		for i := range p.Job.Roles {
			r := &p.Job.Roles[i]
			if p.Job.Ref.Kind == "Job" || p.Job.Ref.Kind == "JobSet" {
				if r.Pod.Spec.RestartPolicy == corev1.RestartPolicyAlways {
					p.Report(finding.Finding{
						Severity: finding.Error, Path: r.Pod.At("restartPolicy"),
						Message: fmt.Sprintf("restartPolicy of %s is Always; a Job takes only OnFailure and Never", r.Name),
					})
				}
				continue
			}
			at := r.Path.Child("restartPolicy")
			if policy, _ := text(p.Job, at); policy == "Always" && decides(p.Job.Ref.Kind, r.Name, p.Job.Role("Master") != nil || p.Job.Role("Chief") != nil) {
				p.Reportf(at, "restartPolicy of %s is Always: a container that ends well is started again, and the job never succeeds", r.Name)
			}
		}
		return nil
	},
}

// decides says whether the end of the role's pods is the end of the job
// (training-operator v1.9.3 pkg/controller.v1/*/…_controller.go, UpdateJobStatus).
func decides(kind, role string, hasMaster bool) bool {
	switch role {
	case "Master", "Chief", "Launcher":
		return true
	case "Worker":
		return !hasMaster && kind != "MPIJob"
	}
	return false
}
