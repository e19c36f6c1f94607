package control

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// TooOld is a pod that its queue ended because it was older than pods of the queue may be: T9k's Duration Keeper holds
// the job where it can, and says so in an event; else it deletes the pod (the manual of T9k's administrators, "Duration Keeper").
var TooOld = rule("queue-max-duration", "the queue ends pods that are older than its maxDuration", "sigterm-preempted", signature.Precise,
	signature.User, signature.Useless,
	"T9k said that it ended the job's pods for their age, or a pod was deleted while it ran when it was as old as the queue lets pods become, counted from when they were made.",
	"That nobody deleted it by hand at that moment, where no event says so.",
	"Use a queue without maxDuration, or with a longer one.\nSave checkpoints, and continue from the last one: in a new job, or by switching off spec.runMode.pause.enabled of a job of T9k that was paused.")

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
		most, limited := cluster.ParseMaxDuration(written)
		if age := at.Sub(created); limited && age >= most && age < most+lateness {
			return fmt.Sprintf("it was %s old, and queue %s deletes pods older than %s (maxDuration)", words.Short(age), u.GetName(), written), true
		}
	}
	return "", false
}
