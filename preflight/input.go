package preflight

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// inputOf is what policies see of a review. Nothing in it is nil, so that a policy can
// iterate without asking.
func inputOf(j *job.Job, req Request, answer fit.Result, findings []finding.Finding, reads func(part string) bool) Input {
	in := Input{
		Job:      viewOf(j),
		Findings: append([]finding.Finding{}, findings...),
		Cluster:  factsOf(req.Cluster, answer),
		Object:   Object{req.Object},
		Old:      Object{req.Old},
		Earlier:  EarlierFacts{Runs: []RunFacts{}},
		Request: RequestFacts{
			User: req.User, Groups: append([]string{}, req.Groups...), Operation: req.Operation,
			DryRun: req.DryRun, Mode: ModeOf(req.Namespace), NamespaceLabels: notNil(req.Namespace),
			NamespaceAnnotations: map[string]string{},
		},
	}
	in.limits(j, req, reads)
	if req.Earlier != nil {
		in.Earlier = *req.Earlier
	}
	if now := asked(req); !now.IsZero() {
		in.Request.Time = now.UTC().Format(time.RFC3339)
		in.Request.Date = in.Request.Time[:len(time.DateOnly)]
	}
	in.Request.Operation = cmp.Or(in.Request.Operation, "CREATE")
	finding.Sort(in.Findings)
	return in
}

func viewOf(j *job.Job) JobView {
	view := JobView{
		Kind: j.Ref.Kind, APIVersion: j.Ref.APIVersion, Namespace: j.Ref.Namespace, Name: j.Ref.Name,
		Labels: map[string]string{}, Annotations: map[string]string{}, Queue: j.Gang.Queue, Scheduler: j.Gang.Scheduler,
		Queued: queued(j), Priority: j.Gang.PriorityClass, MinMembers: j.Gang.MinMembers, Pods: j.MaxPods(), MinPods: j.MinPods(),
		Suspended: j.Suspended, Roles: make([]RoleView, 0, len(j.Roles)), Unread: []UnreadView{},
	}
	for _, u := range j.Unread {
		view.Unread = append(view.Unread, UnreadView{Path: u.Path, Reason: u.String()})
	}
	if j.Source != nil {
		view.Labels, view.Annotations = notNil(j.Source.GetLabels()), spoken(j.Source.GetAnnotations())
		view.Runtime = runtimeOf(j.Source)
	}
	for i := range j.Roles {
		role := roleOf(j, &j.Roles[i])
		view.Roles = append(view.Roles, role)
		view.GPUs = saturate.Add(view.GPUs, saturate.Mul(role.GPUsPerPod, atMost(&j.Roles[i])))
		view.Pods = saturate.Add(view.Pods, j.Roles[i].Surge)
		view.Elastic = view.Elastic || j.Roles[i].Replicas.Min < j.Roles[i].Replicas.Max
	}
	if j.Source != nil {
		roles := rolesIn(j)
		view.Deadline = deadlineOf(j, roles, view.Roles)
		view.Retries, view.RetriesEnd = retriesOf(j, roles)
	}
	for i := range j.Beside { // pods that are started and end without the others
		role := roleOf(j, &j.Beside[i])
		view.Roles = append(view.Roles, role)
		view.GPUs = saturate.Add(view.GPUs, saturate.Mul(role.GPUsPerPod, atMost(&j.Beside[i])))
		view.Pods, view.MinPods = saturate.Add(view.Pods, j.Beside[i].Replicas.Max), saturate.Add(view.MinPods, j.Beside[i].Replicas.Min)
	}
	return view
}

// queued says whether anything reads the queue that the job names. A mark of Volcano or KAI is read by their schedulers
// only, and Kueue's on jobs of the kinds that it knows, not on their pods.
func queued(j *job.Job) bool {
	if j.Gang.Queue == "" {
		return false
	}
	system, at := gang.QueueOf(j)
	switch system {
	case gang.Kueue:
		if kinds.Of(j.Ref).Kueue {
			return j.Source.GetLabels()[gang.QueueLabel] == j.Gang.Queue
		}
		// Pods of another kind may be queued each by itself.
		return slices.ContainsFunc(j.Roles, func(r job.Role) bool { return r.Pod.Labels[gang.QueueLabel] == j.Gang.Queue })
	case gang.Volcano, gang.KAI:
		return strings.HasPrefix(string(at), "spec.runPolicy") || !passesBy(j)
	case gang.T9k: // its scheduler is named with it
	}
	return true
}

// passesBy says that the default scheduler places pods that hold GPUs, or, where none does, any.
func passesBy(j *job.Job) bool {
	holds, passes := false, false
	for _, r := range everyRole(j) {
		_, n := gpusOf(&r.Pod)
		by := r.Pod.Spec.SchedulerName == "" || r.Pod.Spec.SchedulerName == corev1.DefaultSchedulerName
		switch {
		case n > 0 && !holds:
			holds, passes = true, by
		case n > 0 || !holds:
			passes = passes || by
		}
	}
	return passes
}

