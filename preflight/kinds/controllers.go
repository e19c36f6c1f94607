package kinds

import (
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Controller is the workload that runs an operator, as the operator's own manifests install it.
type Controller struct{ Kind, Name string }

// String is "Deployment training-operator".
func (c Controller) String() string { return c.Kind + " " + c.Name }

// controllers are the workloads by API group. An installation may have renamed its own, so that a
// workload that is not found is no proof that no operator acts.
var controllers = []struct {
	apiVersion string // or a group, where all its versions have one operator
	kinds      []string
	Controller
}{
	// github.com/kubeflow/mpi-operator v0.8.0 manifests/base/deployment.yaml
	{"kubeflow.org/v2beta1", []string{"MPIJob"}, Controller{"Deployment", "mpi-operator"}},
	// github.com/kubeflow/training-operator v1.9.3 manifests/base/deployment.yaml
	{"kubeflow.org/v1", nil, Controller{"Deployment", "training-operator"}},
	// github.com/kubeflow/trainer v2.1.0 manifests/base/manager/manager.yaml
	{"trainer.kubeflow.org", nil, Controller{"Deployment", "kubeflow-trainer-controller-manager"}},
	// sigs.k8s.io/jobset v0.10.1 config/components/manager/manager.yaml, namePrefix of config/default
	{"jobset.x-k8s.io", nil, Controller{"Deployment", "jobset-controller-manager"}},
	// sigs.k8s.io/lws v0.7.0 config/manager/manager.yaml, namePrefix of config/default
	{"leaderworkerset.x-k8s.io", nil, Controller{"Deployment", "lws-controller-manager"}},
	// github.com/ray-project/kuberay v1.4.2 helm-chart/kuberay-operator/templates/deployment.yaml
	{"ray.io", nil, Controller{"Deployment", "kuberay-operator"}},
	// github.com/volcano-sh/volcano v1.12.0 installer/volcano-development.yaml
	{"batch.volcano.sh", nil, Controller{"Deployment", "volcano-controllers"}},
	// github.com/microsoft/frameworkcontroller example/run/README.md
	{"frameworkcontroller.microsoft.com", nil, Controller{"StatefulSet", "frameworkcontroller"}},
}

// ControllerOf is the workload of the operator of a job; ok is false where its name is not public
// (ColossalAIJob) or there is none of its own (Job: kube-controller-manager).
func ControllerOf(ref job.Ref) (c Controller, ok bool) {
	group, _, _ := strings.Cut(ref.APIVersion, "/")
	for _, entry := range controllers {
		if (entry.apiVersion == ref.APIVersion || entry.apiVersion == group) && (entry.kinds == nil || slices.Contains(entry.kinds, ref.Kind)) {
			return entry.Controller, true
		}
	}
	return Controller{}, false
}
