package queueing

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var gangSchedulingUnused = &check.Check{
	Name:     "gang-scheduling-unused",
	Title:    "pods with GPUs start one by one, although the cluster offers queues",
	Remedy:   "Name a queue: label kueue.x-k8s.io/queue-name, or schedulerName volcano.",
	Severity: finding.Warning, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.Kueue },
	Needs: check.Objects,
	Run: func(p *check.Pass) {
		pods, gpus, at := gangOfGPUs(p.Job)
		g := p.Job.Gang
		if pods < 2 || g.Queue != "" || g.Scheduler != "" || g.MinMembers > 0 || p.Job.Suspended || marked(p.Job) || grouped(p) {
			return
		}
		if offer := offered(p); offer != "" {
			p.Reportf(at, "%s with %s start one by one: the job names no queue and no gang scheduler, while %s", facts.Count(pods, "pod"), facts.Count(gpus, "GPU"), offer)
		}
	},
}

// gangOfGPUs is how many pods with GPUs train together, and where their number is written.
// The pods of a Job without indices are on their own.
func gangOfGPUs(j *job.Job) (pods int, gpus int64, at job.Path) {
	operator := kinds.Of(j.Ref)
	for r := range j.EachRole() {
		if spec, ok := operator.JobSpec(r); ok && !operator.Jobs.Indexed && facts.TextAt(j, spec.Child("completionMode")) != "Indexed" {
			continue
		}
		if n := r.Pod.GPUs().N; n > 0 && r.Replicas.Max > 0 {
			pods, gpus, at = pods+r.Replicas.Max, gpus+n*int64(r.Replicas.Max), r.ReplicasPath
		}
	}
	return pods, gpus, at
}

// marked says whether any pod bears a mark of a gang.
func marked(j *job.Job) bool {
	return slices.ContainsFunc(j.Roles, func(r job.Role) bool {
		return r.Pod.Partial || r.Pod.Labels[facts.PluginsGroup] != "" || r.Pod.Annotations[facts.VolcanoGroup] != "" || r.Pod.Spec.SchedulingGroup != nil
	})
}

// grouped says whether the runtime of a TrainJob makes a gang of its pods, or may.
func grouped(p *check.Pass) bool {
	if p.Job.Field("spec.runtimeRef") == nil {
		return false
	}
	gvk, namespace, name := facts.RuntimeOf(p.Job)
	runtime, there := p.Cluster.Lookup(gvk, namespace, name)
	if there != job.Present {
		return true
	}
	policy, _, _ := unstructured.NestedFieldNoCopy(runtime.Object, "spec", "podGroupPolicy")
	return policy != nil
}

// offered is the queue system that the job could use; empty: none was seen, or the job gets
// a queue without asking.
func offered(p *check.Pass) string {
	queues, _ := p.Cluster.Objects(schema.GroupKind{Group: "kueue.x-k8s.io", Kind: "LocalQueue"}, p.Job.Ref.Namespace)
	if slices.ContainsFunc(queues, func(q *unstructured.Unstructured) bool { return q.GetName() == "default" }) {
		return "" // Kueue fills it in (v0.15 pkg/controller/jobframework/defaults.go)
	}
	if len(queues) > 0 {
		return "namespace " + p.Job.Ref.Namespace + " has " + facts.Count(len(queues), "queue") + " of Kueue"
	}
	if volcano, _ := p.Cluster.Objects(schema.GroupKind{Group: "scheduling.volcano.sh", Kind: "Queue"}, ""); len(volcano) > 0 && p.Operator.PodGroups != kinds.PodGroupsByFlag {
		return "the cluster has " + facts.Count(len(volcano), "queue") + " of Volcano" // operators of the others may be set to use it
	}
	return ""
}
