package checks

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// eachVariable visits the variables of all containers of all roles; at is where one is written.
func eachVariable(j *job.Job, visit func(r *job.Role, c *corev1.Container, e *corev1.EnvVar, at job.Path)) {
	eachContainer(j, func(r *job.Role, c *corev1.Container, rel job.Path) {
		for n := range c.Env {
			visit(r, c, &c.Env[n], r.Pod.At(rel.Child("env").Index(n)))
		}
	})
}

// variable is the last variable of that name, which is the one that counts, and its
// position; nil where the container writes none.
func variable(c *corev1.Container, name string) (*corev1.EnvVar, int) {
	for i := len(c.Env) - 1; i >= 0; i-- {
		if c.Env[i].Name == name {
			return &c.Env[i], i
		}
	}
	return nil, -1
}

// sets says whether the container has one of the variables, or may have it from elsewhere:
// a ConfigMap, a Secret, or its own script.
func sets(c *corev1.Container, names ...string) bool {
	if len(c.EnvFrom) > 0 {
		return true
	}
	return slices.ContainsFunc(names, func(name string) bool {
		e, _ := variable(c, name)
		return e != nil || mentions(c, name)
	})
}

// mentions says whether command or arguments contain the text.
func mentions(c *corev1.Container, text string) bool {
	contains := func(word string) bool { return strings.Contains(word, text) }
	return slices.ContainsFunc(c.Command, contains) || slices.ContainsFunc(c.Args, contains)
}

// setByOperator are the variables that the operator appends to a container of the role,
// after the job's own: of two equal names the last wins.
func setByOperator(j *job.Job, r *job.Role, container int) []string {
	first, trains := container == 0, r.Pod.Spec.Containers[container].Name == r.Container
	switch kind := j.Ref.Kind; {
	case kind == "PyTorchJob":
		return setForPyTorch(j)
	case kind == "TFJob" && trains && j.MaxPods() > 1:
		return []string{"TF_CONFIG"}
	case kind == "XGBoostJob":
		return []string{"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK"}
	case kind == "PaddleJob":
		return []string{"PADDLE_JOB_ID", "PADDLE_NNODES", "PADDLE_MASTER"}
	case kind == "JAXJob":
		return []string{"COORDINATOR_ADDRESS", "COORDINATOR_PORT", "NUM_PROCESSES", "PROCESS_ID"}
	case kind == "MPIJob" && first && r.Name == "Launcher":
		return setForMPI(j)
	}
	return nil
}

// setForPyTorch is what training-operator v1.9.3 appends to all containers of a PyTorchJob
// (pkg/controller.v1/pytorch/{envvar,master,elastic}.go). The other kinds have an envvar.go
// or a SetClusterSpec beside it.
func setForPyTorch(j *job.Job) []string {
	out := []string{"PET_NNODES"}
	if field(j, "spec.elasticPolicy.nProcPerNode") == nil || field(j, "spec.nprocPerNode") != nil {
		out = append(out, "PET_NPROC_PER_NODE")
	}
	if j.Role("Master") != nil {
		out = append(out, "MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT", "PET_NODE_RANK")
	}
	if field(j, "spec.elasticPolicy") != nil {
		out = append(out, "PET_RDZV_ENDPOINT", "PET_RDZV_BACKEND")
	}
	return out
}

// setForMPI is what the operators append to the first container of the launcher:
// training-operator v1.9.3 pkg/controller.v1/mpi/mpijob_controller.go, newLauncher;
// github.com/kubeflow/mpi-operator v0.7 pkg/controller/mpi_job_controller.go, ompiEnvVars.
func setForMPI(j *job.Job) []string {
	if j.Ref.APIVersion == "kubeflow.org/v1" {
		return []string{"OMPI_MCA_plm_rsh_agent", "OMPI_MCA_orte_default_hostfile"}
	}
	switch implementation, _ := text(j, "spec.mpiImplementation"); implementation {
	case "", "OpenMPI":
		return []string{"OMPI_MCA_orte_keep_fqdn_hostnames", "OMPI_MCA_orte_default_hostfile", "OMPI_MCA_plm_rsh_args", "OMPI_MCA_orte_set_default_slots"}
	case "Intel":
		return []string{"I_MPI_HYDRA_HOST_FILE", "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS", "I_MPI_PERHOST"}
	case "MPICH":
		return []string{"HYDRA_HOST_FILE", "HYDRA_LAUNCH_EXTRA_ARGS"}
	}
	return nil
}

// literal is a variable's own value; ok is false where it comes from elsewhere or is a
// placeholder that somebody else fills.
func literal(e *corev1.EnvVar) (value string, ok bool) {
	_, _, templated := job.Placeholder(e.Value)
	return e.Value, e.ValueFrom == nil && !templated
}

// wholeNumber is a literal value that is a number, 0 or more.
func wholeNumber(e *corev1.EnvVar) (int64, bool) {
	value, ok := literal(e)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 32)
	return n, err == nil && n >= 0
}
