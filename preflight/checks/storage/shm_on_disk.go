package storage

import (
	"path"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var shmOnDisk = &check.Check{
	Name:     "shm-on-disk",
	Title:    "what is mounted at /dev/shm is a folder on the node's disk",
	Remedy:   "Write medium: Memory in the emptyDir that is mounted at /dev/shm.",
	Severity: finding.Warning, Since: "0.1",
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		if r.Replicas.Max == 0 || r.Pod.Partial {
			return
		}
		for k := range r.Pod.Spec.Containers {
			c := &r.Pod.Spec.Containers[k]
			for m := range c.VolumeMounts {
				v := facts.VolumeOf(&r.Pod.Spec, c.VolumeMounts[m].Name)
				if path.Clean(c.VolumeMounts[m].MountPath) != "/dev/shm" || v == nil || v.EmptyDir == nil || v.EmptyDir.Medium != corev1.StorageMediumDefault {
					continue
				}
				at := job.Path("containers").Index(k).Child("volumeMounts").Index(m).Child("mountPath")
				p.Reportf(r.Pod.At(at), "%s has volume %s at /dev/shm, an emptyDir without medium Memory: shared memory is written to the node's disk", facts.Whose(c.Name, r.Name), v.Name)
			}
		}
	}),
}
