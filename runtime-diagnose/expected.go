package diagnose

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
)

// counted is how many pods of a role an operator says there are.
type counted struct{ active, failed int64 }

// countedByRole is what the job's own status says, in the form that Kubeflow's operators write it
// (kubeflow.org/v1 ReplicaStatus: active, succeeded, failed). Other kinds write none of that.
func (d *diagnosis) countedByRole() map[string]counted {
	if d.Job == nil || d.Job.Source == nil {
		return nil
	}
	all, ok, err := unstructured.NestedMap(d.Job.Source.Object, "status", "replicaStatuses")
	if !ok || err != nil {
		return nil
	}
	out := map[string]counted{}
	for role, status := range all {
		if m, ok := status.(map[string]any); ok {
			active, _ := number(m["active"]) // 0: it does not say
			failed, _ := number(m["failed"])
			out[role] = counted{active, failed}
		}
	}
	return out
}

// remarkCounts compares what the operator counts with the pods that are there. An operator looks some
// time after the pods change, so only what no delay explains counts: failed pods that are gone, and
// with them what they had to say; and pods that are counted as active where none is left.
func (d *diagnosis) remarkCounts() {
	by := d.countedByRole()
	for _, role := range slices.Sorted(maps.Keys(by)) {
		failed, alive := int64(0), int64(0)
		for i := range d.seen.Pods {
			p := &d.seen.Pods[i]
			if !strings.EqualFold(p.Source.Role, role) {
				continue
			}
			switch {
			case p.Phase == corev1.PodFailed:
				failed++
			case p.Phase != corev1.PodSucceeded:
				alive++
			}
		}
		if n := by[role].failed; n > failed {
			d.remarks = append(d.remarks, fmt.Sprintf("The operator counts %d failed pod%s of role %s; %d %s seen, and what the others had to say is gone.",
				n, plural(int(n)), role, failed, wasWere(failed)))
		}
		if n := by[role].active; n > 0 && alive == 0 && failed == 0 {
			d.remarks = append(d.remarks, fmt.Sprintf("The operator counts %d active pod%s of role %s; none exists.", n, plural(int(n)), role))
		}
	}
}

func wasWere(n int64) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// remarkDebugged names containers that somebody attached to a pod while it ran: they share its memory
// limit and its devices, and their end is not the job's.
func (d *diagnosis) remarkDebugged() {
	for i := range d.Pods {
		p := &d.Pods[i]
		for _, c := range p.Status.EphemeralContainerStatuses {
			how := "is still there"
			if t := c.State.Terminated; t != nil {
				how = "has ended: " + control.ExitPhrase(t.ExitCode)
				if t.ExitCode == 0 {
					how = "has ended well"
				}
			}
			d.remarks = append(d.remarks, fmt.Sprintf("Somebody attached the container %s to %s (kubectl debug); it %s.", c.Name, p.Name, how))
			if len(d.remarks) >= mostRemarks {
				return
			}
		}
	}
}

// mostRemarks bounds what is remarked.
const mostRemarks = 8
