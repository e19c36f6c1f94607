package kinds

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

var paddleJob = &Kind{
	Name:     "PaddleJob",
	Resource: "paddlejobs",
	GVKs:     []schema.GroupVersionKind{kubeflow("v1", "PaddleJob")},
	Doc: "Master and Worker of a PaddleJob with the defaults of training-operator v1.9.3: one replica, restart " +
		"policy OnFailure, port 36543. elasticPolicy makes the Worker a range: above its replicas only with metrics. Success is the Master's; without " +
		"one all Workers must succeed.",
	Scale: "spec.paddleReplicaSpecs.Worker.replicas",
	Read:  readPaddleJob,
	Pods:  kubeflowPods("paddlejob-controller"),
	Place: paddleRoles.place,
	State: kubeflowState,
	Operator: trainingWebhook("paddlejob", Operator{
		Validates: Validation{Refuses: []string{"immutable-field-changed", "managed-by-unknown"}},
		Parts:     map[string]Part{"Master": Leader, "Worker": Worker},
		Elastic:   &Elastic{At: "spec.elasticPolicy"},
		Env:       variables("PADDLE_JOB_ID", "PADDLE_NNODES", "PADDLE_MASTER"), // pkg/controller.v1/paddlepaddle/envvar.go
		NCCL:      true,
	}),
}

// Source: training-operator v1.9.3 pkg/apis/kubeflow.org/v1/paddlepaddle_{types,defaults}.go.
var paddleRoles = replicaMap{
	field: "paddleReplicaSpecs", roles: []string{"Master", "Worker"},
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

func readPaddleJob(u *unstructured.Unstructured, _ Got) (*job.Job, error) {
	r, o := open[paddleSpec]("PaddleJob", u)
	if o == nil {
		return r.finish(nil)
	}
	j := r.start(u, o.APIVersion, &o.Metadata)
	o.Spec.RunPolicy.apply(r, j, trainingOperator)
	j.Roles = paddleRoles.read(r, o.Spec.ReplicaSpecs)
	if e, worker := o.Spec.ElasticPolicy, j.Role("Worker"); e != nil && worker != nil {
		elastic(r, worker, "spec.elasticPolicy", e.MinReplicas, e.MaxReplicas, len(e.Metrics))
	}
	trainingMarks(j, "paddlejob-controller")
	for i := range j.Roles {
		settle(&j.Roles[i])
	}
	gang(r, j)
	return r.finish(j)
}
