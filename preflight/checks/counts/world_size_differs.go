package counts

import (
	"fmt"
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var worldSizeDiffers = &check.Check{
	Name:     "world-size-differs",
	Title:    "WORLD_SIZE is not what pods and processes add up to",
	Remedy:   "Write the number of pods times processes per pod, or let the launcher set it.",
	Severity: finding.Warning, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.World != kinds.WorldUnknown && o.World != kinds.WorldOfLauncher },
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		for r, e := range facts.EachVariable(p.Job) {
			size, ok := facts.WholeNumber(e.EnvVar)
			if !ok || e.Name != "WORLD_SIZE" || facts.Overwritten(p.Job, r, e.In, e.Name) || r.Launch.Program == "torchrun" {
				continue // torchrun sets it for the processes that it starts
			}
			pods := facts.PodsThatJoin(p.Job, r)
			if len(pods) == 0 || possibleWorld(size, pods, r) {
				continue
			}
			p.ReportAs(finding.Finding{Path: e.At, Facts: []finding.Fact{{Name: "worldSize", Value: size}, {Name: "pods", Value: int64(pods[len(pods)-1])}}},
				"WORLD_SIZE is %d, but the job has %s%s", size, facts.Count(pods[len(pods)-1], "pod"), perPod(r))
		}
	},
}

// possibleWorld says whether so many processes may run in one of these numbers of pods:
// every pod starts the same number of them, and no more than it has devices, where it has any.
func possibleWorld(size int64, pods []int, r *job.Role) bool {
	gpus := r.Pod.GPUs().N
	return slices.ContainsFunc(pods, func(n int) bool {
		if n == 0 || size == 0 || size%int64(n) != 0 {
			return false
		}
		each := size / int64(n)
		return each == 1 || gpus == 0 || each <= gpus
	})
}

func perPod(r *job.Role) string {
	if gpus := r.Pod.GPUs(); gpus.N > 0 {
		return fmt.Sprintf(" of %d %s", gpus.N, gpus.Resource)
	}
	return ""
}
