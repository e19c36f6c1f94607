package checks

import (
	"maps"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var operatorLabelOverwritten = &check.Check{
	Name:     "operator-label-overwritten",
	Title:    "the job sets labels that its operator writes itself",
	Doc:      readme("operator-label-overwritten"),
	Remedy:   "Remove the label, or use one with a prefix of your own.",
	Severity: finding.Note, Since: "0.1",
	Kinds: []string{"PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "MPIJob", "JobSet", "TrainJob", "Framework"},
	Run: func(p *check.Pass) error {
		for _, at := range templateMetadata(p.Job) {
			labels, _ := field(p.Job, at.Child("labels")).(map[string]any)
			for _, key := range slices.Sorted(maps.Keys(labels)) {
				if by := ownerOfLabel(p.Job.Ref.Kind, key); by != "" {
					value, _ := labels[key].(string)
					p.Reportf(at.Child("labels").Key(key), "label %s is %s, but %s writes its own value there", key, quoted(value), by)
				}
			}
		}
		return nil
	},
}

// templateMetadata are the places where a job writes labels for its pods.
func templateMetadata(j *job.Job) []job.Path {
	var out []job.Path
	switch j.Ref.Kind {
	case "TrainJob":
		overrides, _ := field(j, "spec.podTemplateOverrides").([]any)
		for i := range overrides {
			out = append(out, job.Path("spec.podTemplateOverrides").Index(i).Child("metadata"))
		}
		patches, _ := field(j, "spec.runtimePatches").([]any)
		for i := range patches {
			jobs := job.Path("spec.runtimePatches").Index(i).Child("trainingRuntimeSpec", "template", "spec", "replicatedJobs")
			list, _ := field(j, jobs).([]any)
			for k := range list {
				out = append(out, jobs.Index(k).Child("template", "spec", "template", "metadata"))
			}
		}
	case "JobSet":
		for i := range j.Roles {
			at := j.Roles[i].Path.Child("template")
			out = append(out, at.Child("metadata"), at.Child("spec", "template", "metadata"))
		}
	case "Framework":
		for i := range j.Roles {
			out = append(out, j.Roles[i].Path.Child("task", "pod", "metadata"))
		}
	default:
		for i := range j.Roles {
			out = append(out, j.Roles[i].Path.Child("template", "metadata"))
		}
	}
	return out
}

// ownerOfLabel names who writes a label over what the job says; empty: nobody. Sources:
// training-operator v1.9.3 pkg/controller.v1/common/pod.go, createNewPod; jobset v0.10.1
// pkg/controllers/jobset_controller.go, labelAndAnnotateObject; trainer v2.1.0
// pkg/runtime/framework/plugins/{jobset/builder,coscheduling/coscheduling}.go;
// frameworkcontroller d6e70787 pkg/controller/controller.go, createPod.
func ownerOfLabel(kind, key string) string {
	jobSets := strings.HasPrefix(key, "jobset.sigs.k8s.io/") || key == "batch.kubernetes.io/job-name" || key == "batch.kubernetes.io/controller-uid" || key == "batch.kubernetes.io/job-completion-index"
	switch {
	case kind == "TrainJob" && key == pluginsGroup:
		return "the coscheduling plugin of Trainer"
	case (kind == "JobSet" || kind == "TrainJob") && jobSets:
		return "the controller of Jobs and JobSets"
	case kind == "Framework" && strings.HasPrefix(key, "FC_"):
		return "FrameworkController"
	case kind == "JobSet" || kind == "TrainJob" || kind == "Framework":
		return ""
	case slices.Contains(operatorLabels, strings.TrimPrefix(key, "training.kubeflow.org/")) && strings.HasPrefix(key, "training.kubeflow.org/"):
		return "the operator"
	}
	return ""
}

// operatorLabels are the names after training.kubeflow.org/
// (training-operator v1.9.3 pkg/apis/kubeflow.org/v1/common_types.go).
var operatorLabels = []string{"job-name", "operator-name", "replica-type", "replica-index", "job-role"}