// runtimeOf is the runtime that a TrainJob names, with the API's own default for its kind.
func runtimeOf(o *unstructured.Unstructured) *RuntimeView {
	if o.GroupVersionKind().Group != "trainer.kubeflow.org" || o.GetKind() != "TrainJob" {
		return nil
	}
	name, _, _ := unstructured.NestedString(o.Object, "spec", "runtimeRef", "name")
	kind, _, _ := unstructured.NestedString(o.Object, "spec", "runtimeRef", "kind")
	kind = cmp.Or(kind, "ClusterTrainingRuntime")
	return &RuntimeView{Kind: kind, Name: name, Path: "spec.runtimeRef.name"}
}

func roleOf(j *job.Job, r *job.Role) RoleView {
	gpu, gpus := gpusOf(&r.Pod)
	view := RoleView{
		Name: r.Name, Path: r.Path, Min: r.Replicas.Min, Max: int(atMost(r)),
		GPUsPerPod: gpus, GPU: string(gpu),
		Requests: r.Pod.Requests, Images: []string{}, HostNet: r.Pod.Spec.HostNetwork,
		HostPID: r.Pod.Spec.HostPID, HostIPC: r.Pod.Spec.HostIPC,
		Labels: notNil(r.Pod.Labels), Annotations: spoken(r.Pod.Annotations), NodeSelector: notNil(r.Pod.Spec.NodeSelector),
		GPUModels: modelsSelected(&r.Pod.Spec), ServiceAccount: r.Pod.Spec.ServiceAccountName, RestartPolicy: string(r.Pod.Spec.RestartPolicy),
		Volumes: volumesOf(r), Partial: r.Pod.Partial,
	}
	view.KeepsFiles = keepsFiles(r, view.Volumes)
	if view.Requests == nil {
		view.Requests = job.Resources{}
	}
	spec := &r.Pod.Spec
	view.Pod, view.Containers = Written[corev1.PodSpec]{spec}, make([]ContainerView, 0, len(spec.InitContainers)+len(spec.Containers))
	add := func(c *corev1.Container, list job.Path, i int) {
		if !added(j, r, list, i) {
			if c.Image != "" && !slices.Contains(view.Images, c.Image) {
				view.Images = append(view.Images, c.Image)
			}
			view.Containers = append(view.Containers, ContainerView{
				Name: c.Name, Path: r.Pod.At(list.Index(i)), Init: list == initContainers, Image: c.Image, Spec: Written[corev1.Container]{c},
			})
		}
		view.Privileged = view.Privileged || privileged(c.SecurityContext)
	}
	if s := spec.SecurityContext; s != nil {
		view.Privileged = hostProcess(s.WindowsOptions)
	}
	for i := range r.Pod.Spec.InitContainers {
		add(&r.Pod.Spec.InitContainers[i], initContainers, i)
	}
	for i := range r.Pod.Spec.Containers {
		add(&r.Pod.Spec.Containers[i], "containers", i)
	}
	for i := range r.Pod.Spec.Volumes { // what an image brings as a volume runs as well
		if v := r.Pod.Spec.Volumes[i].Image; v != nil && v.Reference != "" && !slices.Contains(view.Images, v.Reference) {
			view.Images = append(view.Images, v.Reference)
		}
	}
	return view
}

const initContainers job.Path = "initContainers"

// added says whether a container comes from the operator (init-pytorch, kubectl-delivery):
// the author of the job has no say in its image. What a TrainJob takes from its runtime is
// somebody's choice and counts.
func added(j *job.Job, r *job.Role, list job.Path, i int) bool {
	if !strings.HasPrefix(j.Ref.APIVersion, "kubeflow.org/") || j.Source == nil {
		return false
	}
	at := r.Pod.At(list.Index(i))
	_, err := at.Child("image").Resolve(j.Source.Object)
	return err != nil
}

// privileged says that a container has its node: on Linux, or on Windows, where it may be said of the whole pod
// (https://kubernetes.io/docs/tasks/configure-pod-container/create-hostprocess-pod/).
func privileged(s *corev1.SecurityContext) bool {
	return s != nil && (s.Privileged != nil && *s.Privileged || hostProcess(s.WindowsOptions))
}

func hostProcess(o *corev1.WindowsSecurityContextOptions) bool {
	return o != nil && o.HostProcess != nil && *o.HostProcess
}

func factsOf(view *cluster.Snapshot, answer fit.Result) ClusterFacts {
	facts := ClusterFacts{Fit: answer.Verdict.String(), Change: answer.Change, Models: []ModelFacts{}, InUse: map[string]int64{}, Pools: []PoolFacts{}, Quotas: []QuotaFacts{}}
	if view == nil || view.Incomplete() != "" {
		return facts
	}
	facts.Known, facts.Nodes, facts.GPUsPerNode = true, new(len(view.Nodes())), new(view.DevicesPerNode())
	return facts
}

func notNil(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}
