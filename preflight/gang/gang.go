package gang

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// Gang is what has to run together.
type Gang struct {
	Name       string
	Namespace  string
	Groups     []Group
	MinMembers int    // 0: all of them
	MinField   string // the name of the field where the job writes MinMembers, and nothing else; empty: nowhere
	// Queue is what else decides when the pods start; empty: nothing.
	Queue string
	// Own says whether a pod that exists belongs to the gang, and to which group: where
	// it has a node, it keeps its place and counts as placed. nil: no pod of the gang
	// exists yet. Only pods of the gang's namespace are asked about; of a pod it sees name,
	// labels, annotations and node, for as long as the call.
	Own func(*corev1.Pod) (group string, ok bool)
	// OwnLabels are labels that every pod has which Own says yes to: others need not be
	// asked about. Empty: all are.
	OwnLabels map[string]string

	System QueueSystem // whose queue it is
	At     job.Path    // where the queue is named
	// QueuePriority is the priority class of Kueue's own that the job names; empty: none.
	QueuePriority string
	unnamed       bool                 // the API server makes the job's name: its pods cannot be told from others' yet
	Untied        string               // how all pods have to lie to each other, where no affinity says it; empty: nothing is asked
	Unread        string               // what else its pods are written in, and why that was not read; empty: all was
	Self          schema.GroupResource // the job's own resource, which quotas may count; empty: not known
	Exists        bool                 // the job is stored already
	Paused        bool                 // the job asks for no pods now
	Stopped       bool                 // a user ended the job before its time
	Arrived       bool                 // an API server asks about the job: its namespace is there, whether it was seen or not
	Manager       string               // the controller that has the job instead of its kind's own; empty: none
	UID           string               // of the stored job; empty: it is not, or that is not known
	QueueOfPods   bool                 // the queue of Kueue is named where Kueue reads it on pods alone, if at all
	Prebuilt      string               // the Workload that somebody else makes for the job; empty: Kueue does
	// NodesOnly asks about nodes and nothing before them: the pods exist, so whatever
	// could have refused them has let them in.
	NodesOnly bool
}

// Group is a number of equal pods.
type Group struct {
	Name  string
	Count int
	Min   int // Min < Count only for elastic roles
	Pod   job.Pod
	After []string // groups that have completed before this one starts: they do not run together
	// Single says that the role has one pod, whatever else changes.
	Single       bool
	Path         job.Path // where the number of pods is written; empty: nowhere
	Written      int      // the number of pods that is written there, where fewer are enough and Kueue counts it all the same; 0: it does not
	Each         int      // pods that one of what is counted there makes; 0: they are the pods
	Beside       int      // pods of other roles that are counted there, too
	Field        string   // the name of the field at Path, where that holds the number and no other; empty: it does not
	LeastField   string   // the field that says that fewer are not enough; empty: none does
	LeastNumber  int      // what it says
	Jobs         int      // batch Jobs that are made for the pods, at least
	Services     int      // that are made for the pods, at least
	StatefulSets int      // that are made for the pods
	Along        string   // the role with each of whose pods equally many of these come; empty: none
	Launch       *job.Launch
	// Workload and its group are what pods of Kubernetes 1.35 name instead of a pod group.
	Workload, WorkloadGroup string
	// Unplaced is the pod without what its queue adds to it when it lets the job in; nil: nothing is added.
	Unplaced *job.Pod
	Flavors  []string // of Kueue, whose labels and tolerations were added
	// Untied is how the pods have to lie to each other, where their affinity does not say it; empty: it does.
	Untied string
	// Near is the annotation for which the last required term of the pod affinity stands; empty: the author wrote all.
	Near string
	// Parts are those of the role, which is not taken apart yet; nil: it has none.
	Parts    *job.Parts
	Declared int // the pods of the role with those that have completed
	// Part says which part of its role the group is; nil: it is all of the role.
	Part *Part
}

// Part is one of several equal parts of a role; its pods have a label with a value of their own.
type Part struct {
	Label, Value string
	By           string // the annotation that asks for it
}

