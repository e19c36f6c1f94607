package kinds

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

var rayJob = &Kind{
	Name:     "RayJob",
	Resource: "rayjobs",
	GVKs:     rayVersions("RayJob"),
	Doc: "The head and the worker groups of the cluster that a RayJob makes, as of a RayCluster, and the submitter: the pod " +
		"of the Job by which KubeRay v1.5 submits the entrypoint (K8sJobMode, the default). It is a container of the head " +
		"in SidecarMode, and there is none in HTTPMode and InteractiveMode. A RayJob that selects a cluster has no pods " +
		"but the submitter. Success is that of the Ray job; the cluster stays unless it is told to shut down.",
	Runs: Told{
		English: "The submitter sends the entrypoint to the head of the cluster, where the driver runs and starts tasks and actors on the workers. The driver's log says why the Ray job failed; what a worker or an actor says of a lost peer is a consequence. backoffLimit makes a new cluster for each try.",
		Chinese: "submitter 把入口命令提交给集群的 head，驱动程序在那里运行，并在 worker 上启动任务和 actor。Ray 作业失败的原因看驱动程序的日志；worker 或 actor 报告的对端丢失是结果。设置 backoffLimit 时每次重试都新建集群。",
	},
	Read:     reading("RayJob", readRayJob),
	Pods:     func(ref job.Ref) labels.Selector { return selector(requirement(batchJobName, ref.Name)) },
	AlsoPods: rayJobCluster,
	Between:  []schema.GroupVersionKind{rayCluster.GVKs[0], batchJobs},
	NamedAt:  rayClusterAt,
	Traces: func(ref job.Ref) labels.Selector {
		return selector(requirement(rayOriginName, ref.Name), requirement(rayOriginKind, ref.Kind))
	},
	Place: placeInRayJob,
	State: rayJobState,
	Operator: rayOperator(47, Operator{
		Deadline: "spec.activeDeadlineSeconds", // ttlSecondsAfterFinished, 0 in the CRD, counts with shutdownAfterJobFinishes only
		Choices: []Choice{
			{At: "spec.submissionMode", Words: []string{submittedByJob, "HTTPMode", "InteractiveMode", sidecarMode}},
			{At: "spec.rayClusterSpec.autoscalerOptions.upscalingMode", Words: []string{"Default", "Aggressive", "Conservative"}},
			{At: "spec.rayClusterSpec.autoscalerOptions.version", Words: []string{"v1", "v2"}},
		},
	}),
}

const (
	batchJobName   = "batch.kubernetes.io/job-name"
	raySubmitter   = "submitter"
	rayContainer   = "ray-job-submitter"
	sidecarMode    = "SidecarMode"
	submittedByJob = "K8sJobMode"
	rayStopped     = "STOPPED" // a Ray job that somebody stopped
)

// Source: ray-operator v1.5.1 apis/ray/v1/rayjob_types.go.
type rayJobSpec struct {
	ActiveDeadlineSeconds *int32                  `json:"activeDeadlineSeconds"`
	PreRunningDeadline    *int32                  `json:"preRunningDeadlineSeconds"` // v1.6
	BackoffLimit          *int32                  `json:"backoffLimit"`
	RayClusterSpec        *raySpec                `json:"rayClusterSpec"`
	SubmitterPodTemplate  *corev1.PodTemplateSpec `json:"submitterPodTemplate"`
	Metadata              map[string]string       `json:"metadata"`
	ClusterSelector       map[string]string       `json:"clusterSelector"`
	SubmitterConfig       *struct {
		BackoffLimit *int32 `json:"backoffLimit"`
	} `json:"submitterConfig"`
	ManagedBy                *string `json:"managedBy"`
	DeletionStrategy         any     `json:"deletionStrategy"`
	DeletionPolicy           any     `json:"deletionPolicy"` // v1.3
	Entrypoint               string  `json:"entrypoint"`
	RuntimeEnvYAML           string  `json:"runtimeEnvYAML"`
	JobID                    string  `json:"jobId"`
	SubmissionMode           string  `json:"submissionMode"`
	EntrypointResources      string  `json:"entrypointResources"`
	EntrypointNumCPUs        any     `json:"entrypointNumCpus"`
	EntrypointNumGPUs        any     `json:"entrypointNumGpus"`
	TTLSecondsAfterFinished  *int32  `json:"ttlSecondsAfterFinished"`
	ShutdownAfterJobFinishes *bool   `json:"shutdownAfterJobFinishes"`
	Suspend                  *bool   `json:"suspend"`
}

func readRayJob(r *reader, j *job.Job, o *object[rayJobSpec]) {
	j.Suspended = o.Spec.Suspend != nil && *o.Spec.Suspend
	rayManaged(j, o.Spec.ManagedBy)
	const cluster = job.Path("spec.rayClusterSpec")
	switch {
	case !r.empty("spec.clusterSelector"): // that cluster has its own pods
	case o.Spec.RayClusterSpec != nil:
		j.Roles = o.Spec.RayClusterSpec.roles(r, cluster, rayClusterOf(j.Source))
	default:
		r.lacks(r.anchor(cluster), "missing", "the cluster to make, or clusterSelector with the name of one")
	}
	for i := range j.Roles {
		settle(&j.Roles[i])
		j.Roles[i].Launch = job.Launch{}
	}
	o.Spec.submit(r, j)
	rayGang(r, j)
}

