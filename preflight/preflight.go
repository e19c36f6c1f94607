package preflight

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/capacity"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Reviewer reviews jobs. All fields are read-only after construction; safe for concurrent use.
type Reviewer struct {
	Checks   *check.Set
	Policies Engine // nil: no policies
}

// Request is one job to review and everything known about it.
type Request struct {
	Object, Old *unstructured.Unstructured // Old only on update
	Cluster     *capacity.Snapshot         // nil: no cluster view
	Namespace   map[string]string          // labels; nil: unknown
	Operation   string                     // CREATE or UPDATE; empty: CREATE
	User        string
	Groups      []string
	DryRun      bool
	Live        bool // the operator's own webhooks answer too
	Source      string
}

// Report is everything one review found out.
type Report struct {
	Job       job.Ref
	Source    string
	Decision  Decision
	Fit       *capacity.Result // nil: not asked (no cluster view)
	Findings  []finding.Finding
	Rulings   []Ruling
	Skipped   []Skip
	Revision  string   // of the policy set
	Ran       int      // checks that ran
	Undecided []string // policies that failed
}

// Skip is something that was not checked, and why.
type Skip struct {
	Check  string `json:"check"`
	Reason string `json:"reason"`
}

// Decision is what the review amounts to.
type Decision string

const (
	Allowed Decision = "allowed"
	Warned  Decision = "warned"
	Denied  Decision = "denied"
)

// Effect is what a ruling does.
type Effect string

const (
	Deny Effect = "deny"
	Warn Effect = "warn"
)

// Ruling is what one policy says.
type Ruling struct {
	Policy  string   `json:"policy"`
	Effect  Effect   `json:"effect"`
	Message string   `json:"message"`
	Path    job.Path `json:"path"`
	Remedy  string   `json:"remedy,omitempty"`
}

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
	Images     []string         `json:"images"`
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
