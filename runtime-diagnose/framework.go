package diagnose

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/rank"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
)

// largestStatus bounds what is unpacked of a compressed list of tasks.
const largestStatus = 64 << 20

// readFramework reads the failed tasks of an OpenPAI Framework. A Framework succeeds when
// all tasks are done and no rule of its own was met, failed tasks or not
// (frameworkcontroller pkg/apis/frameworkcontroller/v1/completion.go), so its own word is
// no evidence.
func readFramework(c Case) []rank.Sighting {
	if c.Job == nil || c.Job.Ref.Kind != "Framework" || c.Job.Source == nil {
		return nil
	}
	var out []rank.Sighting
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
					out = append(out, s)
				}
			}
		}
	}
	return out
}

func frameworkRoles(u *unstructured.Unstructured) []any {
	roles, _, err := unstructured.NestedSlice(u.Object, "status", "attemptStatus", "taskRoleStatuses")
	if err == nil && len(roles) > 0 {
		return roles
	}
	packed, _, err := unstructured.NestedString(u.Object, "status", "attemptStatus", "taskRoleStatusesCompressed")
	if err != nil || packed == "" {
		return nil
	}
	raw, err := base64.StdEncoding.DecodeString(packed)
	if err != nil {
		return nil
	}
	zipped, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil
	}
	defer zipped.Close()
	var unpacked []any
	if json.NewDecoder(io.LimitReader(zipped, largestStatus)).Decode(&unpacked) != nil {
		return nil
	}
	return unpacked
}

func failedTask(role string, task map[string]any) (rank.Sighting, bool) {
	completion, found, err := unstructured.NestedMap(task, "attemptStatus", "completionStatus")
	if err != nil || !found {
		return rank.Sighting{}, false
	}
	code, ok := number(completion["code"])
	if !ok || code == 0 {
		return rank.Sighting{}, false
	}
	index, _ := number(task["index"])
	pod, _, _ := unstructured.NestedString(task, "attemptStatus", "podName")
	node, _, _ := unstructured.NestedString(task, "attemptStatus", "podNodeName")
	phrase, _ := completion["phrase"].(string)
	text := fmt.Sprintf("task %s[%d] completed with code %d", role, index, code)
	if phrase != "" {
		text += " " + phrase
	}
	message, _ := completion["diagnostics"].(string)
	if message != "" {
		text += ": " + oneLine(reduce.Plain(message), 300)
	}
	item := evidence.Item{
		ID: evidence.ID(fmt.Sprintf("task/%s/%d", role, index)), Kind: evidence.Exit, Text: text, Times: 1,
		Source: evidence.Source{Pod: pod, Node: node, Role: role, Rank: int(index)},
	}
	return rank.Sighting{
		Signature: control.TaskExitRule(int32(code), phrase, message), Item: item, Line: text, Platform: true,
		Facts: map[string]string{"exitCode": fmt.Sprint(code)},
	}, true
}

// number reads an integer of a decoded object, in either form decoders give.
func number(v any) (int64, bool) {
	switch n := v.(type) {
	case int64:
		return n, true
	case float64:
		return int64(n), true
	default:
		return 0, false
	}
}
