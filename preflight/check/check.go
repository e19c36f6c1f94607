// Package check is the contract between a rule and whoever runs it. A check is a value
// with one function; it observes and never decides. Start reading at Check.
package check

import (
	"github.com/signalbox-dev/signalbox/preflight/capacity"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Check is one rule. Metadata is data, so that docs, the command line, configuration
// and tests read the same literal.
type Check struct {
	Name     string // slug, never renamed: "gpu-request-exceeds-node"
	Title    string // what is wrong, lower case, no full stop, at most 72 runes
	Doc      string // why it matters: testdata/<name>/README.md, embedded
	Remedy   string // one imperative sentence with a full stop
	Since    string
	Severity finding.Severity
	Kinds    []string // kinds it looks at; empty: every kind
	Needs    Needs
	Params   func() any // fresh defaults; nil: no parameters; decoded strictly
	// Eclipses names checks that stay silent at and below a path where this one fires:
	// the cause hides the consequence.
	Eclipses []string
	// OperatorRejects says that the operator's own webhook refuses this with a text of its
	// own: we stay silent where that webhook answers, and speak offline.
	OperatorRejects bool
	// Run reports through the pass. An error means that the check itself failed; the job
	// is not blamed for it.
	Run func(*Pass) error
}

// Needs is a set of inputs without which a check is skipped, saying so.
type Needs uint8

const (
	Cluster   Needs = 1 << iota // a cluster view with nodes
	Namespace                   // the namespace's labels
	Update                      // the object before the change
)

// Pass is the only door between a check and its driver.
type Pass struct {
	Job       *job.Job
	Old       *job.Job           // set where the check needs Update
	Cluster   *capacity.Snapshot // may be nil unless the check needs Cluster
	Namespace map[string]string  // labels of the namespace; nil: unknown
	Params    any
	fit       func() capacity.Result
	check     *Check
	sink      *[]finding.Finding
}

// Fit is the answer of the capacity engine for the whole job; computed once per review.
// Only checks that need Cluster may call it.
func (p *Pass) Fit() capacity.Result { return p.fit() }
