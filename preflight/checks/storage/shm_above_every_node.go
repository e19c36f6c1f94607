package storage

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var shmAboveEveryNode = &check.Check{
	Name:     "shm-above-every-node",
	Title:    "/dev/shm may grow beyond the memory of any node",
	Remedy:   "Lower sizeLimit, and write a memory limit that covers it and the process itself.",
	Severity: finding.Warning, Since: "0.1",
	Needs: check.Cluster,
	Run: func(p *check.Pass) {
		var most int64
		for _, n := range p.Cluster.Alike() {
			most = max(most, n.Allocatable[corev1.ResourceMemory])
		}
		for r, c := range p.Job.EachContainer() {
			v, rel := sharedMemory(&r.Pod.Spec, c.Container)
			if v == nil || v.EmptyDir == nil || v.EmptyDir.Medium != corev1.StorageMediumMemory || v.EmptyDir.SizeLimit == nil {
				continue
			}
			if _, limited, _ := facts.LimitOf(&r.Pod.Spec, c.Container, corev1.ResourceMemory); limited > 0 {
				continue // shm-above-memory-limit
			}
			if size := job.InBaseUnits(corev1.ResourceMemory, *v.EmptyDir.SizeLimit); most > 0 && size > most && !facts.BringsNodes(p, r) {
				p.ReportAs(finding.Finding{
					Path:  r.Pod.At(rel.Child("emptyDir", "sizeLimit")),
					Facts: []finding.Fact{{Name: "shm", Value: size}, {Name: "largest", Value: most}},
				}, "/dev/shm of %s may grow to %s, with no memory limit to stop it; the largest node has %s", r.Name, v.EmptyDir.SizeLimit, job.Format(corev1.ResourceMemory, most))
			}
		}
	},
}
