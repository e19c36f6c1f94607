package counts

import (
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

var autoProcsOnCPU = &check.Check{
	Name:     "auto-procs-on-cpu",
	Title:    "auto counts cores, because the device has no gpu in its name",
	Remedy:   "Write numProcPerNode as the number of devices per node.",
	Severity: finding.Warning, Since: "0.1",
	Kinds: []string{"TrainJob.trainer.kubeflow.org"},
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		const at = job.Path("spec.trainer.numProcPerNode")
		node := p.Job.Role(p.Operator.Procs.Role)
		if node == nil || p.Job.Field("spec.trainer") == nil {
			return
		}
		devices := node.Pod.GPUs()
		if word, _ := facts.Text(p.Job, at); word == "gpu" && devices.N == 0 && (!node.Pod.Partial || p.Job.Field("spec.trainer.resourcesPerNode") != nil) {
			// torch/distributed/run.py of PyTorch v2.8, determine_local_world_size
			p.Reportf(at, "numProcPerNode is gpu and the pods ask for no GPU: torchrun counts the GPUs that it sees, and ends with an error where it sees none")
			return
		}
		if procsOf(p, at) != "auto" {
			return
		}
		for name := range node.Pod.Requests {
			if strings.Contains(strings.ToLower(string(name)), "gpu") {
				return
			}
		}
		cores := saturate.Add(node.Pod.Requests["cpu"], 999) / 1000
		if devices.N == 0 && cores > 1 && p.Job.Field(at) != nil {
			p.ReportAs(finding.Finding{Severity: finding.Note, Path: at, Remedy: "Write numProcPerNode as a number where one process is to use all cores."},
				"numProcPerNode is auto and the pods ask for no GPU: Trainer starts %s a node, one for each core", facts.Count(cores, "process"))
		}
		if devices.N > 0 && cores != devices.N {
			where := at
			if p.Job.Field(at) == nil {
				where = devices.Path
			}
			p.Reportf(where, "numProcPerNode is auto, which counts only resources with gpu in their name: %s start on %d %s", facts.Count(max(cores, 1), "process"), devices.N, devices.Resource)
		}
	},
}

// procsOf is what the job, or else its runtime, says about processes per node; empty where
// the runtime is not known or is not torch. An omitted value in a torch runtime is auto
// (trainer v2.1.0 pkg/apis/trainer/v1alpha1/trainingruntime_types.go).
func procsOf(p *check.Pass, at job.Path) string {
	if own, ok := facts.Text(p.Job, at); ok {
		return own
	}
	if p.Job.Field(at) != nil || p.Cluster == nil {
		return ""
	}
	runtime, _ := facts.Runtime(p)
	if runtime == nil {
		return ""
	}
	policy, ok := runtime.Field("spec.mlPolicy.torch").(map[string]any)
	if !ok {
		return ""
	}
	switch procs := policy["numProcPerNode"].(type) {
	case nil:
		return "auto"
	case string:
		return procs
	}
	return ""
}
