package control

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Unschedulable is the scheduler's word about one pod:
// "0/N nodes are available: <count reason, …>. <preemption>"; Volcano writes "unavailable".
type Unschedulable struct {
	Pod     string
	Nodes   int // of the cluster; 0: the message does not say
	Reasons []Refusal
	Message string
	Item    evidence.Item
}

// Refusal is why a number of nodes were refused.
type Refusal struct {
	Count    int
	Reason   string
	Resource string // "nvidia.com/gpu" for "Insufficient nvidia.com/gpu"
	Taint    string // as written: "{gpu: true}"
}

// The texts are kube-scheduler's (1.24 to 1.37): pkg/scheduler/framework/types.go FitError
// and the reasons of the plugins beside it. Before 1.11 a reason was a name (MatchNodeSelector,
// pkg/scheduler/algorithm/predicates/error.go), and of extenders it still is (ExceedsGPUQuota,
// CardInsufficientMemory).
var (
	nodesAvailable = lazy.MustCompile(`(\d+)/(\d+) nodes are (?:un)?available`)
	countReason    = lazy.MustCompile(`(?:^|[\s:,])(\d+) ((?:Insufficient|Too many pods|node\(s\)|persistentvolumeclaim|cannot allocate all claims|resourceclaim)[^,]*?)(?:,|\.?\s*$|\. )`)
	namedReason    = lazy.MustCompile(`(?:^|[\s:,])(\d+) ((?:[A-Z]+[a-z]+){2,})\.?\s*$`)
	insufficient   = lazy.MustCompile(`^Insufficient ([A-Za-z0-9./_-]+[A-Za-z0-9])`)
	taintText      = lazy.MustCompile(`taint\(?s?\)?:? ?(\{[^}]*\})`)
	claimText      = lazy.MustCompile(`NoVolumeZoneConflict|NoVolumeNodeConflict|VolumeBindingNoMatch|MaxVolumeCount|(?i)persistentvolumeclaim|unbound|volume node affinity|PersistentVolume's node affinity|available volume zone|max volume count|non-existent pv|persistent volume|enough free storage|no available disk|plugin "VolumeBinding"`)
)

// Old schedulers write the number of nodes behind a reason, and that of the cluster nowhere: "No nodes are available that
// match all of the following predicates:: Insufficient memory (3)."
// (https://kubernetes.io/fr/docs/tasks/configure-pod-container/assign-memory-resource/).
var (
	noNodes     = lazy.MustCompile(`No nodes are available that match all of the (?:following )?predicates: ?:? *`)
	countBehind = lazy.MustCompile(`([^, ][^,]*?) \((\d+)\)`)
)

// boundElsewhere is what is said of a node that does not reach the volume to which a claim is bound
// (ErrReasonNodeConflict of https://github.com/kubernetes/kubernetes/blob/v1.37.0/pkg/scheduler/framework/plugins/volumebinding/binder.go,
// ErrReasonConflict of the plugin VolumeZone, and the names before 1.11).
var boundElsewhere = lazy.MustCompile(`NoVolumeZoneConflict|NoVolumeNodeConflict|volume node affinity conflict|PersistentVolume's node affinity|available volume zone`)

// noDeviceClass is a claim that asks for a class of devices which is not there
// (https://github.com/kubernetes/kubernetes/blob/v1.37.1/pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go).
var noDeviceClass = lazy.MustCompile(`request \S+: device class \S+ does not exist`)

// ParseUnschedulable reads a scheduler's message; ok is false if it is none.
func ParseUnschedulable(message string) (u Unschedulable, ok bool) {
	u.Message = message
	body, _, _ := strings.Cut(message, "preemption:")
	if at := noNodes.FindStringIndex(body); at != nil {
		body, ok = countBehind.ReplaceAllString(body[at[1]:], "$2 $1"), true
	} else if m := nodesAvailable.FindStringSubmatchIndex(body); m != nil {
		u.Nodes, _ = strconv.Atoi(body[m[4]:m[5]])
		body, ok = body[m[1]:], true
	}
	for part := range strings.SplitSeq(body, ", ") {
		m := countReason.FindStringSubmatch(part + ",")
		if m == nil && ok { // behind "nodes are available": a name alone is a word of any log
			m = namedReason.FindStringSubmatch(part)
		}
		if m == nil {
			continue
		}
		f := Refusal{Reason: strings.TrimRight(strings.TrimSpace(m[2]), ".")}
		f.Count, _ = strconv.Atoi(m[1])
		if in := insufficient.FindStringSubmatch(f.Reason); in != nil {
			f.Resource = in[1]
		}
		if t := taintText.FindStringSubmatch(f.Reason); t != nil {
			f.Taint = t[1]
		}
		u.Reasons = append(u.Reasons, f)
		ok = true
	}
	if m := noDeviceClass.FindString(body); m != "" && ok && len(u.Reasons) == 0 { // said of the pod, before any node is looked at
		u.Reasons = []Refusal{{Reason: m}}
	}
	if len(u.Reasons) == 0 && claimText.MatchString(body) {
		u.Reasons = []Refusal{{Count: u.Nodes, Reason: strings.TrimRight(strings.TrimSpace(strings.TrimPrefix(body, ":")), ". ")}}
		ok = true
	}
	return u, ok
}

