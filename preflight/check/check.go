// Package check is the contract between a rule and what runs it. A check is a value
// with one function; it observes and never decides. Start reading at Check.
package check

import (
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
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
	Stops    bool // what it finds keeps the job from running at all, though it is no error, because it may pass
	Refuses  bool // what it finds as an error the API server or the operator refuses: nothing of the job ever runs
	// Kinds are those whose own fields it looks at, with their group: JobSet.jobset.x-k8s.io; empty:
	// every kind.
	Kinds []string
	// Where says by what the operator of a kind does whether the check looks at its jobs; nil: it does.
	Where  func(*kinds.Operator) bool
	Needs  Needs
	Params func() any // fresh defaults; nil: no parameters; decoded strictly
	// Eclipses names checks that stay silent at and below a path where this one fires:
	// the cause hides the consequence.
	Eclipses []string
	// Run reports through the pass.
	Run func(*Pass)
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

// covers says whether the check looks at jobs of a kind and its operator.
func (c *Check) covers(groupKind string, operator *kinds.Operator) bool {
	return (len(c.Kinds) == 0 || slices.Contains(c.Kinds, groupKind)) && (c.Where == nil || c.Where(operator))
}

// KindNames are the kinds that the check looks at, in the order of their names; empty: every kind.
func (c *Check) KindNames() []string {
	var out []string
	all := kinds.All()
	for _, k := range all {
		if slices.ContainsFunc(k.Operators(), func(o *kinds.Operator) bool { return c.covers(k.GroupKind(), o) }) {
			out = append(out, k.Name)
		}
	}
	if len(out) == len(all) {
		return nil
	}
	return out
}
