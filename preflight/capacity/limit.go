package capacity

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// Limit is a rule between the job and the nodes that the job does not keep. Whatever room
// the nodes have, it refuses pods or holds them back.
type Limit struct {
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
}

// Rule is what a limit is about.
type Rule string

// The rules, in the order in which a pod meets them.
const (
	RuleQueueMissing Rule = "queue-missing" // nobody will ever take the job up
	RuleQueueClosed  Rule = "queue-closed"  // somebody stopped the queue
	RuleQueueQuota   Rule = "queue-quota"   // the queue has less than the job asks for
	RuleRange        Rule = "limit-range"   // one pod or container is outside a LimitRange
	RuleAmount       Rule = "amount"        // a ResourceQuota needs an amount that a container does not say
	RuleQuota        Rule = "quota"         // the job in sum is above a ResourceQuota
	RuleMembers      Rule = "members"       // a pod group waits for more pods than the job has
	RuleDevices      Rule = "devices"       // more devices (DRA) than are published
	RulePool         Rule = "node-pool"     // whoever adds nodes may not add enough of them
)

var ruleOrder = []Rule{RuleQueueMissing, RuleQueueClosed, RuleQueueQuota, RuleRange, RuleAmount, RuleQuota, RuleMembers, RuleDevices, RulePool}

// When says whether waiting helps.
type When int

// The zero value is what nobody has worked out; it is in no Result.
const (
	Unsure When = iota
	Now         // others hold what is left, or somebody stopped something: it may change
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
func (l Limit) Owner() string {
	return job.Ref{Kind: l.Kind, Namespace: l.Namespace, Name: l.Name}.String()
}

// String is who limits and what is, with both numbers.
func (l Limit) String() string { return l.Owner() + ": " + l.Message }

// sortLimits puts what no waiting helps against first, then the order in which pods meet
// the rules.
func sortLimits(all []Limit) {
	type named struct {
		Limit
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
		all[i] = sorted[i].Limit
	}
}

// asStored is the gang with its pods as the API server would store them, and in the queue
// that is filled in where it names none.
func asStored(s *cluster.Snapshot, g gang.Gang) gang.Gang {
	if s == nil || s.Rules() == nil {
		return g
	}
	return defaulted(s, admitted(s, g))
}

// Limits are the rules between a gang and the nodes that it does not keep, gravest first;
// they are in the Result of its Fit too. The nodes do not matter.
func Limits(s *cluster.Snapshot, g gang.Gang) []Limit {
	if s == nil || s.Rules() == nil {
		return nil
	}
	limits, _ := obstacles(s, asStored(s, g))
	return limits
}

// limit adds what lies before the nodes to an answer about them.
func limit(s *cluster.Snapshot, r *Result, g gang.Gang) {
	if s == nil || s.Incomplete() != "" || s.Rules() == nil || g.NodesOnly {
		return
	}
	limits, notes := obstacles(s, g)
	r.Limits = limits
	r.Assumed = append(r.Assumed, notes...)
	r.Assumed = append(r.Assumed, s.UnreadRules(g.Namespace)...)
	barren(s, r, g)
	switch {
	case r.Blocked():
		r.WaitsForOthers = false
	case r.Held() && r.Verdict == Fits:
		r.WaitsForOthers = true
	}
}

// obstacles finds the rules between the gang and the nodes that it does not keep, and
// what could not be judged. The pods are those of admitted.
func obstacles(s *cluster.Snapshot, g gang.Gang) (limits []Limit, notes []string) {
	if g.Pods() == 0 {
		return nil, nil
	}
	o := &obstacle{s: s, gang: g, exist: exist(s, g)}
	o.judge()
	return o.limits, o.notes
}

// judge goes through all rules.
func (o *obstacle) judge() {
	o.ranges()
	o.quotas()
	o.queue()
	o.members()
	o.pools()
	o.devices()
	sortLimits(o.limits)
}

// obstacle collects what lies between one gang and the nodes.
type obstacle struct {
	s      *cluster.Snapshot
	gang   gang.Gang
	exist  []int   // pods by group that exist: they have been let in, and are counted as used
	sets   [][]int // of groups that run together; set where quotas are judged
	limits []Limit
	notes  []string
}

func (o *obstacle) add(l Limit) { o.limits = append(o.limits, l) }

func (o *obstacle) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(o.notes, text) {
		o.notes = append(o.notes, text)
	}
}

