package cluster

import (
	"regexp"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// t9kQueue is what of TensorStack's Queue is read, as far as its manual says what it means
// (github.com/t9k/user-manuals fbf6b3cd src/modules/computing-resources/scheduler/queue.md).
type t9kQueue struct {
	Metadata struct {
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec struct {
		Quota struct {
			Requests corev1.ResourceList `json:"requests"`
		} `json:"quota"`
		Closed bool `json:"closed"`
		// Priority decides over other queues, and Preemptible whether they may take what it has; not
		// written they may.
		Priority    int32 `json:"priority"`
		Preemptible *bool `json:"preemptible"`
		// NodeSelector chooses the nodes of the queue; not written: all. NamespaceSelector is one of two ways to
		// use the queue; the other, a right of the user, is not in the cluster's objects.
		NodeSelector      *metav1.LabelSelector `json:"nodeSelector"`
		NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector"`
		// MaxDuration is how old its pods may become; ResourceShapeProfile names an entry of Shapes.
		MaxDuration          string `json:"maxDuration"`
		ResourceShapeProfile string `json:"resourceShapeProfile"`
	} `json:"spec"`
	Status struct {
		Allocated corev1.ResourceList `json:"allocated"`
	} `json:"status"`
}

// maxDuration is how queues of T9k write a time: the units in this order, each at most once
// (https://github.com/t9k/user-manuals/blob/22307941/src/modules/scheduling/queue.md).
var maxDuration = regexp.MustCompile(`^(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$`)

var durationUnits = []time.Duration{365 * 24 * time.Hour, 7 * 24 * time.Hour, 24 * time.Hour, time.Hour, time.Minute, time.Second, time.Millisecond}

// ParseMaxDuration reads the maxDuration of a queue of T9k; false: it is none, or no limit.
func ParseMaxDuration(text string) (time.Duration, bool) {
	m := maxDuration.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	var sum time.Duration
	for i, unit := range durationUnits {
		if m[i+1] == "" {
			continue
		}
		n, err := strconv.ParseInt(m[i+1], 10, 64)
		if err != nil || n > int64(maxAge/unit) {
			return 0, false
		}
		sum += time.Duration(n) * unit
	}
	return sum, sum > 0 && sum <= maxAge
}

// maxAge bounds what is added up: no cluster is as old.
const maxAge = 100 * 365 * 24 * time.Hour

// volcanoQueue is what of Volcano's Queue is read: capability is what its jobs may hold
// together, deserved and guarantee are shares that no job breaks
// (https://github.com/volcano-sh/apis/blob/v1.13.0/pkg/apis/scheduling/v1beta1/types.go).
type volcanoQueue struct {
	Spec struct {
		Capability corev1.ResourceList `json:"capability"`
		Parent     string              `json:"parent"`
	} `json:"spec"`
	Status struct {
		State     string              `json:"state"`
		Allocated corev1.ResourceList `json:"allocated"`
	} `json:"status"`
}
