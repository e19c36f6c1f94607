package control

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// GangShort is a gang of which too few pods exist to be scheduled.
var GangShort = rule("gang-members-missing", "the gang waits for pods that do not exist", "operator-silent", signature.Symptom,
	signature.Nobody, signature.RetryUnknown,
	"The gang scheduler starts a gang when as many of its pods exist as minMember says, and fewer do.", "Why they were not made: the events of the job say so where something refused them.",
	"Read the events of the job: quotas, webhooks and admission refuse pods there.\nCompare minMember of the PodGroup with the replicas of the job.")

// tooFew says that a gang has fewer members than it waits for.
func tooFew(conditions []any) bool {
	return slices.ContainsFunc(conditions, func(v any) bool {
		one, _ := v.(map[string]any)
		return one["type"] == "SufficientGroupMember" && one["status"] == "False"
	})
}

// readPodGroup reads why T9k's scheduler has not started a gang: its PodGroup says so in conditions
// (PodGroup of scheduler.tensorstack.dev/v1beta1: GroupScheduled, SufficientGroupMember).
func readPodGroup(c *evidence.Bundle, catalog *signature.Catalog) []evidence.Observation {
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
			if one["status"] != "False" || kind != "GroupScheduled" && kind != "SufficientGroupMember" {
				continue
			}
			known := catalog.ByID("gang-unschedulable")
			switch {
			case strings.Contains(reason, "Quota") || strings.Contains(reason, "Queue"):
				known = catalog.ByID("queue-quota")
			case kind == "SufficientGroupMember":
				known = GangShort
			case tooFew(conditions):
				continue // a gang that is not whole is not tried
			}
			if known == nil {
				continue
			}
			text := strings.TrimSuffix(fmt.Sprintf("PodGroup/%s: %s=False %s: %s", u.GetName(), kind, reason, message), ": ")
			out = append(out, evidence.Observation{
				Signature: known, Line: text, Platform: true,
				Item: evidence.Item{ID: evidence.ID("PodGroup/" + u.GetName() + "/" + kind), Kind: evidence.Status, Text: text, Times: 1, Source: evidence.Source{Rank: -1}},
			})
		}
	}
	return out
}
