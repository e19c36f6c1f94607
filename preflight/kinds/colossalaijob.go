package kinds

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

var colossalaiJob = t9kKind(Kind{
	Name: "ColossalAIJob",
	Doc: "The launcher and the worker of TensorStack's ColossalAIJob, after its public manual (neither its CRD nor " +
		"its controller is public). The worker's own command is shown as written although sshd runs in its place. " +
		"Succeeded only says that the launcher ended: whether the training succeeded stands in the launcher's log.",
	Runs: Told{
		English: "The launcher starts the training on all workers with colossalairun over ssh; the workers themselves run sshd. A worker that was restarted does not join again. That the launcher ended with 0 does not say that the training succeeded: its log does.",
		Chinese: "launcher 通过 ssh 用 colossalairun 在所有 worker 上启动训练，worker 自身只运行 sshd。重启过的 worker 不会重新加入训练。launcher 以 0 退出并不说明训练成功，要看它的日志。",
	},
	Read: reading("ColossalAIJob", readColossalAIJob),
	Operator: Operator{
		LongestName:  colossalaiLongestName,
		Hold:         "spec.runMode.pause.enabled",
		CleanWorkers: "spec.runPolicy.cleanUpWorkers",
		KeepsLogs:    "Leave cleanUpWorkers out, and delete the job when its logs have been read.",
		TypeLists:    []job.Path{"spec.runMode.debug.replicaSpecs", "spec.runMode.pause.resumeSpecs"},
		World:        WorldOfLauncher,
		Procs:        Procs{At: "spec.worker.procPerWorker", Default: 1},
		Parts:        launcherAndWorkers,
		Launcher:     "Remove the GPUs from spec.launcher.resources.",
		SSHD:         SSHD{Role: "worker", Replaces: true, Command: "spec.worker.command", Program: "spec.ssh.sshdPath"},
		NCCL:         true,
		Mounts: func(j *job.Job, _ string) (volumes, places []string) {
			return nil, []string{cleanPath(textIn(j, "spec.ssh.authMountPath"), "/root/.ssh")}
		},
		PodGroups: PodGroupsByField, SchedulerField: "spec.scheduler",
	},
})

// colossalaiLongestName: the launcher has no number.
func colossalaiLongestName(j *job.Job, r *job.Role, name string) (child, what string) {
	if r.Name == "launcher" {
		return name + "-launcher", "launcher"
	}
	return lastPod(j, r, name)
}

// Source: github.com/t9k/user-manuals fbf6b3cd src/modules/jobs/colossalaijob.md.
type colossalaiSpec struct {
	SSH       colossalaiSSH       `json:"ssh"`
	Launcher  *corev1.Container   `json:"launcher"`
	Worker    colossalaiWorker    `json:"worker"`
	RunPolicy colossalaiRunPolicy `json:"runPolicy"`
	t9kShared
}

type colossalaiSSH struct {
	AuthMountPath string `json:"authMountPath"`
	SSHDPath      string `json:"sshdPath"`
}

type colossalaiWorker struct {
	Replicas      *int32                 `json:"replicas"`
	ProcPerWorker *int32                 `json:"procPerWorker"`
	Command       []string               `json:"command"`
	TorchArgs     []string               `json:"torchArgs"`
	Template      corev1.PodTemplateSpec `json:"template"`
}

type colossalaiRunPolicy struct {
	CleanUpWorkers *bool `json:"cleanUpWorkers"`
}

func readColossalAIJob(r *reader, j *job.Job, o *object[colossalaiSpec]) {
	o.Spec.t9kShared.apply(j)
	j.Roles = []job.Role{colossalaiLauncher(r, o.Spec.Launcher), colossalaiWorkers(r, &o.Spec.Worker)}
	gang(r, j)
}

// colossalaiLauncher builds the launcher's pod from the few fields the kind has for it.
func colossalaiLauncher(r *reader, c *corev1.Container) job.Role {
	at := r.anchor("spec.launcher")
	missing := c == nil
	if missing {
		c = &corev1.Container{}
		if !r.has("spec.launcher") {
			r.lacks(at, "missing", "an object with image and resources")
		}
	}
	c.Name = "launcher"
	container := job.Path("containers").Index(0)
	role := job.Role{
		Name: "launcher", Replicas: job.Exactly(1), Path: at, ReplicasPath: at, Container: c.Name, Single: true,
		Pod: job.Pod{
			Spec: corev1.PodSpec{Containers: []corev1.Container{*c}},
			Path: at, Partial: missing,
			Origins: job.OriginsOf(
				job.Origin{Path: at, Whole: true}, job.Origin{Rel: container, Path: at}, job.Origin{Rel: container.Child("name"), Path: at, Whole: true},
			),
		},
	}
	settle(&role)
	role.Launch = job.Launch{Program: "colossalai", Path: r.written("spec.worker.command", at)}
	return role
}

func colossalaiWorkers(r *reader, w *colossalaiWorker) job.Role {
	at := r.anchor("spec.worker")
	replicas := r.count("spec.worker.replicas", w.Replicas, 1)
	role := job.Role{
		Name: "worker", Replicas: job.Exactly(replicas), Path: at, Container: "worker",
		ReplicasPath: r.written("spec.worker.replicas", at),
		Pod:          r.pod(&w.Template, "spec.worker.template"),
	}
	settle(&role)
	role.Launch = job.Launch{
		Program: "colossalai", Nodes: job.Exactly(replicas),
		ProcsPerNode: job.Exactly(r.count("spec.worker.procPerWorker", w.ProcPerWorker, 1)),
		ProcsPath:    r.written("spec.worker.procPerWorker", at),
		Path:         r.written("spec.worker.command", at),
	}
	return role
}