// Of is what of a job has to run together.
func Of(j *job.Job) Gang {
	if j == nil {
		return Gang{}
	}
	g := Gang{
		Name: j.Ref.Name, Namespace: j.Ref.Namespace,
		MinMembers: max(0, j.Gang.MinMembers), Queue: j.Gang.Queue, Exists: j.Ref.UID != "", UID: j.Ref.UID, Manager: j.ManagedElsewhere, Paused: j.Suspended,
	}
	if gvk := schema.FromAPIVersionAndKind(j.Ref.APIVersion, j.Ref.Kind); gvk.Kind != "" {
		plural, _ := meta.UnsafeGuessKindToResource(gvk) // the plural in lower case
		g.Self = plural.GroupResource()
	}
	if writes(j, j.Gang.Path, j.Gang.MinMembers) {
		g.MinField = string(j.Gang.Path[strings.LastIndexByte(string(j.Gang.Path), '.')+1:])
	}
	g.System, g.At = QueueOf(j)
	if j.Source != nil {
		g.QueuePriority = j.Source.GetLabels()[QueuePriorityLabel]
		g.QueueOfPods = g.System == Kueue && g.At != "" && j.Source.GetLabels()[QueueLabel] == ""
		g.Prebuilt = cmp.Or(j.Source.GetAnnotations()[prebuiltMark], j.Source.GetLabels()[prebuiltMark])
	}
	g.Groups = slices.Grow(g.Groups, len(j.Roles))
	for i := range j.Roles {
		r := &j.Roles[i]
		most := max(0, r.Replicas.Max, r.Replicas.Min)
		workload, of := workloadRef(j, r)
		g.Groups = append(g.Groups, Group{
			Workload: workload, WorkloadGroup: of, Parts: r.Parts, Declared: most,
			Name: r.Name, Count: most, Min: min(max(0, r.Replicas.Min), most), Pod: r.Pod.WithMarks(), After: r.After, Single: r.Single, Path: r.ReplicasPath, Each: r.PodsEach,
			Beside: r.PodsBeside, Jobs: r.Jobs, Services: r.Services, StatefulSets: r.StatefulSets, Along: r.Along, Launch: &r.Launch,
		})
		group := &g.Groups[i]
		group.Written = queued(j, r)
		if written, whole := group.Number(most); whole && writes(j, group.Path, written) {
			group.Field = string(group.Path[strings.LastIndexByte(string(group.Path), '.')+1:])
		}
		group.LeastNumber, group.LeastField = least(j, r)
	}
	g.tied(j)
	if u := j.RuntimeUnread(); u != nil {
		g.Unread = string(u.Path) + ": " + u.String()
	}
	return g
}

// least is the number below which a role says that it has too few pods, and what says so; empty: nothing does.
func least(j *job.Job, r *job.Role) (n int, field string) {
	written, ok := j.Field(r.LeastPath).(int64)
	if r.LeastPath == "" || !ok {
		return 0, ""
	}
	field = string(r.LeastPath[strings.LastIndexByte(string(r.LeastPath), '.')+1:])
	if strings.HasPrefix(string(r.LeastPath), string(r.Path)+".") { // of this role of several
		field = r.Name + "." + field
	}
	return int(min(max(0, written), math.MaxInt32)), field
}

// writes says whether a job has a number at a path.
func writes(j *job.Job, at job.Path, n int) bool {
	if j.Source == nil || at == "" {
		return false
	}
	switch v := j.Field(at).(type) {
	case int64:
		return v == int64(n)
	case float64:
		return v == float64(n)
	}
	return false
}

// Completed takes pods of a role out that have completed and are not made again: they need no place, and those that wait for
// them wait no longer.
func (g *Gang) Completed(role string, pods int) {
	for i := range g.Groups {
		group := &g.Groups[i]
		if group.Name != role {
			continue
		}
		n := min(max(0, pods), group.Count)
		if n == 0 {
			continue
		}
		group.Count -= n
		group.Field, group.LeastField, g.MinField = "", "", "" // the numbers that are written are those of all
		group.Min = max(0, group.Min-n)
		if g.MinMembers > 0 {
			g.MinMembers = max(1, g.MinMembers-n)
		}
		pods -= n
	}
}

