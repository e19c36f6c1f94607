package get

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
)

// JobRow is one job as get jobs shows it: what its operator says, and what the controller wrote on it.
type JobRow struct {
	Context    string     `json:"context,omitempty"` // of the kubeconfig; only where there are several
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Namespace  string     `json:"namespace"`
	Name       string     `json:"name"`
	Created    time.Time  `json:"created"`
	State      string     `json:"state"`
	Since      *time.Time `json:"since,omitempty"`   // of the wait of a job that waits, else of the state; where it is known
	Healthy    string     `json:"healthy"`           // Yes, No, Unknown; empty: not diagnosed yet
	Verdict    string     `json:"verdict,omitempty"` // of the diagnosis
	Category   string     `json:"category,omitempty"`
	Owner      string     `json:"owner,omitempty"`
	Pod        string     `json:"pod,omitempty"` // of the first cause
	Node       string     `json:"node,omitempty"`
	Nodes      []string   `json:"nodes,omitempty"` // of all pods that have one and have not ended
	Devices    int64      `json:"devices"`         // accelerators that all pods ask for
	Held       *int64     `json:"held,omitempty"`  // those of pods that have a node; nil: not known
	Queue      string     `json:"queue,omitempty"`
	Waiting    string     `json:"waiting,omitempty"`
	Error      string     `json:"error,omitempty"`

	Warned controller.Remembered `json:"-"` // for list checks --outcomes
	Pods   []labels.Selector     `json:"-"` // of its pods, until they are looked for
}

var phaseNames = map[kinds.Phase]string{
	kinds.PhaseUnknown: "-", kinds.Created: "Created", kinds.Running: "Running", kinds.Restarting: "Restarting",
	kinds.Suspended: "Suspended", kinds.Succeeded: "Succeeded", kinds.Failed: "Failed",
}

// rowOf reads one job. What cannot be read is left out of the row.
func rowOf(k *kinds.Kind, o *unstructured.Unstructured) (r JobRow) {
	r = JobRow{
		APIVersion: o.GetAPIVersion(), Kind: k.Name, Namespace: o.GetNamespace(), Name: o.GetName(),
		Created: o.GetCreationTimestamp().UTC(), State: "-",
	}
	annotations := o.GetAnnotations()
	r.Healthy, r.Error, r.Waiting = annotations[controller.Healthy], annotations[controller.Error], annotations[controller.Waiting]
	r.Warned, _ = controller.WarnedOn(o)
	var d struct {
		Verdict  string `json:"verdict"`
		Category string `json:"category"`
		Root     struct{ Owner, Pod, Node string }
	}
	if json.Unmarshal([]byte(annotations[controller.Diagnosis]), &d) == nil {
		r.Verdict, r.Category, r.Owner, r.Pod, r.Node = d.Verdict, d.Category, d.Root.Owner, d.Root.Pod, d.Root.Node
	}
	r.Queue = o.GetLabels()["kueue.x-k8s.io/queue-name"]
	defer func() { _ = recover() }() // a status or a spec that no reader understands
	state := k.State(o)
	r.State = phaseNames[state.Phase]
	if at, waits := controller.WaitsSince(r.Waiting); waits {
		r.Since = &at // the operator's word is older: a job stays "Running" while one of its pods was preempted
	} else if at, err := time.Parse(time.RFC3339, state.Since); err == nil {
		at = at.UTC()
		r.Since = &at
	}
	if r.Since != nil && r.Since.Before(r.Created) { // a wait is told to the minute
		r.Since = &r.Created
	}
	j, _ := k.Read(o, nil) // as far as it can be read
	if j == nil {
		return r
	}
	if r.Queue == "" {
		r.Queue = j.Gang.Queue
	}
	for i := range j.Roles {
		r.Devices = saturate.Add(r.Devices, saturate.Mul(j.Roles[i].Pod.GPUs().N, int64(j.Roles[i].Replicas.Max)))
	}
	return r
}

// key names a job among those of all kinds.
func (r *JobRow) key() string { return r.Context + "/" + r.Kind + "/" + r.Namespace + "/" + r.Name }

// cause is the category, with a question mark where the diagnosis says that the cause was not shown.
func (r *JobRow) cause() string {
	if r.Verdict == string(diagnose.Inconclusive) && r.Category != "" {
		return r.Category + "?"
	}
	return r.Category
}

// place is the namespace, with the cluster where there are several.
func (r *JobRow) place() string {
	if r.Context == "" {
		return r.Namespace
	}
	return r.Context + " " + r.Namespace
}

// age is for how long the job exists; a file need not say.
func (r *JobRow) age(now time.Time) string {
	if r.Created.IsZero() {
		return "-"
	}
	return duration.HumanDuration(now.Sub(r.Created))
}

// since is for how long the state, or the wait, has been, as AGE is written.
func (r *JobRow) since(now time.Time) string {
	if r.Since == nil {
		return "-"
	}
	return duration.HumanDuration(now.Sub(*r.Since))
}

// rank is how early a job stands in a list of what hurts.
func (r JobRow) rank() int {
	over := r.State == "Succeeded" || r.State == "Failed"
	switch {
	case r.Healthy == "No" && !over:
		return 0
	case r.Healthy == "No":
		return 1
	case r.Waiting != "":
		return 2
	case r.Healthy == "Unknown" && !over:
		return 3
	case !over:
		return 4
	}
	return 5
}

// hurt is how many device hours a job has cost in its state, by the devices that it holds.
func (r JobRow) hurt(now time.Time) float64 {
	from := r.Created
	if r.Since != nil {
		from = *r.Since
	}
	devices := r.Devices
	if r.Held != nil {
		devices = *r.Held
	}
	return float64(max(1, devices)) * now.Sub(from).Hours()
}

// SortRows brings rows into an order: by what hurts, by age or by name.
func SortRows(rows []JobRow, by string, now time.Time) {
	name := func(r JobRow) string { return r.Context + "/" + r.Namespace + "/" + r.Name + "/" + r.Kind }
	slices.SortStableFunc(rows, func(a, b JobRow) int {
		switch {
		case by == "age" && !a.Created.Equal(b.Created):
			return b.Created.Compare(a.Created)
		case by == "hurt" && a.rank() != b.rank():
			return a.rank() - b.rank()
		case by == "hurt" && a.rank() < 3 && a.hurt(now) != b.hurt(now):
			if a.hurt(now) > b.hurt(now) {
				return -1
			}
			return 1
		}
		return strings.Compare(name(a), name(b))
	})
}
