package report

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
)

// checked is what Kueue's admission checks of the job say that have not let it pass: quota is reserved, and it waits for them
// (https://kueue.sigs.k8s.io/docs/concepts/admission_check/).
func (d *draft) checked() string {
	for _, u := range d.Objects {
		if u == nil || u.GetKind() != "Workload" || !strings.HasPrefix(u.GetAPIVersion(), "kueue.x-k8s.io/") {
			continue
		}
		checks, _, _ := unstructured.NestedSlice(u.Object, "status", "admissionChecks")
		for _, v := range checks {
			check, _ := v.(map[string]any)
			if state, _ := check["state"].(string); state == "" || state == "Ready" {
				continue
			}
			message, _ := check["message"].(string)
			text := fmt.Sprintf(" Kueue's admission check %v is %v: %s", check["name"], check["state"], words.OneLine(reduce.Plain(message), 200))
			return strings.TrimRight(text, ": .") + "."
		}
	}
	return ""
}

// nominated says which node a pod is to have for which the scheduler takes others away
// (https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/#user-exposed-information); empty: none has one.
func (d *draft) nominated(pending []control.Pod) string {
	text, n := "", 0
	for i := range d.Pods {
		p := &d.Pods[i]
		node := p.Status.NominatedNodeName
		if node == "" || !slices.ContainsFunc(pending, func(w control.Pod) bool { return w.Name == p.Name }) {
			continue
		}
		if n++; n == 1 {
			text = fmt.Sprintf("; %s is to have node %s, once the pods that give way to it have ended", p.Name, node)
		}
	}
	if n > 1 {
		text += fmt.Sprintf(", and %d more have one", n-1)
	}
	return text
}
