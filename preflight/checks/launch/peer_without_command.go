package launch

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

var peerWithoutCommand = &check.Check{
	Name:     "peer-without-command",
	Title:    "one role waits for peers, and the other does not start them",
	Remedy:   "Write the same command in both roles, unless the image starts the training by itself.",
	Severity: finding.Warning, Since: "0.1",
	Kinds: []string{"PyTorchJob.kubeflow.org"},
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		master, worker := p.Operator.Role(p.Job, kinds.Leader), p.Operator.Role(p.Job, kinds.Worker)
		if master == nil || worker == nil || master.Replicas.Max == 0 || worker.Replicas.Max == 0 {
			return
		}
		for _, pair := range [][2]*job.Role{{master, worker}, {worker, master}} {
			starts, idle := pair[0], pair[1]
			a, _ := starts.Trainer()
			b, k := idle.Trainer()
			nodes, known := facts.NodesOf(p.Job, starts)
			if a == nil || b == nil || a.Image != b.Image || starts.Launch.Program != "torchrun" || !known || nodes < 2 || starts.Launch.Has("standalone") {
				continue
			}
			at := idle.Pod.At(job.Path("containers").Index(k))
			switch {
			case len(b.Command)+len(b.Args) == 0:
				p.Reportf(at, "%s starts torchrun for %d nodes, but the same image in %s has no command", starts.Name, nodes, facts.PodsOf(idle))
			case idle.Launch.Program == "python" && len(b.Command) > 0:
				p.Reportf(idle.Launch.Path, "%s starts torchrun for %d nodes, but %s start%s python without it", starts.Name, nodes, facts.PodsOf(idle), words.Verb(idle.Replicas.Max))
			}
		}
	},
}
