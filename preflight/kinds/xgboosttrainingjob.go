package kinds

import "github.com/signalbox-dev/signalbox/preflight/job"

var xgboostTrainingJob = t9kKind(Kind{
	Name: "XGBoostTrainingJob",
	Doc: "The replicas of TensorStack's XGBoostTrainingJob (master, worker), after its public manual (neither its CRD nor " +
		"its controller is public): one replica unless it says otherwise, restart policy Never on the pods because the " +
		"controller restarts them, a container called xgboost. Success is the master's.",
	Runs: Told{
		English: "The master runs the tracker of rabit, and every worker reports to it; the job ends as the master does. The controller restarts failed pods itself. When one worker dies, the tracker and the other workers report a closed or reset connection: these are consequences.",
		Chinese: "master 运行 rabit 的 tracker，每个 worker 向它报告；任务的结果由 master 决定。失败的 Pod 由控制器重启。某个 worker 退出后，tracker 和其他 worker 报告的连接关闭或重置是结果。",
	},
	Read: reading("XGBoostTrainingJob", readXGBoostTrainingJob),
	Operator: t9kRestarts(Operator{
		Parts:       map[string]Part{"master": Leader, "worker": Worker},
		RoleChoices: []Choice{{At: "restartPolicy", Words: restartWords}},
		Collective:  true,
	}),
})

// Source: github.com/t9k/user-manuals fbf6b3cd src/references/api-reference/xgboosttrainingjob.md.
type xgboostTrainingSpec struct {
	ReplicaSpecs []t9kReplica `json:"replicaSpecs"`
	RunPolicy    t9kRunPolicy `json:"runPolicy"`
	t9kShared
}

func readXGBoostTrainingJob(r *reader, j *job.Job, o *object[xgboostTrainingSpec]) {
	o.Spec.t9kShared.apply(j)
	j.Roles = t9kReplicas(r, o.Spec.ReplicaSpecs, []string{"master", "worker"}, called("xgboost"))
	settleAll(j)
	t9kMarks(j, "xgboosttrainingjob")
	gang(r, j)
}
