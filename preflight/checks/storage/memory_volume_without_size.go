package storage

import (
	"path"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var memoryVolumeWithoutSize = &check.Check{
	Name:     "memory-volume-without-size",
	Title:    "a volume in memory has no size of its own",
	Remedy:   "Write a sizeLimit below the memory limit.",
	Severity: finding.Note, Since: "0.1",
	Run: func(p *check.Pass) {
		for r, c := range p.Job.EachContainer() {
			var memory map[string][]int // by name
			for k, v := range r.Pod.Spec.Volumes {
				if v.EmptyDir != nil && v.EmptyDir.Medium == corev1.StorageMediumMemory && v.EmptyDir.SizeLimit == nil {
					if memory == nil {
						memory = map[string][]int{}
					}
					memory[v.Name] = append(memory[v.Name], k)
				}
			}
			for _, m := range c.VolumeMounts {
				if at := path.Clean(m.MountPath); at == "/dev/shm" || at == "/dev" {
					continue // shm-without-size
				}
				for _, k := range memory[m.Name] {
					_, limit, limited := facts.LimitOf(&r.Pod.Spec, c.Container, corev1.ResourceMemory)
					most := "all memory of the node"
					if limited {
						most = "all of the " + job.Format(corev1.ResourceMemory, limit) + " that container " + c.Name + " has"
					}
					p.Reportf(r.Pod.At(job.Path("volumes").Index(k).Child("emptyDir")), "volume %s at %s is in memory and has no sizeLimit: it may take %s", m.Name, m.MountPath, most)
				}
			}
		}
	},
}
