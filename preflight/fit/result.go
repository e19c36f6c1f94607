package fit

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/quota"
)

// Verdict is the answer to "will this gang fit?".
type Verdict int

// The verdicts. The zero value is what was not worked out.
const (
	Unknown    Verdict = iota // not enough was seen to say
	Fits                      // a plan exists; it is in Plan
	TooBig                    // never: not even on the same cluster when it is idle
	Full                      // would fit on an idle cluster; not now
	Fragmented                // enough is free in sum, and not on single nodes
)

var verdictNames = [...]string{"unknown", "fits", "too-big", "full", "fragmented"}

func (v Verdict) String() string {
	if v < 0 || int(v) >= len(verdictNames) {
		return verdictNames[Unknown]
	}
	return verdictNames[v]
}

// MarshalText writes the verdict as the JSON output names it.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// Result is a fit and its proof. A failed fit is a value, never an error.
type Result struct {
	Verdict          Verdict           `json:"verdict"`
	Paused           string            `json:"paused,omitempty"` // why no pods start now, whatever room there is; empty: the job is not paused
	Placed           int               `json:"placed"`           // pods we found a place for
	Wanted           int               `json:"wanted"`
	Plan             []Placement       `json:"plan"`               // proof of Fits, or how far we got
	Shortfall        []Shortfall       `json:"shortfall"`          // what the pods without a place lack
	Rejected         Rejections        `json:"rejected"`           // why nodes were refused to the first group without a place
	Change           string            `json:"change"`             // the smallest change that would make it fit; empty: none found
	Changes          []string          `json:"changes,omitempty"`  // all changes found, Change first
	Idle             string            `json:"idle,omitempty"`     // with how many pods it would fit once nothing runs on the nodes, where nothing makes it fit now; empty: not known
	Smaller          string            `json:"-"`                  // why pods that are no larger than a node do not fit either; empty: they may
	Numbers          [][]Group         `json:"-"`                  // the changes that are numbers and nothing else, each with all groups
	Violations       []quota.Violation `json:"limits,omitempty"`   // rules before the nodes that the job does not keep; gravest first
	Preempts         *Preemption       `json:"preempts,omitempty"` // the pods that would have to go for a gang of higher priority; nil: none are known
	Assumed          []string          `json:"assumed"`            // what was not looked at
	Group            string            `json:"-"`                  // the first group without a place
	WaitsForOthers   bool              `json:"-"`                  // the only objection is that the cluster is busy now
	PodTooBig        bool              `json:"-"`                  // TooBig because of one pod alone, not of their number
	WithNodesBack    bool              `json:"-"`                  // TooBig, though not with the cordoned and unready nodes back
	NotWithNodesBack bool              `json:"-"`                  // TooBig also with those back, which is proven
	Autoscaler       string            `json:"-"`                  // that adds nodes to the cluster; empty: none was seen
	Queue            string            `json:"-"`                  // the queue that decides when the pods start; empty: none

	Asks   []Ask `json:"-"` // what equal groups ask for, in the order of the gang
	Usable int   `json:"-"` // nodes that may take pods, or could when idle

	// Order is the plan, but for the pods that have a place already, in an order in which
	// its pods can be bound one by one; empty: any order will do.
	Order []Placement `json:"-"`
	// Reason is what keeps the pods from a place, where that is not room; empty: room is.
	Reason string `json:"-"`
	// Unresolvable says that no pod is scheduled, whatever room there is, before what Reason
	// names is mended; so does kube-scheduler name it.
	Unresolvable bool `json:"-"`
	// Everywhere says of TooBig that nodes which are added would not help.
	Everywhere bool `json:"-"`

	Running int `json:"-"` // pods of the gang that have a place already; they are among Placed
}

// Refuse takes back what is said of nodes: the API server does not take the job or its pods, so that neither room nor a
// change of numbers helps.
func (r *Result) Refuse(why string) {
	r.Verdict, r.WaitsForOthers, r.Preempts, r.Idle = Unknown, false, nil, ""
	r.Change, r.Changes, r.Numbers = "", nil, nil
	r.Assumed = slices.Insert(r.Assumed, 0, why)
}

// Ask is what groups with equal pods ask for.
type Ask struct {
	Role       string // of the first group
	Roles      string // "1 Master + 5 Workers"
	Pods       int
	Each       job.Resources
	OnePerNode bool // each pod needs a node of its own
	Nodes      int  // that take one of the pods now
}

// Warns says whether the verdict is worth a warning to the user. Where a queue holds the
// job back, being busy or too small is its business: then only a pod that no node could
// ever hold is. Where nodes can be added, the nodes there are prove nothing.
func (r Result) Warns() bool {
	switch r.Verdict {
	case TooBig:
		return r.Autoscaler == "" && (r.PodTooBig || r.Queue == "")
	case Full, Fragmented:
		return r.Autoscaler == "" && r.Queue == ""
	default:
		return false
	}
}

// NodesToCome says of a no that the nodes there are prove, that an autoscaler may add others; empty: nothing is refused,
// none adds any, or no node would help.
func (r Result) NodesToCome() string {
	if !r.Refused() || r.Autoscaler == "" || r.Unresolvable || r.Everywhere {
		return ""
	}
	return r.Autoscaler + " adds nodes; those that it may add are not counted"
}

// Group is the numbers of a group of pods.
type Group struct {
	Name     string
	Count    int
	Requests job.Resources // of one pod
}

// Placement is a number of pods of one role on one node.
type Placement struct {
	Group string `json:"group"`
	Node  string `json:"node"`
	Count int    `json:"count"`
}

// Shortfall compares what is asked with what there is, for one resource.
type Shortfall struct {
	Resource     corev1.ResourceName `json:"resource"`
	Asked        int64               `json:"asked"`       // by all pods
	Free         int64               `json:"free"`        // in sum on nodes that may take the pods
	LargestFree  int64               `json:"largestHole"` // on one node
	LargestAsked int64               `json:"neededHole"`  // by one pod
	LargestPods  int                 `json:"-"`           // pods that need so much on one node
	LargestFit   int                 `json:"-"`           // pods of that size for which there is room now
}

// Rejections counts every node once, for the first reason, in this order.
type Rejections struct {
	Total    int `json:"total"`
	NotReady int `json:"notReady"`
	Cordoned int `json:"cordoned"`
	Selector int `json:"selector"` // node selector and required node affinity
	Taint    int `json:"taint"`
	TooSmall int `json:"tooSmall"` // could not hold one pod even when idle
	Full     int `json:"full"`     // could, when idle
	Other    int `json:"other"`    // host ports, volumes, affinity between pods, spread
	Open     int `json:"open"`     // takes, or took, at least one pod
	// Taints names the taints that refused nodes, most frequent first.
	Taints []string `json:"taints,omitempty"`
	// Selectors are the labels, of the first 16, that the pods select nodes by and that no node has; sorted.
	Selectors []string `json:"selectors,omitempty"`
}
