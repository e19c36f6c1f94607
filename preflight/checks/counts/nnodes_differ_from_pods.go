package counts

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var nnodesDifferFromPods = &check.Check{
	Name:     "nnodes-differ-from-pods",
	Title:    "the launcher waits for another number of nodes than there are pods",
	Remedy:   "Let the launcher's number of nodes be the number of pods, or leave it out where the operator sets it.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Whole,
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		l := &r.Launch
		trainerNodes(p, r)
		if !l.Nodes.Said() || l.NodesPath == "" || l.Has("standalone") || r.Replicas.Max == 0 {
			return
		}
		pods := facts.PodsThatJoin(p.Job, r)
		if len(pods) == 0 || slices.ContainsFunc(pods, func(n int) bool { return l.Nodes.Min <= n && n <= l.Nodes.Max }) {
			return
		}
		most := pods[len(pods)-1]
		f := finding.Finding{
			Path:    l.NodesPath,
			Message: fmt.Sprintf("%s waits for %s, but the job has %s", l.Program, facts.Count(l.Nodes.Min, "node"), facts.Count(most, "pod")),
			Facts:   []finding.Fact{{Name: "nodes", Value: int64(l.Nodes.Min)}, {Name: "pods", Value: int64(most)}},
		}
		switch {
		case l.Nodes.Max == 1 && p.Operator.World != kinds.WorldOfJob && p.Operator.World != kinds.WorldOfRole:
			return // as many trainings as pods, and nothing says otherwise
		case l.Nodes.Max == 1:
			f.Severity = finding.Warning
			f.Message = fmt.Sprintf("%s runs with 1 node, so each of the %s trains alone", l.Program, facts.Count(most, "pod"))
		case l.Nodes.Max < most:
			f.Severity = finding.Warning
			f.Message = fmt.Sprintf("%s takes %s, but the job has %s: %d too many", l.Program, facts.Count(l.Nodes.Max, "node"), facts.Count(most, "pod"), most-l.Nodes.Max)
		}
		if all, ok := completions(p.Job, r); ok && all > most && l.Nodes.Min <= all && all <= l.Nodes.Max {
			f.Severity = finding.Error // the others come when the first have ended, and those wait for them
			f.Message = fmt.Sprintf("%s waits for %s, but only %d of the job's %s run at a time (parallelism %[3]d)", l.Program, facts.Count(l.Nodes.Min, "node"), most, facts.Count(all, "pod"))
			f.Remedy = fmt.Sprintf("Set parallelism to %d, as completions is: ranks that wait for each other have to run at the same time.", all)
		}
		p.Report(f)
	}),
}

// lightningNodes is how a configuration in Hydra tells Lightning's trainer its nodes, as NeMo does: it multiplies them with its
// devices, and takes no other number of processes than that
// (https://github.com/Lightning-AI/pytorch-lightning/blob/2.5.0/src/lightning/fabric/plugins/environments/torchelastic.py,
// validate_settings).
var lightningNodes = regexp.MustCompile(`^\+{0,2}trainer\.num_nodes=(\d{1,6})$`)

// trainerNodes compares what the program is told of its nodes with the pods that join.
func trainerNodes(p *check.Pass, r *job.Role) {
	pods := facts.PodsThatJoin(p.Job, r)
	c, k := r.Trainer()
	if c == nil || len(pods) == 0 || r.Replicas.Max == 0 {
		return
	}
	facts.EachWord(c, func(word string, at job.Path) {
		m := lightningNodes.FindStringSubmatch(word)
		if m == nil {
			return
		}
		if n, _ := strconv.Atoi(m[1]); !slices.Contains(pods, n) && pods[len(pods)-1] > 1 {
			p.Reportf(r.Pod.At(job.Path("containers").Index(k).Join(at)), "trainer.num_nodes is %d, but the job has %s", n, facts.Count(pods[len(pods)-1], "pod"))
		}
	})
}

// completions is how many pods a Job makes in all where its parallelism is fewer.
func completions(j *job.Job, r *job.Role) (int, bool) {
	at, ok := strings.CutSuffix(string(r.ReplicasPath), ".parallelism")
	if !ok {
		return 0, false
	}
	n, ok := j.Field(job.Path(at).Child("completions")).(int64)
	return int(min(n, math.MaxInt32)), ok
}
