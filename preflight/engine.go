package preflight

import (
	"context"

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
	// Unasked is the answer of all denying rules of a stage that nobody could ask, and why. The
	// mode is the namespace's.
	Unasked(mode string, stage Stage, why string) Ruled
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
}

// Lack is a part of the input that is not whole, and why.
type Lack struct {
	Part string // "findings", "cluster.fit", "job", "job.roles"
	Why  string
}

// Input is what policies see: integers and strings only; quantities were parsed in Go.
// The JSON names are a versioned contract for authors of policies.
type Input struct {
	Job      JobView           `json:"job"`
	Findings []finding.Finding `json:"findings"`
	Cluster  ClusterFacts      `json:"cluster"`
	Request  RequestFacts      `json:"request"`
}

// Ruled is the answer of the engine. Rulings are sorted by policy, path, message. Effects
// are already what the namespace's mode makes of them.
type Ruled struct {
	Rulings   []Ruling
	Undecided []string // policies that failed or could not be asked, and why: "max-gpus-per-job: …"
}

// JobView is the job as policies see it.
type JobView struct {
	Kind       string            `json:"kind"`
	APIVersion string            `json:"api_version"`
	Namespace  string            `json:"namespace"`
	Name       string            `json:"name"`
	Labels     map[string]string `json:"labels"`
	Runtime    *RuntimeView      `json:"runtime,omitempty"` // TrainJob only
	Queue      string            `json:"queue"`
	Scheduler  string            `json:"scheduler"`
	Priority   string            `json:"priority_class"`
	MinMembers int               `json:"min_members"`
	Pods       int               `json:"pods"`
	GPUs       int64             `json:"gpus"`
	Suspended  bool              `json:"suspended"`
	Roles      []RoleView        `json:"roles"`
	Unread     []UnreadView      `json:"unread"` // what is written in the job and was not read
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
	Name       string           `json:"name"`
	Path       job.Path         `json:"path"`
	Min        int              `json:"min"`
	Max        int              `json:"max"`
	GPUsPerPod int64            `json:"gpus_per_pod"`
	GPU        string           `json:"gpu_resource"`
	Requests   map[string]int64 `json:"requests"` // cpu in milli, the rest in base units
	Images     []string         `json:"images"`   // of containers, init containers and volumes
	HostNet    bool             `json:"host_network"`
	Privileged bool             `json:"privileged"`
}

// ClusterFacts are the few numbers about the cluster that policies may rest on.
type ClusterFacts struct {
	Known       bool   `json:"known"`
	Nodes       int    `json:"nodes"`
	GPUsPerNode int64  `json:"gpus_per_node"` // of the largest node
	Fit         string `json:"fit"`           // verdict
}

// RequestFacts say who asks for what.
type RequestFacts struct {
	User            string            `json:"user"`
	Groups          []string          `json:"groups"`
	Operation       string            `json:"operation"`
	DryRun          bool              `json:"dry_run"`
	Mode            string            `json:"mode"` // off, warn or enforce, of the namespace
	NamespaceLabels map[string]string `json:"namespace_labels"`
}
