package preflight

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Engine holds the policies in force, which may be replaced at any time. It is declared here, by
// its consumer.
type Engine interface {
	InForce() Policies
}

// Policies are one immutable choice of policies.
type Policies interface {
	// Decide asks the rules of a stage. A rule that fails is undecided, never a denial, unless its
	// policy says that it is closed on failure. The error is about the input only.
	Decide(context.Context, Input, Question) (Ruled, error)
	// Unasked is the answer of all denying rules of a stage that could not be asked, and why. The
	// mode is the namespace's.
	Unasked(mode string, stage Stage, why string) Ruled
	// ReadsAnnotation says whether a rule reads an annotation of the job by this key.
	ReadsAnnotation(key string) bool
	Revision() string
}

// Stage tells apart rules by what they read.
type Stage int

// The stages. What costs milliseconds is asked first, so that nothing slow stands before it.
const (
	OnTheJob    Stage = iota // rules that read neither findings nor the fit
	OnTheReview              // rules that read them
)

// Question is what a set of policies is asked, besides the input.
type Question struct {
	Stage Stage
	// Lacks are the parts of the input that are not whole. A denying rule that reads one of them
	// and denies nothing is undecided: what it did not see might have made it deny.
	Lacks []Lack
	// Before is the input without the change that is asked about, where that is one of annotations alone; nil: it is
	// not. What a rule says of it, too, is no answer: operators write annotations while a job runs, and a policy that
	// came later must not stop them.
	Before *Input
}

// Lack is a part of the input that is not whole, and why.
type Lack struct {
	Part string `json:"part"` // "findings", "cluster.fit", "job", "job.roles"
	Why  string `json:"why"`
}

// Input is what policies see: integers and strings only; quantities were parsed in Go.
// The JSON names are a versioned contract for authors of policies.
type Input struct {
	Job      JobView           `json:"job"`
	Findings []finding.Finding `json:"findings"`
	Cluster  ClusterFacts      `json:"cluster"`
	Request  RequestFacts      `json:"request"`
	Earlier  EarlierFacts      `json:"earlier"`
	Object   Object            `json:"object,omitzero"`     // as it was written, without values that may be secret
	Old      Object            `json:"old_object,omitzero"` // before an update, in the same way; absent: it is new
	OldJob   *OldJobView       `json:"old_job,omitempty"`   // the job before an update, as it was read; absent: it is new
}

// Ruled is the answer of the engine. Rulings are sorted by policy, path, message. Effects
// are already what the namespace's mode makes of them.
type Ruled struct {
	Rulings   []Ruling
	Undecided []string // policies that failed or could not be asked, and why: "max-gpus-per-job: …"
	Exempted  []string // policies that made an exception of the job, and why: "max-gpus-per-job: …"
}

// Selective is a choice of policies that says what it reads: what costs much is left out of an
// input where no rule of the stage reads it.
type Selective interface {
	Reads(stage Stage, part string) bool
	Asks(stage Stage) bool // false: no rule of the stage has anything to say
}

// JobView is the job as policies see it.
type JobView struct {
	Kind        string            `json:"kind"`
	APIVersion  string            `json:"api_version"`
	Namespace   string            `json:"namespace"`
	Name        string            `json:"name"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`       // secrets masked, without kubectl's copy of the job
	Runtime     *RuntimeView      `json:"runtime,omitempty"` // TrainJob only
	Queue       string            `json:"queue"`             // Kueue's, Volcano's or T9k's; empty: none is named
	Queued      bool              `json:"queued"`            // somebody reads that queue: false where it is Kueue's label on a kind or on pods that Kueue does not queue, or Volcano's or KAI's mark on pods of the default scheduler
	Scheduler   string            `json:"scheduler"`         // schedulerName of the pods; empty: the default one
	Priority    string            `json:"priority_class"`    // the PriorityClass; empty: none is named
	MinMembers  int               `json:"min_members"`       // the smallest gang that may start, as the job writes it; 0: none is written
	Pods        int               `json:"pods"`              // at most
	MinPods     int               `json:"min_pods"`          // that it can train with
	Elastic     bool              `json:"elastic"`           // some role has fewer pods at least than at most
	GPUs        int64             `json:"gpus"`              // of all pods at most: whole ones, partitions and shares
	Deadline    int64             `json:"deadline_seconds"`  // 0: none is written
	Retries     int64             `json:"retries"`           // the most that is written
	RetriesEnd  bool              `json:"retries_bounded"`   // false: no number is written, or none that ends
	Suspended   bool              `json:"suspended"`
	Roles       []RoleView        `json:"roles"`
	Unread      []UnreadView      `json:"unread"` // what is written in the job and was not read
}

// OldJobView is how large a job was before an update.
type OldJobView struct {
	Pods      int   `json:"pods"` // at most
	GPUs      int64 `json:"gpus"` // of all pods at most, as those of the job are counted
	Suspended bool  `json:"suspended"`
}

// UnreadView is a place of the job that was not read, and why.
type UnreadView struct {
	Path   job.Path `json:"path"`
	Reason string   `json:"reason"`
}

// RuntimeView is the training runtime that a TrainJob names.
type RuntimeView struct {
	Kind string   `json:"kind"`
	Name string   `json:"name"`
	Path job.Path `json:"path"`
}

