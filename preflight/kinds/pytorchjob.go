package kinds

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

var pytorchJob = pytorchRoles.kind(Kind{
	Name: "PyTorchJob",
	Doc: "Master and Worker of a PyTorchJob with the defaults of training-operator v1.9.3: one replica, " +
		"restart policy OnFailure, port 23456, and the init container that waits for the Master. elasticPolicy " +
		"makes the Worker a range: above its replicas only with metrics. The environment that the operator adds is not part of the pod. Success is the " +
		"Master's; without one all Workers must succeed.",
	Runs: Told{
		English: "Master and workers are members of one process group and meet at MASTER_ADDR. The job ends as the Master does, or without one when all workers have succeeded. When one member dies, the others lose their connection to it or wait until the watchdog of NCCL or Gloo ends them: their time-outs and closed connections are consequences.",
		Chinese: "Master 和 Worker 属于同一个进程组，在 MASTER_ADDR 会合。任务的结果由 Master 决定；没有 Master 时所有 Worker 都必须成功。某个成员退出后，其他成员会失去与它的连接，或一直等到 NCCL、Gloo 的看门狗将其结束，这些超时和连接关闭是结果。",
	},
	Scale: "spec.pytorchReplicaSpecs.Worker.replicas",
	Read:  reading("PyTorchJob", readPyTorchJob),
	Operator: Operator{
		Validates: Validation{Refuses: []string{"elastic-without-worker", "managed-by-unknown", "master-count", "no-pods-asked", "nproc-given-twice"}},
		Parts:     map[string]Part{"Master": Leader, "Worker": Worker},
		Masters:   &Masters{Least: 1, Most: 1},
		World:     WorldOfJob, // PET_NNODES
		Procs:     Procs{At: "spec.nprocPerNode", PerGPU: true},
		Elastic:   &Elastic{At: "spec.elasticPolicy", Backend: "spec.elasticPolicy.rdzvBackend", Masters: true},
		Env:       pytorchEnv, EnvBeside: "Master", NoEnv: "neither does the operator",
		Collective: true, NCCL: true,
	},
})

// Source: training-operator v1.9.3 pkg/apis/kubeflow.org/v1/pytorch_{types,defaults}.go.
var pytorchRoles = replicaMap{
	controller: "pytorchjob-controller",
	field:      "pytorchReplicaSpecs", roles: []string{"Master", "Worker"},
	container: "pytorch", portName: "pytorchjob-port", port: 23456,
	restart: "OnFailure", anyCase: true, exactCase: true,
}

type pytorchSpec struct {
	RunPolicy     runPolicy               `json:"runPolicy"`
	ReplicaSpecs  map[string]*replicaSpec `json:"pytorchReplicaSpecs"`
	NprocPerNode  *string                 `json:"nprocPerNode"`
	ElasticPolicy *pytorchElastic         `json:"elasticPolicy"`
}

type pytorchElastic struct {
	MinReplicas  *int32     `json:"minReplicas"`
	MaxReplicas  *int32     `json:"maxReplicas"`
	RdzvBackend  *string    `json:"rdzvBackend"`
	RdzvPort     *int32     `json:"rdzvPort"`
	RdzvHost     *string    `json:"rdzvHost"`
	RdzvID       *string    `json:"rdzvId"`
	RdzvConf     []rdzvConf `json:"rdzvConf"`
	Standalone   *bool      `json:"standalone"`
	NProcPerNode *int32     `json:"nProcPerNode"`
	MaxRestarts  *int32     `json:"maxRestarts"`
	Metrics      []any      `json:"metrics"`
}

type rdzvConf struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

func readPyTorchJob(r *reader, j *job.Job, o *object[pytorchSpec]) {
	pytorchRoles.training(r, j, &o.Spec.RunPolicy, o.Spec.ReplicaSpecs, func() {
		master, worker := j.Role("Master"), j.Role("Worker")
		if master != nil && worker != nil {
			injectInit(&worker.Pod, initPyTorch(), r.anchor(worker.Path.Child("template")))
		}
		if e := o.Spec.ElasticPolicy; e != nil && worker != nil {
			r.count("spec.elasticPolicy.maxRestarts", e.MaxRestarts, 0)
			if port := e.RdzvPort; port != nil && len(validation.IsValidPortNum(int(*port))) > 0 {
				r.problem("spec.elasticPolicy.rdzvPort", describe(int64(*port)), "a port from 1 to 65535")
			}
			elastic(r, worker, "spec.elasticPolicy", e.MinReplicas, e.MaxReplicas, len(e.Metrics))
		}
	})
	for role := range j.EachRole() {
		o.Spec.launch(&role.Launch)
	}
}

// pytorchEnv is what the operator appends to all containers
// (training-operator v1.9.3 pkg/controller.v1/pytorch/{envvar,master,elastic}.go).
func pytorchEnv(j *job.Job, _ *job.Role, _ int) []string {
	out := []string{"PET_NNODES"}
	if j.Field("spec.elasticPolicy.nProcPerNode") == nil || j.Field("spec.nprocPerNode") != nil {
		out = append(out, "PET_NPROC_PER_NODE")
	}
	if j.Role("Master") != nil {
		out = append(out, "MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT", "PET_NODE_RANK")
	}
	if j.Field("spec.elasticPolicy") != nil {
		out = append(out, "PET_RDZV_ENDPOINT", "PET_RDZV_BACKEND")
	}
	return out
}

// launch adds what the operator passes in PET_* variables: a launcher takes them where
// its own arguments are silent.
func (s *pytorchSpec) launch(l *job.Launch) {
	if s.NprocPerNode != nil && !l.ProcsPerNode.Said() && l.ProcsPath == "" {
		if n, err := strconv.ParseInt(*s.NprocPerNode, 10, 32); err == nil && n > 0 {
			l.ProcsPerNode, l.ProcsPath = job.Exactly(int(n)), "spec.nprocPerNode"
		}
	}
	e := s.ElasticPolicy
	if e == nil {
		return
	}
	if e.NProcPerNode != nil && *e.NProcPerNode > 0 && !l.ProcsPerNode.Said() && l.ProcsPath == "" {
		l.ProcsPerNode, l.ProcsPath = job.Exactly(int(*e.NProcPerNode)), "spec.elasticPolicy.nProcPerNode"
	}
	if e.RdzvBackend != nil && l.Backend == "" {
		l.Backend = *e.RdzvBackend
	}
}

// initPyTorch is the container by which a Worker waits until the Master's name resolves
// (training-operator v1.9.3 pkg/controller.v1/pytorch/initcontainer.go; image and
// template can be changed by the operator's flags).
func initPyTorch() corev1.Container {
	amounts := func(cpu, memory string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
	}
	return corev1.Container{
		Name: "init-pytorch", Image: "alpine:3.10", ImagePullPolicy: corev1.PullIfNotPresent,
		Resources: corev1.ResourceRequirements{Requests: amounts("50m", "10Mi"), Limits: amounts("100m", "20Mi")},
	}
}
