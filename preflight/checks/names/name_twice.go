package names

import (
	"fmt"
	"path"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var nameTwice = &check.Check{
	Name:     "name-twice",
	Title:    "two parts of a pod have one name, or one place",
	Remedy:   "Give each container, volume and port a name of its own, and each mount its own path.",
	Severity: finding.Error, Refuses: true, Since: "0.1",
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		if r.Pod.Partial {
			return // what an override adds may replace
		}
		report := func(rel job.Path, format string, args ...any) {
			p.Reportf(r.Pod.At(rel), "%s %s; the API server rejects its pods", r.Name, fmt.Sprintf(format, args...))
		}
		eachTwin(&r.Pod.Spec, report)
	}),
}

// eachTwin reports containers, volumes, mounts and ports whose name or path an earlier one
// has (k8s.io/kubernetes v1.37 pkg/apis/core/validation/validation.go, field.Duplicate).
func eachTwin(spec *corev1.PodSpec, report func(rel job.Path, format string, args ...any)) {
	containers, volumes := map[string]bool{}, map[string]bool{}
	visit := func(c *corev1.Container, rel job.Path) {
		if containers[c.Name] && c.Name != "" {
			report(rel.Child("name"), "has two containers named %q", c.Name)
		}
		containers[c.Name] = true
		mounts, ports := map[string]string{}, map[string]bool{}
		for k, m := range c.VolumeMounts {
			at := path.Clean(m.MountPath)
			if other, twice := mounts[at]; twice && m.MountPath != "" {
				report(rel.Child("volumeMounts").Index(k).Child("mountPath"), "mounts volumes %s and %s both at %s in container %s", other, m.Name, m.MountPath, c.Name)
			}
			mounts[at] = m.Name
		}
		for k, port := range c.Ports {
			if ports[port.Name] && port.Name != "" {
				report(rel.Child("ports").Index(k).Child("name"), "has two ports named %q in container %s", port.Name, c.Name)
			}
			ports[port.Name] = true
		}
	}
	for k := range spec.InitContainers {
		visit(&spec.InitContainers[k], job.Path("initContainers").Index(k))
	}
	for k := range spec.Containers {
		visit(&spec.Containers[k], job.Path("containers").Index(k))
	}
	for k, v := range spec.Volumes {
		if volumes[v.Name] && v.Name != "" {
			report(job.Path("volumes").Index(k).Child("name"), "has two volumes named %q", v.Name)
		}
		volumes[v.Name] = true
	}
}
