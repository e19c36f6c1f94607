package kinds

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

const (
	jobRoleLabel    = "training.kubeflow.org/job-role"
	legacyJobName   = "job-name"
	legacyJobUID    = "controller-uid"
	kubeflowPrefix  = "training.kubeflow.org/"
	batchPrefix     = "batch.kubernetes.io/"
	jobSetPrefix    = "jobset.sigs.k8s.io/"
	mpiOperatorName = "mpi-operator"
)

// trainingMarks are the labels of training-operator: name and kind of the job, role and
// index of the pod, and which of them is the master
// (training-operator v1.9.3 pkg/controller.v1/common/pod.go, createNewPod; newLauncher and
// newWorker of pkg/controller.v1/mpi/mpijob_controller.go).
func trainingMarks(j *job.Job, controller string) {
	leader := slices.ContainsFunc(j.Roles, func(r job.Role) bool { return leads(r.Name) })
	for r := range j.EachRole() {
		m := job.Marks{
			Labels: map[string]string{
				operatorNameLabel: controller, jobNameLabel: j.Ref.Name, replicaTypeLabel: strings.ToLower(r.Name),
			},
			Whole: []string{kubeflowPrefix},
		}
		if r.Name != "Launcher" { // that of MPI has no index
			m.Varies = []string{replicaIndexLabel}
		}
		switch {
		case leads(r.Name):
			m.Labels[jobRoleLabel] = "master"
		case !leader && r.Name == "Worker":
			m.Some = []string{jobRoleLabel} // the first of them is
		}
		r.Pod.Marks = m
	}
}

func leads(role string) bool { return role == "Master" || role == "Chief" || role == "Launcher" }

// mpiMarks are the labels of mpi-operator, whose launcher is a Job
// (mpi-operator v0.8.0 pkg/controller/mpi_job_controller.go, defaultLabels, newWorker and
// newLauncherPodTemplate).
func mpiMarks(j *job.Job, launcherWorks bool) {
	for r := range j.EachRole() {
		m := job.Marks{
			Labels: map[string]string{
				operatorNameLabel: mpiOperatorName, jobNameLabel: j.Ref.Name, jobRoleLabel: strings.ToLower(r.Name),
			},
			Whole: []string{kubeflowPrefix},
		}
		switch {
		case r.Name == "Worker":
			m.Varies = []string{replicaIndexLabel}
		case launcherWorks:
			m.Labels[replicaIndexLabel] = "0"
		}
		if r.Name == "Launcher" {
			ofJob(&m, j.Ref.Name+"-launcher", 1, false)
		}
		r.Pod.Marks = m
	}
}

// jobSetMarks are the labels of JobSet and of the Jobs that it makes. How many Jobs there
// are is left open: they may be told to be fewer
// (sigs.k8s.io/jobset v0.12.0 pkg/controllers/jobset_controller.go, labelAndAnnotateObject).
func jobSetMarks(role *job.Role, jobSet, replicated string, spec *batchv1.JobSpec) {
	m := jobSetKeys[spec.CompletionMode == nil || *spec.CompletionMode == batchv1.IndexedCompletion]
	m.Labels = map[string]string{jobSetName: jobSet, replicatedJobName: replicated}
	role.Pod.Marks = m
}

// jobSetKeys are the labels that are the same for all roles of all JobSets, by whether the pods have an index. What is
// added to one is a copy.
var jobSetKeys = map[bool]job.Marks{true: keysOfJobSet(true), false: keysOfJobSet(false)}

