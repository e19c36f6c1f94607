package operators

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Source: ray-operator v1.5.1 controllers/ray/utils/validation.go, ValidateRayJobSpec and ValidateRayClusterSpec
// (https://github.com/ray-project/kuberay/blob/v1.5.1/ray-operator/controllers/ray/utils/validation.go). Rules that say one
// and the same of a role, a name or a missing entrypoint are checks of their own. What Kueue refuses of a RayJob in a queue:
// https://github.com/kubernetes-sigs/kueue/blob/v0.19.0/pkg/controller/jobs/rayjob/rayjob_webhook.go, validateCreate.
var rayFieldRefused = &check.Check{
	Name:     "ray-field-refused",
	Title:    "fields contradict each other, and KubeRay makes no pods",
	Remedy:   "Write values that KubeRay takes together.",
	Severity: finding.Error, Refuses: true, Since: "0.2",
	Kinds: []string{"RayCluster.ray.io", "RayJob.ray.io"},
	Run: func(p *check.Pass) {
		if p.Job.Field("spec.headGroupSpec") != nil { // a cluster by itself
			refusedRestarts(p, "spec")
			return
		}
		refusedEnd(p)
		refusedMode(p)
		refusedRestarts(p, "spec.rayClusterSpec")
	},
}

// refusedEnd: what follows the end of a RayJob, and whether it may be suspended before.
func refusedEnd(p *check.Pass) {
	const ttl, suspend = job.Path("spec.ttlSecondsAfterFinished"), job.Path("spec.suspend")
	shutdown, suspended := isTrue(p.Job, "spec.shutdownAfterJobFinishes"), isTrue(p.Job, suspend)
	selects := selectsCluster(p.Job)
	switch n, _ := facts.Number(p.Job, ttl); {
	case n < 0:
		p.Reportf(ttl, "ttlSecondsAfterFinished is %d; KubeRay takes 0 or more", n)
	case n > 0 && !shutdown:
		p.Reportf(ttl, "ttlSecondsAfterFinished is %d, and shutdownAfterJobFinishes is not true: KubeRay takes a time only for a cluster that it shuts down", n)
	}
	switch {
	case suspended && selects:
		p.Reportf(suspend, "the RayJob is suspended and selects a cluster that there is: KubeRay suspends only what it makes itself")
	case suspended && !shutdown:
		p.Reportf(suspend, "the RayJob is suspended, and shutdownAfterJobFinishes is not true: KubeRay suspends only a cluster that it may shut down")
	}
	if queue := p.Job.Source.GetLabels()[gang.QueueLabel]; queue != "" && !selects && !shutdown && p.Job.Field("spec.rayClusterSpec") != nil {
		p.ReportAs(finding.Finding{Path: "spec", Remedy: "Write shutdownAfterJobFinishes: true."}, "the RayJob is in Kueue's queue %s, and shutdownAfterJobFinishes is not true: Kueue takes only a job whose cluster goes when it ends", facts.Quoted(queue))
	}
	if n, written := facts.Number(p.Job, "spec.backoffLimit"); written && n < 0 {
		p.Reportf("spec.backoffLimit", "backoffLimit is %d; KubeRay takes 0 or more", n)
	}
}

// refusedMode: what does not go with the way in which the entrypoint is submitted.
func refusedMode(p *check.Pass) {
	const (
		selector = job.Path("spec.clusterSelector")
		restarts = job.Path("spec.rayClusterSpec.headGroupSpec.template.spec.restartPolicy")
	)
	if namesNoCluster(p.Job) {
		p.Reportf(selector, "clusterSelector names no cluster: KubeRay reads the name from the key ray.io/cluster")
	}
	switch facts.TextAt(p.Job, "spec.submissionMode") {
	case "InteractiveMode":
		if n, _ := facts.Number(p.Job, "spec.backoffLimit"); n > 0 {
			p.Reportf("spec.backoffLimit", "backoffLimit is %d, and submissionMode is InteractiveMode, which is not tried again", n)
		}
	case "SidecarMode":
		for _, at := range []job.Path{selector, "spec.submitterPodTemplate", "spec.submitterConfig"} {
			if p.Job.Field(at) != nil && (at != selector || selectsCluster(p.Job)) {
				p.Reportf(at, "submissionMode is SidecarMode, whose submitter is a container of the head: KubeRay takes no %s with it", facts.LastStep(at))
			}
		}
		if policy := facts.TextAt(p.Job, restarts); policy != "" && policy != "Never" {
			p.Reportf(restarts, "restartPolicy of the head is %s; with SidecarMode it is Never, or not written", policy)
		}
	}
}

// refusedRestarts: the second autoscaler replaces pods by itself.
func refusedRestarts(p *check.Pass, cluster job.Path) {
	if !isTrue(p.Job, cluster.Child("enableInTreeAutoscaling")) || facts.TextAt(p.Job, cluster.Child("autoscalerOptions", "version")) != "v2" {
		return
	}
	paths := []job.Path{cluster.Child("headGroupSpec")}
	for group := range p.Job.Elements(cluster.Child("workerGroupSpecs")) {
		paths = append(paths, group)
	}
	for _, group := range paths {
		at := group.Child("template", "spec", "restartPolicy")
		if policy := facts.TextAt(p.Job, at); policy != "" && policy != "Never" {
			p.Reportf(at, "restartPolicy is %s; with the autoscaler v2, which replaces pods itself, it is Never, or not written", policy)
		}
	}
}

func isTrue(j *job.Job, at job.Path) bool {
	yes, _ := j.Field(at).(bool)
	return yes
}

// selectsCluster says whether the RayJob runs on a cluster that there is.
func selectsCluster(j *job.Job) bool {
	selector, _ := j.Field("spec.clusterSelector").(map[string]any)
	return len(selector) > 0
}

// namesNoCluster: a selector is a map of texts; one with other values is unreadable-field.
func namesNoCluster(j *job.Job) bool {
	selector, _ := j.Field("spec.clusterSelector").(map[string]any)
	for key, value := range selector {
		if text, ok := value.(string); !ok || key == "ray.io/cluster" && text != "" {
			return false
		}
	}
	return len(selector) > 0
}
