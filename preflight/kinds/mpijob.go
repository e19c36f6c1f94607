package kinds

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
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
	Runs: Told{
		English: "The launcher runs mpirun, which starts the ranks on the workers over ssh (or kubexec); the workers only wait. The output of all ranks stands in the launcher's log, and the job ends as the launcher does. When one rank fails, mpirun kills the others: signals 9 and 15 on them are consequences.",
		Chinese: "launcher 运行 mpirun，通过 ssh（或 kubexec）在 worker 上启动各个 rank，worker 自身只是等待。所有 rank 的输出都在 launcher 的日志里，任务的结果由 launcher 决定。某个 rank 失败后 mpirun 会杀死其他 rank，它们收到的信号 9 和 15 是结果。",
	},
	Read:      readMPIJob,
	Pods:      kubeflowPods("mpijob-controller", "mpi-operator"),
	Between:   []schema.GroupVersionKind{batchJobs}, // the launcher's, in v2beta1
	Place:     mpiRoles.place,
	State:     kubeflowState,
	Completed: kubeflowCompleted,
	Operator: withLauncher(underRunPolicy(trainingOperator, Operator{
		CleanPods: []job.Path{"spec.cleanPodPolicy"},
		// v1 makes no services: only the label with the job's own name binds it.
		LongestName: func(_ *job.Job, _ *job.Role, name string) (string, string) { return name, "label with the job's name" },
		Env:         mpiEnv, EnvValues: mpiHostfile, Mounts: mpiMounts,
	})),
	Versions: map[string]*Operator{"v2beta1": new(withLauncher(underRunPolicy(mpiOperator, Operator{
		Names:           dnsLabel1035, // of the workers' hosts, which begin with it (validateMPIJobName)
		CleanOrNothing:  true,         // validateRunPolicy
		LongestName:     mpiV2LongestName,
		RestartPolicies: []string{"OnFailure", "Never"}, // mpi-operator v0.7.0 pkg/apis/kubeflow/validation
		Choices: []Choice{
			{At: "spec.mpiImplementation", Words: []string{"OpenMPI", "Intel", "MPICH"}},
			{At: "spec.launcherCreationPolicy", Words: []string{"AtStartup", "WaitForWorkersReady"}},
		},
		NeedsWorkers: true,
		SSHD:         SSHD{Role: "Worker", Keys: "spec.sshAuthMountPath"}, // pkg/controller/mpi_job_controller.go, newWorker, setupSSHOnPod
		Env:          mpiV2Env, EnvValues: mpiHostfile, Mounts: mpiV2Mounts,
	})))},
}

// withLauncher is what both operators do with a launcher.
func withLauncher(o Operator) Operator {
	o.Parts, o.HidesGPUs = map[string]Part{"Launcher": Launcher, "Worker": Worker}, true
	o.Launcher = "Remove the GPUs from the launcher, or let it work: runLauncherAsWorker in v2beta1."
	o.ZeroPods = true // mpi-worker-count
	o.Collective, o.NCCL = true, true
	return o
}

// mpiV2LongestName: the launcher is a Job, the workers have names in a service.
func mpiV2LongestName(_ *job.Job, r *job.Role, name string) (child, what string) {
	if strings.EqualFold(r.Name, "launcher") {
		return name + "-launcher", "launcher"
	}
	return name + "-worker-" + strconv.Itoa(r.Replicas.Max-1), "last worker"
}

// mpiEnv is what training-operator appends to the first container of the launcher
// (v1.9.3 pkg/controller.v1/mpi/mpijob_controller.go, newLauncher).
func mpiEnv(_ *job.Job, r *job.Role, container int) []string {
	if container != 0 || r.Name != "Launcher" {
		return nil
	}
	return []string{"OMPI_MCA_plm_rsh_agent", "OMPI_MCA_orte_default_hostfile"}
}

// mpiHostfile is what both operators say where it is the same for all jobs (mpi-operator v0.7 pkg/controller/mpi_job_controller.go).
var mpiHostfile = map[string]string{
	"OMPI_MCA_orte_default_hostfile": "/etc/mpi/hostfile", "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
	"I_MPI_HYDRA_HOST_FILE": "/etc/mpi/hostfile", "HYDRA_HOST_FILE": "/etc/mpi/hostfile",
}