func keysOfJobSet(indexed bool) job.Marks {
	m := job.Marks{
		Whole: []string{jobSetPrefix},
		Some:  []string{jobSetPriority, jobSetPrefix + "coordinator", jobSetPrefix + "job-restart-attempt"},
		Varies: []string{
			jobSetPrefix + "jobset-uid", jobSetPrefix + "restart-attempt", jobSetPrefix + "replicatedjob-replicas",
			jobSetPrefix + "global-replicas", jobSetPrefix + "job-index", jobSetJobKey,
			jobSetPrefix + "job-global-index", jobSetPrefix + "group-name", jobSetPrefix + "group-replicas",
			jobSetPrefix + "job-group-index",
		},
	}
	ofJob(&m, "", 0, indexed)
	m.Whole, m.Some, m.Varies = slices.Clip(m.Whole), slices.Clip(m.Some), slices.Clip(m.Varies)
	return m
}

// ofJob adds the labels that the API server and the Job controller write; jobs other than
// one have names of their own
// (k8s.io/kubernetes v1.37 pkg/registry/batch/job/strategy.go, generateSelector, and
// pkg/controller/job/indexed_job_utils.go, addCompletionIndexLabel).
func ofJob(m *job.Marks, name string, jobs int, indexed bool) {
	m.Varies = append(slices.Grow(m.Varies, 5), batchv1.ControllerUidLabel, legacyJobUID)
	if jobs == 1 {
		m.Labels[batchv1.JobNameLabel], m.Labels[legacyJobName] = name, name
	} else {
		m.Varies = append(m.Varies, batchv1.JobNameLabel, legacyJobName)
	}
	if indexed {
		m.Varies = append(m.Varies, completionIndex)
	}
	m.Whole = append(m.Whole, batchPrefix, legacyJobName, legacyJobUID)
}

// batchMarks are the labels of a Job that no other object owns.
func batchMarks(role *job.Role, name string, spec *batchv1.JobSpec) {
	m := job.Marks{Labels: map[string]string{}}
	if spec.ManualSelector != nil && *spec.ManualSelector {
		role.Pod.Marks = m // then the template has the labels
		return
	}
	ofJob(&m, name, 1, spec.CompletionMode != nil && *spec.CompletionMode == batchv1.IndexedCompletion)
	role.Pod.Marks = m
}

// frameworkMarks are the labels of FrameworkController (frameworkcontroller d6e70787
// pkg/apis/frameworkcontroller/v1/funcs.go, NewPod).
func frameworkMarks(role *job.Role, name string) {
	role.Pod.Marks = job.Marks{
		Labels: map[string]string{frameworkName: name, taskRoleName: role.Name}, Varies: []string{taskIndex},
	}
}

// unnamed leaves open what has the name of a job that the API server is yet to name.
func unnamed(j *job.Job) {
	if j.Source == nil || j.Source.GetName() != "" {
		return
	}
	for i := range j.Roles {
		m := &j.Roles[i].Pod.Marks
		for _, key := range []string{jobNameLabel, jobSetName, batchv1.JobNameLabel, legacyJobName, frameworkName} {
			if _, ok := m.Labels[key]; ok {
				delete(m.Labels, key)
				m.Varies = append(m.Varies, key)
			}
		}
	}
}

// operatorLabels begin the labels that an operator alone writes, on pods of the jobs of some groups.
var operatorLabels = []struct {
	prefix string
	groups []string
}{
	{jobSetPrefix, []string{"jobset.x-k8s.io", "trainer.kubeflow.org"}},
	{lwsPrefix, []string{"leaderworkerset.x-k8s.io"}},
	{rayPrefix, []string{"ray.io"}},
}

// foreign says that pods do not get the labels of operators that have nothing to do with their job. What has an owner may be
// part of something larger.
func foreign(j *job.Job) {
	if j.Source == nil || len(j.Source.GetOwnerReferences()) > 0 {
		return
	}
	group := j.Source.GroupVersionKind().Group
	others := make([]string, 0, len(operatorLabels))
	for _, o := range operatorLabels {
		if !slices.Contains(o.groups, group) {
			others = append(others, o.prefix)
		}
	}
	for i := range j.Roles {
		m := &j.Roles[i].Pod.Marks
		m.Whole = slices.Concat(m.Whole, others)
	}
}
