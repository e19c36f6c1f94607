package resources

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

var requestsAboveLimits = &check.Check{
	Name:     "requests-above-limits",
	Title:    "a container requests more than its limit",
	Remedy:   "Raise the limit to the request, or lower the request.",
	Severity: finding.Error, Refuses: true, Since: "0.1",
	Run: func(p *check.Pass) {
		for r, c := range p.Job.EachContainer() {
			aboveLimits(p, r, facts.Whose(c.Name, r.Name), c.Resources.Requests, c.Resources.Limits, c.Rel.Child("resources"))
		}
		for i := range p.Job.Roles {
			if r := &p.Job.Roles[i]; r.Pod.Spec.Resources != nil {
				aboveLimits(p, r, "the pod of "+r.Name, r.Pod.Spec.Resources.Requests, r.Pod.Spec.Resources.Limits, "resources")
			}
		}
	},
}

// aboveLimits compares what may be overcommitted; the API server refuses the pod otherwise
// (k8s.io/kubernetes v1.37 pkg/apis/core/validation/validation.go, ValidateContainerResourceRequirements).
// Devices have a rule of their own: gpu-request-not-limit.
func aboveLimits(p *check.Pass, r *job.Role, who string, requests, limits corev1.ResourceList, rel job.Path) {
	for _, name := range job.ResourcesOf(requests).Names() {
		request, limit := requests[name], limits[name]
		if _, limited := limits[name]; !limited || podspec.Device(name) || request.Cmp(limit) <= 0 {
			continue
		}
		p.ReportAs(finding.Finding{
			Path:  r.Pod.At(rel.Child("requests").Key(string(name))),
			Facts: []finding.Fact{{Name: "resource", Value: string(name)}, {Name: "request", Value: job.InBaseUnits(name, request)}, {Name: "limit", Value: job.InBaseUnits(name, limit)}},
		}, "%s requests %s %s, above its limit of %s", who, request.String(), name, limit.String())
	}
}