// mpiV2Env is what mpi-operator appends there
// (github.com/kubeflow/mpi-operator v0.7 pkg/controller/mpi_job_controller.go, ompiEnvVars).
func mpiV2Env(j *job.Job, r *job.Role, container int) []string {
	if container != 0 || r.Name != "Launcher" {
		return nil
	}
	switch textIn(j, "spec.mpiImplementation") {
	case "", "OpenMPI":
		return []string{"OMPI_MCA_orte_keep_fqdn_hostnames", "OMPI_MCA_orte_default_hostfile", "OMPI_MCA_plm_rsh_args", "OMPI_MCA_orte_set_default_slots"}
	case "Intel":
		return []string{"I_MPI_HYDRA_HOST_FILE", "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS", "I_MPI_PERHOST"}
	case "MPICH":
		return []string{"HYDRA_HOST_FILE", "HYDRA_LAUNCH_EXTRA_ARGS"}
	}
	return nil
}

// mpiMounts: v1.9.3 pkg/controller.v1/mpi/mpijob_controller.go, newWorker and newLauncher.
func mpiMounts(_ *job.Job, role string) (volumes, places []string) {
	volumes, places = []string{"mpi-job-config"}, []string{"/etc/mpi"}
	if role == "Launcher" {
		volumes, places = append(volumes, "mpi-job-kubectl"), append(places, "/opt/kube")
	}
	return volumes, places
}

// mpiV2Mounts: v0.7 pkg/controller/mpi_job_controller.go, setupSSHOnPod and newLauncherPodTemplate.
func mpiV2Mounts(j *job.Job, role string) (volumes, places []string) {
	volumes, places = []string{"ssh-auth"}, []string{cleanPath(textIn(j, "spec.sshAuthMountPath"), "/root/.ssh")}
	if role == "Launcher" {
		volumes, places = append(volumes, "mpi-job-config"), append(places, "/etc/mpi")
	}
	return volumes, places
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

func readMPIJob(u *unstructured.Unstructured, got Got) (*job.Job, error) {
	if u != nil && strings.HasSuffix(u.GetAPIVersion(), "/v2beta1") {
		return reading("MPIJob", readMPIJobV2)(u, got)
	}
	return reading("MPIJob", readMPIJobV1)(u, got)
}

func readMPIJobV1(r *reader, j *job.Job, o *object[mpiV1Spec]) {
	o.Spec.roles(r, j, mpiRoles, trainingOperator)
	if w := j.Role("Worker"); w != nil {
		w.Container = o.Spec.MainContainer // the one that the launcher's kubexec.sh enters
	}
	trainingMarks(j, "mpijob-controller")
	if l := j.Role("Launcher"); l != nil {
		injectInit(&l.Pod, kubectlDelivery(), r.anchor(l.Path.Child("template")))
	}
	o.Spec.launch(r, j)
	if l := j.Role("Launcher"); l != nil && l.Pod.GPUs().N == 0 { // one that asks for GPUs is a host itself
		mpiSlots(j, &o.Spec.mpiShared, 0)
	}
}

func readMPIJobV2(r *reader, j *job.Job, o *object[mpiV2Spec]) {
	o.Spec.roles(r, j, mpiRolesV2, mpiOperator)
	works := o.Spec.RunLauncherAsWorker != nil && *o.Spec.RunLauncherAsWorker
	mpiMarks(j, works)
	if l := j.Role("Launcher"); l != nil {
		l.Jobs = 1 // v0.7 pkg/controller/mpi_job_controller.go, newLauncherJob
	}
	o.Spec.launch(r, j)
	if o.Spec.MPIImplementation == "" || o.Spec.MPIImplementation == "OpenMPI" {
		launchers := 0
		if works {
			launchers = 1
		}
		mpiSlots(j, &o.Spec.mpiShared, launchers)
	}
}

// mpiSlots is the list of hosts that the operator writes for Open MPI: its workers, and the launcher where that
// is told to train.
func mpiSlots(j *job.Job, s *mpiShared, launchers int) {
	l, w := j.Role("Launcher"), j.Role("Worker")
	if l != nil && w != nil && w.Replicas.Max > 0 {
		l.Launch.Slots = job.Slots{Hosts: w.Replicas.Max + launchers, Each: positive(s.SlotsPerWorker, 1)}
	}
}

func (s *mpiShared) roles(r *reader, j *job.Job, roles replicaMap, operator string) {
	s.RunPolicy.apply(r, j, operator)
	j.Roles = roles.read(r, s.ReplicaSpecs)
	if w := j.Role("Worker"); w != nil && !r.has(w.Path.Child("replicas")) {
		r.skip(w.Path, job.WorkerReplicasMissing)
	}
}

func (s *mpiShared) launch(r *reader, j *job.Job) {
	settleAll(j)
	// Slots are what mpirun may start on one worker, whatever the worker itself runs.
	if w := j.Role("Worker"); w != nil && s.SlotsPerWorker != nil {
		w.Launch.ProcsPath = "spec.slotsPerWorker"
		w.Launch.ProcsPerNode = job.Exactly(r.count("spec.slotsPerWorker", s.SlotsPerWorker, 1))
	}
	gang(r, j)
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
