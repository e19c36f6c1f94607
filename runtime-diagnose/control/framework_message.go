package control

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// readFrameworkMessages reads what OpenPAI's runtime said of failed tasks whose pods are gone: FrameworkController
// copies termination messages into the status of the task, and as JSON into its diagnostics
// (https://github.com/microsoft/frameworkcontroller/blob/v0.8.0/pkg/apis/frameworkcontroller/v1/types.go, PodCompletionStatus).
func readFrameworkMessages(c *evidence.Bundle, pods []Pod, catalog *signature.Catalog) []evidence.Observation {
	if c.Job == nil || c.Job.Ref.Kind != "Framework" || c.Job.Source == nil || c.State.Stopped() {
		return nil
	}
	r := &reader{Input: Input{Catalog: catalog}}
	for _, role := range frameworkRoles(c.Job.Source) {
		of, _ := role.(map[string]any)
		name, _ := of["name"].(string)
		tasks, _ := of["taskStatuses"].([]any)
		for _, v := range tasks {
			task, _ := v.(map[string]any)
			done, _, err := unstructured.NestedMap(task, "attemptStatus", "completionStatus")
			code, _ := Number(done["code"])
			pod, _, _ := unstructured.NestedString(task, "attemptStatus", "podName")
			if err != nil || code == 0 || slices.ContainsFunc(pods, func(p Pod) bool { return p.Name == pod }) {
				continue
			}
			message := runtimeMessage(done)
			if message == "" {
				continue
			}
			index, _ := Number(task["index"])
			node, _, _ := unstructured.NestedString(task, "attemptStatus", "podNodeName")
			r.readMessage(message, evidence.Item{
				ID: evidence.ID(fmt.Sprintf("task/%s/%d/message", name, index)), Times: 1, Text: lastLine(message),
				Source: evidence.Source{Pod: pod, Node: node, Role: name, Rank: int(index), Container: "app"},
			})
		}
	}
	return r.seen.Sightings
}

// runtimeMessage is the runtime's message in a completion; empty: there is none.
func runtimeMessage(done map[string]any) string {
	if text := findMessage(done["pod"]); text != "" {
		return text
	}
	text, _ := done["diagnostics"].(string)
	if _, packed, ok := strings.Cut(text, "{"); ok {
		var v any
		if json.NewDecoder(strings.NewReader("{"+packed)).Decode(&v) == nil {
			if found := findMessage(v); found != "" {
				return found
			}
		}
	}
	return findMessage(text)
}

// findMessage is the first text in a value that carries the runtime's mark.
func findMessage(v any) string {
	switch v := v.(type) {
	case string:
		if strings.Contains(v, paiMark) {
			return v
		}
	case []any:
		for _, e := range v {
			if found := findMessage(e); found != "" {
				return found
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if found := findMessage(v[key]); found != "" {
				return found
			}
		}
	}
	return ""
}
