package operators

import (
	"fmt"
	"strconv"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var rayGPUsDiffer = &check.Check{
	Name:     "ray-gpus-differ",
	Title:    "rayStartParams tells Ray of another number of GPUs than the pod has",
	Remedy:   "Leave num-gpus out of rayStartParams: KubeRay takes the number from the container's limits.",
	Severity: finding.Warning, Since: "0.2",
	Kinds: []string{"RayJob.ray.io", "RayCluster.ray.io"},
	Needs: check.Whole,
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		at := r.Path.Child("rayStartParams", "num-gpus")
		text, written := facts.Text(p.Job, at)
		told, err := strconv.ParseInt(text, 10, 32)
		has := r.Pod.GPUs().N
		// 0 keeps tasks off a pod (https://docs.ray.io/en/latest/cluster/kubernetes/user-guides/config.html).
		if !written || err != nil || told == has || told == 0 {
			return
		}
		what := fmt.Sprintf("no task gets the other %d", has-told)
		if told > has {
			what = "tasks are given GPUs that are not there"
		}
		p.Reportf(at, "rayStartParams tells Ray of %s on each pod of %s, and the pod asks for %d: %s", facts.Count(int(told), "GPU"), r.Name, has, what)
	}),
}