// The texts are the cluster autoscaler's: of its event NotTriggerScaleUp, which counts groups of
// nodes, and of its log, which names one (cluster-autoscaler/core/scaleup and simulator).
var (
	noScaleUp   = lazy.MustCompile(`didn't trigger scale-up(?: \([^)]*\))?: (\d+ .+)`)
	noPredicate = lazy.MustCompile(`predicate checking error: (.+?)(?:; predicateName=|$)|Scale-up predicate failed: .{1,400}, reason: (.+)`)
)

// ParseNoScaleUp reads why the cluster autoscaler adds no node for a pod: a new node of any group
// would refuse it as the scheduler would. ok is false if a text says no reason.
func ParseNoScaleUp(text string) (Unschedulable, bool) {
	if m := noScaleUp.FindStringSubmatch(text); m != nil {
		return ParseUnschedulable(m[1])
	}
	if m := noPredicate.FindStringSubmatch(text); m != nil {
		return ParseUnschedulable("1 " + m[1] + m[2])
	}
	return Unschedulable{}, false
}

// schedulingRules judge a message, the first that applies. Resources come before filters:
// the nodes that pass every other filter and lack only GPUs are the ones to wait for. A
// filter decides only where no node got as far as the resources. Of filters it is the one that excludes most
// nodes, the first of equal ones.
var schedulingRules = []struct {
	applies func(Refusal) bool
	rule    *signature.Signature
}{
	{func(f Refusal) bool { return noDeviceClass.MatchString(f.Reason) }, rule(
		"device-class-missing", "a device claim of the pod asks for a class that does not exist", "container-config", signature.Precise, signature.User, signature.Useless,
		"The claim names a DeviceClass, which the cluster does not have; the scheduler looks at no node before it has.", "That the name is wrong: the class may come with a driver that is not installed yet.",
		"Correct deviceClassName in the claim or its template: kubectl get deviceclasses lists those that there are.")},
	{func(f Refusal) bool { return boundElsewhere.MatchString(f.Reason) }, rule(
		"unschedulable-volume-elsewhere", "a volume of the pod cannot be reached from nodes that would take it", "unschedulable-pvc", signature.Precise, signature.User, signature.RetryUnknown,
		"The claim is bound, to a volume that these nodes cannot reach: its node affinity or zone is elsewhere. The scheduler asks for volumes after taints, selectors and resources, so these nodes have room for the pod.",
		"Which nodes reach the volume: they may be among those that are refused for other reasons.",
		"See which nodes reach the volume: kubectl get pv $(kubectl get pvc CLAIM -o jsonpath='{.spec.volumeName}') -o jsonpath='{.spec.nodeAffinity}'.\n"+
			"Lift what keeps the pod from the nodes that reach it: one of the other reasons of the message, unless those nodes are gone.\n"+
			"Else copy the data to a volume that nodes with room reach; a new claim is bound where its pod goes if its StorageClass has volumeBindingMode: WaitForFirstConsumer.")},
	{func(f Refusal) bool {
		return claimText.MatchString(f.Reason) && !boundElsewhere.MatchString(f.Reason)
	}, rule(
		"unschedulable-claim", "the pod waits for a volume claim", "unschedulable-pvc", signature.Precise, signature.User, signature.Useless,
		"The claim is missing or unbound, or no volume is there for it.", "That the storage is at fault: a misspelt name looks the same.",
		"Look at the claim (kubectl get pvc): create it, or read its events if it is Pending.\nCheck its StorageClass and its zone.")},
	{func(f Refusal) bool { return isDevice(f.Resource) || namesDevice.MatchString(f.Reason) }, rule(
		"unschedulable-gpu", "not enough free GPUs", "unschedulable-gpu", signature.Precise, signature.User, signature.RetryUnknown,
		"No node that passes the other filters has enough free devices for one pod.", "That the cluster lacks them: they may be free on several nodes, a few each.",
		"Ask for fewer GPUs per pod, start fewer pods, or wait for running jobs to end.\nIf no node offers the resource at all, the device plugin is missing.")},
	{func(f Refusal) bool {
		return strings.Contains(f.Reason, "allocate all claims") || strings.Contains(f.Reason, "resourceclaim")
	}, rule(
		"unschedulable-device-claim", "no node can satisfy the pod's device claims", "unschedulable-gpu", signature.Precise, signature.User, signature.RetryUnknown,
		"Dynamic resource allocation found no free devices that fit the claims of one pod.", "That the devices are taken: a selector or constraint of the claim may fit none.",
		"Compare the claim's device class and selectors with kubectl get resourceslices.\nElse wait for running jobs to end.")},
	{func(f Refusal) bool { return f.Resource != "" || strings.HasPrefix(f.Reason, "Too many pods") }, rule(
		"unschedulable-cpu-memory", "not enough free CPU or memory", "unschedulable-cpu-memory", signature.Precise, signature.User, signature.RetryUnknown,
		"No node that passes the other filters has enough free CPU, memory or storage for one pod.", "That the pod needs so much: requests are taken at their word.",
		"Lower the requests to what the job uses, or wait for running jobs to end.\nCompare the request with the largest node's allocatable.")},
	{func(f Refusal) bool { return betweenPods.MatchString(f.Reason) || f.Reason == "MatchInterPodAffinity" }, rule(
		"unschedulable-neighbours", "other pods keep the pod from every node", "unschedulable-affinity", signature.Precise, signature.User, signature.RetryUnknown,
		"Affinity, anti-affinity or a spread between pods leaves the pod no node that passes the other filters.", "That the rule is wrong: it may hold once other pods have ended.",
		"Compare the pod's affinity, anti-affinity and topologySpreadConstraints with the pods that run on those nodes.\nElse wait for them to end.")},
	{func(f Refusal) bool {
		return strings.Contains(f.Reason, "affinity") || strings.Contains(f.Reason, "selector") || strings.Contains(f.Reason, "requested node name") ||
			f.Reason == "MatchNodeSelector" || f.Reason == "HostName"
	}, rule(
		"unschedulable-selector", "no node matches the pod's selector or affinity", "unschedulable-affinity", signature.Precise, signature.User, signature.Useless,
		"No node has the labels that nodeSelector or affinity ask for.", "That the selector is wrong: the nodes may have lost their labels.",
		"Compare nodeSelector and affinity with kubectl get nodes --show-labels.")},
	{func(f Refusal) bool {
		return strings.Contains(f.Reason, "taint") || f.Reason == "PodToleratesNodeTaints"
	}, rule(
		"unschedulable-taint", "the nodes that match are tainted", "unschedulable-taint", signature.Precise, signature.User, signature.RetryUnknown,
		"Nodes have taints that the pod does not tolerate.", "That the pod belongs there: the taint may mark a fault such as disk pressure.",
		"Add a toleration if these nodes are meant for the job.\nTaints of node.kubernetes.io/ mark a condition of the node: that has to end first.")},
	{func(f Refusal) bool {
		return strings.Contains(f.Reason, "unschedulable") || strings.Contains(f.Reason, "unknown condition") || strings.Contains(f.Reason, "not ready") ||
			f.Reason == "NodeUnschedulable" || f.Reason == "NodeNotReady"
	}, rule(
		"unschedulable-nodes-away", "nodes are cordoned or not ready", "node-lost", signature.General, signature.Platform, signature.Helps,
		"Nodes are cordoned or do not report.", "Which of them the job needs.",
		"Ask the administrator when the nodes come back.")},
}

