package controller

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// podIndex is the name of the index by which the cache finds the pods of a job: without one, each look at a job goes
// through all pods of its namespace.
const podIndex = "signalbox.dev/job"

// jobLabels are the labels by which kinds name the job of a pod.
func jobLabels(all []*kinds.Kind) map[string]bool {
	const name = "the-job"
	out := map[string]bool{}
	for _, k := range all {
		if key, _ := naming(k.Pods(job.Ref{Kind: k.Name, Namespace: "its-namespace", Name: name}), func(_, value string) bool { return value == name }); key != "" {
			out[key] = true
		}
	}
	return out
}

// naming is a requirement of a selector that one value alone meets, as wanted; empty: there is none.
func naming(s labels.Selector, wanted func(key, value string) bool) (key, value string) {
	requirements, _ := s.Requirements()
	for _, r := range requirements {
		values := r.ValuesUnsorted()
		if op := r.Operator(); len(values) == 1 && (op == selection.In || op == selection.Equals || op == selection.DoubleEquals) && wanted(r.Key(), values[0]) {
			return r.Key(), values[0]
		}
	}
	return "", ""
}

// podsOf are the options that list the pods that a selector selects.
func (r *Reconciler) podsOf(namespace string, s labels.Selector) []client.ListOption {
	out := []client.ListOption{client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: s}}
	if key, value := naming(s, func(key, _ string) bool { return r.podLabels[key] }); key != "" {
		out = append(out, client.MatchingFields{podIndex: key + "=" + value})
	}
	return out
}
