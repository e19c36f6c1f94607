package kinds

import "github.com/signalbox-dev/signalbox/preflight/job"

var xgboostJob = xgboostRoles.kind(Kind{
	Name: "XGBoostJob",
	Doc: "Master and Worker of an XGBoostJob with the defaults of training-operator v1.9.3: one replica, restart " +
		"policy Never, port 9999. Success is the Master's. A failed pod under OnFailure ends the job: only " +
		"ExitCode restarts.",
	Runs: Told{
		English: "The Master runs the tracker of rabit, and every worker reports to it; the job ends as the Master does. When one worker dies, the tracker and the other workers report a closed or reset connection: these are consequences.",
		Chinese: "Master 运行 rabit 的 tracker，每个 worker 向它报告；任务的结果由 Master 决定。某个 worker 退出后，tracker 和其他 worker 报告的连接关闭或重置是结果。",
	},
	Read: reading("XGBoostJob", func(r *reader, j *job.Job, o *object[xgboostSpec]) {
		xgboostRoles.training(r, j, &o.Spec.RunPolicy, o.Spec.ReplicaSpecs)
	}),
	Operator: Operator{
		Validates:  Validation{Refuses: []string{"immutable-field-changed", "managed-by-unknown", "master-count"}},
		Parts:      map[string]Part{"Master": Leader, "Worker": Worker},
		Masters:    &Masters{Least: 1, Most: 1, Required: true},
		Env:        variables("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK"), // pkg/controller.v1/xgboost, SetClusterSpec
		Collective: true,
	},
})

// Source: training-operator v1.9.3 pkg/apis/kubeflow.org/v1/xgboost_{types,defaults}.go.
var xgboostRoles = replicaMap{
	controller: "xgboostjob-controller",
	field:      "xgbReplicaSpecs", roles: []string{"Master", "Worker"},
	container: "xgboost", portName: "xgboostjob-port", port: 9999,
	restart: "Never", anyCase: true, exactCase: true,
}

type xgboostSpec struct {
	RunPolicy    runPolicy               `json:"runPolicy"`
	ReplicaSpecs map[string]*replicaSpec `json:"xgbReplicaSpecs"`
}
