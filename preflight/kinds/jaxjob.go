package kinds

import "github.com/signalbox-dev/signalbox/preflight/job"

var jaxJob = jaxRoles.kind(Kind{
	Name: "JAXJob",
	Doc: "The Worker of a JAXJob with the defaults of training-operator v1.9.3: one replica, restart policy Never, " +
		"port 6666. All Workers must succeed.",
	Runs: Told{
		English: "Every worker runs one process of jax.distributed; worker 0 is the coordinator, and all workers must succeed. When one process is lost, the coordinator's heartbeat ends the others, so their messages about the coordinator or a missing task are consequences.",
		Chinese: "每个 worker 运行一个 jax.distributed 进程，worker 0 是协调者，所有 worker 都必须成功。某个进程丢失后，协调者的心跳检测会结束其他进程，因此关于协调者或任务丢失的信息是结果而不是原因。",
	},
	Scale: "spec.jaxReplicaSpecs.Worker.replicas",
	Read: reading("JAXJob", func(r *reader, j *job.Job, o *object[jaxSpec]) {
		jaxRoles.training(r, j, &o.Spec.RunPolicy, o.Spec.ReplicaSpecs)
	}),
	Operator: Operator{
		Parts:      map[string]Part{"Worker": Worker},
		Env:        variables("COORDINATOR_ADDRESS", "COORDINATOR_PORT", "NUM_PROCESSES", "PROCESS_ID"), // pkg/controller.v1/jax/envvar.go
		Collective: true, NCCL: true,
	},
})

// Source: training-operator v1.9.3 pkg/apis/kubeflow.org/v1/jax_{types,defaults}.go.
var jaxRoles = replicaMap{
	controller: "jaxjob-controller",
	field:      "jaxReplicaSpecs", roles: []string{"Worker"},
	container: "jax", portName: "jaxjob-port", port: 6666,
	restart: "Never", anyCase: true, exactCase: true,
}

type jaxSpec struct {
	RunPolicy    runPolicy               `json:"runPolicy"`
	ReplicaSpecs map[string]*replicaSpec `json:"jaxReplicaSpecs"`
}
