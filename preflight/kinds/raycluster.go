package kinds

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

var rayCluster = &Kind{
	Name:     "RayCluster",
	Resource: "rayclusters",
	GVKs:     rayVersions("RayCluster"),
	Doc: "The head and the worker groups of a RayCluster with the defaults of KubeRay v1.5: a group has replicas × " +
		"numOfHosts pods, kept between minReplicas and maxReplicas; with in-tree autoscaling and a minimum it is the range " +
		"of the two. The init container that waits for the head and the autoscaler beside it are part " +
		"of the pods; the ray start that KubeRay writes into the command is not. A cluster does not end: there is no success.",
	Runs: Told{
		English: "The head runs Ray's control store and scheduler, the workers join it. When the head is lost, all workers end; when a worker is lost, its actors and tasks die and may be tried elsewhere, with errors in the driver's log that are consequences.",
		Chinese: "head 运行 Ray 的控制存储和调度器，worker 加入其中。head 丢失后所有 worker 都会结束；worker 丢失后其上的 actor 和任务终止，可能在别处重试，驱动程序日志中由此产生的错误是结果。",
	},
	Read:  reading("RayCluster", readRayCluster),
	Pods:  func(ref job.Ref) labels.Selector { return selector(requirement(rayClusterLabel, ref.Name)) },
	Place: placeInRay,
	State: rayClusterState,
	Operator: rayOperator(53, Operator{
		Choices: []Choice{
			{At: "spec.autoscalerOptions.upscalingMode", Words: []string{"Default", "Aggressive", "Conservative"}},
			{At: "spec.autoscalerOptions.version", Words: []string{"v1", "v2"}},
			{At: "spec.headGroupSpec.serviceType", Words: []string{"ClusterIP", "NodePort", "LoadBalancer", "ExternalName"}}, // k8s.io/api v0.37.2 core/v1/types.go, ServiceType
		},
	}),
}

// rayVersions are the versions in which KubeRay serves a kind: v1alpha1 has fewer of the same fields and is stored
// as v1 (ray-operator v1.5.1 config/crd/bases, conversion None).
func rayVersions(kind string) []schema.GroupVersionKind {
	return []schema.GroupVersionKind{{Group: "ray.io", Version: "v1", Kind: kind}, {Group: "ray.io", Version: "v1alpha1", Kind: kind}}
}

