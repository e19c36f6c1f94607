package report

import (
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// ofNode is the node that an observation is about, and the pod of the job on it, where there is one; empty: it is about
// no node, or the text names it.
func (d *draft) ofNode(s *evidence.Observation, text string) string {
	node := s.Item.Source.Node
	if node == "" || s.Item.Source.Pod != "" || strings.Contains(text, node) {
		return ""
	}
	if only := d.podOn(node); only != "" {
		return "node " + node + ", the node of " + only
	}
	return "node " + node
}

// podOn is the pod of the job that ran on a node, where it is one alone.
func (d *draft) podOn(node string) string {
	only, n := "", 0
	for i := range d.Seen.Pods {
		if p := &d.Seen.Pods[i]; p.Source.Node == node && !p.Past {
			only = p.Name
			n++
		}
	}
	for i := range d.Gone {
		if p := &d.Gone[i]; n == 0 && p.Spec.NodeName == node {
			return p.Name
		}
	}
	if n != 1 {
		return ""
	}
	return only
}
