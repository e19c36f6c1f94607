// Package check is the contract between a rule and whoever runs it. A check is a value
// with one function; it observes and never decides. Start reading at Check.
package check

import (
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/finding"
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
	// OperatorRejects names the kinds whose operator refuses this with a text of its own. The
	// check stays silent where that answer is seen to come; see Input.Answers.
	OperatorRejects []string
	// Run reports through the pass. An error means that the check itself failed; the job
	// is not blamed for it.
	Run func(*Pass) error
}

// Needs is a set of inputs without which a check is skipped, saying so.
type Needs uint8

// The inputs that a check may need.
const (
	Cluster   Needs = 1 << iota // a cluster view with nodes, and a job that could be read whole
	Namespace                   // the namespace's labels
	Update                      // the object before the change
	Objects                     // a cluster view; nodes do not matter
	Whole                       // a job that could be read whole: what is missing in it is not there
)

// Covers says whether the check looks at jobs of the kind.
func (c *Check) Covers(kind string) bool {
	return len(c.Kinds) == 0 || slices.Contains(c.Kinds, kind)
}