// late are the rules about nodes that have passed the filters by which nodes are chosen: rooms and neighbours are asked
// for after taints, selectors and volumes (https://github.com/kubernetes/kubernetes/blob/v1.37.0/pkg/scheduler/apis/config/v1/default_plugins.go).
var late = map[string]bool{"unschedulable-gpu": true, "unschedulable-cpu-memory": true, "unschedulable-device-claim": true, "unschedulable-neighbours": true}

// betweenPods are the reasons of the plugins InterPodAffinity and PodTopologySpread.
var betweenPods = lazy.MustCompile(`pod (?:anti-)?affinity rules|pods anti-affinity|topology spread`)

// namesDevice is a name of an extender's reason that speaks of devices.
var namesDevice = lazy.MustCompile(`^\w*(?:GPU|Gpu|NPU|Card|Device)\w*$`)

// isDevice says that a resource is a device of any vendor: extended resources carry a
// domain, and hugepages, storage and the like do not.
func isDevice(resource string) bool {
	return strings.Contains(resource, "/") && !strings.HasPrefix(resource, "ephemeral") && !strings.HasPrefix(resource, "rdma/")
}

func (r *reader) unschedulable(pod, message string, item evidence.Item) {
	item.Text = reduce.Plain(item.Text)
	u, ok := ParseUnschedulable(reduce.Plain(message))
	if !ok {
		if !r.match(item.Text, item, false) {
			r.sight(ruleUnschedulableOther, item, nil)
		}
		return
	}
	u.Pod, u.Item = pod, item
	if r.scheduling == nil {
		r.scheduling = map[string]int{}
	}
	r.scheduling[pod] = len(r.seen.Scheduling)
	r.seen.Scheduling = append(r.seen.Scheduling, u)
}

