package launch

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// ranks are what torch.distributed reads where a program does not say it itself (env://,
// https://docs.pytorch.org/docs/stable/distributed.html#environment-variable-initialization).
var ranks = []string{"RANK", "WORLD_SIZE", "MASTER_ADDR"}

// joinsBy are words by which a program says itself how it joins, or what starts it does.
var joinsBy = []string{"init_method", "rank=", "store=", `"RANK"`, "'RANK'", "RANK=", "MASTER_ADDR", "WORLD_SIZE"}

// Without the role that is rank 0 the operator has no address to tell and tells no ranks either (training-operator v1.9.3
// pkg/controller.v1/pytorch/envvar.go, setPodEnv:
// https://github.com/kubeflow/trainer/blob/v1.9.3/pkg/controller.v1/pytorch/envvar.go); with an elasticPolicy it tells torchrun.
var ranksToldByNobody = &check.Check{
	Name:     "ranks-told-by-nobody",
	Title:    "a program joins the others, and nobody tells it its rank",
	Remedy:   "Add the Master, or start the program with torchrun and a rendezvous endpoint.",
	Severity: finding.Error, Since: "0.2",
	Where: func(o *kinds.Operator) bool { return o.EnvBeside != "" },
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		leader := p.Operator.EnvBeside
		if p.Job.Role(leader) != nil || p.Operator.Elastic != nil && p.Job.Field(p.Operator.Elastic.At) != nil {
			return
		}
		for r := range p.Job.EachRole() {
			c, k := r.Trainer()
			if c == nil || r.Replicas.Max == 0 || r.Launch.Program != "" && r.Launch.Program != "python" || len(c.EnvFrom) > 0 || hasVariable(c, ranks) {
				continue
			}
			if !facts.Mentions(c, "init_process_group(") || slices.ContainsFunc(joinsBy, func(word string) bool { return facts.Mentions(c, word) }) {
				continue
			}
			at := cmp.Or(r.Launch.Path, r.Pod.At(job.Path("containers").Index(k).Child("command")))
			p.Reportf(at, "the program in %s calls init_process_group, and without a %s the operator sets no %s for it",
				facts.PodsOf(r), leader, strings.Join(ranks, ", "))
		}
	},
}

func hasVariable(c *corev1.Container, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { e, _ := facts.Variable(c, name); return e != nil })
}
