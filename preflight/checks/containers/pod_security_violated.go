package containers

import (
	"fmt"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var podSecurityViolated = &check.Check{
	Name:     "pod-security-violated",
	Title:    "the pods break the Pod Security level of their namespace",
	Remedy:   "Change what the level forbids, or run in a namespace that allows it.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Namespace,
	// The API server looks at the template of a Job itself, and warns.
	Run: func(p *check.Pass) error {
		levels, errs := api.PolicyToEvaluate(p.Namespace, api.Policy{
			Enforce: api.LevelVersion{Level: api.LevelPrivileged, Version: api.LatestVersion()},
			Warn:    api.LevelVersion{Level: api.LevelPrivileged, Version: api.LatestVersion()},
		})
		if len(errs) > 0 {
			return nil // a label that the API server would have refused
		}
		judge, err := podSecurity()
		if err != nil {
			return fmt.Errorf("prepare the levels of Pod Security: %w", err)
		}
		for i := range p.Job.Roles {
			r := &p.Job.Roles[i]
			if r.Replicas.Max == 0 || r.Pod.Partial || len(r.Pod.Spec.Containers) == 0 {
				continue
			}
			if broken := brokenBy(judge, levels.Enforce, r); len(broken) > 0 {
				p.Report(finding.Finding{Path: forbiddenAt(r), Message: securityMessage(r, broken, "enforces", levels.Enforce)})
			} else if broken = brokenBy(judge, levels.Warn, r); len(broken) > 0 {
				p.Report(finding.Finding{Severity: finding.Warning, Path: forbiddenAt(r), Message: securityMessage(r, broken, "warns about", levels.Warn)})
			}
		}
		return nil
	},
}

// podSecurity is the evaluator that the API server uses. It holds all levels of all
// versions, so it is made when first asked for.
var podSecurity = sync.OnceValues(func() (policy.Evaluator, error) { return policy.NewEvaluator(policy.DefaultChecks(), nil) })

// brokenBy are the rules of a level that the pods of a role break, as the API server names them.
func brokenBy(judge policy.Evaluator, level api.LevelVersion, r *job.Role) []string {
	meta := &metav1.ObjectMeta{Labels: r.Pod.Labels, Annotations: r.Pod.Annotations}
	return policy.AggregateCheckResults(judge.EvaluatePod(level, meta, &r.Pod.Spec)).ForbiddenReasons
}

func securityMessage(r *job.Role, broken []string, does string, level api.LevelVersion) string {
	version := ""
	if !level.Version.Latest() {
		version = " of " + level.Version.String()
	}
	return fmt.Sprintf("%s break %s of level %s%s, which the namespace %s: %s", facts.Count(r.Replicas.Max, "pod"), facts.Count(len(broken), "rule"), level.Level, version, does, strings.Join(broken, ", "))
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
