package resources

import (
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var gpuNotRequested = &check.Check{
	Name:     "gpu-not-requested",
	Title:    "the command wants GPUs, and the pod asks for none",
	Remedy:   "Write the GPUs under limits of the container that trains, or start it for the CPU.",
	Severity: finding.Warning, Since: "0.1",
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		for r := range p.Job.EachRole() {
			c, _ := r.Trainer()
			if c == nil || r.Replicas.Max == 0 || r.Pod.Partial || !p.Operator.Trains(r) || facts.ReachesGPUs(p.Job, r) {
				continue
			}
			if cluster, _ := facts.Variable(c, "RAY_ADDRESS"); cluster != nil {
				continue // the program runs there
			}
			options := facts.OptionsOf(p.Job, r)
			if slices.ContainsFunc(options, namesCPU) {
				continue
			}
			for _, o := range options {
				if why := wantsGPU(o); why != "" {
					p.Reportf(o.At, "%s is started with %s, which %s, but its pod asks for none", facts.Whose(c.Name, r.Name), o, why)
					return
				}
			}
		}
		onlyImages(p)
	},
}

// namesCPU says whether an option sends the computing to the CPU: then a number of GPUs is one of
// its devices (tensorflow/benchmarks scripts/tf_cnn_benchmarks/benchmark_cnn.py, --device and --num_gpus).
func namesCPU(o facts.Option) bool {
	return (o.Name == "device" || o.Name == "accelerator") && strings.EqualFold(o.Value, "cpu")
}

// wantsGPU says why an option makes sense on GPUs only; empty: it does not.
func wantsGPU(o facts.Option) string {
	value := strings.ToLower(o.Value)
	_, counts := facts.AtLeastOne(value)
	switch o.Name {
	case "backend", "dist-backend", "ddp-backend", "distributed-backend", "distributed-dist-backend":
		if value == "nccl" {
			return "talks between GPUs only"
		}
	case "device", "accelerator":
		if value == "cuda" || value == "gpu" || strings.HasPrefix(value, "cuda:") {
			return "trains on a GPU"
		}
	case "num-gpus", "n-gpus", "ngpus", "gpus", "num-gpus-per-node", "gpus-per-node", "n-gpus-per-node":
		if counts {
			return "uses as many GPUs"
		}
	case "multi-gpu":
		return "uses several GPUs"
	}
	return ""
}

// onlyImages notes a job that trains from an image for GPUs, and none of whose pods asks for
// one: the training runs, on the CPU. A program that says it is for the CPU is believed. What runs in a cluster of Ray is
// sent to it, and its images come with a build of CUDA whatever that is.
func onlyImages(p *check.Pass) {
	if strings.HasPrefix(p.Job.Ref.APIVersion, "ray.io/") {
		return
	}
	for r := range p.Job.EachRole() {
		if r.Pod.Partial || facts.ReachesGPUs(p.Job, r) {
			return
		}
	}
	for r := range p.Job.EachRole() {
		c, k := r.Trainer()
		if c == nil || r.Replicas.Max == 0 || !p.Operator.Trains(r) || !imageForGPUs(c.Image) || len(facts.CommandsOf(p.Job, r)) == 0 || saysCPU(p.Job, r) {
			continue
		}
		p.ReportAs(finding.Finding{Path: r.Pod.At(job.Path("containers").Index(k).Child("image")), Severity: finding.Note},
			"image %s is made for GPUs, but no pod of the job asks for one: it trains on the CPU", facts.Quoted(c.Image))
		return
	}
}

// imageForGPUs says whether the tag or the name of an image says that it is for GPUs:
// tensorflow:2.16.1-gpu, nvidia/cuda:12.4.1, pytorch:2.4.0-cuda12.4-cudnn9-runtime.
func imageForGPUs(image string) bool {
	image, _, _ = strings.Cut(image, "@")
	return gpuImage.MatchString(strings.ToLower(image))
}

var gpuImage = regexp.MustCompile(`(^|/)nvidia/(cuda|pytorch|tensorflow|nemo):|:[^/]*(-gpu|cuda[0-9]|-cu1[12][0-9])[^/]*$`)

// saysCPU says whether a command line or a variable speaks of the CPU, or hides the GPUs.
func saysCPU(j *job.Job, r *job.Role) bool {
	c, _ := r.Trainer()
	if facts.SetsVariable(c, "CUDA_VISIBLE_DEVICES") {
		return true
	}
	return slices.ContainsFunc(facts.CommandsOf(j, r), func(cmd kinds.Command) bool {
		return slices.ContainsFunc(cmd.Words, func(w string) bool {
			w = strings.ToLower(w)
			return strings.Contains(w, "cpu") || strings.Contains(w, "gloo") || strings.Contains(w, "no-cuda") || strings.Contains(w, "no_cuda")
		})
	})
}
