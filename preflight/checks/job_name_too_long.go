package checks

import (
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var jobNameTooLong = &check.Check{
	Name:     "job-name-too-long",
	Title:    "the job's name leaves no room for the names of its pods",
	Doc:      readme("job-name-too-long"),
	Remedy:   "Shorten the name of the job.",
	Severity: finding.Error, Since: "0.1",
	Kinds:           []string{"PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "MPIJob", "JobSet", "TrainJob", "ColossalAIJob", "Job"},
	OperatorRejects: []string{"JobSet", "Job"},
	Run: func(p *check.Pass) error {
		name := p.Job.Ref.Name
		if p.Job.Source != nil && p.Job.Source.GetName() == "" && name != "" {
			name += generated
		}
		if name == "" {
			return nil
		}
		longest, what := "", ""
		for i := range p.Job.Roles {
			if child, of := lastChild(p.Job, &p.Job.Roles[i], name); len(child) > len(longest) {
				longest, what = child, of
			}
		}
		if len(longest) > longestLabel {
			p.Reportf("metadata.name", "the %s would be called %s, which has %d characters; %d are allowed", what, longest, len(longest), longestLabel)
		}
		return nil
	},
}

const (
	// longestLabel is the most that a DNS label, and so a host or service name, may have (RFC 1123).
	longestLabel = 63
	// generated stands for the suffix that the API server puts after generateName
	// (k8s.io/apiserver pkg/storage/names/generate.go).
	generated = "xxxxx"
)

// lastChild is the longest name that the operator derives for a role and that must be a
// DNS label. Sources: docs of the kinds' readers; MPIJob v1 makes no services, and only the
// label with the job's own name binds it.
func lastChild(j *job.Job, r *job.Role, name string) (child, what string) {
	if r.Replicas.Max < 1 {
		return "", ""
	}
	last := strconv.Itoa(r.Replicas.Max - 1)
	switch j.Ref.Kind {
	case "JobSet", "TrainJob":
		// The index of the job inside the replicated job is 0 at least, the pod's index too.
		return name + "-" + r.Name + "-0-0-" + generated, "shortest name of a pod of " + r.Name
	case "MPIJob":
		if j.Ref.APIVersion == "kubeflow.org/v1" {
			return name, "label with the job's name"
		}
		if strings.EqualFold(r.Name, "launcher") {
			return name + "-launcher", "launcher"
		}
		return name + "-worker-" + last, "last worker"
	case "Job":
		if mode, _ := text(j, "spec.completionMode"); mode == "Indexed" {
			return name + "-" + last, "host of the last pod"
		}
		return name, "label with the job's name"
	case "ColossalAIJob":
		if r.Name == "launcher" {
			return name + "-launcher", "launcher"
		}
	}
	return name + "-" + strings.ToLower(r.Name) + "-" + last, "last pod of " + r.Name
}
