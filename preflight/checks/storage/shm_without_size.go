package storage

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var shmWithoutSize = &check.Check{
	Name:     "shm-without-size",
	Title:    "/dev/shm has no size of its own",
	Remedy:   "Write a sizeLimit below the memory limit.",
	Severity: finding.Note, Since: "0.1",
	Run: func(p *check.Pass) {
		facts.EachContainer(p.Job, func(r *job.Role, c *corev1.Container, _ job.Path) {
			v, rel := sharedMemory(&r.Pod.Spec, c)
			if v == nil || v.EmptyDir == nil || v.EmptyDir.Medium != corev1.StorageMediumMemory || v.EmptyDir.SizeLimit != nil {
				return
			}
			limit, limited := c.Resources.Limits[corev1.ResourceMemory]
			if !limited {
				p.Reportf(r.Pod.At(rel.Child("emptyDir")), "/dev/shm of %s has no sizeLimit and container %s no memory limit: it may take all memory of the node", r.Name, c.Name)
				return
			}
			p.Reportf(r.Pod.At(rel.Child("emptyDir")), "/dev/shm of %s has no sizeLimit; it may take all of the %s that container %s has", r.Name, limit.String(), c.Name)
		})
	},
}