// Number is what is written at Path for so many pods; whole: a number makes exactly these.
func (g *Group) Number(pods int) (n int, whole bool) {
	each := max(1, g.Each)
	return pods/each + g.Beside, pods%each == 0
}

// Pods is the number of pods of all groups.
func (g Gang) Pods() int {
	n := int64(0)
	for _, group := range g.Groups {
		n = saturate.Add(n, int64(max(0, group.Count)))
	}
	return int(n)
}

// The states in which a job's pods do not start; the zero State is none of them.
const (
	Suspended State = "suspended" // by Kueue, which suspends the jobs of its queues and resumes those that it admits
	Paused    State = "paused"    // by its author
	Stopped   State = "stopped"   // by somebody, for good
)

// State is what keeps the pods of a job from starting.
type State string

// State is what keeps the gang's pods from starting; empty: nothing does.
func (g Gang) State() State {
	switch {
	case g.Stopped:
		return Stopped
	case !g.Paused || g.NodesOnly:
		return ""
	case g.System == Kueue && g.Queue != "" && !g.QueueOfPods:
		return Suspended
	}
	return Paused
}

// Held is why no pods start before somebody changes the job; empty: they may.
func (g Gang) Held() string {
	switch state := g.State(); state {
	case "":
		return ""
	case Suspended:
		return string(state) + ": no pods start before queue " + strconv.Quote(g.Queue) + " admits the job"
	default:
		return string(state) + ": no pods will start"
	}
}

// Least is how many pods of the group the gang cannot do without.
func (g *Group) Least() int {
	if g.Min > 0 && g.Min < g.Count {
		return g.Min
	}
	return max(0, g.Count)
}

// PriorityClass is the first priority class that a group names; empty: none does.
func (g Gang) PriorityClass() string {
	for _, group := range g.Groups {
		if class := group.Pod.Spec.PriorityClassName; class != "" {
			return class
		}
	}
	return ""
}

// Index finds a group by name, -1 if there is none.
func (g Gang) Index(name string) int {
	return slices.IndexFunc(g.Groups, func(o Group) bool { return o.Name == name })
}

// Indexes finds the group of a pod of a role: of its part, where the pod says of which it is; -1: there is none.
func (g Gang) Indexes() func(role string, p *corev1.Pod) int {
	first, of := make(map[string]int, len(g.Groups)), map[[2]string]int{} // by role; by role and part
	for i := range g.Groups {
		group := &g.Groups[i]
		if _, there := first[group.Name]; !there {
			first[group.Name] = i
		}
		if group.Part != nil {
			of[[2]string{group.Name, group.Part.Value}] = i
		}
	}
	return func(role string, p *corev1.Pod) int {
		at, ok := first[role]
		if !ok {
			return -1
		}
		if part := g.Groups[at].Part; part != nil {
			if own, ok := of[[2]string{role, p.Labels[part.Label]}]; ok {
				return own
			}
		}
		return at
	}
}

// WorkloadKind holds the groups of Kubernetes 1.35, and workloadRef is how a pod names one;
// the field is gone from later versions, so it is looked up where the job is written
// (https://github.com/kubernetes/kubernetes/blob/v1.35.0/staging/src/k8s.io/api/scheduling/v1alpha1/types.go).
var WorkloadKind = schema.GroupVersionKind{Group: "scheduling.k8s.io", Version: "v1alpha1", Kind: "Workload"}

func workloadRef(j *job.Job, r *job.Role) (name, group string) {
	if j.Source == nil {
		return "", ""
	}
	v, _ := r.Pod.At("workloadRef").Resolve(j.Source.Object)
	ref, _ := v.(map[string]any)
	name, _ = ref["name"].(string)
	group, _ = ref["podGroup"].(string)
	return name, group
}
