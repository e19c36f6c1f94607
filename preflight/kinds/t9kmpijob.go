package kinds

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

var t9kMPIJob = t9kKind(Kind{
	Name: "MPIJob.batch.tensorstack.dev",
	Doc: "The launcher and the worker of TensorStack's own MPIJob, after its public manual (neither its CRD nor its " +
		"controller is public). The launcher's pod is made by the operator, and what it asks for is not written down " +
		"anywhere: it counts as a pod that asks for nothing. sshd runs in the place of the worker's command. Succeeded " +
		"only says that mpirun ended: whether the training succeeded stands in the launcher's log.",
	Runs: Told{
		English: "The launcher runs mpirun, which starts the ranks on the workers over ssh; the workers themselves run sshd. The output of all ranks stands in the launcher's log. That the launcher ended with 0 does not say that the training succeeded: its log does.",
		Chinese: "launcher 运行 mpirun，通过 ssh 在 worker 上启动各个 rank，worker 自身只运行 sshd。所有 rank 的输出都在 launcher 的日志里。launcher 以 0 退出并不说明训练成功，要看它的日志。",
	},
	Read: reading("MPIJob", readT9kMPIJob),
	Operator: t9kOperator(Operator{
		CleanWorkers: "spec.runPolicy.cleanUpWorkers",
		KeepsLogs:    "Leave cleanUpWorkers out, and delete the job when its logs have been read.",
		World:        WorldOfLauncher, Parts: launcherAndWorkers,
		SSHD: SSHD{Role: "worker", Replaces: true, Command: "spec.worker.cmd", Program: "spec.ssh.sshdPath"},
		NCCL: true,
		Mounts: func(j *job.Job, _ string) (volumes, places []string) {
			return nil, []string{cleanPath(textIn(j, "spec.ssh.sshAuthMountPath"), "/root/.ssh")}
		},
	}),
})

// Source: github.com/t9k/user-manuals fbf6b3cd src/references/api-reference/mpijob.md and
// src/modules/jobs/mpijob.md.
type t9kMPISpec struct {
	Worker    t9kMPIWorker      `json:"worker"`
	MCA       map[string]string `json:"mca"`
	SSH       t9kMPISSH         `json:"ssh"`
	RunPolicy struct {
		CleanUpWorkers *bool `json:"cleanUpWorkers"`
	} `json:"runPolicy"`
	MPIHome string `json:"mpiHome"`
	t9kShared
}

type t9kMPIWorker struct {
	Replicas     *int32                 `json:"replicas"`
	ExtraMPIArgs []string               `json:"extraMPIArgs"`
	Cmd          []string               `json:"cmd"`
	Template     corev1.PodTemplateSpec `json:"template"`
}

type t9kMPISSH struct {
	SSHAuthMountPath string `json:"sshAuthMountPath"`
	SSHDPath         string `json:"sshdPath"`
}

func readT9kMPIJob(r *reader, j *job.Job, o *object[t9kMPISpec]) {
	o.Spec.t9kShared.apply(j)
	w := &o.Spec.Worker
	at := r.anchor("spec.worker")
	worker := job.Role{
		Name: "worker", Replicas: job.Exactly(r.count("spec.worker.replicas", w.Replicas, 1)), Path: at, Container: "mpi-worker",
		ReplicasPath: r.written("spec.worker.replicas", at),
		Pod:          r.pod(&w.Template, "spec.worker.template"),
	}
	settle(&worker)
	launch := w.launch(at)
	launch.Path = r.written("spec.worker.cmd", at)
	worker.Launch = launch
	launcher := t9kLauncher(&worker)
	settle(&launcher)
	launcher.Launch = launch
	j.Roles = []job.Role{launcher, worker}
	t9kMarks(j, "mpijob")
	gang(r, j)
}

// launch is the mpirun that the launcher starts.
func (w *t9kMPIWorker) launch(at job.Path) job.Launch {
	words := command{words: []string{"mpirun"}, at: []job.Path{at}}
	for i, text := range w.ExtraMPIArgs {
		words.words, words.at = append(words.words, text), append(words.at, at.Child("extraMPIArgs").Index(i))
	}
	for i, text := range w.Cmd {
		words.words, words.at = append(words.words, text), append(words.at, at.Child("cmd").Index(i))
	}
	out, _ := parse(words, func(word string) string { return word })
	return out
}

// t9kLauncher is the pod that the operator makes to run mpirun in the workers' image: only that much of
// it is known.
func t9kLauncher(worker *job.Role) job.Role {
	c := corev1.Container{Name: "launcher"}
	at := worker.Path
	if from, i := worker.Trainer(); from != nil {
		c.Image, at = from.Image, worker.Pod.At(job.Path("containers").Index(i).Child("image"))
	}
	container := job.Path("containers").Index(0)
	return job.Role{
		Name: "launcher", Replicas: job.Exactly(1), Path: worker.Path, ReplicasPath: worker.Path, Container: c.Name, Single: true,
		Pod: job.Pod{
			Spec: corev1.PodSpec{Containers: []corev1.Container{c}}, Path: worker.Path, Partial: true,
			Origins: job.OriginsOf(job.Origin{Path: worker.Path, Whole: true}, job.Origin{Rel: container.Child("image"), Path: at, Whole: true}),
		},
	}
}
