package storage

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var shmWithoutSize = &check.Check{
	Name:     "shm-without-size",
	Title:    "/dev/shm has no size of its own",
	Remedy:   "Write a sizeLimit below the memory limit.",
	Severity: finding.Note, Since: "0.1",
	Run: func(p *check.Pass) {
		for r, c := range p.Job.EachContainer() {
			v, rel := sharedMemory(&r.Pod.Spec, c.Container)
			if v == nil || v.EmptyDir == nil || v.EmptyDir.Medium != corev1.StorageMediumMemory || v.EmptyDir.SizeLimit != nil {
				continue
			}
			limit, limited := c.Resources.Limits[corev1.ResourceMemory]
			if !limited {
				p.Reportf(r.Pod.At(rel.Child("emptyDir")), "/dev/shm of %s has no sizeLimit and container %s no memory limit: it may take all memory of the node", r.Name, c.Name)
				continue
			}
			p.Reportf(r.Pod.At(rel.Child("emptyDir")), "/dev/shm of %s has no sizeLimit; it may take all of the %s that container %s has", r.Name, limit.String(), c.Name)
		}
	},
}
