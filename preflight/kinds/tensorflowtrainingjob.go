package kinds

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

var tensorflowTrainingJob = t9kKind(Kind{
	Name: "TensorFlowTrainingJob",
	Doc: "The replicas of TensorStack's TensorFlowTrainingJob (chief, worker, ps, evaluator), after its public manual " +
		"(neither its CRD nor its controller is public): one replica unless it says otherwise, restart policy Never on " +
		"the pods because the controller restarts them, a container called tensorflow. Success is the chief's, else " +
		"that of the first worker.",
	Runs: Told{
		English: "The replicas find each other by TF_CONFIG: parameter servers (ps) serve, workers train, an evaluator reads checkpoints. The chief, else the first worker, decides how the job ends. The controller restarts failed pods itself. A lost ps or worker makes the others report Unavailable: that is a consequence.",
		Chinese: "各副本通过 TF_CONFIG 找到彼此：参数服务器（ps）提供参数，worker 训练，evaluator 读取检查点。任务的结果由 chief 决定，没有 chief 时由第一个 worker 决定。失败的 Pod 由控制器重启。ps 或 worker 丢失后，其他副本报告的 Unavailable 是结果。",
	},
	Read: reading("TensorFlowTrainingJob", readTensorFlowTrainingJob),
	Operator: t9kRestarts(Operator{
		Parts:       map[string]Part{"chief": Leader, "worker": Worker, "ps": Server, "evaluator": Evaluator},
		RoleChoices: []Choice{{At: "restartPolicy", Words: restartWords}},
	}),
})

// Source: github.com/t9k/user-manuals fbf6b3cd src/references/api-reference/tensorflowtrainingjob.md.
type tensorflowTrainingSpec struct {
	ReplicaSpecs    []t9kReplica    `json:"replicaSpecs"`
	RunPolicy       t9kRunPolicy    `json:"runPolicy"`
	TensorboardSpec *t9kTensorBoard `json:"tensorboardSpec"`
	t9kShared
}

func readTensorFlowTrainingJob(r *reader, j *job.Job, o *object[tensorflowTrainingSpec]) {
	o.Spec.t9kShared.apply(j)
	j.Roles = t9kReplicas(r, o.Spec.ReplicaSpecs, []string{"chief", "worker", "ps", "evaluator"}, called("tensorflow"))
	settleAll(j)
	j.Beside = o.Spec.TensorboardSpec.roles(r)
	t9kMarks(j, "tensorflowtrainingjob")
	gang(r, j)
}

// called is the name of the container without which the operator does not find the one that trains.
func called(name string) func(*corev1.PodSpec) string {
	return func(*corev1.PodSpec) string { return name }
}