// judgeScheduling runs when every message is in: only the newest of each pod counts.
func (r *reader) judgeScheduling() {
	r.seen.Scheduling = slices.DeleteFunc(r.seen.Scheduling, func(u Unschedulable) bool { return u.Item.ID == "" })
	r.seen.Enough = len(r.seen.Scheduling) > 0 && r.enough()
	for _, u := range r.seen.Scheduling {
		found, facts := Judge(u)
		r.sight(found, u.Item, facts)
		r.seen.Sightings[len(r.seen.Sightings)-1].Over = r.seen.Enough
	}
	if n := len(r.seen.Scheduling); r.seen.Enough {
		others := ""
		if n > 1 {
			others = fmt.Sprintf(" and %d more", n-1)
		}
		r.note("The job is elastic and runs with the pods that it has; without a node: %s%s.", r.seen.Scheduling[0].Pod, others)
		r.seen.Scheduling = nil
	}
}

// Judge says which rule a scheduler's message falls under, with its numbers.
func Judge(u Unschedulable) (*signature.Signature, map[string]string) {
	facts := map[string]string{}
	if u.Nodes > 0 {
		facts["nodes"] = strconv.Itoa(u.Nodes)
	}
	for _, f := range u.Reasons {
		key := f.Reason
		if f.Resource != "" {
			key = "insufficient " + f.Resource
		}
		facts[key] = strconv.Itoa(f.Count)
	}
	found, by, most := ruleUnschedulableOther, Refusal{}, -1
	for _, s := range schedulingRules {
		all := 0
		var first *Refusal
		for i := range u.Reasons {
			if f := &u.Reasons[i]; s.applies(*f) {
				if all += f.Count; first == nil || f.Count > first.Count {
					first = f
				}
			}
		}
		if first == nil || all <= most {
			continue
		}
		found, by, most = s.rule, *first, all
		if late[s.rule.ID] {
			break
		}
	}
	if by.Resource != "" {
		facts["resource"] = by.Resource
	} else if by.Taint != "" {
		facts["taint"] = by.Taint
	}
	return found, facts
}

// Unexplained says that a rule only knows that no node takes a pod: its category is the likeliest, and a guess.
func Unexplained(s *signature.Signature) bool { return s == ruleUnschedulableOther }

// Undecided says that a scheduler's message does not show which of its reasons is to be lifted. The filters run in
// an order (taints, selectors, resources, volumes), and a node counts under the first that refuses it: nodes
// that lack resources have passed the others, but a node that a taint keeps away may be the one that the
// selector means, and volumes refused on some nodes say nothing of those that never got there.
func Undecided(message string) bool {
	u, ok := ParseUnschedulable(message)
	kinds := map[string]bool{}
	for _, f := range u.Reasons {
		found, _ := Judge(Unschedulable{Reasons: []Refusal{f}})
		kinds[found.ID] = true
	}
	return ok && ((kinds["unschedulable-claim"] || kinds["unschedulable-volume-elsewhere"]) && len(kinds) > 1 ||
		kinds["unschedulable-selector"] && kinds["unschedulable-taint"] && len(kinds) == 2)
}

// Sentence is the message in plain words: "none of 15 nodes takes it (10 do not match
// its node selector or affinity, 5 lack free nvidia.com/gpu)".
func (u Unschedulable) Sentence() string {
	var parts []string
	for _, f := range u.Reasons {
		parts = append(parts, f.phrase())
	}
	head := "no node takes it"
	if u.Nodes > 0 {
		head = fmt.Sprintf("none of %d nodes takes it", u.Nodes)
	}
	if len(parts) == 0 {
		return head
	}
	return head + " (" + strings.Join(parts, ", ") + ")"
}

func (f Refusal) phrase() string {
	verb := func(one, many string) string {
		if f.Count == 1 {
			return "1 " + one
		}
		return fmt.Sprintf("%d %s", f.Count, many)
	}
	switch {
	case f.Resource != "":
		return verb("lacks free ", "lack free ") + f.Resource
	case f.Taint != "":
		return verb("is tainted ", "are tainted ") + f.Taint
	case strings.Contains(f.Reason, "taint"):
		return verb("is tainted", "are tainted")
	case strings.Contains(f.Reason, "didn't match Pod's node affinity/selector"):
		return verb("does not match its node selector or affinity", "do not match its node selector or affinity")
	case strings.Contains(f.Reason, "were unschedulable"):
		return verb("is cordoned", "are cordoned")
	case f.Count == 0 || strings.HasPrefix(f.Reason, "pod has ") || strings.HasPrefix(f.Reason, "persistentvolumeclaim "):
		return f.Reason // of the pod, and not of so many nodes
	default:
		return fmt.Sprintf("%d %s", f.Count, f.Reason)
	}
}