// submit adds the role that hands the entrypoint to the cluster.
func (s *rayJobSpec) submit(r *reader, j *job.Job) {
	image, at := "", r.anchor("spec.rayClusterSpec")
	head := j.Role("head")
	if head != nil && len(head.Pod.Spec.Containers) > 0 {
		image, at = head.Pod.Spec.Containers[0].Image, head.Pod.At("containers[0].image")
	}
	switch {
	case s.SubmissionMode == sidecarMode && head != nil:
		c := rayJobSubmitter(image)
		inject(&head.Pod, job.Path("containers").Index(len(head.Pod.Spec.Containers)), r.written("spec.submissionMode", at))
		head.Pod.Spec.Containers = append(head.Pod.Spec.Containers, c)
		head.Pod.Spec.RestartPolicy = corev1.RestartPolicyNever
		inject(&head.Pod, "restartPolicy", r.written("spec.submissionMode", at))
		settle(head)
		head.Launch = job.Launch{}
	case s.SubmissionMode == "" || s.SubmissionMode == submittedByJob:
		role := job.Role{Name: raySubmitter, Replicas: job.Exactly(1), Path: r.anchor("spec.submitterPodTemplate"), Single: true, Jobs: 1}
		role.ReplicasPath = role.Path
		if s.SubmitterPodTemplate != nil {
			role.Pod = r.pod(s.SubmitterPodTemplate, "spec.submitterPodTemplate")
		} else {
			role.Pod = job.Pod{
				Path: role.Path, Partial: image == "",
				Spec:    corev1.PodSpec{Containers: []corev1.Container{rayJobSubmitter(image)}, RestartPolicy: corev1.RestartPolicyNever},
				Origins: job.OriginsOf(job.Origin{Path: role.Path, Whole: true}, job.Origin{Rel: "containers[0].image", Path: at, Whole: true}),
			}
		}
		m := job.Marks{Labels: map[string]string{}}
		ofJob(&m, j.Ref.Name, 1, false)
		role.Pod.Marks = m
		settle(&role)
		j.Roles = append(j.Roles, role)
	}
}

// rayJobSubmitter is the container that runs ray job submit
// (ray-operator v1.5.1 controllers/ray/common/job.go, GetDefaultSubmitterContainer).
func rayJobSubmitter(image string) corev1.Container {
	return corev1.Container{
		Name: rayContainer, Image: image,
		Resources: corev1.ResourceRequirements{
			Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi")},
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("200Mi")},
		},
	}
}

var rayClusterAt = []string{"status", "rayClusterName"}

// rayClusterOf is the name that the operator gave the cluster of the job; empty: none yet.
func rayClusterOf(u *unstructured.Unstructured) string {
	name, _ := dig(u, rayClusterAt...).(string)
	return name
}

// rayJobCluster selects the pods of the cluster that the job made or uses. Its name ends at random.
func rayJobCluster(u *unstructured.Unstructured) labels.Selector {
	name := rayClusterOf(u)
	if name == "" {
		return nil
	}
	return selector(requirement(rayClusterLabel, name))
}

// placeInRayJob knows the submitter by its Job, the others as of a RayCluster.
func placeInRayJob(pod *corev1.Pod) (string, int, bool) {
	if pod.Labels[rayNodeType] == "" && pod.Labels[batchJobName] != "" {
		return raySubmitter, 0, true
	}
	return placeInRay(pod)
}

// rayJobPhases are those of the deployment of the job. One that was stopped is Complete
// (ray-operator v1.5.1 controllers/ray/rayjob_controller.go).
var rayJobPhases = map[string]Phase{
	"Initializing": Created, "Waiting": Created, "Running": Running, "Complete": Succeeded, "Failed": Failed,
	"ValidationFailed": Failed, "Suspending": Suspended, "Suspended": Suspended, "Retrying": Restarting,
}

func rayJobState(u *unstructured.Unstructured) State {
	status, _ := dig(u, "status").(map[string]any)
	deployment, ray := text(status, "jobDeploymentStatus"), text(status, "jobStatus")
	s := State{Phase: rayJobPhases[deployment], Reason: text(status, "reason"), Message: text(status, "message")}
	switch s.Phase {
	case Failed, Succeeded:
		s.Since = text(status, "endTime")
		if ray == "STOPPED" && s.Phase == Succeeded {
			s.Phase, s.Reason = Failed, rayStopped
		}
	case Created:
		if cluster, ok := dig(u, "status", "rayClusterStatus").(map[string]any); ok && s.Message == "" {
			below := rayClusterState(&unstructured.Unstructured{Object: map[string]any{"status": cluster}})
			s.Reason, s.Message = below.Reason, below.Message
		}
	case PhaseUnknown, Running, Restarting, Suspended: // nothing more is said
	}
	if s.Since == "" {
		s.Since = text(status, "startTime")
	}
	return s
}
