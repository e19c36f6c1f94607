package storage

import (
	"path"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var shmAboveMemoryLimit = &check.Check{
	Name:     "shm-above-memory-limit",
	Title:    "/dev/shm may grow beyond the memory limit it counts against",
	Remedy:   "Lower sizeLimit, or raise the memory limit to cover it and the process itself.",
	Severity: finding.Warning, Since: "0.1",
	Run: func(p *check.Pass) {
		for r, c := range p.Job.EachContainer() {
			v, rel := sharedMemory(&r.Pod.Spec, c.Container)
			if v == nil || v.EmptyDir == nil || v.EmptyDir.Medium != corev1.StorageMediumMemory || v.EmptyDir.SizeLimit == nil {
				continue
			}
			who, limit := "container "+c.Name, c.Resources.Limits[corev1.ResourceMemory]
			if all := r.Pod.Spec.Resources; limit.IsZero() && all != nil {
				who, limit = "the pod", all.Limits[corev1.ResourceMemory]
			}
			if limit.IsZero() || v.EmptyDir.SizeLimit.Cmp(limit) <= 0 {
				continue
			}
			p.ReportAs(finding.Finding{
				Path:  r.Pod.At(rel.Child("emptyDir", "sizeLimit")),
				Facts: []finding.Fact{{Name: "shm", Value: v.EmptyDir.SizeLimit.Value()}, {Name: "limit", Value: limit.Value()}},
			}, "/dev/shm of %s may grow to %s; the memory limit of %s, which it counts against, is %s", r.Name, v.EmptyDir.SizeLimit, who, limit.String())
		}
	},
}

// sharedMemory is the volume that a container has at /dev/shm and where it is written; nil
// where there is none of its own.
func sharedMemory(spec *corev1.PodSpec, c *corev1.Container) (*corev1.Volume, job.Path) {
	for _, m := range c.VolumeMounts {
		if path.Clean(m.MountPath) != "/dev/shm" {
			continue
		}
		for i := range spec.Volumes {
			if spec.Volumes[i].Name == m.Name {
				return &spec.Volumes[i], job.Path("volumes").Index(i)
			}
		}
	}
	return nil, ""
}
