package control

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// largestStatus bounds what is unpacked of a compressed list of tasks.
const largestStatus = 64 << 20

// readFramework reads the failed tasks of an OpenPAI Framework. A Framework succeeds when
// all tasks are done and no rule of its own was met, failed tasks or not
// (frameworkcontroller pkg/apis/frameworkcontroller/v1/completion.go), so its own word is
// no evidence.
func readFramework(c *evidence.Bundle, catalog *signature.Catalog) []evidence.Observation {
	if c.Job == nil || c.Job.Ref.Kind != "Framework" || c.Job.Source == nil {
		return nil
	}
	var out []evidence.Observation
	own := false // a task failed for a reason of its own
	for _, role := range frameworkRoles(c.Job.Source) {
		r, ok := role.(map[string]any)
		if !ok {
			continue
		}
		roleName, _ := r["name"].(string)
		tasks, _ := r["taskStatuses"].([]any)
		for _, t := range tasks {
			if task, ok := t.(map[string]any); ok {
				if s, failed := failedTask(roleName, task); failed {
					if s.Signature != paiRules[128][1] && taskRan(c, s.Item.Source.Pod) {
						s.Signature = ruleOwn128
					}
					out = append(out, refused(s, completionOf(task), catalog))
					own = own || s.Signature != attemptOver
				}
			}
		}
	}
	if !own { // the attempt ended of a success, of the job's own end or of a stop: that is no failure of the tasks it took along
		out = nil
	}
	if s, failed := failedAttempt(c); failed && !own {
		attempt, _, _ := unstructured.NestedMap(c.Job.Source.Object, "status")
		out = append(out, refused(s, completionOf(attempt), catalog))
	}
	for i := range out {
		if s := &out[i]; s.Signature == attemptOver { // by definition it follows from another task's end
			s.Explained, s.Follower = true, true
		}
	}
	return append(out, retried(c)...)
}

// refused is what is known of a pod that the API server did not take (-120, -200, -310): its own words, in the
// diagnostics, say more than the code, which is the same for a quota and for a webhook that does not answer.
func refused(s evidence.Observation, done map[string]any, catalog *signature.Catalog) evidence.Observation {
	if rule := s.Signature; catalog == nil || rule != ExitRule(-120) && rule != ExitRule(-200) && rule != ExitRule(-310) {
		return s
	}
	said, _ := done["diagnostics"].(string)
	for _, m := range catalog.Match(words.OneLine(reduce.Plain(said), longestDiagnostics), evidence.Event) {
		facts := maps.Clone(s.Facts)
		maps.Copy(facts, m.Facts)
		s.Signature, s.Facts = m.Signature, facts
		break
	}
	return s
}

// longestDiagnostics bounds what is looked at of a completion's diagnostics, which hold whole pods.
const longestDiagnostics = 2 << 10

// completionOf is how the attempt of a job or of a task ended.
func completionOf(of map[string]any) map[string]any {
	done, _, _ := unstructured.NestedMap(of, "attemptStatus", "completionStatus")
	return done
}

// taskRan says whether the pod of a task ran before it ended with a code that is of what never began.
func taskRan(c *evidence.Bundle, pod string) bool {
	for i := range c.Pods {
		if c.Pods[i].Name != pod {
			continue
		}
		for _, s := range c.Pods[i].Status.ContainerStatuses {
			if t := s.State.Terminated; t != nil && ranFirst(t) {
				return true
			}
		}
	}
	return false
}

// attemptOver is what FrameworkController says of tasks that still ran when the attempt ended.
var attemptOver = ExitRule(-220)

// failedAttempt is what the Framework says of its attempt itself, where no task says more: its pods were
// refused, for example.
func failedAttempt(c *evidence.Bundle) (evidence.Observation, bool) {
	done, found, err := unstructured.NestedMap(c.Job.Source.Object, "status", "attemptStatus", "completionStatus")
	if err != nil || !found || c.State.Stopped() {
		return evidence.Observation{}, false
	}
	code, ok := Number(done["code"])
	if !ok || code == 0 {
		return evidence.Observation{}, false
	}
	phrase, _ := done["phrase"].(string)
	message, _ := done["diagnostics"].(string)
	text := fmt.Sprintf("the attempt completed with code %d %s", code, phrase)
	if message != "" {
		text += ": " + words.OneLine(reduce.Plain(message), 300)
	}
	return evidence.Observation{
		Signature: TaskExitRule(int32(code), phrase, message), Line: text, Platform: true,
		Item:  evidence.Item{ID: "framework/attempt", Kind: evidence.Status, Text: text, Times: 1, Source: evidence.Source{Rank: -1}},
		Facts: map[string]string{"exitCode": fmt.Sprint(code)},
	}, true
}

// oftenRetried is from how many retries on that count against the user a job is not well, whatever it
// does now.
const oftenRetried = 10

// retried reads the counts of retries of the job and of its tasks: those that are accountable were failures
// of the program's own, the others the platform's
// (https://github.com/microsoft/frameworkcontroller/blob/v0.8.0/pkg/apis/frameworkcontroller/v1/types.go, RetryPolicyStatus).
func retried(c *evidence.Bundle) []evidence.Observation {
	total, own := retriesOf(c.Job.Source.Object["status"])
	for _, role := range frameworkRoles(c.Job.Source) {
		r, _ := role.(map[string]any)
		tasks, _ := r["taskStatuses"].([]any)
		for _, task := range tasks {
			t, o := retriesOf(task)
			total, own = total+t, own+o
		}
	}
	if own < oftenRetried || c.State.Phase == kinds.Succeeded || c.State.Stopped() {
		return nil
	}
	text := retriesText(total, own)
	return []evidence.Observation{{
		Signature: AgainAndAgain, Line: text, Platform: true, Facts: map[string]string{"retries": fmt.Sprint(own)},
		Item: evidence.Item{ID: "framework/retries", Kind: evidence.Status, Text: text, Times: 1, Source: evidence.Source{Rank: -1}},
	}}
}