// RoleView is one role as policies see it.
type RoleView struct {
	Name       string        `json:"name"`         // the kind's own word: Worker, Launcher
	Path       job.Path      `json:"path"`         // where the role is written; what a rule says may bear it
	Min        int           `json:"min"`          // pods at least
	Max        int           `json:"max"`          // pods at most
	GPUsPerPod int64         `json:"gpus_per_pod"` // whole ones, partitions and shares
	GPU        string        `json:"gpu_resource"` // the resource by which they are asked for; empty: none
	Requests   job.Resources `json:"requests"`     // of a pod, by resource: cpu in milli (8 CPUs are 8000), memory in bytes, the rest in pieces
	Images     []string      `json:"images"`       // of containers, init containers and volumes
	HostNet    bool          `json:"host_network"`
	HostPID    bool          `json:"host_pid"`
	HostIPC    bool          `json:"host_ipc"`
	Privileged bool          `json:"privileged"`

	Labels         map[string]string `json:"labels"` // of the pods
	Annotations    map[string]string `json:"annotations"`
	NodeSelector   map[string]string `json:"node_selector"`
	GPUModels      []string          `json:"gpu_models"` // that the pods select by nvidia.com/gpu.product; empty: any
	ServiceAccount string            `json:"service_account"`
	RestartPolicy  string            `json:"restart_policy"`
	Volumes        []VolumeView      `json:"volumes"`
	KeepsFiles     bool              `json:"keeps_files"` // what trains mounts something that outlasts its pod
	Partial        bool              `json:"partial"`     // the pods are written elsewhere, too, and that was not seen

	Containers []ContainerView         `json:"containers"` // init containers, too
	Pod        Written[corev1.PodSpec] `json:"pod"`        // the rest of the spec of a pod in the words of the API: tolerations, securityContext …
}

// ContainerView is a container or an init container of a pod, where the author of the job wrote it or its runtime.
type ContainerView struct {
	Name  string                    `json:"name"`
	Path  job.Path                  `json:"path"`
	Init  bool                      `json:"init"` // it runs before the others, or beside them from the start
	Image string                    `json:"image"`
	Spec  Written[corev1.Container] `json:"spec"` // all of it in the words of the API, without values of variables
}

// VolumeView is one volume of a pod.
type VolumeView struct {
	Name string   `json:"name"`
	Kind string   `json:"kind"`   // the API's word: hostPath, persistentVolumeClaim, emptyDir …
	Of   string   `json:"source"` // the path, claim, server or bucket; empty where there is none
	Path job.Path `json:"path"`
}

// ClusterFacts are the few numbers about the cluster that policies may rest on.
type ClusterFacts struct {
	Known bool `json:"known"`
	// Nodes, and the GPUs of the largest one, are left out where the cluster is not known: a rule about few of
	// them would hold of 0.
	Nodes       *int   `json:"nodes,omitempty"`
	GPUsPerNode *int64 `json:"gpus_per_node,omitempty"`
	Fit         string `json:"fit"`    // the verdict: fits, full, fragmented, too-big or unknown
	Change      string `json:"change"` // the smallest change that would make the job fit; empty: none is known
	// Models are the models of GPU, by name; "" are nodes that do not name theirs.
	Models []ModelFacts `json:"models"`
	// InUse is how many GPUs the pods of the job's namespace hold by model, without the job's own.
	InUse map[string]int64 `json:"namespace_gpus"`
	Pools []PoolFacts      `json:"pools"`
	// Quotas bound the job's namespace and its queue: ResourceQuotas, and the ClusterQueue of Kueue.
	Quotas  []QuotaFacts `json:"quotas"`
	Pending PendingFacts `json:"pending"`
}

// PoolFacts are the nodes of one model of GPU and one type of machine.
type PoolFacts struct {
	Model       string `json:"model"`   // "": the nodes do not name theirs
	Machine     string `json:"machine"` // the instance type; "": not named
	Nodes       int    `json:"nodes"`
	GPUsPerNode int64  `json:"gpus_per_node"`
}

// QuotaFacts is one bound, in base units: cpu in milli, memory in bytes, the rest in pieces.
type QuotaFacts struct {
	Kind     string `json:"kind"` // ResourceQuota or ClusterQueue
	Name     string `json:"name"`
	Flavor   string `json:"flavor"`   // of a ClusterQueue
	Resource string `json:"resource"` // as the object names it: requests.nvidia.com/gpu, pods
	Hard     int64  `json:"hard"`     // of a ClusterQueue, its own without what it may borrow
	Used     int64  `json:"used"`
	Left     int64  `json:"left"` // of a ClusterQueue, with what it may borrow now
}

// PendingFacts are pods of other jobs that wait for a place, in the whole cluster and in the job's namespace.
type PendingFacts struct {
	Jobs          int   `json:"jobs"`
	Pods          int   `json:"pods"`
	GPUs          int64 `json:"gpus"`
	NamespaceJobs int   `json:"namespace_jobs"`
	NamespacePods int   `json:"namespace_pods"`
	NamespaceGPUs int64 `json:"namespace_gpus"`
}

// ModelFacts is one model of GPU in the cluster.
type ModelFacts struct {
	Model string `json:"model"`
	Nodes int    `json:"nodes"`
	GPUs  int64  `json:"gpus"`
}

// RequestFacts say who asks for what.
type RequestFacts struct {
	User            string            `json:"user"` // as the API server knows it: alice, system:serviceaccount:ml:ci
	Groups          []string          `json:"groups"`
	Operation       string            `json:"operation"` // CREATE or UPDATE
	DryRun          bool              `json:"dry_run"`
	Mode            string            `json:"mode"` // off, warn or enforce, of the namespace
	NamespaceLabels map[string]string `json:"namespace_labels"`
	// NamespaceAnnotations are those of at most 128 characters, secrets masked.
	NamespaceAnnotations map[string]string `json:"namespace_annotations"`
	Time                 string            `json:"time"` // RFC 3339 in UTC; empty: not known
	Date                 string            `json:"date"` // its first ten characters: 2026-12-24
}
