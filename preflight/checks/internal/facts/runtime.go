package facts

import (
	"cmp"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// RuntimeOf is the runtime that a TrainJob names; namespace is empty for cluster-wide ones.
// An omitted kind is ClusterTrainingRuntime (trainer v2.1.0 pkg/apis/trainer/v1alpha1/trainjob_types.go).
func RuntimeOf(j *job.Job) (gvk schema.GroupVersionKind, namespace, name string) {
	name, _ = Text(j, "spec.runtimeRef.name")
	kind, _ := Text(j, "spec.runtimeRef.kind")
	kind = cmp.Or(kind, "ClusterTrainingRuntime")
	if kind == "TrainingRuntime" {
		namespace = j.Ref.Namespace
	}
	return schema.GroupVersionKind{Group: "trainer.kubeflow.org", Version: "v1alpha1", Kind: kind}, namespace, name
}

// Runtime is that runtime, with its fields as those of a job, and its name; nil where the view does not hold it.
func Runtime(p *check.Pass) (runtime *job.Job, name string) {
	gvk, namespace, name := RuntimeOf(p.Job)
	held, there := p.Cluster.Lookup(gvk, namespace, name)
	if there != job.Present || held == nil {
		return nil, name
	}
	return &job.Job{Source: held}, name
}
