package kinds

import "github.com/signalbox-dev/signalbox/preflight/job"

var paddleJob = paddleRoles.kind(Kind{
	Name: "PaddleJob",
	Doc: "Master and Worker of a PaddleJob with the defaults of training-operator v1.9.3: one replica, restart " +
		"policy OnFailure, port 36543. elasticPolicy makes the Worker a range: above its replicas only with metrics. Success is the Master's; without " +
		"one all Workers must succeed.",
	Runs: Told{
		English: "Master and workers run paddle.distributed.launch. The job ends as the Master does, or without one when all workers have succeeded. The launcher of a pod ends its other processes when one fails, with SIGTERM; exit code -15 is then a consequence.",
		Chinese: "Master 和 Worker 运行 paddle.distributed.launch。任务的结果由 Master 决定；没有 Master 时所有 Worker 都必须成功。Pod 内某个进程失败后，启动器用 SIGTERM 结束其余进程，此时的退出码 -15 是结果。",
	},
	Scale: "spec.paddleReplicaSpecs.Worker.replicas",
	Read:  reading("PaddleJob", readPaddleJob),
	Operator: Operator{
		Validates: Validation{Refuses: []string{"immutable-field-changed", "managed-by-unknown"}},
		Parts:     map[string]Part{"Master": Leader, "Worker": Worker},
		Elastic:   &Elastic{At: "spec.elasticPolicy"},
		Env:       variables("PADDLE_JOB_ID", "PADDLE_NNODES", "PADDLE_MASTER"), // pkg/controller.v1/paddlepaddle/envvar.go
		NCCL:      true,
	},
})

// Source: training-operator v1.9.3 pkg/apis/kubeflow.org/v1/paddlepaddle_{types,defaults}.go.
var paddleRoles = replicaMap{
	controller: "paddlejob-controller",
	field:      "paddleReplicaSpecs", roles: []string{"Master", "Worker"},
	container: "paddle", portName: "master", port: 36543,
	restart: "OnFailure", anyCase: true, exactCase: true,
}

type paddleSpec struct {
	RunPolicy     runPolicy               `json:"runPolicy"`
	ReplicaSpecs  map[string]*replicaSpec `json:"paddleReplicaSpecs"`
	ElasticPolicy *paddleElastic          `json:"elasticPolicy"`
}

type paddleElastic struct {
	MinReplicas *int32 `json:"minReplicas"`
	MaxReplicas *int32 `json:"maxReplicas"`
	MaxRestarts *int32 `json:"maxRestarts"`
	Metrics     []any  `json:"metrics"`
}

func readPaddleJob(r *reader, j *job.Job, o *object[paddleSpec]) {
	paddleRoles.training(r, j, &o.Spec.RunPolicy, o.Spec.ReplicaSpecs, func() {
		if e, worker := o.Spec.ElasticPolicy, j.Role("Worker"); e != nil && worker != nil {
			elastic(r, worker, "spec.elasticPolicy", e.MinReplicas, e.MaxReplicas, len(e.Metrics))
		}
	})
}