// exist counts the live pods of the gang, group by group, whether they have a node or not.
func exist(s *cluster.Snapshot, g gang.Gang) []int {
	out := make([]int, len(g.Groups))
	in := s.PodLists()[g.Namespace]
	if g.Own == nil || in == nil {
		return out
	}
	var scratch corev1.Pod
	for p := range in.With(cluster.HashLabels(g.OwnLabels)) {
		if p.Deleted() {
			continue
		}
		if name, ok := g.Own(p.Metadata(&scratch)); ok {
			if i := g.Index(name); i >= 0 {
				out[i]++
			}
		}
	}
	return out
}

// wanted is how many pods of a group the gang cannot do without; missing is how many of
// them do not exist yet.
func (o *obstacle) wanted(i int) int64 { return int64(o.gang.Groups[i].Least()) }

func (o *obstacle) missing(i int) int64 { return max(0, o.wanted(i)-int64(o.exist[i])) }

// together are the sets of groups whose pods certainly exist at the same time.
func (o *obstacle) together() [][]int {
	var out [][]int
	for _, stage := range o.gang.Stages() {
		out = append(out, o.gang.Beside(stage))
	}
	return out
}

// largest is where the job says how many pods it has: the group that asks for most of a
// resource, per pod times pods; ties go to the first.
func (o *obstacle) largest(each []job.Resources, name corev1.ResourceName) (at job.Path) {
	best := int64(-1)
	for i := range o.gang.Groups {
		g := &o.gang.Groups[i]
		if n := saturate.Mul(each[i][name], o.wanted(i)); n > best {
			best, at = n, g.Path
		}
	}
	return at
}

// rolesFor lists the groups that ask for a resource: "1 Master + 3 Workers".
func (o *obstacle) rolesFor(each []job.Resources, name corev1.ResourceName) string {
	var out []string
	for i := range o.gang.Groups {
		if each[i][name] > 0 && o.wanted(i) > 0 {
			out = append(out, words.Pods(o.gang.Groups[i].Name, int(o.wanted(i))))
		}
	}
	return strings.Join(out, " + ")
}

// Answer is the whole answer in one word: the verdict about the nodes, or the name of
// what lies before them where that decides.
func (r Result) Answer() string {
	l, ok := r.stopper()
	switch {
	case !ok && r.Stuck:
		return "no-volume"
	case !ok:
		return r.Verdict.String()
	}
	switch l.Rule {
	case RuleQueueMissing:
		return "no-queue"
	case RuleQueueClosed:
		return "queue-closed"
	case RuleQueueQuota:
		return "over-queue"
	case RuleRange, RuleAmount:
		return "outside-limits"
	case RuleMembers:
		return "short-gang"
	case RulePool:
		return "over-pool"
	case RuleDevices:
		return "no-devices"
	case RuleQuota:
	}
	return "over-quota"
}

// stopper is the limit that decides more than the nodes do: one that lasts for ever where
// the nodes would take the pods sooner or later, and any where they take them now.
func (r Result) stopper() (Limit, bool) {
	switch {
	case len(r.Limits) == 0 || r.Verdict == TooBig && r.Limits[0].When != Never:
		return Limit{}, false
	case r.Limits[0].When == Never, r.Verdict == Fits, r.Verdict == Unknown:
		return r.Limits[0], true
	}
	return Limit{}, false
}

// Blocked says that a rule before the nodes stops the job for good.
func (r Result) Blocked() bool { return len(r.Limits) > 0 && r.Limits[0].When == Never }

// Held says that a rule before the nodes stops the job, now or for good.
func (r Result) Held() bool { return len(r.Limits) > 0 }

// phrase is what a limit means for the job, without numbers.
func (l Limit) phrase() string {
	never := l.When == Never
	switch l.Rule {
	case RuleQueueMissing:
		return "the queue does not exist"
	case RuleQueueClosed:
		return "the queue takes no jobs"
	case RuleQueueQuota:
		if never {
			return "more than the queue may ever give"
		}
		return "more than the queue has left now"
	case RuleRange:
		return "outside the LimitRange"
	case RuleAmount:
		return "refused by the ResourceQuota"
	case RuleMembers:
		return "the pod group waits for more pods than there are"
	case RulePool:
		return "more than the node pools may add"
	case RuleDevices:
		return "more devices than are published"
	case RuleQuota:
	}
	if never {
		return "more than the ResourceQuota allows"
	}
	return "more than is left of the ResourceQuota now"
}

// limited puts what lies before the nodes in front of a headline about them.
func (r Result) limited(nodes string) string {
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
	return l.phrase() + "; " + nodes
}

// limitsText is every limit that is not kept, in one line.
func (r Result) limitsText() string {
	out := make([]string, len(r.Limits))
	for i, l := range r.Limits {
		out[i] = l.String()
	}
	return strings.Join(out, "; ")
}
