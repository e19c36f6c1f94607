package launch

import (
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var mpiWorkerWithoutSSHD = &check.Check{
	Name:     "mpi-worker-without-sshd",
	Title:    "the workers run something else where the launcher expects sshd",
	Remedy:   "Remove the worker's command: the operator starts sshd, and mpirun the program.",
	Severity: finding.Error, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.SSHD.Role != "" && !o.SSHD.Replaces },
	Run: func(p *check.Pass) {
		worker := p.Job.Role(p.Operator.SSHD.Role)
		if worker == nil || len(worker.Pod.Spec.Containers) == 0 {
			return
		}
		workers := facts.Count(worker.Replicas.Max, "worker")
		if written, unread := facts.Text(p.Job, worker.ReplicasPath); unread {
			workers = written + " workers"
		} else if worker.Replicas.Max == 0 {
			return
		}
		c := &worker.Pod.Spec.Containers[0]
		words := slices.Concat(c.Command, c.Args)
		if len(words) == 0 || facts.Mentions(c, "ssh") || !runsNoServer(c, words) {
			return
		}
		at := worker.Pod.At("containers[0].command")
		if len(c.Command) == 0 { // with arguments alone the operator starts no sshd either
			at = worker.Pod.At("containers[0].args")
		}
		p.Reportf(at, "%s run %s, which starts no sshd; mpirun reaches workers by ssh", workers, facts.Quoted(path.Base(words[0])))
	},
}

// runsNoServer says whether all that the container does is known, and is to sleep or to train.
func runsNoServer(c *corev1.Container, words []string) bool {
	first := path.Base(words[0])
	if isShell(first) && len(c.Command) > 0 {
		script := c.Command[len(c.Command)-1]
		if len(c.Args) > 0 {
			script = c.Args[len(c.Args)-1]
		}
		return idle.MatchString(strings.TrimSpace(script))
	}
	return strings.HasPrefix(first, "python") || slices.Contains([]string{"sleep", "tail", "torchrun", "mpirun", "deepspeed"}, first)
}

// idle is a script that only waits.
var idle = regexp.MustCompile(`^(exec )?(sleep (infinity|inf|[0-9]+[smhd]?)|tail -f /dev/null);?$`)
