package control

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// TooOld is a pod that its queue deleted because it was older than pods of the queue may be.
var TooOld = rule("queue-max-duration", "the queue deletes pods that are older than its maxDuration", "sigterm-preempted", signature.Precise,
	signature.User, signature.Useless,
	"The pod was deleted while it ran, and was then as old as the queue lets pods become, counted from when they were made.",
	"That nobody deleted it by hand at that moment.",
	"Use a queue without maxDuration, or with a longer one.\nSave checkpoints, and continue from the last one in a new job.")

// maxDuration is how T9k's queues write a time: the units in this order, each at most once
// (https://github.com/t9k/user-manuals/blob/22307941/src/modules/scheduling/queue.md).
var maxDuration = regexp.MustCompile(`^(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$`)

var durationUnits = []time.Duration{365 * 24 * time.Hour, 7 * 24 * time.Hour, 24 * time.Hour, time.Hour, time.Minute, time.Second, time.Millisecond}

// parseMaxDuration reads such a time; false: it is none, or no limit.
func parseMaxDuration(text string) (time.Duration, bool) {
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

// lateness is how much later than its time a pod may have been deleted to have been deleted for its age: nobody
// says how often T9k looks.
const lateness = 10 * time.Minute

// tooOld says that a pod was deleted when it had become as old as its queue of T9k lets pods become.
func tooOld(c *evidence.Bundle, created, at time.Time) (says string, ok bool) {
	if c.Job == nil || c.Job.Gang.Queue == "" || created.IsZero() {
		return "", false
	}
	for _, u := range c.Objects {
		if u == nil || u.GetKind() != "Queue" || u.GetName() != c.Job.Gang.Queue || !strings.HasPrefix(u.GetAPIVersion(), "scheduler.tensorstack.dev/") {
			continue
		}
		written, _, _ := unstructured.NestedString(u.Object, "spec", "maxDuration")
		most, limited := parseMaxDuration(written)
		if age := at.Sub(created); limited && age >= most && age < most+lateness {
			return fmt.Sprintf("it was %s old, and queue %s deletes pods older than %s (maxDuration)", words.Short(age), u.GetName(), written), true
		}
	}
	return "", false
}
