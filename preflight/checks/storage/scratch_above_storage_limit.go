package storage

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

var scratchAboveStorageLimit = &check.Check{
	Name:     "scratch-above-storage-limit",
	Title:    "a scratch volume may grow beyond the pod's storage limit",
	Remedy:   "Raise the ephemeral-storage limit above the volume's sizeLimit, or lower sizeLimit.",
	Severity: finding.Warning, Since: "0.1",
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		limit := storageLimit(&r.Pod.Spec)
		if limit == 0 {
			return
		}
		for k, v := range r.Pod.Spec.Volumes {
			if v.EmptyDir == nil || v.EmptyDir.Medium != corev1.StorageMediumDefault || v.EmptyDir.SizeLimit == nil {
				continue
			}
			if most := v.EmptyDir.SizeLimit.Value(); most > limit {
				p.ReportAs(finding.Finding{
					Path:  r.Pod.At(job.Path("volumes").Index(k).Child("emptyDir", "sizeLimit")),
					Facts: []finding.Fact{{Name: "volume", Value: most}, {Name: "limit", Value: limit}},
				}, "volume %s of %s may grow to %s, but the pod is evicted above %s of ephemeral-storage", v.Name, r.Name, v.EmptyDir.SizeLimit, job.Format(corev1.ResourceEphemeralStorage, limit))
			}
		}
	}),
}

// storageLimit is how much local storage a pod may use before the kubelet evicts it: the
// sum over its containers, or more where one init container may use more; 0: no limit
// (https://kubernetes.io/docs/concepts/storage/ephemeral-storage/, read 2026-11).
func storageLimit(spec *corev1.PodSpec) int64 {
	var sum, most int64
	of := func(c *corev1.Container) int64 {
		q := c.Resources.Limits[corev1.ResourceEphemeralStorage]
		return job.InBaseUnits(corev1.ResourceEphemeralStorage, q)
	}
	for i := range spec.Containers {
		sum = saturate.Add(sum, of(&spec.Containers[i]))
	}
	for i := range spec.InitContainers {
		most = max(most, of(&spec.InitContainers[i]))
	}
	if sum == 0 {
		return 0
	}
	return max(sum, most)
}
