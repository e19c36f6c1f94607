package containers

import (
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var imageWithoutGPUBuild = &check.Check{
	Name:     "image-without-gpu-build",
	Title:    "the pod holds GPUs, and its image is a build for the CPU",
	Remedy:   "Name the image's build for GPUs, or ask for no GPUs.",
	Severity: finding.Warning, Since: "0.1",
	Needs: check.Whole,
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		c, k := r.Trainer()
		gpus := r.Pod.GPUs()
		if c == nil || r.Replicas.Max == 0 || r.Pod.Partial || gpus.N == 0 || !builtFor(gpus.Resource) || !imageForCPU(c.Image) {
			return
		}
		p.Reportf(r.Pod.At(job.Path("containers").Index(k).Child("image")), "image %s is a build for the CPU, but each pod of %s asks for %s, which nothing in it uses", facts.Quoted(c.Image), r.Name, facts.Count(gpus.N, "GPU"))
	}),
}

// builtFor says whether publishers have builds of their own for the device, as they do for GPUs. What reaches a TPU or a Neuron
// core is a package beside the framework, which any image may install
// (https://cloud.google.com/kubernetes-engine/docs/how-to/tpus).
func builtFor(name corev1.ResourceName) bool {
	return strings.HasSuffix(string(name), "/gpu") || strings.Contains(string(name), "/gpu.") || strings.Contains(string(name), "/mig-")
}

// cpuImage are tags and names that publishers give their builds for the CPU (-cpu, _cpu).
var cpuImage = regexp.MustCompile(`[-_]cpu([-_:.]|$)|[:/]cpu([-_.]|$)`)

// imageForCPU says whether an image is published as a build for the CPU: the name or the tag says so, or
// it is TensorFlow's own without -gpu in the tag (https://www.tensorflow.org/install/docker).
func imageForCPU(image string) bool {
	image, _, _ = strings.Cut(strings.ToLower(image), "@")
	if cpuImage.MatchString(image) {
		return true
	}
	name, tag, tagged := strings.Cut(strings.TrimPrefix(image, "docker.io/"), ":")
	return name == "tensorflow/tensorflow" && tagged && !strings.Contains(tag, "gpu")
}
