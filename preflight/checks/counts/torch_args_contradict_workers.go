package counts

import (
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var torchArgsContradictWorkers = &check.Check{
	Name:     "torch-args-contradict-workers",
	Title:    "torchArgs tell torchrun other numbers than the job has",
	Remedy:   "Leave the argument out: the operator starts as many nodes and processes as the job says.",
	Severity: finding.Error, Since: "0.1",
	Kinds: []string{"ColossalAIJob.batch.tensorstack.dev"},
	Needs: check.Whole,
	Run: func(p *check.Pass) error {
		args, _ := facts.Field(p.Job, "spec.worker.torchArgs").([]any)
		worker := p.Job.Role("worker")
		if worker == nil {
			return nil
		}
		for i, w := range args {
			word, _ := w.(string)
			name, value, joined := strings.Cut(strings.ReplaceAll(strings.TrimLeft(word, "-"), "_", "-"), "=")
			if !joined && i+1 < len(args) {
				value, _ = args[i+1].(string)
			}
			has, what := worker.Replicas.Max, "worker"
			if name == "nproc-per-node" {
				has, what = worker.Launch.ProcsPerNode.Min, "process"
			} else if name != "nnodes" {
				continue
			}
			n, err := strconv.Atoi(strings.TrimSpace(value))
			if err != nil || n == has {
				continue // auto, or a range
			}
			where := "the job has " + facts.Count(has, what)
			if what == "process" {
				where = "procPerWorker says " + facts.Count(has, what) + " per worker"
			}
			p.Reportf(job.Path("spec.worker.torchArgs").Index(i), "torchArgs hold %s, which makes it %d; %s", word, n, where)
		}
		return nil
	},
}
