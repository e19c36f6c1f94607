package kinds

import "github.com/signalbox-dev/signalbox/preflight/job"

var pytorchTrainingJob = t9kKind(Kind{
	Name: "PyTorchTrainingJob",
	Doc: "The replicas of TensorStack's PyTorchTrainingJob, after its public manual (neither its CRD nor its controller " +
		"is public): one replica unless it says otherwise, restart policy Never on the pods because the controller " +
		"restarts them. With torchrunConfig the container's own command is shown as written, although torchrun runs in " +
		"its place. An elastic job with one kind of replica is a range from minReplicas to expectedReplicas. Success is " +
		"that of the first replica.",
	Runs: Told{
		English: "The replicas are members of one process group, started by torchrun where torchrunConfig is enabled. The controller restarts failed pods itself, up to backoffLimit of all replicas together. The first replica decides how the job ends; time-outs and closed connections of the others follow a member's death.",
		Chinese: "各副本属于同一个进程组；启用 torchrunConfig 时由 torchrun 启动。失败的 Pod 由控制器重启，次数由所有副本共用的 backoffLimit 限制。任务的结果由第一个副本决定；其他副本的超时和连接关闭是某个成员退出的结果。",
	},
	Read: reading("PyTorchTrainingJob", readPyTorchTrainingJob),
	Operator: t9kRestarts(Operator{
		RoleChoices: []Choice{{At: "restartPolicy", Words: restartWords}},
		// src/references/api-reference/pytorchtrainingjob.md, elastic.
		Fixed: []FixedField{{At: "spec.elastic.maxReplicas", Reason: "the most that the job may grow to is settled when it is created"}},
		Parts: map[string]Part{"master": Leader, "worker": Worker},
		World: WorldOfLauncher, Procs: Procs{At: "spec.torchrunConfig.procPerNode"},
		Collective: true, NCCL: true,
	}),
})

// Source: github.com/t9k/user-manuals fbf6b3cd src/references/api-reference/pytorchtrainingjob.md
// and src/modules/jobs/pytorchtrainingjob.md, whose example has minNodes.
type pytorchTrainingSpec struct {
	ReplicaSpecs    []t9kReplica    `json:"replicaSpecs"`
	Elastic         *t9kElastic     `json:"elastic"`
	TorchrunConfig  *t9kTorchrun    `json:"torchrunConfig"`
	RunPolicy       t9kRunPolicy    `json:"runPolicy"`
	TensorboardSpec *t9kTensorBoard `json:"tensorboardSpec"`
	t9kShared
}

type t9kTorchrun struct {
	Enabled      bool     `json:"enabled"`
	MaxRestarts  *int32   `json:"maxRestarts"`
	MinNodes     *int32   `json:"minNodes"`
	ProcPerNode  string   `json:"procPerNode"`
	RdzvBackend  string   `json:"rdzvBackend"`
	ExtraOptions []string `json:"extraOptions"`
}

func readPyTorchTrainingJob(r *reader, j *job.Job, o *object[pytorchTrainingSpec]) {
	o.Spec.t9kShared.apply(j)
	// The reference names no types; the manual has worker and calls the first replica the master.
	j.Roles = t9kReplicas(r, o.Spec.ReplicaSpecs, nil, named("python"))
	if len(j.Roles) == 1 { // scalingWeight divides the range among several
		o.Spec.Elastic.apply(r, &j.Roles[0])
	}
	for i := range j.Roles {
		settle(&j.Roles[i])
		if t := o.Spec.TorchrunConfig; t != nil && t.Enabled {
			t.launch(r, &j.Roles[i])
		}
	}
	j.Beside = o.Spec.TensorboardSpec.roles(r)
	t9kMarks(j, "pytorchtrainingjob")
	gang(r, j)
}

// launch is torchrun in the place of the container's command; its arguments are kept.
func (t *t9kTorchrun) launch(r *reader, role *job.Role) {
	const at = job.Path("spec.torchrunConfig")
	words := command{words: []string{"torchrun"}, at: []job.Path{at}}
	for i, w := range t.ExtraOptions {
		words.words, words.at = append(words.words, w), append(words.at, at.Child("extraOptions").Index(i))
	}
	if c, i := role.Trainer(); c != nil {
		rel := job.Path("containers").Index(i).Child("args")
		for k, w := range c.Args {
			words.words, words.at = append(words.words, w), append(words.at, role.Pod.At(rel.Index(k)))
		}
	}
	role.Launch, _ = parse(words, func(word string) string { return word })
	role.Launch.Path = at
	if procs := at.Child("procPerNode"); r.has(procs) {
		role.Launch.ProcsPath = procs
		if n, ok := atoi(t.ProcPerNode); ok && n > 0 && n <= 1<<30 {
			role.Launch.ProcsPerNode = job.Exactly(n)
		}
	}
	if t.RdzvBackend != "" {
		role.Launch.Backend = t.RdzvBackend
	}
}
