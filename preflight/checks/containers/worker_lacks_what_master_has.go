package containers

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var workerLacksWhatMasterHas = &check.Check{
	Name:     "worker-lacks-what-master-has",
	Title:    "one role of a training has GPUs or data, and its peer has none",
	Remedy:   "Give Master and Worker the same GPUs and the same data.",
	Severity: finding.Warning, Since: "0.1",
	Kinds:    []string{"PyTorchJob.kubeflow.org"},
	Eclipses: []string{"gpu-not-requested"},
	Needs:    check.Whole,
	Run: func(p *check.Pass) {
		master, worker := p.Operator.Role(p.Job, kinds.Leader), p.Operator.Role(p.Job, kinds.Worker)
		if master == nil || worker == nil || master.Replicas.Max == 0 || worker.Replicas.Max == 0 {
			return
		}
		m, _ := master.Trainer()
		w, _ := worker.Trainer()
		if m == nil || w == nil || m.Image == "" || m.Image != w.Image {
			return // two programs may want different things
		}
		switch {
		case !slices.Equal(m.Command, w.Command):
		case oneWithoutGPUs(p, master, worker), oneWithoutGPUs(p, worker, master):
		default:
			dataMissing(p, master, worker, m, w)
		}
	},
}

// oneWithoutGPUs reports the role without where the other has some.
func oneWithoutGPUs(p *check.Pass, with, without *job.Role) bool {
	gpus := with.Pod.GPUs()
	if gpus.N == 0 || without.Pod.GPUs().N > 0 || facts.ReachesGPUs(p.Job, without) {
		return false
	}
	c, _ := with.Trainer()
	p.Reportf(without.Path, "%s asks for no GPU and %s for %d %s in every pod; both run %s", without.Name, with.Name, gpus.N, gpus.Resource, facts.Quoted(c.Image))
	return true
}

// dataMissing reports a claim that only the Master mounts, at a path that both are told.
func dataMissing(p *check.Pass, master, worker *job.Role, m, w *corev1.Container) {
	for _, mount := range m.VolumeMounts {
		v := facts.VolumeOf(&master.Pod.Spec, mount.Name)
		at := strings.TrimSuffix(mount.MountPath, "/") + "/"
		if v == nil || v.PersistentVolumeClaim == nil || facts.MountsAround(w, mount.MountPath) {
			continue
		}
		for _, word := range slices.Concat(m.Command, m.Args) {
			if strings.Contains(word+"/", at) && slices.Contains(slices.Concat(w.Command, w.Args), word) {
				p.Reportf(worker.Path, "%s mounts nothing at %s, where %s has claim %s; both are started with %s", worker.Name, mount.MountPath, master.Name, v.PersistentVolumeClaim.ClaimName, facts.Quoted(word))
				return
			}
		}
	}
}
