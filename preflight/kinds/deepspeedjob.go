package kinds

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

var deepspeedJob = t9kKind(Kind{
	Name: "DeepSpeedJob",
	Doc: "The workers of TensorStack's DeepSpeedJob, after its public manual (neither its CRD nor its controller is " +
		"public): the first of them runs deepspeed, which starts the others over ssh. The container that trains is " +
		"called worker, else it is the first one. Restart policy Never on the pods because the controller restarts " +
		"them. An elastic job is a range from minReplicas to expectedReplicas. Success is the first worker's.",
	Runs: Told{
		English: "The first worker runs deepspeed, which starts the processes of the other workers over ssh (pdsh); their output comes back to the first worker, and the job ends as it does. When one worker fails, deepspeed ends the others.",
		Chinese: "第一个 worker 运行 deepspeed，由它通过 ssh（pdsh）启动其他 worker 上的进程；它们的输出回到第一个 worker，任务的结果由它决定。某个 worker 失败后，deepspeed 会结束其他 worker。",
	},
	Read: reading("DeepSpeedJob", readDeepSpeedJob),
	Operator: t9kRestarts(Operator{
		Parts: map[string]Part{"worker": Worker},
		Choices: []Choice{
			{At: "spec.worker.restartPolicy", Words: restartWords},
			{At: "spec.config.autotune", Words: []string{"none", "run", "tune"}},
		},
		World: WorldOfLauncher, Procs: Procs{At: "spec.config.slotsPerWorker"},
		Collective: true, NCCL: true,
		Mounts: func(*job.Job, string) (volumes, places []string) {
			return nil, []string{"/root/.ssh", "/t9k/hostfile", "/root/.deepspeed_env"}
		},
	}),
})

// Source: github.com/t9k/user-manuals fbf6b3cd src/references/api-reference/deepspeedjob.md; the example of
// src/modules/jobs/deepspeedjob.md writes slotPerWorker, and one text where the reference has a list.
type deepspeedSpec struct {
	Config           deepspeedConfig `json:"config"`
	Worker           deepspeedWorker `json:"worker"`
	Elastic          *t9kElastic     `json:"elastic"`
	RunPolicy        t9kRunPolicy    `json:"runPolicy"`
	DisableCustomEnv *bool           `json:"disableCustomEnv"`
	t9kShared
}

type deepspeedConfig struct {
	CustomCommand  string       `json:"customCommand"`
	SlotsPerWorker *int32       `json:"slotsPerWorker"`
	SlotPerWorker  *int32       `json:"slotPerWorker"`
	LocalRank      *bool        `json:"localRank"`
	Autotune       string       `json:"autotune"`
	Run            deepspeedRun `json:"run"`
	OtherArgs      []string     `json:"otherArgs"`
}

type deepspeedRun struct {
	Python any `json:"python"`
	Module any `json:"module"`
	Exec   any `json:"exec"`
}

type deepspeedWorker struct {
	Replicas      *int32                 `json:"replicas"`
	Template      corev1.PodTemplateSpec `json:"template"`
	RestartPolicy string                 `json:"restartPolicy"`
}

func readDeepSpeedJob(r *reader, j *job.Job, o *object[deepspeedSpec]) {
	o.Spec.t9kShared.apply(j)
	w := &o.Spec.Worker
	at := r.anchor("spec.worker")
	role := job.Role{
		Name: "worker", Path: at, Replicas: job.Exactly(r.count("spec.worker.replicas", w.Replicas, 1)),
		ReplicasPath: r.written("spec.worker.replicas", at),
		Pod:          r.pod(&w.Template, "spec.worker.template"),
	}
	role.Container = named("worker")(&role.Pod.Spec)
	t9kNever(r, &role)
	o.Spec.Elastic.apply(r, &role)
	settle(&role)
	role.Launch = o.Spec.Config.launch(r)
	j.Roles = []job.Role{role}
	t9kMarks(j, "deepspeedjob")
	gang(r, j)
}

// launch is the deepspeed that the first worker starts, and the program behind it.
func (c *deepspeedConfig) launch(r *reader) job.Launch {
	const at = job.Path("spec.config")
	out := job.Launch{Program: "deepspeed", Path: r.anchor(at)}
	slots, where := c.SlotsPerWorker, at.Child("slotsPerWorker")
	if slots == nil {
		slots, where = c.SlotPerWorker, at.Child("slotPerWorker")
	}
	if slots != nil {
		out.ProcsPerNode, out.ProcsPath = job.Exactly(r.count(where, slots, 1)), where
	}
	if c.CustomCommand != "" {
		return out
	}
	for _, run := range []struct {
		key   string
		value any
	}{{"python", c.Run.Python}, {"module", c.Run.Module}, {"exec", c.Run.Exec}} {
		path := at.Child("run", run.key)
		switch v := run.value.(type) {
		case string:
			out.Args = append(out.Args, job.Word{Text: v, Path: path})
		case []any:
			for i, w := range v {
				if text, ok := w.(string); ok {
					out.Args = append(out.Args, job.Word{Text: text, Path: path.Index(i)})
				}
			}
		}
	}
	return out
}
