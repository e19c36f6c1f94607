package operators

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var rayVersionMissing = &check.Check{
	Name:     "ray-version-missing",
	Title:    "the version of Ray is missing where KubeRay does not go on without it",
	Remedy:   "Write rayVersion as the version in the image: '2.52.0'.",
	Severity: finding.Error, Since: "0.2",
	Kinds: []string{"RayJob.ray.io", "RayCluster.ray.io"},
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		for _, at := range []job.Path{"spec.rayClusterSpec", "spec"} {
			version, _ := facts.Text(p.Job, at.Child("rayVersion"))
			if p.Job.Field(at.Child("headGroupSpec")) == nil || version != "" {
				continue
			}
			if metadata, _ := p.Job.Field("spec.metadata").(map[string]any); len(metadata) > 0 {
				p.Reportf(at, "rayVersion is not written, and KubeRay hands spec.metadata on only where it is 2.6.0 or later: it refuses the job")
			}
			if mode, _ := facts.Text(p.Job, at.Child("authOptions", "mode")); mode == "token" {
				p.Reportf(at, "rayVersion is not written, and authOptions.mode is token, for which it has to be 2.52.0 or later: KubeRay refuses the cluster")
			}
		}
	},
}
