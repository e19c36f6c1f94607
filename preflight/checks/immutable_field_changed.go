package checks

import (
	"fmt"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var immutableFieldChanged = &check.Check{
	Name:     "immutable-field-changed",
	Title:    "the change is to a field that stays as it was created",
	Doc:      readme("immutable-field-changed"),
	Remedy:   "Put the old value back, or delete the job and create it with the new one.",
	Severity: finding.Error, Since: "0.1",
	Kinds:           []string{"PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "MPIJob", "JobSet", "TrainJob"},
	Needs:           check.Update,
	OperatorRejects: []string{"TFJob", "XGBoostJob", "PaddleJob", "JobSet", "TrainJob"},
	Run: func(p *check.Pass) error {
		for _, f := range fixedFields[kindOfFixed(p.Job.Ref.Kind)] {
			if f.whileRunning && (p.Old.Suspended || p.Job.Suspended) {
				continue
			}
			was, is := field(p.Old, f.at), field(p.Job, f.at)
			if was == nil && is == f.otherwise || is == nil && was == f.otherwise {
				continue // the default, written out
			}
			if where, was, is, changed := firstDifference(f.at, was, is); changed {
				was, is = masked(where, was), masked(where, is)
				p.Report(finding.Finding{Path: present(p.Job, where), Message: fmt.Sprintf("%s changed from %s to %s; %s", f.at, was, is, f.reason)})
			}
		}
		return nil
	},
}

// fixedField is a field that no update may change, and why.
type fixedField struct {
	at           job.Path
	otherwise    any  // the value that nothing stands for
	whileRunning bool // it may be changed while the job is suspended
	reason       string
}

// fixedFields: training-operator v1.9.3 pkg/common/util/webhooks.go and the CRDs' rule for
// the queue; jobset v0.10.1 pkg/webhooks/jobset_webhook.go, ValidateUpdate; trainer v2.1.0
// pkg/apis/trainer/v1alpha1/trainjob_types.go (XValidation) and plugins/jobset, v2.3.0 for
// runtimePatches.
var fixedFields = map[string][]fixedField{
	"training": {
		{at: "spec.runPolicy.managedBy", otherwise: "kubeflow.org/training-operator", reason: "who reconciles a job is settled when it is created: two controllers would both own its pods, or neither"},
		{at: "spec.runPolicy.schedulingPolicy.queue", reason: "the pod group waits in the queue that it was made for"},
	},
	"JobSet": {
		{at: "spec.replicatedJobs", whileRunning: true, reason: "the Jobs are made once from the template; while the JobSet is suspended, labels, selectors and tolerations may change"},
		{at: "spec.network", reason: "the pods know their peers by these names"},
		{at: "spec.successPolicy", reason: "what success means is settled when the JobSet is created"},
		{at: "spec.failurePolicy", reason: "what a failure leads to is settled when the JobSet is created"},
		{at: "spec.coordinator", reason: "the pods know their coordinator by name"},
		{at: "spec.managedBy", otherwise: "jobset.sigs.k8s.io/jobset-controller", reason: "who reconciles a job is settled when it is created"},
	},
	"TrainJob": {
		{at: "spec.runtimeRef", reason: "the JobSet of the job was made from that runtime"},
		{at: "spec.managedBy", otherwise: "trainer.kubeflow.org/trainjob-controller", reason: "who reconciles a job is settled when it is created"},
		{at: "spec.podTemplateOverrides", whileRunning: true, reason: "the pods exist: suspend the job, wait until none is active, and change it then"},
		{at: "spec.runtimePatches", whileRunning: true, reason: "the pods exist: suspend the job, wait until none is active, and change it then"},
	},
}

func kindOfFixed(kind string) string {
	if kind == "JobSet" || kind == "TrainJob" {
		return kind
	}
	return "training"
}

// present is the path, or the nearest place above it that the object has.
func present(j *job.Job, at job.Path) job.Path {
	for at != "" && field(j, at) == nil {
		at = at.Parent()
	}
	return at
}

// masked hides what a message must not repeat: values of variables, and what looks like a
// secret.
func masked(at job.Path, shown string) string {
	if contains(string(at), ".env[") || contains(string(at), ".env.") || contains(shown, `"env":`) || secretIn(shown) != "" {
		return "something else"
	}
	return shown
}
