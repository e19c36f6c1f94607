package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/rank"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// remarkSituation says what a job's own settings and its operator's counts mean for what is seen of it.
func (d *diagnosis) remarkSituation() {
	source := d.source()
	if source == nil {
		return
	}
	if on, _, _ := unstructured.NestedBool(source, "spec", "runMode", "debug", "enabled"); on && !d.Job.Suspended {
		d.remark("The job is in debug mode: its pods run and train nothing%s.", d.devicesHeld())
	}
	if on, _, _ := unstructured.NestedBool(source, "spec", "runPolicy", "cleanUpWorkers"); on && d.failed {
		d.remark("cleanUpWorkers is on: the workers and their logs go when the job ends; only the launcher's stay.")
	}
	d.remarkAggregate(source)
	d.remarkNextAttempt(source)
}

// devicesHeld is " and holds 8 GPUs", where the job asks for any.
func (d *diagnosis) devicesHeld() string {
	if n := d.Job.GPUs(); n > 0 {
		return fmt.Sprintf(", and hold %d GPU%s", n, plural(int(n)))
	}
	return ""
}

// remarkAggregate compares the counts of a T9k job with the pods that are there
// (t9k ColossalAIJob manual, status.aggregate).
func (d *diagnosis) remarkAggregate(source map[string]any) {
	counts, _, _ := unstructured.NestedMap(source, "status", "aggregate")
	var parts []string
	alive := int64(0)
	for _, key := range []string{"creating", "pending", "running", "failed"} {
		if n, _ := number(counts[key]); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, key))
			if key != "failed" {
				alive += n
			}
		}
	}
	if alive > 0 && len(d.seen.Pods) == 0 && !slices.ContainsFunc(d.Missing, func(m string) bool { return strings.HasPrefix(m, "pods:") }) {
		d.remark("The operator's aggregate counts %s; no pod of the job exists.", strings.Join(parts, ", "))
	}
}

// remarkNextAttempt says when a Framework that waits between two attempts begins the next
// (frameworkcontroller v0.8.0 pkg/apis/frameworkcontroller/v1/types.go, RetryPolicyStatus.RetryDelaySec).
func (d *diagnosis) remarkNextAttempt(source map[string]any) {
	if d.Job.Ref.Kind != "Framework" {
		return
	}
	state, _, _ := unstructured.NestedString(source, "status", "state")
	policy, _, _ := unstructured.NestedMap(source, "status", "retryPolicyStatus")
	delay, written := number(policy["retryDelaySec"])
	at, err := time.Parse(time.RFC3339, d.State.Since)
	if state == "AttemptCompleted" && written && err == nil {
		d.remark("It waits %d s between attempts: the next attempt begins at %s.", delay, at.Add(time.Duration(delay)*time.Second).UTC().Format("15:04:05"))
	}
}

// readPodGroup reads why T9k's scheduler has not started a gang: its PodGroup says so in conditions
// (PodGroup of scheduler.tensorstack.dev/v1beta1: GroupScheduled, SufficientGroupMember).
func readPodGroup(c Case, catalog *signature.Catalog) []rank.Sighting {
	var out []rank.Sighting
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
			out = append(out, rank.Sighting{
				Signature: known, Line: text, Platform: true,
				Item: evidence.Item{ID: evidence.ID("PodGroup/" + u.GetName() + "/" + kind), Kind: evidence.Status, Text: text, Times: 1, Source: evidence.Source{Rank: -1}},
			})
		}
	}
	return out
}
