package storage

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var shmMissing = &check.Check{
	Name:     "shm-missing",
	Title:    "several GPUs share the 64 MiB that containers get as /dev/shm",
	Remedy:   "Mount an emptyDir with medium Memory and a sizeLimit at /dev/shm.",
	Severity: finding.Warning, Since: "0.1",
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		if r.Pod.Spec.HostIPC || r.Replicas.Max == 0 || r.Pod.Partial {
			return
		}
		for k := range r.Pod.Spec.Containers {
			c := &r.Pod.Spec.Containers[k]
			gpus := job.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{*c}}, Requests: job.ResourcesOf(c.Resources.Limits)}.GPUs()
			if sshd := p.Operator.SSHD; sshd.Replaces && r.Name == sshd.Role && c.Name == r.Container && gpus.N < 2 && r.Launch.ProcsPerNode.Max > 1 && !mountsSharedMemory(c) {
				p.Reportf(r.Pod.At(job.Path("containers").Index(k)), "%s starts %d processes and has no volume at /dev/shm: they share the default of 64 MiB", facts.Whose(c.Name, r.Name), r.Launch.ProcsPerNode.Max)
				continue
			}
			if gpus.N < 2 || job.AcceleratorUnit(gpus.Resource) != job.Device || !usesSharedMemory(gpus.Resource) || mountsSharedMemory(c) || looksOnly(c) {
				continue
			}
			p.ReportAs(finding.Finding{Path: r.Pod.At(job.Path("containers").Index(k)), Facts: []finding.Fact{{Name: "gpus", Value: gpus.N}}},
				"%s has %d %s and no volume at /dev/shm: its processes share the default of 64 MiB", facts.Whose(c.Name, r.Name), gpus.N, gpus.Resource)
		}
	}),
}

// usesSharedMemory says whether processes of these devices on one node talk through
// /dev/shm: NCCL, RCCL and the data loaders beside them do
// (https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html, shared memory).
func usesSharedMemory(name corev1.ResourceName) bool {
	return name == "nvidia.com/gpu" || name == "amd.com/gpu"
}

// looksOnly says that a container does no more than look at its devices and wait for a while: nothing in it talks through
// shared memory. One that waits for ever is there for somebody to work in.
func looksOnly(c *corev1.Container) bool {
	all, looks := kinds.Commands(c), false
	for _, cmd := range all {
		if len(cmd.Words) == 0 {
			return false
		}
		switch path.Base(cmd.Words[0]) {
		case "nvidia-smi", "rocm-smi", "amd-smi":
			looks = true
		case "sleep":
			if last := cmd.Words[len(cmd.Words)-1]; strings.Trim(last, "0123456789.smh") != "" {
				return false
			}
		case "echo", "date", "hostname":
		default:
			return false
		}
	}
	return looks
}

// mountsSharedMemory takes any volume at /dev/shm, or at /dev itself, for an answer.
func mountsSharedMemory(c *corev1.Container) bool {
	return slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool {
		at := path.Clean(m.MountPath)
		return at == "/dev/shm" || at == "/dev"
	})
}
