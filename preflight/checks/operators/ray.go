package operators

import (
	"fmt"
	"strconv"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var rayKinds = []string{"RayJob.ray.io", "RayCluster.ray.io"}

// raySpecAt is where a job writes its Ray cluster.
func raySpecAt(j *job.Job) job.Path {
	if j.Ref.Kind == "RayJob" {
		return "spec.rayClusterSpec"
	}
	return "spec"
}

var rayVersionMissing = &check.Check{
	Name:     "ray-version-missing",
	Title:    "the version of Ray is missing where KubeRay does not go on without it",
	Remedy:   "Write rayVersion as the version in the image: '2.52.0'.",
	Severity: finding.Error, Since: "0.2",
	Kinds: rayKinds,
	Needs: check.Whole,
	Run: func(p *check.Pass) error {
		at := raySpecAt(p.Job)
		if p.Job.Field(at) == nil {
			return nil // a cluster that is chosen by its labels
		}
		if version, _ := facts.Text(p.Job, at.Child("rayVersion")); version != "" {
			return nil
		}
		if metadata, _ := p.Job.Field("spec.metadata").(map[string]any); len(metadata) > 0 {
			p.Reportf(at, "rayVersion is not written, and KubeRay hands spec.metadata on only where it is 2.6.0 or later: it refuses the job")
		}
		if mode, _ := facts.Text(p.Job, at.Child("authOptions", "mode")); mode == "token" {
			p.Reportf(at, "rayVersion is not written, and authOptions.mode is token, for which it has to be 2.52.0 or later: KubeRay refuses the cluster")
		}
		return nil
	},
}

var rayGPUsDiffer = &check.Check{
	Name:     "ray-gpus-differ",
	Title:    "rayStartParams tells Ray of another number of GPUs than the pod has",
	Remedy:   "Leave num-gpus out of rayStartParams: KubeRay takes the number from the container's limits.",
	Severity: finding.Warning, Since: "0.2",
	Kinds: rayKinds,
	Needs: check.Whole,
	Run: func(p *check.Pass) error {
		for i := range p.Job.Roles {
			r := &p.Job.Roles[i]
			at := r.Path.Child("rayStartParams", "num-gpus")
			text, written := facts.Text(p.Job, at)
			told, err := strconv.ParseInt(text, 10, 32)
			if !written || err != nil || len(r.Pod.Spec.Containers) == 0 {
				continue
			}
			has := r.Pod.GPUs()
			// 0 on a head with GPUs keeps tasks off it (https://docs.ray.io/en/latest/cluster/kubernetes/user-guides/config.html).
			if told == has.N || told == 0 {
				continue
			}
			what := fmt.Sprintf("%s of them are used by nothing", facts.Count(int(has.N-told), "GPU"))
			if told > has.N {
				what = "tasks are given GPUs that are not there"
			}
			p.Reportf(at, "rayStartParams tells Ray of %s on each pod of %s, and the pod asks for %d: %s", facts.Count(int(told), "GPU"), r.Name, has.N, what)
		}
		return nil
	},
}
