package kinds

import (
	"cmp"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Marks by which queues and gang schedulers know a job. Sources: Kueue v0.15
// pkg/controller/constants; volcano.sh/apis v1.13 pkg/apis/scheduling/v1beta1/labels.go;
// KAI scheduler's documents (kai.scheduler/queue, before that runai/queue); the manual of T9k (src/tasks/use-queue.md).
const (
	kueueQueue       = "kueue.x-k8s.io/queue-name"
	kueuePriority    = "kueue.x-k8s.io/priority-class"
	volcanoQueue     = "scheduling.volcano.sh/queue-name"
	volcanoQueueOld  = "volcano.sh/queue-name"
	volcanoMinMember = "scheduling.volcano.sh/group-min-member"
	kaiQueue         = "kai.scheduler/queue"
	runaiQueue       = "runai/queue"
	// Where Volcano makes the PodGroup of other kinds (volcano.sh/apis pkg/apis/topology/v1alpha1/labels.go).
	volcanoTopology    = "volcano.sh/network-topology-mode"
	volcanoHighestTier = "volcano.sh/network-topology-highest-tier"
	t9kQueueLabel      = "scheduler.tensorstack.dev/queue"
)

// gang fills what the kind's own fields leave open from the marks on the job and on its
// pods. The kind's own fields come first.
func gang(r *reader, j *job.Job) {
	marked := marks(j.Source)
	g := &j.Gang
	g.Queue = cmp.Or(g.Queue, marked(kueueQueue), marked(volcanoQueue), marked(volcanoQueueOld), marked(kaiQueue), marked(runaiQueue))
	g.PriorityClass = cmp.Or(g.PriorityClass, marked(kueuePriority))
	if g.Path == "" {
		minMember(r, j)
	}
	for i := range j.Roles {
		p := &j.Roles[i].Pod
		g.Scheduler = cmp.Or(g.Scheduler, p.Spec.SchedulerName)
		g.PriorityClass = cmp.Or(g.PriorityClass, p.Spec.PriorityClassName)
		for _, key := range []string{kueueQueue, volcanoQueue, volcanoQueueOld, kaiQueue, runaiQueue} {
			g.Queue = cmp.Or(g.Queue, p.Labels[key], p.Annotations[key])
		}
		if p.Spec.SchedulerName == t9kScheduler { // no other scheduler reads the label
			g.Queue = cmp.Or(g.Queue, p.Labels[t9kQueueLabel])
		}
	}
	if g.Scheduler == corev1.DefaultSchedulerName {
		g.Scheduler = ""
	}
	if g.Scheduler == volcanoScheduler && g.Together == "" {
		at := func(p *job.Pod, key string) string { return cmp.Or(marked(key), p.Annotations[key]) }
		for i := range j.Roles {
			if p := &j.Roles[i].Pod; at(p, volcanoTopology) == "hard" {
				g.Together = "all pods lie in " + hyperNode(at(p, volcanoHighestTier))
			}
		}
	}
}

// minMember reads how many pods a PodGroup made by Volcano waits for.
func minMember(r *reader, j *job.Job) {
	text, ok := j.Source.GetAnnotations()[volcanoMinMember]
	if !ok {
		return
	}
	at := job.Path("metadata.annotations").Key(volcanoMinMember)
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		r.wrong(at, text, "a number of pods, 0 or more, in quotes")
		return
	}
	j.Gang.MinMembers, j.Gang.Path = int(n), at
}

// marks finds a label or annotation of the job itself.
func marks(u *unstructured.Unstructured) func(key string) string {
	labels, annotations := u.GetLabels(), u.GetAnnotations()
	return func(key string) string { return cmp.Or(labels[key], annotations[key]) }
}
