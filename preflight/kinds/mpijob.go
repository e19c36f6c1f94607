package kinds

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

var mpiJob = &Kind{
	Name:     "MPIJob",
	Resource: "mpijobs",
	GVKs:     []schema.GroupVersionKind{kubeflow("v1", "MPIJob"), kubeflow("v2beta1", "MPIJob")},
	Doc: "Launcher and Worker of an MPIJob: v1 with the defaults of training-operator v1.9.3 (Worker 0 replicas, " +
		"restart policy Never, the launcher's init container kubectl-delivery), v2beta1 with those of mpi-operator " +
		"v0.7 (launcher restart policy OnFailure). Secrets, host files and volumes that the operators add are not " +
		"part of the pods. Success is the Launcher's.",
	Read:     readMPIJob,
	Pods:     kubeflowPods("mpijob-controller", "mpi-operator"),
	Place:    mpiRoles.place,
	State:    kubeflowState,
	Operator: Operator{Launcher: "Remove the GPUs from the launcher, or let it work: runLauncherAsWorker in v2beta1."},
}

// Sources: training-operator v1.9.3 pkg/apis/kubeflow.org/v1/mpi_{types,defaults}.go;
// mpi-operator v0.7.0 pkg/apis/kubeflow/v2beta1/{types,default}.go. Neither looks for a
// container by name, and neither changes the case of a role.
var mpiRoles = replicaMap{
	field: "mpiReplicaSpecs", roles: []string{"Launcher", "Worker"},
	restart: "Never", replicas: map[string]int{"Worker": 0},
}

// mpiRolesV2 differ in the launcher: mpi-operator makes it a Job, and a Job may restart it.
var mpiRolesV2 = replicaMap{
	field: mpiRoles.field, roles: mpiRoles.roles,
	restart: "Never", restarts: map[string]string{"Launcher": "OnFailure"}, replicas: map[string]int{"Worker": 0},
}

// mpiShared is what both versions have.
type mpiShared struct {
	SlotsPerWorker *int32                  `json:"slotsPerWorker"`
	RunPolicy      runPolicy               `json:"runPolicy"`
	ReplicaSpecs   map[string]*replicaSpec `json:"mpiReplicaSpecs"`
}

type mpiV1Spec struct {
	mpiShared
	CleanPodPolicy *string `json:"cleanPodPolicy"`
	MainContainer  string  `json:"mainContainer"`
}

type mpiV2Spec struct {
	mpiShared
	SSHAuthMountPath       string `json:"sshAuthMountPath"`
	RunLauncherAsWorker    *bool  `json:"runLauncherAsWorker"`
	LauncherCreationPolicy string `json:"launcherCreationPolicy"`
	MPIImplementation      string `json:"mpiImplementation"`
}

func readMPIJob(u *unstructured.Unstructured, _ Got) (*job.Job, error) {
	if u != nil && strings.HasSuffix(u.GetAPIVersion(), "/v2beta1") {
		return readMPIJobV2(u)
	}
	r, o := open[mpiV1Spec]("MPIJob", u)
	if o == nil {
		return r.finish(nil)
	}
	j := mpi(r, u, o.APIVersion, &o.Metadata, &o.Spec.mpiShared, mpiRoles, trainingOperator)
	if w := j.Role("Worker"); w != nil {
		w.Container = o.Spec.MainContainer // the one that the launcher's kubexec.sh enters
	}
	trainingMarks(j, "mpijob-controller")
	if l := j.Role("Launcher"); l != nil {
		injectInit(&l.Pod, kubectlDelivery(), r.anchor(l.Path.Child("template")))
	}
	return mpiFinish(r, j, &o.Spec.mpiShared)
}

func readMPIJobV2(u *unstructured.Unstructured) (*job.Job, error) {
	r, o := open[mpiV2Spec]("MPIJob", u)
	if o == nil {
		return r.finish(nil)
	}
	j := mpi(r, u, o.APIVersion, &o.Metadata, &o.Spec.mpiShared, mpiRolesV2, mpiOperator)
	mpiMarks(j, o.Spec.RunLauncherAsWorker != nil && *o.Spec.RunLauncherAsWorker)
	return mpiFinish(r, j, &o.Spec.mpiShared)
}

func mpi(r *reader, u *unstructured.Unstructured, version string, meta *metav1.ObjectMeta, s *mpiShared, roles replicaMap, operator string) *job.Job {
	j := r.start(u, version, meta)
	s.RunPolicy.apply(r, j, operator)
	j.Roles = roles.read(r, s.ReplicaSpecs)
	if w := j.Role("Worker"); w != nil && !r.has(w.Path.Child("replicas")) {
		r.skip(w.Path, job.WorkerReplicasMissing)
	}
	return j
}

func mpiFinish(r *reader, j *job.Job, s *mpiShared) (*job.Job, error) {
	for i := range j.Roles {
		settle(&j.Roles[i])
	}
	// Slots are what mpirun may start on one worker, whatever the worker itself runs.
	if w := j.Role("Worker"); w != nil && s.SlotsPerWorker != nil {
		w.Launch.ProcsPath = "spec.slotsPerWorker"
		w.Launch.ProcsPerNode = job.Exactly(r.count("spec.slotsPerWorker", s.SlotsPerWorker, 1))
	}
	gang(r, j)
	return r.finish(j)
}

// kubectlDelivery is the init container by which the launcher of v1 gets kubectl
// (training-operator v1.9.3 pkg/controller.v1/mpi/mpijob_controller.go, newLauncher; the
// image can be changed by a flag of the operator).
func kubectlDelivery() corev1.Container {
	amounts := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("100m"),
		corev1.ResourceMemory:           resource.MustParse("512Mi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("5Gi"),
	}
	return corev1.Container{
		Name: "kubectl-delivery", Image: "ghcr.io/kubeflow/training-v1/kubectl-delivery:latest",
		ImagePullPolicy: corev1.PullIfNotPresent,
		Resources:       corev1.ResourceRequirements{Requests: amounts, Limits: amounts},
	}
}
