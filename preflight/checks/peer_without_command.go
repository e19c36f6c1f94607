package checks

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var peerWithoutCommand = &check.Check{
	Name:     "peer-without-command",
	Title:    "one role waits for peers, and the other starts nothing",
	Doc:      readme("peer-without-command"),
	Remedy:   "Write the same command in both roles, unless the image starts the training by itself.",
	Severity: finding.Warning, Since: "0.1",
	Kinds: []string{"PyTorchJob"},
	Needs: check.Whole,
	Run: func(p *check.Pass) error {
		master, worker := p.Job.Role("Master"), p.Job.Role("Worker")
		if master == nil || worker == nil || master.Replicas.Max == 0 || worker.Replicas.Max == 0 {
			return nil
		}
		for _, pair := range [][2]*job.Role{{master, worker}, {worker, master}} {
			starts, idle := pair[0], pair[1]
			a, _ := starts.Trainer()
			b, k := idle.Trainer()
			if a == nil || b == nil || a.Image != b.Image || len(b.Command)+len(b.Args) > 0 || starts.Launch.Program != "torchrun" || starts.Launch.Nodes.Min < 2 {
				continue
			}
			p.Reportf(idle.Pod.At(job.Path("containers").Index(k)), "%s starts torchrun for %d nodes; the command in %s, from the same image, has 0 words", starts.Name, starts.Launch.Nodes.Min, podsOf(idle))
		}
		return nil
	},
}
