package preflight

import (
	"context"

	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Engine decides by policy. It is declared here, by its consumer.
type Engine interface {
	Decide(context.Context, Input) (Ruled, error)
	Revision() string
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
	Undecided []string // policies that failed, and why
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
