package counts

import (
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var torchArgsContradictWorkers = &check.Check{
	Name:     "torch-args-contradict-workers",
	Title:    "torchArgs tell torchrun other numbers than the job has",
	Remedy:   "Leave the argument out: the operator starts as many nodes and processes as the job says.",
	Severity: finding.Error, Since: "0.1",
	Kinds: []string{"ColossalAIJob.batch.tensorstack.dev"},
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		args, _ := p.Job.Field("spec.worker.torchArgs").([]any)
		worker := p.Operator.Role(p.Job, kinds.Worker)
		if worker == nil {
			return
		}
		for i, w := range args {
			word, _ := w.(string)
			name, value, joined := strings.Cut(strings.ReplaceAll(strings.TrimLeft(word, "-"), "_", "-"), "=")
			if !joined && i+1 < len(args) {
				value, _ = args[i+1].(string)
			}
			has, where := worker.Replicas.Max, "the job has "+facts.Count(worker.Replicas.Max, "worker")
			if name == "nproc-per-node" {
				has = worker.Launch.ProcsPerNode.Min
				where = "procPerWorker says " + facts.Count(has, "process") + " per worker"
			} else if name != "nnodes" {
				continue
			}
			said, _, _ := strings.Cut(word, "=")
			n, err := strconv.Atoi(strings.TrimSpace(value))
			if err != nil || n == has {
				continue // auto, or a range
			}
			p.Reportf(job.Path("spec.worker.torchArgs").Index(i), "torchArgs says %s=%d, but %s", said, n, where)
		}
	},
}
