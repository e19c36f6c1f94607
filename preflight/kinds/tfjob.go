package kinds

import "github.com/signalbox-dev/signalbox/preflight/job"

var tfJob = tfRoles.kind(Kind{
	Name: "TFJob",
	Doc: "Chief, Master, PS, Worker and Evaluator of a TFJob with the defaults of training-operator v1.9.3: one " +
		"replica, restart policy Never, port 2222. TF_CONFIG is not part of the pod. Success is the Chief's or " +
		"Master's, else that of Worker 0, or of all Workers with successPolicy AllWorkers.",
	Runs: Told{
		English: "The replicas find each other by TF_CONFIG: parameter servers (PS) serve and do not end by themselves, workers train, an Evaluator reads checkpoints. The Chief or Master, else worker 0, decides how the job ends. A lost PS or worker makes the others report Unavailable: that is a consequence.",
		Chinese: "各副本通过 TF_CONFIG 找到彼此：参数服务器（PS）提供参数，自身不会结束；worker 训练；Evaluator 读取检查点。任务的结果由 Chief 或 Master 决定，没有时由 worker 0 决定。PS 或 worker 丢失后，其他副本报告的 Unavailable 是结果。",
	},
	Read: reading("TFJob", func(r *reader, j *job.Job, o *object[tfSpec]) {
		tfRoles.training(r, j, &o.Spec.RunPolicy, o.Spec.ReplicaSpecs)
	}),
	Operator: Operator{
		Validates: Validation{Refuses: []string{"immutable-field-changed", "managed-by-unknown", "master-count"}},
		Parts:     map[string]Part{"Chief": Leader, "Master": Leader, "PS": Server, "Worker": Worker, "Evaluator": Evaluator},
		Masters:   &Masters{Most: 1},
		Choices:   []Choice{{At: "spec.successPolicy", Words: []string{"AllWorkers"}}}, // pkg/apis/kubeflow.org/v1/tensorflow_types.go
		Env:       tfEnv,
	},
})

// Source: training-operator v1.9.3 pkg/apis/kubeflow.org/v1/tensorflow_{types,defaults}.go.
// Its webhook does not look at the names of the roles, and the operator makes pods for each (pkg/controller.v1/common/job.go,
// ReconcileJobs); of "worker" beside "Worker" it takes either.
var tfRoles = replicaMap{
	controller: "tfjob-controller",
	field:      "tfReplicaSpecs", roles: []string{"Chief", "Master", "PS", "Worker", "Evaluator"},
	container: "tensorflow", portName: "tfjob-port", port: 2222,
	restart: "Never", anyCase: true, everyKey: true,
}

type tfSpec struct {
	RunPolicy           runPolicy               `json:"runPolicy"`
	SuccessPolicy       *string                 `json:"successPolicy"`
	ReplicaSpecs        map[string]*replicaSpec `json:"tfReplicaSpecs"`
	EnableDynamicWorker bool                    `json:"enableDynamicWorker"`
}

// tfEnv is what the operator appends to the container that trains
// (training-operator v1.9.3 pkg/controller.v1/tensorflow/tfjob_controller.go, SetClusterSpec).
func tfEnv(j *job.Job, r *job.Role, container int) []string {
	if r.Pod.Spec.Containers[container].Name == r.Container && j.MaxPods() > 1 {
		return []string{"TF_CONFIG"}
	}
	return nil
}
