package quota_test

import (
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/quota"
	"github.com/signalbox-dev/signalbox/test/build"
)

// A gang gets the nodes of the first flavor whose quota holds it, and keeps all nodes where it has been admitted, or never is.
func TestAGangGetsTheNodesOfItsFlavor(t *testing.T) {
	racks := build.ResourceFlavor("h100", "nodeLabels: {gpu: h100}") + build.ResourceFlavor("a100", "nodeLabels: {gpu: a100}, tolerations: [{key: old, operator: Exists}]")
	workers := build.Queued(gang.Kueue, "team", build.Workers(2, "8"))
	admitted, only := workers, workers
	admitted.Exists, only.NodesOnly = true, true
	suspended := admitted
	suspended.Paused = true
	for name, tc := range map[string]struct {
		flavors, used string
		gang          gang.Gang
		want          string
	}{
		"the first one":                 {"h100=16 a100=16", "", workers, "h100"},
		"the first one with room":       {"h100=16 a100=16", "h100=8", workers, "a100"},
		"none has room now":             {"h100=16 a100=8", "h100=8", workers, "h100"},
		"none ever has":                 {"h100=8 a100=8", "", workers, ""},
		"suspended":                     {"h100=16", "", suspended, "h100"},
		"admitted":                      {"h100=16", "h100=16", admitted, ""},
		"pods that are there":           {"h100=16", "", only, ""},
		"a flavor that does not exist":  {"b200=16", "", workers, ""},
		"its own selector comes before": {"h100=16 a100=16", "", build.Queued(gang.Kueue, "team", build.Gang(build.Group("Worker", 2, build.Asks("8"), build.Selects("gpu", "a100")))), "a100"},
	} {
		t.Run(name, func(t *testing.T) {
			view := build.View(t, build.LocalQueue("")+build.ClusterQueue("cq", "", tc.flavors, tc.used)+racks, build.Kueue(), build.Nodes(2, "a", build.GPUs(8)))
			g := quota.OnNodesOfQueue(view, tc.gang).Groups[0]
			got := ""
			if len(g.Flavors) > 0 {
				got = g.Flavors[0]
			}
			if got != tc.want || g.Untied != "" {
				t.Errorf("flavor %q, %q; want %q", got, g.Untied, tc.want)
			}
			if tolerates := len(g.Pod.Spec.Tolerations) > 0; tolerates != (tc.want == "a100") {
				t.Errorf("tolerations %v", g.Pod.Spec.Tolerations)
			}
		})
	}
}

// A job that names no queue comes into the default one, which keeps its pods together as any other; where the cohort of a
// queue is not whole in the view, it is not known which of two flavors it gets.
func TestWhatAQueueDoesIsTheSameHoweverAJobComesIntoIt(t *testing.T) {
	g := build.Within("ml", build.Workers(2, "8"))
	g.Self.Group = "kubeflow.org"
	g.Groups[0].Pod.Annotations = map[string]string{"kueue.x-k8s.io/podset-required-topology": "rack"}
	g.Groups[0].Pod.Marks.Labels = map[string]string{"job": "train"}
	queues := strings.Replace(build.LocalQueue(""), "name: team", "name: default", 1) + build.ClusterQueue("cq", ", cohort: all", "h100=16 a100=16", "")
	flavors := build.ResourceFlavor("h100", "nodeLabels: {gpu: h100}, topologyName: racks") + build.ResourceFlavor("a100", "nodeLabels: {gpu: a100}, topologyName: racks")
	for name, tc := range map[string]struct {
		whole         []string
		untied, chose string
	}{
		"all of it is seen":       {build.Kueue(), "", "h100"},
		"the cohort is not whole": {[]string{"localqueues.kueue.x-k8s.io", "clusterqueues.kueue.x-k8s.io", "resourceflavors.kueue.x-k8s.io", "namespaces"}, "Kueue puts Worker on the nodes of one of several flavors", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := quota.Stored(build.View(t, queues+flavors, tc.whole, build.Nodes(2, "a", build.GPUs(8))), g).Groups[0]
			if a := got.Pod.Spec.Affinity; a == nil || a.PodAffinity == nil || a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].TopologyKey != "rack" {
				t.Errorf("affinity %v; want one rack", a)
			}
			if got.Untied != tc.untied || strings.Join(got.Flavors, ",") != tc.chose {
				t.Errorf("flavors %v, %q; want %q, %q", got.Flavors, got.Untied, tc.chose, tc.untied)
			}
		})
	}
}
