package checks

import (
	"path"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var mpiWorkerWithoutSSHD = &check.Check{
	Name:     "mpi-worker-without-sshd",
	Title:    "the workers run something else where the launcher expects sshd",
	Doc:      readme("mpi-worker-without-sshd"),
	Remedy:   "Remove the worker's command: the operator starts sshd, and mpirun the program.",
	Severity: finding.Error, Since: "0.1",
	Kinds: []string{"MPIJob"},
	Needs: check.Whole,
	Run: func(p *check.Pass) error {
		worker := p.Job.Role("Worker")
		if p.Job.Ref.APIVersion != "kubeflow.org/v2beta1" || worker == nil || worker.Replicas.Max == 0 || len(worker.Pod.Spec.Containers) == 0 {
			return nil // v1 starts processes by kubectl exec
		}
		c := &worker.Pod.Spec.Containers[0]
		if len(c.Command) == 0 || mentions(c, "ssh") || !program(c.Command[0]) {
			return nil
		}
		for _, word := range append(append([]string{}, c.Command...), c.Args...) {
			if strings.HasSuffix(word, ".sh") || strings.Contains(word, "source ") || strings.Contains(word, ". /") {
				return nil // what a file does is not known
			}
		}
		p.Reportf(worker.Pod.At("containers[0].command"), "%s run %s; mpirun reaches them by ssh, and none of their %s starts sshd", count(worker.Replicas.Max, "worker"), quoted(path.Base(c.Command[0])), count(len(c.Command)+len(c.Args), "word"))
		return nil
	},
}
