package resources

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

var gpuRequestNotLimit = &check.Check{
	Name:     "gpu-request-not-limit",
	Title:    "a device is requested without an equal, whole limit",
	Remedy:   "Write the same whole number under limits; the request follows by itself.",
	Severity: finding.Error, Refuses: true, Since: "0.1",
	Run: func(p *check.Pass) {
		for r, c := range p.Job.EachContainer() {
			requests, limits := c.Resources.Requests, c.Resources.Limits
			at := func(list string, name corev1.ResourceName) job.Path {
				return r.Pod.At(c.Rel.Child("resources", list).Key(string(name)))
			}
			for _, name := range job.ResourcesOf(requests).Names() {
				request, limit := requests[name], limits[name]
				_, limited := limits[name]
				switch {
				case !podspec.Device(name) || request.IsZero():
				case !limited:
					p.Reportf(at("requests", name), "%s requests %s %s and has no limit for it", facts.Whose(c.Name, r.Name), request.String(), name)
				case request.Cmp(limit) != 0:
					p.Reportf(at("requests", name), "%s requests %s %s; its limit is %s, and devices cannot be overcommitted", facts.Whose(c.Name, r.Name), request.String(), name, limit.String())
				}
			}
			for _, name := range job.ResourcesOf(limits).Names() {
				if limit := limits[name]; podspec.Device(name) && limit.MilliValue()%1000 != 0 {
					p.Reportf(at("limits", name), "%s asks for %s %s; devices are whole numbers, such as %d", facts.Whose(c.Name, r.Name), limit.String(), name, job.InBaseUnits(name, limit))
				}
			}
		}
	},
}
