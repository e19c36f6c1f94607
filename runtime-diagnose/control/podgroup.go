package control

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// GangShort is a gang of which too few pods exist to be scheduled.
var GangShort = rule("gang-members-missing", "the gang waits for pods that do not exist", "operator-silent", signature.Symptom,
	signature.Nobody, signature.RetryUnknown,
	"The gang scheduler starts a gang when as many of its pods exist as minMember says, and fewer do.", "Why they were not made: the events of the job say so where something refused them.",
	"Read the events of the job: quotas, webhooks and admission refuse pods there.\nCompare minMember of the PodGroup with the replicas of the job.")

// GangUndecided is a gang of which its scheduler does not say whether it can start.
var GangUndecided = rule("gang-undecided", "the scheduler has not said whether the gang can start", "operator-silent", signature.Symptom,
	signature.Platform, signature.RetryUnknown,
	"The PodGroup's condition GroupScheduled is Unknown, and pods of the gang wait without a node.", "That the scheduler is broken: one that starts again, or has not yet looked, writes the same.",
	"Look whether T9k's scheduler runs, and what its log says of the PodGroup: it alone writes the condition.")

// QueueShut is a gang that its queue does not take.
var QueueShut = rule("t9k-queue-refuses", "the queue does not take the gang", "quota-exceeded", signature.Precise,
	signature.User, signature.Useless,
	"T9k's scheduler holds the gang back because of its queue.", "Whether the queue is closed, missing, or not for the job's namespace or shape, unless the condition says so.",
	"Create the job again with another queue in spec.scheduler.t9kScheduler.queue, or ask the administrators to open this one.")

// undecided says that pods of a gang wait and their scheduler does not know whether it can start them.
func undecided(condition map[string]any, pods []Pod) bool {
	return condition["status"] == "Unknown" && condition["type"] == "GroupScheduled" &&
		slices.ContainsFunc(pods, func(p Pod) bool { return p.Phase == corev1.PodPending && !p.Placed && !p.Deleted })
}

// tooFew says that a gang has fewer members than it waits for.
func tooFew(conditions []any) bool {
	return slices.ContainsFunc(conditions, func(v any) bool {
		one, _ := v.(map[string]any)
		return one["type"] == "SufficientGroupMember" && one["status"] == "False"
	})
}

// early says that a scheduler may not have come to a PodGroup yet.
func early(u *unstructured.Unstructured, condition map[string]any, now time.Time) bool {
	since := u.GetCreationTimestamp().Time
	said, _ := condition["lastTransitionTime"].(string)
	if at, err := time.Parse(time.RFC3339, said); err == nil && at.After(since) {
		since = at
	}
	return !since.IsZero() && now.Sub(since) < SilentAfter
}

// ofGang is what a condition of a PodGroup says; nil: nothing of its own, as a gang that is not whole is not tried.
func ofGang(catalog *signature.Catalog, kind, reason, message string, unknown, few bool) *signature.Signature {
	switch {
	case strings.Contains(reason, "Quota") || strings.Contains(strings.ToLower(message), "quota"):
		return catalog.ByID("queue-quota")
	case strings.Contains(reason, "Queue") || strings.Contains(reason, "Shape"):
		return QueueShut
	case unknown:
		return GangUndecided
	case kind == "SufficientGroupMember":
		return GangShort
	case few:
		return nil
	}
	return catalog.ByID("gang-unschedulable")
}

// readPodGroup reads why T9k's scheduler has not started a gang: its PodGroup says so in conditions
// (PodGroup of scheduler.tensorstack.dev/v1beta1: GroupScheduled, SufficientGroupMember).
func readPodGroup(c *evidence.Bundle, pods []Pod, catalog *signature.Catalog) []evidence.Observation {
	var out []evidence.Observation
	for _, u := range c.Objects {
		if u == nil || u.GetKind() != "PodGroup" || !strings.HasPrefix(u.GetAPIVersion(), "scheduler.tensorstack.dev/") || catalog == nil {
			continue
		}
		conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
		for _, v := range conditions {
			one, _ := v.(map[string]any)
			kind, _ := one["type"].(string)
			reason, _ := one["reason"].(string)
			message, _ := one["message"].(string)
			unknown := undecided(one, pods) && !tooFew(conditions) && !early(u, one, c.Now)
			if !unknown && (one["status"] != "False" || kind != "GroupScheduled" && kind != "SufficientGroupMember") {
				continue
			}
			known := ofGang(catalog, kind, reason, message, unknown, tooFew(conditions))
			if known == nil {
				continue
			}
			text := strings.TrimRight(fmt.Sprintf("PodGroup/%s: %s=%v %s: %s", u.GetName(), kind, one["status"], reason, message), ": ")
			out = append(out, evidence.Observation{
				Signature: known, Line: text, Platform: true,
				Item: evidence.Item{ID: evidence.ID("PodGroup/" + u.GetName() + "/" + kind), Kind: evidence.Status, Text: text, Times: 1, Source: evidence.Source{Rank: -1}},
			})
		}
	}
	return out
}
