package fit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/quota"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// noNodesToCome finds out that no autoscaler adds nodes for a pod that none of the nodes there are could
// ever hold: then it is impossible here, autoscaler or not.
func noNodesToCome(s *cluster.Snapshot, r *Result, g gang.Gang) {
	at := g.Index(r.Group)
	if r.Verdict != TooBig || !r.PodTooBig || r.Autoscaler == "" || at < 0 {
		return
	}
	if brings, why := quota.Brings(s, &g.Groups[at].Pod.Spec); brings == job.Absent {
		r.Autoscaler = ""
		r.Assumed = append(r.Assumed, fmt.Sprintf("%s adds no nodes for %s: %s", s.Autoscaler(), r.Group, why))
	}
}

// AddViolations adds what lies before the nodes to an answer about them.
func AddViolations(s *cluster.Snapshot, r *Result, g gang.Gang) {
	if s == nil || s.Incomplete() != "" || s.Rules() == nil || g.NodesOnly {
		return
	}
	limits, notes := quota.Check(s, g)
	r.Violations = limits
	// What rules leave open comes before what the view of the nodes does: where only the first is told, it is this.
	unread := s.UnreadRules(g.Namespace)
	r.Assumed = slices.Insert(r.Assumed, 0, slices.Concat(notes.Told, unread)...)
	if len(notes.Doubts)+len(unread) > 0 && r.Verdict == Fits {
		r.Verdict = Unknown
	}
	noNodesToCome(s, r, g)
	if r.Autoscaler == "" {
		r.Autoscaler = quota.Provisioner(s, g)
	}
	if come := r.NodesToCome(); come != "" {
		r.Assumed = append(r.Assumed, come)
	}
	switch {
	case r.Blocked():
		r.WaitsForOthers = false
	case r.Held() && r.Verdict == Fits:
		r.WaitsForOthers = true
	}
}

// Answer is the whole answer in one word: the verdict about the nodes, or the name of
// what lies before them where that decides.
func (r Result) Answer() string {
	l, ok := r.stopper()
	switch {
	case ok:
		return ruleWords[l.Rule].answer
	case r.Unresolvable:
		return "no-volume"
	default:
		return r.Verdict.String()
	}
}

// ruleWords are what an answer is called that a rule decides, and what it means for the job, without numbers: for good,
// and where it may change.
var ruleWords = map[quota.Rule]struct{ answer, never, now string }{
	quota.RuleQueueMissing: {"no-queue", "the queue does not exist", "the queue does not exist"},
	quota.RuleQueueClosed:  {"queue-closed", "the queue takes no jobs", "the queue takes no jobs"},
	quota.RuleQueueQuota:   {"over-queue", "more than the queue may ever give", "more than the queue has left now"},
	quota.RuleObject:       {"forbidden", "refused by the ", "refused by the "},
	quota.RuleShape:        {"forbidden", "larger than the queue takes", "larger than the queue takes"},
	quota.RuleRange:        {"forbidden", "outside the LimitRange", "outside the LimitRange"},
	quota.RuleAmount:       {"forbidden", "refused by the ", "refused by the "},
	quota.RuleMembers:      {"min-member-unmet", "the pod group waits for more pods than there are", "the pod group waits for more pods than there are"},
	quota.RulePool:         {"node-pool-limit", "more than the node pools may add", "more than the node pools may add"},
	quota.RuleDevices:      {"no-devices", "more devices than are published", "more devices than are published"},
	quota.RuleQuota:        {"over-quota", "more than the ResourceQuota allows", "more than is left of the ResourceQuota now"},
}

// MarshalJSON writes the whole answer in front: the verdict alone would take nodes that have room for a job
// that its quota lets in.
func (r Result) MarshalJSON() ([]byte, error) {
	type plain Result
	return json.Marshal(struct {
		Answer string `json:"answer"`
		plain
	}{r.Answer(), plain(r)})
}

// stopper is the limit that decides more than the nodes do: one that lasts for ever where
// the nodes would take the pods sooner or later, and any where they take them now.
func (r Result) stopper() (quota.Violation, bool) {
	switch {
	case len(r.Violations) == 0 || r.Verdict == TooBig && r.Violations[0].When != quota.Never:
		return quota.Violation{}, false
	case r.Violations[0].When == quota.Never, r.Verdict == Fits, r.Verdict == Unknown:
		return r.Violations[0], true
	}
	return quota.Violation{}, false
}

// Blocked says that a rule before the nodes stops the job for good.
func (r Result) Blocked() bool { return len(r.Violations) > 0 && r.Violations[0].When == quota.Never }

// Held says that a rule before the nodes stops the job, now or for good.
func (r Result) Held() bool { return len(r.Violations) > 0 }

// phrase is what a limit means for the job, without numbers.
func phrase(l quota.Violation) string {
	text := ruleWords[l.Rule].now
	if l.When == quota.Never {
		text = ruleWords[l.Rule].never
	}
	switch {
	case l.Absent():
		return "the " + l.Kind + " does not exist"
	case l.Rule == quota.RuleObject, l.Rule == quota.RuleAmount:
		return text + l.Kind
	case l.Rule == quota.RuleDevices && l.Kind == cluster.ClaimGVK.Kind:
		return "more pods than may share the " + l.Kind
	}
	return text
}

// withViolations puts what lies before the nodes in front of a headline about them.
func (r Result) withViolations(nodes string) string {
	l, ok := r.stopper()
	if !ok {
		return nodes
	}
	if r.Verdict == Fits {
		nodes = fmt.Sprintf("the nodes would take %d of %s", r.Placed, words.Count(r.Wanted, "pod", "pods"))
		if r.Wanted == 1 {
			nodes = "a node would take the pod"
		}
	}
	return phrase(l) + "; " + nodes
}

// violationsText is every limit that is not kept, in one line.
func (r Result) violationsText() string {
	out := make([]string, len(r.Violations))
	for i, l := range r.Violations {
		out[i] = l.String()
	}
	return strings.Join(out, "; ")
}
