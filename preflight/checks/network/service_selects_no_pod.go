package network

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var serviceSelectsNoPod = &check.Check{
	Name:     "service-selects-no-pod",
	Title:    "the service in whose name pods find each other does not serve them",
	Remedy:   "Write clusterIP: None and a selector of labels that the pods have, such as job-name.",
	Severity: finding.Error, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.Peers == kinds.PeersBySubdomain },
	Needs: check.Objects,
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		name := r.Pod.Spec.Subdomain
		if name == "" || r.Replicas.Max < 2 {
			return
		}
		service, there := p.Cluster.Lookup(schema.GroupVersionKind{Version: "v1", Kind: "Service"}, p.Job.Ref.Namespace, name)
		if there != job.Present || service == nil {
			return
		}
		selector, _, _ := unstructured.NestedStringMap(service.Object, "spec", "selector")
		if ip, _, _ := unstructured.NestedString(service.Object, "spec", "clusterIP"); ip != "None" && len(selector) > 0 {
			p.Reportf(r.Pod.At("subdomain"), "Service %s is not headless: the names of %s are not served", facts.Quoted(name), facts.PodsOf(r))
			return
		}
		for _, key := range slices.Sorted(maps.Keys(selector)) {
			has := "do not have it"
			switch value, is, _, _ := r.Pod.Label(key); {
			case is == job.Unknown, is == job.Present && value == selector[key]:
				continue
			case is == job.Present:
				has = "have " + facts.Quoted(value)
			}
			p.Reportf(r.Pod.At("subdomain"), "Service %s selects pods by the label %s=%s, and %s %s: their names are not served", facts.Quoted(name), key, selector[key], facts.PodsOf(r), has)
			return
		}
	}),
}
