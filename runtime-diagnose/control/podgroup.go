package control

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

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
			if strings.Contains(reason, "Quota") || strings.Contains(reason, "Queue") {
				known = catalog.ByID("queue-quota")
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
