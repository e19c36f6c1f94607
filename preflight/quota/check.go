package quota

import (
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

// Stored is the gang with its pods as the API server would store them, in the queue
// that is filled in where it names none, and on the nodes of that queue.
func Stored(s *cluster.Snapshot, g gang.Gang) gang.Gang {
	if s == nil || s.Rules() == nil {
		return g
	}
	return OnNodesOfQueue(s, defaulted(s, admitted(s, g)))
}

// Violations are the rules between a gang and the nodes that it does not keep, gravest first;
// they are in the Result of its Fit too. The nodes do not matter.
func Violations(s *cluster.Snapshot, g gang.Gang) []Violation {
	if s == nil || s.Rules() == nil {
		return nil
	}
	violations, _ := Check(s, Stored(s, g))
	return violations
}

// Check finds the rules between the gang and the nodes that it does not keep, and
// what could not be judged. The pods are those of Stored.
func Check(s *cluster.Snapshot, g gang.Gang) (violations []Violation, notes Notes) {
	if g.Pods() == 0 {
		return nil, Notes{}
	}
	return CheckWith(s, g, Existing(s, g))
}

// Notes are what could not be judged of the rules.
type Notes struct {
	Told   []string // in the order in which it came up
	Doubts []string // those of Told without which a yes is none: as far as is known, a rule refuses the job
	Plain  []string // those of Told that leave nothing open
}

// CheckWith is Check for a gang of whose groups so many pods exist.
func CheckWith(s *cluster.Snapshot, g gang.Gang, exist []int) (violations []Violation, notes Notes) {
	o := &check{s: s, gang: g, exist: exist}
	o.judge()
	return o.violations, Notes{o.notes, o.doubts, o.plain}
}

// judge goes through all rules.
func (o *check) judge() {
	if o.gang.Manager != "" {
		o.doubt("managedBy is %s: which pods that controller makes, and whether in this cluster, is not known", o.gang.Manager)
	}
	o.objects()
	o.limitRanges()
	o.resourceQuotas()
	o.queue()
	o.podGroups()
	o.members()
	o.nodePools()
	o.devices()
	sortViolations(o.violations)
}

// check collects what lies between one gang and the nodes.
type check struct {
	s          *cluster.Snapshot
	gang       gang.Gang
	exist      []int         // pods by group that exist: they have been let in, and are counted as used
	sets       [][]int       // of groups that run together; set where quotas are judged
	taken      job.Resources // by the pods of the namespace; nil: not asked yet
	violations []Violation
	notes      []string
	doubts     []string // among notes
	plain      []string // among notes
}

func (o *check) add(l Violation) { o.violations = append(o.violations, l) }

func (o *check) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(o.notes, text) {
		o.notes = append(o.notes, text)
	}
}

// inform is a note that leaves nothing open.
func (o *check) inform(format string, args ...any) {
	before := len(o.notes)
	o.note(format, args...)
	o.plain = append(o.plain, o.notes[before:]...)
}

// doubt is a note without which a yes is none.
func (o *check) doubt(format string, args ...any) {
	o.note(format, args...)
	o.doubts = append(o.doubts, fmt.Sprintf(format, args...))
}

// Existing counts the live pods of the gang, group by group, whether they have a node or not.
func Existing(s *cluster.Snapshot, g gang.Gang) []int {
	out := make([]int, len(g.Groups))
	in := s.PodLists()[g.Namespace]
	if g.Own == nil || in == nil {
		return out
	}
	var scratch corev1.Pod
	for p := range in.With(cluster.Needed(g.OwnLabels)) {
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
func (o *check) wanted(i int) int64 { return int64(o.gang.Groups[i].Least()) }

func (o *check) missing(i int) int64 { return max(0, o.wanted(i)-int64(o.exist[i])) }

// mostOrderSteps is what it may cost to sort the groups of a gang into stages, and to look at each group beside each stage.
const mostOrderSteps = 1 << 20

// together are the sets of groups whose pods certainly exist at the same time.
func (o *check) together() [][]int {
	var out [][]int
	left := mostOrderSteps
	order, sorted := o.gang.Order(func(steps int) bool { left -= steps; return left >= 0 })
	if !sorted || len(order.Stages) > 1 && len(order.Stages)*len(o.gang.Groups) > mostOrderSteps { // of none it is said that it runs beside another
		o.doubt("which of the %d roles run at the same time is not judged: they wait for each other in too many ways", len(o.gang.Groups))
		for i := range o.gang.Groups {
			out = append(out, []int{i})
		}
		return out
	}
	for _, stage := range order.Stages {
		out = append(out, order.Beside(stage))
	}
	return out
}

// largest is where the job says how many pods it has: the group that asks for most of a
// resource, per pod times pods; ties go to the first.
func (o *check) largest(each []job.Resources, name corev1.ResourceName) (at job.Path) {
	best := int64(-1)
	for i := range o.gang.Groups {
		g := &o.gang.Groups[i]
		if n := saturate.Mul(each[i][name], o.wanted(i)); n > best {
			best, at = n, g.Path
		}
	}
	return at
}

// asksFor says which groups ask for how much of a resource: "1 Master + 3 Workers ask for 32 nvidia.com/gpu".
func (o *check) asksFor(each []job.Resources, name corev1.ResourceName, amount string) string {
	roles, verb := o.rolesFor(each, name), "ask"
	if strings.HasPrefix(roles, "1 ") && !strings.Contains(roles, " + ") {
		verb = "asks"
	}
	if name == corev1.ResourcePods {
		return roles + " " + strings.Replace(verb, "ask", "need", 1) + " " + amount + " pods"
	}
	return fmt.Sprintf("%s %s for %s %s", roles, verb, amount, name)
}

// rolesFor lists the groups that ask for a resource: "1 Master + 3 Workers".
func (o *check) rolesFor(each []job.Resources, name corev1.ResourceName) string {
	var out []string
	for i := range o.gang.Groups {
		if each[i][name] > 0 && o.wanted(i) > 0 {
			out = append(out, words.Pods(o.gang.Groups[i].Name, int(o.wanted(i))))
		}
	}
	return strings.Join(out, " + ")
}
