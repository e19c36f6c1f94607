package quota

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Violation is a rule between the job and the nodes that the job does not keep. Whatever room
// the nodes have, it refuses pods or holds them back.
type Violation struct {
	Rule      Rule   `json:"rule"`
	When      When   `json:"when"`
	Kind      string `json:"kind"` // of the object that limits
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Resource is as the object calls it: requests.nvidia.com/gpu, pods, count/jobs.batch.
	// The amounts are in its base units, cpu in milli-cores; all are 0 where the rule is not
	// about an amount.
	Resource string `json:"resource,omitempty"`
	Asked    int64  `json:"asked"` // Now: by pods that do not exist yet; Never: by all the job cannot do without
	Used     int64  `json:"used"`  // by what exists
	Hard     int64  `json:"hard"`  // the bound

	Path    job.Path `json:"path"`           // of the bound in the object that limits
	Role    string   `json:"role,omitempty"` // whose pods break the rule; empty: all together
	At      job.Path `json:"at,omitempty"`   // where the job says what it asks for; empty: nowhere
	Message string   `json:"message"`        // what is, with both numbers

	Remedy string `json:"-"` // where that of the rule does not help; empty: it does

	// Others are the names there are, where Name is none of them.
	Others []string `json:"others,omitempty"`
}

// Rule is what a limit is about.
type Rule string

// The rules, in the order in which a pod meets them.
const (
	RuleQueueMissing Rule = "queue-missing" // no queue will ever take the job up
	RuleQueueClosed  Rule = "queue-closed"  // the queue was stopped
	RuleQueueQuota   Rule = "queue-quota"   // the queue has less than the job asks for
	RuleObject       Rule = "object"        // the pods name an object that does not exist
	RuleShape        Rule = "queue-shape"   // one pod asks for more than the queue takes of a pod
	RuleRange        Rule = "limit-range"   // one pod or container is outside a LimitRange
	RuleAmount       Rule = "amount"        // a ResourceQuota needs an amount that a container does not say
	RuleQuota        Rule = "quota"         // the job in sum is above a ResourceQuota
	RuleMembers      Rule = "members"       // a pod group waits for more pods than the job has
	RuleDevices      Rule = "devices"       // more devices (DRA) than are published
	RulePool         Rule = "node-pool"     // the autoscaler may not add enough nodes
)

var ruleOrder = []Rule{RuleQueueMissing, RuleQueueClosed, RuleQueueQuota, RuleObject, RuleShape, RuleRange, RuleAmount, RuleQuota, RuleMembers, RuleDevices, RulePool}

// When says whether waiting helps.
type When int

// The zero value is what was not worked out; it is in no Result.
const (
	Unsure When = iota
	Now         // others hold what is left, or something was stopped: it may change
	Never       // broken even when nothing else exists
)

func (w When) String() string {
	switch w {
	case Now:
		return "now"
	case Never:
		return "never"
	case Unsure:
	}
	return "unknown"
}

// MarshalText writes the word that the JSON output uses.
func (w When) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// Owner is "ResourceQuota ml/gpu", the way messages name the object that limits.
func (l Violation) Owner() string {
	return job.Ref{Kind: l.Kind, Namespace: l.Namespace, Name: l.Name}.String()
}

// nameOfObject is the path of a violation by an object that does not exist.
const nameOfObject job.Path = "metadata.name"

// Absent says that the object is missed, not that it limits.
func (l Violation) Absent() bool { return l.Rule == RuleObject && l.Path == nameOfObject }

// String is the object that limits and what is, with both numbers.
func (l Violation) String() string {
	text := l.Owner() + ": " + l.Message
	switch most := 4; len(l.Others) {
	case 0:
	case 1:
		text += "; there is " + l.Others[0]
	default:
		text += "; there are " + strings.Join(l.Others[:min(most, len(l.Others))], ", ")
		if more := len(l.Others) - most; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
	}
	return text
}

// sortViolations puts what no waiting helps against first, then the order in which pods meet
// the rules.
func sortViolations(all []Violation) {
	type named struct {
		Violation
		owner string
		rule  int
	}
	sorted := make([]*named, len(all))
	for i, l := range all {
		sorted[i] = &named{l, l.Owner(), slices.Index(ruleOrder, l.Rule)}
	}
	slices.SortStableFunc(sorted, func(a, b *named) int {
		if a.When != b.When || a.rule != b.rule {
			return cmp.Or(cmp.Compare(b.When, a.When), cmp.Compare(a.rule, b.rule))
		}
		if c := strings.Compare(a.owner, b.owner); c != 0 {
			return c
		}
		return cmp.Or(
			strings.Compare(a.Resource, b.Resource),
			strings.Compare(a.Role, b.Role),
			strings.Compare(string(a.At), string(b.At)),
			strings.Compare(string(a.Path), string(b.Path)),
		)
	})
	for i := range sorted {
		all[i] = sorted[i].Violation
	}
}