// rayGroupNames: the pods are called after their group, in lower case, and carry its name as a label
// (v1.5.1 controllers/ray/utils/util.go, PodName).
var rayGroupNames = &NameForm{
	Takes: regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]{0,61}[A-Za-z0-9])?$`).MatchString,
	Says:  "letters, digits, dashes and dots, 63 at most",
}

// rayMounts: the token of the service account where Kubernetes says who may use a cluster, in each container
// (https://github.com/ray-project/kuberay/blob/master/ray-operator/controllers/ray/common/pod.go, AddRayTokenVolume).
func rayMounts(j *job.Job, _ string) (volumes, places []string) {
	for _, at := range []job.Path{"spec.authOptions.enableK8sTokenAuth", "spec.rayClusterSpec.authOptions.enableK8sTokenAuth"} {
		if j.Field(at) == true {
			return []string{"ray-token"}, []string{"/var/run/secrets/ray.io/serviceaccount"}
		}
	}
	return nil, nil
}

// Labels of KubeRay on pods (github.com/ray-project/kuberay/ray-operator v1.5.1
// controllers/ray/utils/constant.go).
const (
	rayPrefix       = "ray.io/"
	rayClusterLabel = rayPrefix + "cluster"
	rayNodeType     = rayPrefix + "node-type"
	rayGroup        = rayPrefix + "group"
	rayHeadGroup    = "headgroup"
	rayScheduler    = rayPrefix + "scheduler-name"
	rayPriority     = rayPrefix + "priority-class-name"
	rayOriginName   = rayPrefix + "originated-from-cr-name"
	rayOriginKind   = rayPrefix + "originated-from-crd"
	kubeRay         = "ray.io/kuberay-operator"
)

// Source: ray-operator v1.5.1 apis/ray/v1/raycluster_types.go.
type raySpec struct {
	AuthOptions              any              `json:"authOptions"`
	Suspend                  *bool            `json:"suspend"`
	ManagedBy                *string          `json:"managedBy"`
	AutoscalerOptions        *rayAutoscaler   `json:"autoscalerOptions"`
	HeadServiceAnnotations   any              `json:"headServiceAnnotations"`
	EnableInTreeAutoscaling  *bool            `json:"enableInTreeAutoscaling"`
	GCSFaultToleranceOptions any              `json:"gcsFaultToleranceOptions"`
	HeadGroupSpec            rayHead          `json:"headGroupSpec"`
	RayVersion               string           `json:"rayVersion"`
	WorkerGroupSpecs         []rayWorkerGroup `json:"workerGroupSpecs"`
	UpgradeStrategy          any              `json:"upgradeStrategy"` // v1.6
	NetworkPolicy            any              `json:"networkPolicy"`   // v1.6
}

type rayAutoscaler struct {
	Resources          *corev1.ResourceRequirements `json:"resources"`
	Image              *string                      `json:"image"`
	ImagePullPolicy    *string                      `json:"imagePullPolicy"`
	SecurityContext    *corev1.SecurityContext      `json:"securityContext"`
	IdleTimeoutSeconds *int32                       `json:"idleTimeoutSeconds"`
	UpscalingMode      string                       `json:"upscalingMode"`
	Version            string                       `json:"version"`
	Env                []corev1.EnvVar              `json:"env"`
	EnvFrom            []corev1.EnvFromSource       `json:"envFrom"`
	VolumeMounts       []corev1.VolumeMount         `json:"volumeMounts"`
}

type rayHead struct {
	Template       corev1.PodTemplateSpec `json:"template"`
	HeadService    any                    `json:"headService"`
	EnableIngress  *bool                  `json:"enableIngress"`
	Resources      map[string]string      `json:"resources"`
	Labels         map[string]string      `json:"labels"`
	RayStartParams map[string]string      `json:"rayStartParams"`
	ServiceType    string                 `json:"serviceType"`
}

type rayWorkerGroup struct {
	Suspend            *bool                  `json:"suspend"`
	GroupName          string                 `json:"groupName"`
	Replicas           *int32                 `json:"replicas"`
	MinReplicas        *int32                 `json:"minReplicas"`
	MaxReplicas        *int32                 `json:"maxReplicas"`
	IdleTimeoutSeconds *int32                 `json:"idleTimeoutSeconds"`
	Resources          map[string]string      `json:"resources"`
	Labels             map[string]string      `json:"labels"`
	RayStartParams     map[string]string      `json:"rayStartParams"`
	Template           corev1.PodTemplateSpec `json:"template"`
	ScaleStrategy      any                    `json:"scaleStrategy"`
	NumOfHosts         *int32                 `json:"numOfHosts"`
}

func readRayCluster(r *reader, j *job.Job, o *object[raySpec]) {
	j.Suspended = o.Spec.Suspend != nil && *o.Spec.Suspend
	rayManaged(j, o.Spec.ManagedBy)
	j.Roles = o.Spec.roles(r, "spec", j.Ref.Name)
	for i := range j.Roles {
		settle(&j.Roles[i])
		j.Roles[i].Launch = job.Launch{} // the command is what ray start runs beside itself
	}
	rayGang(r, j)
}

// rayOperator is what KubeRay does with both of its kinds (ray-operator v1.5.1
// controllers/ray/utils/{constant,validation}.go). A name that is too long is refused by the controller only.
func rayOperator(longest int, o Operator) Operator {
	o.Names = &NameForm{
		Takes:  func(s string) bool { return len(s) <= longest && dnsLabel1035.Takes(s) },
		Says:   fmt.Sprintf("lower-case letters, digits and dashes, with a letter first, %d at most", longest),
		Remedy: "Use a shorter name: what KubeRay makes is called after it.",
	}
	o.RoleNames = rayGroupNames
	o.Peers, o.Mounts = PeersByService, rayMounts
	o.ManagedBy = ManagedBy{At: "spec.managedBy", Known: []string{kubeRay, multiKueue}}
	o.PolicyEnds = true  // a cluster does not end by its pods
	o.RemakesPods = true // v1.5.1 controllers/ray/raycluster_controller.go, shouldDeletePod
	o.LabelsBy, o.PodGroups, o.Kueue = "KubeRay", PodGroupsByFlag, true
	return o
}

func rayManaged(j *job.Job, by *string) {
	if by != nil && *by != kubeRay {
		j.ManagedElsewhere = *by
	}
}

// rayGang reads the marks by which KubeRay hands a cluster to a gang scheduler (ray-operator v1.5.1
// controllers/ray/batchscheduler: they stand on the cluster and are copied to its pods).
func rayGang(r *reader, j *job.Job) {
	marked := marks(j.Source)
	j.Gang.Scheduler, j.Gang.PriorityClass = marked(rayScheduler), marked(rayPriority)
	gang(r, j)
}

// autoscaled says whether a sidecar of the head changes the number of workers.
func (s *raySpec) autoscaled() bool {
	return s.EnableInTreeAutoscaling != nil && *s.EnableInTreeAutoscaling
}

// roles are the head and the worker groups of the cluster that is written at the path.
func (s *raySpec) roles(r *reader, at job.Path, cluster string) []job.Role {
	head := at.Child("headGroupSpec")
	role := job.Role{
		Name: "head", Replicas: job.Exactly(1), Path: r.anchor(head), ReplicasPath: r.anchor(head), Single: true,
		Pod: r.pod(&s.HeadGroupSpec.Template, head.Child("template")),
	}
	rayStart(r, &role.Pod, head.Child("template"))
	addSharedMemory(&role.Pod, r.anchor(head.Child("template")))
	s.addAutoscaler(r, &role.Pod, at)
	rayMarks(&role.Pod, cluster, "head", rayHeadGroup, s.HeadGroupSpec.Labels)
	out := []job.Role{role}
	list := at.Child("workerGroupSpecs")
	for i := range s.WorkerGroupSpecs {
		g, here := &s.WorkerGroupSpecs[i], list.Index(i)
		if g.GroupName == "" {
			r.lacks(here.Child("groupName"), "missing", "the name of the group")
		}
		worker := job.Role{Name: g.GroupName, Path: here, Pod: r.pod(&g.Template, here.Child("template"))}
		worker.Replicas, worker.ReplicasPath, worker.PodsEach = g.pods(r, here, s.autoscaled())
		worker.LeastPath = r.written(here.Child("minReplicas"), "")
		rayStart(r, &worker.Pod, here.Child("template"))
		addSharedMemory(&worker.Pod, r.anchor(here.Child("template")))
		addWaitForHead(&worker.Pod, r.anchor(here.Child("template")))
		rayMarks(&worker.Pod, cluster, "worker", g.GroupName, g.Labels)
		out = append(out, worker)
	}
	return out
}

// pods is how many pods the group has: its replicas, which the operator keeps between the bounds whether or
// not there is an autoscaler (ray-operator v1.5.1 controllers/ray/utils/util.go,
// GetWorkerGroupDesiredReplicas). A maximum that is not written is 2147483647, which is not asked for.
func (g *rayWorkerGroup) pods(r *reader, at job.Path, autoscaled bool) (count job.Range, path job.Path, perCount int) {
	least := r.count(at.Child("minReplicas"), g.MinReplicas, 0)
	most := r.count(at.Child("maxReplicas"), g.MaxReplicas, math.MaxInt32)
	n := r.count(at.Child("replicas"), g.Replicas, 0)
	hosts := r.count(at.Child("numOfHosts"), g.NumOfHosts, 1)
	where := r.written(at.Child("replicas"), at.Child("minReplicas"), at)
	switch {
	case g.Suspend != nil && *g.Suspend:
		return job.Range{}, r.written(at.Child("suspend"), at), 0
	case least > most: // the operator takes the maximum for both
		r.problem(at.Child("minReplicas"), describe(int64(least)), fmt.Sprintf("at most maxReplicas, which is %d", most))
		least = most
	}
	n = min(max(n, least), most)
	out := job.Exactly(n)
	if autoscaled && least > 0 { // without a minimum the group is what it begins with
		out.Min = least
		if g.MaxReplicas != nil {
			out.Max = most
		}
	}
	pods := func(n int) int { return min(saturate.Mul(n, hosts), math.MaxInt32) }
	if hosts > 1 && where != at {
		perCount = hosts
	}
	return job.Range{Min: pods(out.Min), Max: pods(out.Max)}, where, perCount
}

// addAutoscaler adds the sidecar that in-tree autoscaling puts beside the head
// (ray-operator v1.5.1 controllers/ray/common/pod.go, BuildAutoscalerContainer).
func (s *raySpec) addAutoscaler(r *reader, p *job.Pod, at job.Path) {
	if !s.autoscaled() || len(p.Spec.Containers) == 0 {
		return
	}
	amounts := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("512Mi")}
	c := corev1.Container{
		Name: "autoscaler", Image: p.Spec.Containers[0].Image, ImagePullPolicy: corev1.PullIfNotPresent,
		Resources: corev1.ResourceRequirements{Requests: amounts, Limits: amounts},
	}
	where := r.written(at.Child("autoscalerOptions"), at.Child("enableInTreeAutoscaling"))
	if o := s.AutoscalerOptions; o != nil {
		c.Resources = ptr.Deref(o.Resources, c.Resources)
		c.Image = ptr.Deref(o.Image, c.Image)
		c.Env, c.EnvFrom, c.VolumeMounts, c.SecurityContext = o.Env, o.EnvFrom, o.VolumeMounts, o.SecurityContext
	}
	inject(p, job.Path("containers").Index(len(p.Spec.Containers)), where)
	p.Spec.Containers = append(slices.Clone(p.Spec.Containers), c)
}

// rayStart is what KubeRay makes of the command of the first container: the words of the user in a shell, in
// front of the ray start of its own (ray-operator v1.5.1 controllers/ray/common/pod.go, BuildPod; the
// arguments of ray start are left out).
func rayStart(r *reader, p *job.Pod, template job.Path) {
	if len(p.Spec.Containers) == 0 || strings.EqualFold(p.Annotations[rayPrefix+"overwrite-container-cmd"], "true") {
		return
	}
	c := &p.Spec.Containers[0]
	words := strings.Join(append(slices.Clone(c.Command), c.Args...), " ")
	if strings.Contains(words, "ray start") {
		return
	}
	own := template.Child("spec", "containers").Index(0)
	at := r.anchor(template)
	if words != "" {
		at, words = r.written(own.Child("command"), own.Child("args")), words+" && "
	}
	p.Spec.Containers = slices.Clone(p.Spec.Containers)
	c = &p.Spec.Containers[0]
	c.Command, c.Args = []string{"/bin/bash", "-c", "--"}, []string{words + "ulimit -n 65536; ray start"}
	inject(p, "containers[0].command", at)
	inject(p, "containers[0].args", at)
}

// addSharedMemory adds the volume at /dev/shm that Ray keeps its objects in, as large as the container's
// memory (ray-operator v1.5.1 controllers/ray/common/pod.go, addEmptyDir and findMemoryReqOrLimit).
func addSharedMemory(p *job.Pod, at job.Path) {
	const name, where = "shared-mem", "/dev/shm"
	if len(p.Spec.Containers) == 0 {
		return
	}
	c := &p.Spec.Containers[0]
	if slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == where }) {
		return
	}
	if !slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == name }) {
		dir := &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}
		for _, amounts := range []corev1.ResourceList{c.Resources.Requests, c.Resources.Limits} { // the limit, where there is one
			if memory, ok := amounts[corev1.ResourceMemory]; ok {
				dir.SizeLimit = &memory
			}
		}
		inject(p, job.Path("volumes").Index(len(p.Spec.Volumes)), at)
		p.Spec.Volumes = append(slices.Clone(p.Spec.Volumes), corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: dir}})
	}
	inject(p, job.Path("containers[0].volumeMounts").Index(len(c.VolumeMounts)), at)
	c.VolumeMounts = append(slices.Clone(c.VolumeMounts), corev1.VolumeMount{Name: name, MountPath: where})
}

// addWaitForHead adds the init container by which a worker waits for the head
// (ray-operator v1.5.1 controllers/ray/common/pod.go, DefaultWorkerPodTemplate; an administrator can
// switch it off for the operator).
func addWaitForHead(p *job.Pod, at job.Path) {
	if len(p.Spec.Containers) == 0 {
		return
	}
	amounts := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("200m"), corev1.ResourceMemory: resource.MustParse("256Mi")}
	injectInit(p, corev1.Container{
		Name: "wait-gcs-ready", Image: p.Spec.Containers[0].Image, ImagePullPolicy: p.Spec.Containers[0].ImagePullPolicy,
		Resources: corev1.ResourceRequirements{Requests: amounts, Limits: amounts},
	}, at)
}

// rayMarks are the labels of the pods of a group (ray-operator v1.5.1 controllers/ray/common/pod.go,
// labelPod). An empty name of the cluster is one that the operator is yet to make.
func rayMarks(p *job.Pod, cluster, node, group string, own map[string]string) {
	m := job.Marks{
		Labels: map[string]string{rayNodeType: node, rayGroup: group, rayPrefix + "is-ray-node": "yes"},
		Varies: []string{rayPrefix + "identifier"},
		Some:   []string{rayPrefix + "serve", rayPrefix + "worker-group-replica-name", rayPrefix + "worker-group-replica-index", rayPrefix + "replica-host-index"},
		Whole:  []string{rayPrefix},
	}
	for key, value := range own {
		if _, fixed := m.Labels[key]; !fixed {
			m.Labels[key] = value
		}
	}
	if cluster != "" {
		m.Labels[rayClusterLabel] = cluster
	} else {
		m.Varies = append(m.Varies, rayClusterLabel)
	}
	p.Marks = m
}

// placeInRay reads the group; pods of a group have no index but in their names, which end at random.
func placeInRay(pod *corev1.Pod) (string, int, bool) {
	switch pod.Labels[rayNodeType] {
	case "head":
		return "head", 0, true
	case "worker":
		group := pod.Labels[rayGroup]
		index, ok := atoi(pod.Labels[rayPrefix+"worker-group-replica-index"])
		if !ok {
			index = 0
		}
		return group, index, group != ""
	}
	return "", 0, false
}

// rayClusterState reads state and conditions. failed is what older versions write where pods cannot be
// made; it can pass (ray-operator v1.5.1 apis/ray/v1/raycluster_types.go).
func rayClusterState(u *unstructured.Unstructured) State {
	all := conditions(u)
	if s, ok := decide(all, []verdict{{"RayClusterSuspended", Suspended}, {"RayClusterSuspending", Suspended}, {"ReplicaFailure", Created}}); ok {
		return s
	}
	status, _ := dig(u, "status").(map[string]any)
	s := State{Message: text(status, "reason"), Since: rayStateSince(status)}
	switch state := text(status, "state"); {
	case state == "suspended":
		s.Phase = Suspended
	case state == "failed":
		s.Phase, s.Reason = Created, state
	case state == "ready":
		s.Phase = Running
	default:
		s = rayProvisioning(all)
	}
	return s
}

// rayProvisioning is what the conditions say of a cluster whose pods were never all ready.
func rayProvisioning(all []condition) State {
	if s, ok := decide(all, []verdict{{"RayClusterProvisioned", Running}}); ok {
		return s
	}
	for _, c := range all {
		if c.kind == "RayClusterProvisioned" || c.kind == "HeadPodReady" {
			return State{Phase: Created, Reason: c.reason, Message: c.message, Since: c.since}
		}
	}
	return State{}
}

func rayStateSince(status map[string]any) string {
	times, _ := status["stateTransitionTimes"].(map[string]any)
	return strings.TrimSpace(text(times, text(status, "state")))
}
