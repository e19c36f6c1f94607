package containers

import (
	"fmt"
	"strings"

	"k8s.io/pod-security-admission/api"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

var podSecurityViolated = &check.Check{
	Name:     "pod-security-violated",
	Title:    "the pods break the Pod Security level of their namespace",
	Remedy:   "Change what the level forbids, or run in a namespace that allows it.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Namespace,
	// The API server looks at the template of a Job itself, and warns.
	Run: func(p *check.Pass) {
		levels, ok := podspec.SecurityLevels(p.Namespace)
		if !ok {
			return // a label that the API server would have refused
		}
		for r := range p.Job.EachRole() {
			if r.Replicas.Max == 0 || r.Pod.Partial || len(r.Pod.Spec.Containers) == 0 {
				continue
			}
			enforced, err := podspec.Insecure(levels.Enforce, &r.Pod)
			if err != nil {
				p.Fail(err)
				return
			}
			if len(enforced) > 0 {
				p.Reportf(forbiddenAt(r), "%s", securityMessage(r, enforced, "enforces", levels.Enforce))
				continue
			}
			warned, err := podspec.Insecure(levels.Warn, &r.Pod)
			if err != nil {
				p.Fail(err)
				return
			}
			if len(warned) > 0 {
				p.Report(finding.Finding{Severity: finding.Warning, Path: forbiddenAt(r), Message: securityMessage(r, warned, "warns about", levels.Warn)})
			}
		}
	},
}

func securityMessage(r *job.Role, broken []string, does string, level api.LevelVersion) string {
	version := ""
	if !level.Version.Latest() {
		version = " of " + level.Version.String()
	}
	return fmt.Sprintf("%s break%s %s of level %s%s, which the namespace %s: %s", facts.Count(r.Replicas.Max, "pod"), words.Verb(r.Replicas.Max), facts.Count(len(broken), "rule"), level.Level, version, does, strings.Join(broken, ", "))
}

// forbiddenAt is the first place of a pod that says what every level but privileged
// forbids; else the pod itself, where something is missing.
func forbiddenAt(r *job.Role) job.Path {
	spec := &r.Pod.Spec
	switch {
	case spec.HostNetwork:
		return r.Pod.At("hostNetwork")
	case spec.HostPID:
		return r.Pod.At("hostPID")
	case spec.HostIPC:
		return r.Pod.At("hostIPC")
	}
	for i, v := range spec.Volumes {
		if v.HostPath != nil {
			return r.Pod.At(job.Path("volumes").Index(i).Child("hostPath"))
		}
	}
	for i := range spec.Containers {
		at := job.Path("containers").Index(i)
		if s := spec.Containers[i].SecurityContext; s != nil && (s.Privileged != nil && *s.Privileged || s.Capabilities != nil && len(s.Capabilities.Add) > 0) {
			return r.Pod.At(at.Child("securityContext"))
		}
		for k, port := range spec.Containers[i].Ports {
			if port.HostPort != 0 {
				return r.Pod.At(at.Child("ports").Index(k).Child("hostPort"))
			}
		}
	}
	return r.Pod.At("")
}
