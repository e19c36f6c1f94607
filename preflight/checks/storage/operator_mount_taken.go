package storage

import (
	"path"
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var operatorMountTaken = &check.Check{
	Name:     "operator-mount-taken",
	Title:    "the job takes a volume or a place that the operator adds",
	Remedy:   "Remove the volume and its mount: the operator brings keys and list of hosts itself.",
	Severity: finding.Error, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.Mounts != nil },
	Needs: check.Whole,
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		if len(r.Pod.Spec.Containers) == 0 {
			return
		}
		names, places := p.Operator.Mounts(p.Job, r.Name)
		for k, m := range r.Pod.Spec.Containers[0].VolumeMounts {
			if at := path.Clean(m.MountPath); slices.Contains(places, at) {
				p.Reportf(r.Pod.At(job.Path("containers[0].volumeMounts").Index(k).Child("mountPath")), "volume %s is mounted at %s in %s, where the operator mounts its own; a pod with two mounts at one place is refused", m.Name, m.MountPath, r.Name)
				names = nil // one mistake, told once
				break
			}
		}
		for k, v := range r.Pod.Spec.Volumes {
			if slices.Contains(names, v.Name) {
				p.Reportf(r.Pod.At(job.Path("volumes").Index(k).Child("name")), "%s has a volume %q, and the operator adds one of that name; a pod with two volumes of one name is refused", r.Name, v.Name)
			}
		}
	}),
}
