package bare

import (
	"regexp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// How kubectl describe prints a node
// (https://github.com/kubernetes/kubectl/blob/master/pkg/describe/describe.go, describeNode).
var (
	conditionRow = regexp.MustCompile(`^\s+(\w+)\s+(True|False|Unknown)\s+(?:\w{3}, .{20,24}? [+-]\d{4}|<unset>)\s+(\w{3}, .{20,24}? [+-]\d{4}|<unset>)\s+(\S+)\s*(.*)$`)
	taintLine    = regexp.MustCompile(`^(?:Taints:)?\s+([A-Za-z0-9][\w./-]*)(?:=([\w.-]*))?:(NoSchedule|PreferNoSchedule|NoExecute)\s*$`)
	amountLine   = regexp.MustCompile(`^\s+([a-z][\w./-]*):\s+(\S+)\s*$`)
)

// describeNode opens the description of a node.
func (t *text) describeNode(name string) {
	t.pod = nil
	t.node = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{}, Labels: map[string]string{}}}
}

// readNode reads a line of a node's description; false: it is another line, or none is open.
func (t *text) readNode(s string) bool {
	if t.node == nil {
		return false
	}
	if s != "" && s[0] != ' ' && s[0] != '\t' {
		t.section, _, _ = strings.Cut(s, ":")
	}
	switch {
	case t.section == "Unschedulable":
		t.node.Spec.Unschedulable = strings.HasSuffix(strings.TrimSpace(s), "true")
	case t.section == "Taints":
		if m := taintLine.FindStringSubmatch(s); m != nil {
			t.node.Spec.Taints = append(t.node.Spec.Taints, corev1.Taint{Key: m[1], Value: m[2], Effect: corev1.TaintEffect(m[3])})
		}
	case t.section == "Conditions":
		m := conditionRow.FindStringSubmatch(s)
		if m == nil {
			break
		}
		c := corev1.NodeCondition{Type: corev1.NodeConditionType(m[1]), Status: corev1.ConditionStatus(m[2]), Reason: m[4], Message: m[5]}
		if at, err := time.Parse(time.RFC1123Z, m[3]); err == nil {
			c.LastTransitionTime.Time = at
		}
		t.node.Status.Conditions = append(t.node.Status.Conditions, c)
		t.origin(t.node.Annotations, "condition."+m[1], s)
		t.part.Understood = append(t.part.Understood, t.number) // the node's name is not on the line
	case t.section == "Capacity":
		t.node.Status.Capacity = amount(t.node.Status.Capacity, s)
	case t.section == "Allocatable":
		t.node.Status.Allocatable = amount(t.node.Status.Allocatable, s)
	default:
		return false
	}
	return true
}

func amount(to corev1.ResourceList, s string) corev1.ResourceList {
	m := amountLine.FindStringSubmatch(s)
	if m == nil {
		return to
	}
	q, err := resource.ParseQuantity(m[2])
	if err != nil {
		return to
	}
	if to == nil {
		to = corev1.ResourceList{}
	}
	to[corev1.ResourceName(m[1])] = q
	return to
}

// closeNode ends the description of a node.
func (t *text) closeNode() {
	if t.node != nil && len(t.node.Status.Conditions) > 0 {
		if t.described != nil {
			t.node.Labels = t.described.labels
		}
		t.part.Nodes = append(t.part.Nodes, *t.node)
	}
	t.node, t.section = nil, ""
}
