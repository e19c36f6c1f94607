package gang

import (
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// QueueSystem is what keeps a queue.
type QueueSystem string

// The systems whose queues are known; the zero value is a queue of no system that is known.
const (
	Kueue   QueueSystem = "Kueue"
	Volcano QueueSystem = "Volcano"
	T9k     QueueSystem = "T9k"
	KAI     QueueSystem = "KAI"
)

// QueueLabel names a queue of Kueue, on jobs of its kinds and on pods; an annotation of that name is not read any more
// (https://github.com/kubernetes-sigs/kueue/blob/main/CHANGELOG/CHANGELOG-0.15.md).
const QueueLabel = "kueue.x-k8s.io/queue-name"

// QueuePriorityLabel names a WorkloadPriorityClass, on jobs
// (https://kueue.sigs.k8s.io/docs/concepts/workload_priority_class/).
const QueuePriorityLabel = "kueue.x-k8s.io/priority-class"

// prebuiltMark names the Workload of a job that Kueue is not to make, in a label or an annotation
// (https://github.com/kubernetes-sigs/kueue/blob/v0.19.0/pkg/controller/jobframework/utils.go, PrebuiltWorkloadNameFor).
const prebuiltMark = "kueue.x-k8s.io/prebuilt-workload-name"

// queued is how many pods of a role Kueue counts where fewer are enough: as many as are written, of all kinds but the batch Job,
// which says itself with how many it is let in
// (https://github.com/kubernetes-sigs/kueue/blob/v0.19.0/pkg/controller/jobs/kubeflow/kubeflowjob/kubeflowjob_controller.go,
// podsCount). 0: that is not written, or no other than what the job needs.
func queued(j *job.Job, r *job.Role) int {
	if r.Replicas.Min >= r.Replicas.Max && r.Replicas.Max >= 0 || j.Source == nil || j.Source.GroupVersionKind().Group == "batch" {
		return 0
	}
	n, written := j.Field(r.ReplicasPath).(int64)
	if !written || n < 0 || n > int64(r.Replicas.Max) {
		return 0
	}
	return min(int(n)*max(1, r.PodsEach), r.Replicas.Max)
}

// AsQueued is the gang as Kueue counts it.
func (g Gang) AsQueued() Gang {
	g.Groups = slices.Clone(g.Groups)
	for i := range g.Groups {
		if group := &g.Groups[i]; group.Written > group.Least() {
			group.Min = min(group.Written, group.Count)
		}
	}
	return g
}

// Marks by which queue systems know a job. Sources: Kueue v0.15 pkg/controller/constants;
// volcano.sh/apis v1.13 pkg/apis/scheduling/v1beta1/labels.go; KAI's documents; the
// T9k manual (https://github.com/t9k/user-manuals, src/modules/jobs).
var queueMarks = []struct {
	key    string
	system QueueSystem
}{
	{QueueLabel, Kueue},
	{"scheduling.volcano.sh/queue-name", Volcano},
	{"volcano.sh/queue-name", Volcano},
	{"scheduler.tensorstack.dev/queue", T9k},
	{"kai.scheduler/queue", KAI},
	{"runai/queue", KAI},
}

// volcanoJob is the group of Volcano's own kinds of jobs: whatever scheduler one names, Volcano's webhook refuses it
// where its queue is not open (https://github.com/volcano-sh/volcano/blob/v1.13.0/pkg/webhooks/admission/jobs/validate/admit_job.go).
const volcanoJob = "batch.volcano.sh"

// Fields of the kinds themselves that name a queue.
var queueFields = []struct {
	path   job.Path
	system QueueSystem
}{
	{t9kPolicy + ".queue", T9k},
	{"spec.runPolicy.schedulingPolicy.queue", Volcano},
}

// t9kPolicy asks for the scheduler of T9k; where it names no queue, the scheduler does.
const t9kPolicy = job.Path("spec.scheduler.t9kScheduler")

// QueueOf finds what keeps the queue of a job, and where the job names it.
func QueueOf(j *job.Job) (QueueSystem, job.Path) {
	if j.Gang.Queue == "" || j.Source == nil {
		return "", ""
	}
	if j.Source.GroupVersionKind().Group == volcanoJob {
		return Volcano, "spec.queue"
	}
	for _, f := range queueFields {
		if v, err := f.path.Resolve(j.Source.Object); err == nil && v == j.Gang.Queue {
			return f.system, f.path
		}
	}
	if named, err := t9kPolicy.Resolve(j.Source.Object); err == nil && named != nil {
		return T9k, t9kPolicy
	}
	for _, m := range queueMarks {
		if j.Source.GetLabels()[m.key] == j.Gang.Queue {
			return m.system, job.Path("metadata.labels").Key(m.key)
		}
		if j.Source.GetAnnotations()[m.key] == j.Gang.Queue {
			return m.system, job.Path("metadata.annotations").Key(m.key)
		}
	}
	for i := range j.Roles {
		p := &j.Roles[i].Pod
		for _, m := range queueMarks {
			if p.Labels[m.key] == j.Gang.Queue || p.Annotations[m.key] == j.Gang.Queue {
				return m.system, j.Roles[i].Path
			}
		}
	}
	return "", ""
}