func retriesOf(of any) (total, own int64) {
	status, _ := of.(map[string]any)
	policy, _ := status["retryPolicyStatus"].(map[string]any)
	total, _ = Number(policy["totalRetriedCount"])
	own, _ = Number(policy["accountableRetriedCount"])
	return total, own
}

func retriesText(total, own int64) string {
	return fmt.Sprintf("tried again %d time%s: %d after failures of its own, %d after the platform's", total, words.S(int(total)), own, max(0, total-own))
}

// RetriedOf says how often a Framework was tried again; empty: never.
func RetriedOf(c *evidence.Bundle) string {
	if c.Job == nil || c.Job.Ref.Kind != "Framework" || c.Job.Source == nil {
		return ""
	}
	total, own := retriesOf(c.Job.Source.Object["status"])
	said := ""
	if total > 0 {
		said = "The job was " + retriesText(total, own)
	}
	if task := retriedTask(c); task != "" {
		said = strings.TrimPrefix(said+". "+task, ". ")
	}
	return said
}

// retriedTask is the task that was tried again most often, where tasks are tried again on their own.
func retriedTask(c *evidence.Bundle) string {
	most, text := int64(0), ""
	for _, role := range frameworkRoles(c.Job.Source) {
		r, _ := role.(map[string]any)
		name, _ := r["name"].(string)
		tasks, _ := r["taskStatuses"].([]any)
		for _, task := range tasks {
			total, own := retriesOf(task)
			if total <= most {
				continue
			}
			t, _ := task.(map[string]any)
			index, _ := Number(t["index"])
			most, text = total, fmt.Sprintf("Its task %s[%d] was %s", name, index, retriesText(total, own))
			policy, _ := t["retryPolicyStatus"].(map[string]any)
			if delay, written := Number(policy["retryDelaySec"]); written && t["state"] == "AttemptCompleted" {
				text += fmt.Sprintf(", and waits %d s before the next attempt", delay)
			}
		}
	}
	return text
}

func frameworkRoles(u *unstructured.Unstructured) []any {
	roles, _ := unpackRoles(u)
	return roles
}

// UnreadStatus says what of the job's own status could not be read; empty: nothing.
func UnreadStatus(c *evidence.Bundle) string {
	if c.Job == nil || c.Job.Ref.Kind != "Framework" || c.Job.Source == nil {
		return ""
	}
	_, why := unpackRoles(c.Job.Source)
	return why
}

// unpackRoles are the tasks of a Framework's attempt by role, and why they could not be read.
func unpackRoles(u *unstructured.Unstructured) (all []any, why string) {
	const what = "status of the job: its compressed list of tasks "
	roles, _, err := unstructured.NestedSlice(u.Object, "status", "attemptStatus", "taskRoleStatuses")
	if err == nil && len(roles) > 0 {
		return roles, ""
	}
	packed, _, err := unstructured.NestedString(u.Object, "status", "attemptStatus", "taskRoleStatusesCompressed")
	if err != nil || packed == "" {
		return nil, ""
	}
	raw, err := base64.StdEncoding.DecodeString(packed)
	if err != nil {
		return nil, what + "is no base64"
	}
	zipped, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, what + "is not compressed by gzip"
	}
	defer zipped.Close()
	bounded := &io.LimitedReader{R: zipped, N: largestStatus}
	if err := json.NewDecoder(bounded).Decode(&all); err == nil {
		return all, ""
	}
	if bounded.N == 0 {
		return nil, fmt.Sprintf("%sis larger than %d MiB and was not read", what, largestStatus>>20)
	}
	return nil, what + "is cut off or no JSON"
}

func failedTask(role string, task map[string]any) (evidence.Observation, bool) {
	completion, found, err := unstructured.NestedMap(task, "attemptStatus", "completionStatus")
	if err != nil || !found {
		return evidence.Observation{}, false
	}
	code, ok := Number(completion["code"])
	if !ok || code == 0 {
		return evidence.Observation{}, false
	}
	index, _ := Number(task["index"])
	pod, _, _ := unstructured.NestedString(task, "attemptStatus", "podName")
	node, _, _ := unstructured.NestedString(task, "attemptStatus", "podNodeName")
	phrase, _ := completion["phrase"].(string)
	text := fmt.Sprintf("task %s[%d] completed with code %d", role, index, code)
	if phrase != "" {
		text += " " + phrase
	}
	message, _ := completion["diagnostics"].(string)
	if message != "" {
		text += ": " + words.OneLine(reduce.Plain(message), 300)
	}
	item := evidence.Item{
		ID: evidence.ID(fmt.Sprintf("task/%s/%d", role, index)), Kind: evidence.Exit, Text: text, Times: 1,
		Source: evidence.Source{Pod: pod, Node: node, Role: role, Rank: int(index)},
	}
	rule := TaskExitRule(int32(code), phrase, message)
	return evidence.Observation{
		Signature: rule, Item: item, Line: text, Platform: true, FromLog: FromLog(rule),
		Facts: map[string]string{"exitCode": fmt.Sprint(code)},
	}, true
}
