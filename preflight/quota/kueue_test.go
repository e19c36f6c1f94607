package quota_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/quota"
	"github.com/signalbox-dev/signalbox/test/build"
)

func TestKueue(t *testing.T) {
	workers := func(n int, options ...build.PodOption) gang.Gang {
		return build.Queued(gang.Kueue, "team", build.Gang(build.Group("Worker", n, append([]build.PodOption{build.Asks("8")}, options...)...)))
	}
	const cohort = ", cohort: all"
	checked := strings.Replace(build.ClusterQueue("cq", "", "h100=16", ""), "namespaceSelector: {}", "namespaceSelector: {}, admissionChecks: [budget]", 1)
	check := func(name, active string) string {
		return fmt.Sprintf("apiVersion: kueue.x-k8s.io/v1beta1\nkind: AdmissionCheck\nmetadata: {name: %s}\nspec: {controllerName: example.com/budget}\nstatus: {conditions: [{type: Active, status: '%s'}]}", name, active)
	}
	cases := map[string]struct {
		objects string
		gang    gang.Gang
		want    string
	}{
		"within its quota":           {build.LocalQueue("") + build.ClusterQueue("cq", "", "h100=16", ""), workers(2), ""},
		"above its quota":            {build.LocalQueue("") + build.ClusterQueue("cq", "", "h100=16", ""), workers(3), "never queue-quota ClusterQueue cq: 3 Workers ask for 24 nvidia.com/gpu; the quota in flavor h100 is 16\n"},
		"its quota is in use":        {build.LocalQueue("") + build.ClusterQueue("cq", "", "h100=16", "h100=8"), workers(2), "now queue-quota ClusterQueue cq: 2 Workers ask for 16 nvidia.com/gpu; other workloads leave 8 in flavor h100\n"},
		"one role has one flavor":    {build.LocalQueue("") + build.ClusterQueue("cq", "", "h100=16 a100=16", ""), workers(3), "never queue-quota ClusterQueue cq: 3 Workers ask for 24 nvidia.com/gpu; the quota in flavors h100, a100 is 32, but no choice of one flavor for each role holds them all\n"},
		"two roles have two flavors": {build.LocalQueue("") + build.ClusterQueue("cq", "", "h100=16 a100=16", ""), build.Queued(gang.Kueue, "team", build.Gang(build.Group("Master", 2, build.Asks("8")), build.Group("Worker", 2, build.Asks("8")))), ""},
		"what a cohort lends": {
			build.LocalQueue("") + build.ClusterQueue("cq", cohort, "h100=16", "") + "\n---\n" + build.ClusterQueue("other", cohort, "h100=8", ""), workers(3), "",
		},
		"what a cohort lends is limited by the borrower": {
			build.LocalQueue("") + build.ClusterQueue("cq", cohort, "h100=16/4", "") + "\n---\n" + build.ClusterQueue("other", cohort, "h100=16", ""), workers(3),
			"never queue-quota ClusterQueue cq: 3 Workers ask for 24 nvidia.com/gpu; the quota in flavor h100 is 20, with what cohort all may lend\n",
		},
		"what a cohort lends is limited by the lender": {
			build.LocalQueue("") + build.ClusterQueue("cq", cohort, "h100=16", "") + "\n---\n" + build.ClusterQueue("other", cohort, "h100=16//4", ""), workers(3),
			"never queue-quota ClusterQueue cq: 3 Workers ask for 24 nvidia.com/gpu; the quota in flavor h100 is 20, with what cohort all may lend\n",
		},
		"the cohort uses its own": {
			build.LocalQueue("") + build.ClusterQueue("cq", cohort, "h100=16", "") + "\n---\n" + build.ClusterQueue("other", cohort, "h100=16", "h100=12"), workers(3),
			"now queue-quota ClusterQueue cq: 3 Workers ask for 24 nvidia.com/gpu; other workloads leave 20 in flavor h100, with what cohort all may lend\n",
		},
		"a cohort of its own quota below another": {
			build.LocalQueue("") + build.ClusterQueue("cq", cohort, "h100=8", "") + "\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: Cohort\nmetadata: {name: all}\nspec: {parentName: root, resourceGroups: [{coveredResources: [nvidia.com/gpu], flavors: [{name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}]}]}\n---\n" +
				build.ClusterQueue("far", ", cohort: root", "h100=8", ""),
			workers(3), "",
		},
		"cohorts in a circle prove nothing": {
			build.LocalQueue("") + build.ClusterQueue("cq", cohort, "h100=8", "") + "\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: Cohort\nmetadata: {name: all}\nspec: {parentName: root}\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: Cohort\nmetadata: {name: root}\nspec: {parentName: all}",
			workers(3), "",
		},
		"a flavor of other nodes does not count": {
			build.LocalQueue("") + build.ClusterQueue("cq", "", "h100=8 a100=64", "") + build.ResourceFlavor("a100", "nodeLabels: {gpu: a100}") + build.ResourceFlavor("h100", "nodeLabels: {gpu: h100}"),
			workers(2, build.Selects("gpu", "h100")),
			"never queue-quota ClusterQueue cq: 2 Workers ask for 16 nvidia.com/gpu; the quota in flavor h100 is 8\n",
		},
		"who asks for nothing, and says so, needs a flavor": {
			build.LocalQueue("") + build.ClusterQueue("cq", "", "a100=8", "") + build.ResourceFlavor("a100", "nodeLabels: {gpu: a100}"),
			build.Queued(gang.Kueue, "team", build.Gang(build.Group("Worker", 2, build.Asks("0"), build.Selects("gpu", "h100")))),
			"never queue-quota ClusterQueue cq: node selector and tolerations of Worker match none of its 1 flavor: a100\n",
		},
		"a queue in debt takes who asks for nothing": {
			build.LocalQueue("") + build.ClusterQueue("cq", "", "h100=8", "h100=16"),
			build.Queued(gang.Kueue, "team", build.Gang(build.Group("Worker", 2, build.Asks("0")))), "",
		},
		"a selector that no flavor knows is for the nodes": {
			build.LocalQueue("") + build.ClusterQueue("cq", "", "h100=16", "") + build.ResourceFlavor("h100", "nodeLabels: {gpu: h100}"), workers(2, build.Selects("zone", "b")), "",
		},
		"a tainted flavor does not count": {
			build.LocalQueue("") + build.ClusterQueue("cq", "", "spot=64", "") + build.ResourceFlavor("spot", "nodeTaints: [{key: spot, value: 'yes', effect: NoSchedule}]"), workers(1),
			"never queue-quota ClusterQueue cq: node selector and tolerations of Worker match none of its 1 flavor: spot\n",
		},
		"a tainted flavor that is tolerated does": {
			build.LocalQueue("") + build.ClusterQueue("cq", "", "spot=64", "") + build.ResourceFlavor("spot", "nodeTaints: [{key: spot, value: 'yes', effect: NoSchedule}]"), workers(1, build.Tolerates("spot")), "",
		},
		"there is no such LocalQueue": {
			build.Namespace + build.ClusterQueue("cq", "", "h100=16", ""), workers(1),
			"never queue-missing LocalQueue ml/team: it does not exist in namespace ml\n",
		},
		"the ClusterQueue behind it is gone": {
			strings.TrimSuffix(build.LocalQueue(""), "\n---\n"), workers(1), "never queue-missing ClusterQueue cq: it does not exist\n",
		},
		"the LocalQueue is held": {
			build.LocalQueue(", stopPolicy: Hold") + build.ClusterQueue("cq", "", "h100=16", ""), workers(1),
			"now queue-closed LocalQueue ml/team: stopPolicy is Hold; it admits no jobs until that is None\n",
		},
		"the ClusterQueue is not active": {
			build.LocalQueue("") + strings.Replace(build.ClusterQueue("cq", "", "h100=16", ""), "status: {", "status: {conditions: [{type: Active, status: 'False', reason: FlavorNotFound}], ", 1), workers(1),
			"now queue-closed ClusterQueue cq: it is not active: FlavorNotFound\n",
		},
		"an admission check is not there": {
			build.LocalQueue("") + checked + "\n---\n" + check("other", "True"), workers(1),
			"now queue-closed ClusterQueue cq: its admission check budget does not exist\n",
		},
		"an admission check is not active": {
			build.LocalQueue("") + checked + "\n---\n" + check("budget", "False"), workers(1),
			"now queue-closed ClusterQueue cq: its admission check budget is not active\n",
		},
		"an admission check is active": {build.LocalQueue("") + checked + "\n---\n" + check("budget", "True"), workers(1), ""},
		"a flavor is not there": {
			build.LocalQueue("") + build.ClusterQueue("cq", "", "h100=16", "") + build.ResourceFlavor("a100", ""), workers(1),
			"now queue-closed ClusterQueue cq: its flavor h100 does not exist\n",
		},
		"the topology of a flavor is not there": {
			build.LocalQueue("") + build.ClusterQueue("cq", "", "h100=16", "") + build.ResourceFlavor("h100", "topologyName: racks"), workers(1),
			"now queue-closed ClusterQueue cq: the Topology racks of its flavor h100 does not exist\n",
		},
		"the topology of a flavor is there": {
			build.LocalQueue("") + build.ClusterQueue("cq", "", "h100=16", "") + build.ResourceFlavor("h100", "topologyName: racks") + kueueObject("Topology", "racks"), workers(1), "",
		},
		"a priority class of the queue is not there": {
			build.LocalQueue("") + build.ClusterQueue("cq", "", "h100=16", "") + kueueObject("WorkloadPriorityClass", "high"), prioritized(workers(1), "hihg"),
			"never object WorkloadPriorityClass hihg: it does not exist, and Kueue queues no job that names it; there is high\n",
		},
		"a priority class of the queue is there": {
			build.LocalQueue("") + build.ClusterQueue("cq", "", "h100=16", "") + kueueObject("WorkloadPriorityClass", "high"), prioritized(workers(1), "high"), "",
		},
		"namespaces are selected": {
			build.LocalQueue("") + strings.Replace(build.ClusterQueue("cq", "", "h100=16", ""), "namespaceSelector: {}", "namespaceSelector: {matchLabels: {team: blue}}", 1), workers(1),
			"never queue-missing ClusterQueue cq: it takes no jobs of namespace ml: its namespaceSelector is team=blue\n",
		},
		"an elastic role counts at its least": {
			build.LocalQueue("") + build.ClusterQueue("cq", "", "h100=16", ""), build.Queued(gang.Kueue, "team", gang.Gang{Groups: []gang.Group{elastic(2, 8)}}), "",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, build.Violations(build.View(t, tc.objects, append(build.Kueue(), "admissionchecks.kueue.x-k8s.io", "topologies.kueue.x-k8s.io", "workloadpriorityclasses.kueue.x-k8s.io")), tc.gang)); diff != "" {
				t.Errorf("Limits (-want +got):\n%s", diff)
			}
		})
	}
}

// kueueObject is an object of Kueue of which no more is read than that it is there, to be written behind others.
func kueueObject(kind, name string) string {
	return "\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: " + kind + "\nmetadata: {name: " + name + "}"
}

func prioritized(g gang.Gang, class string) gang.Gang {
	g.QueuePriority = class
	return g
}

// TestWhoWaitsInAStrictQueue: behind others, a job that has quota is let in when they are; its own workload is none of them.
func TestWhoWaitsInAStrictQueue(t *testing.T) {
	const doubt = "ClusterQueue cq is StrictFIFO and 1 workload waits in it: the job waits until those before it are let in"
	for name, tc := range map[string]struct {
		strategy string
		waiting  int
		exists   bool
		want     []string
	}{
		"nobody waits":                  {"StrictFIFO", 0, false, nil},
		"one waits":                     {"StrictFIFO", 1, false, []string{doubt}},
		"it is the job itself":          {"StrictFIFO", 1, true, nil},
		"who cannot start is passed by": {"BestEffortFIFO", 1, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := build.Queued(gang.Kueue, "team", build.Workers(1, "8"))
			g.Exists, g.Paused = tc.exists, tc.exists
			queue := strings.Replace(build.ClusterQueue("cq", ", queueingStrategy: "+tc.strategy, "h100=16", ""), "status: {", fmt.Sprintf("status: {pendingWorkloads: %d, ", tc.waiting), 1)
			s := build.View(t, build.LocalQueue("")+queue, build.Kueue())
			_, notes := quota.Check(s, quota.Stored(s, g))
			if diff := cmp.Diff(tc.want, notes.Doubts); diff != "" {
				t.Errorf("doubts (-want +got):\n%s", diff)
			}
		})
	}
}

// TestKueueAgreesWithTryingEveryFlavor compares with an answer that tries every choice of a
// flavor for every role, with one queue and one that lends.
// A flavor takes pod sets that ask for places near each other where it has a topology, and the others where it has none;
// where all flavors of a queue have one, none has to ask.
func TestKueueGivesPlacesByTopology(t *testing.T) {
	workers := func(asks ...string) gang.Gang {
		g := build.Queued(gang.Kueue, "team", build.Workers(2, "8"))
		g.Groups[0].Pod.Annotations = map[string]string{}
		for _, key := range asks {
			g.Groups[0].Pod.Annotations["kueue.x-k8s.io/podset-"+key] = "rack"
		}
		return g
	}
	knows, plain := build.ResourceFlavor("h100", "topologyName: racks"), build.ResourceFlavor("h100", "")
	const never = "never queue-quota ClusterQueue cq: "
	for name, tc := range map[string]struct {
		flavors, objects string
		gang             gang.Gang
		want             string
	}{
		"asked for, and known":                {"h100=16", knows, workers("required-topology"), ""},
		"preferred, and not known":            {"h100=16", plain, workers("preferred-topology"), never + "Worker asks for places near each other, and none that it may use of its 1 flavor: h100 has a topologyName\n"},
		"anywhere, and not known":             {"h100=16", plain, workers("unconstrained-topology"), never + "Worker asks for places near each other, and none that it may use of its 1 flavor: h100 has a topologyName\n"},
		"slices, and not known":               {"h100=16", plain, workers("slice-required-topology"), never + "Worker asks for places near each other, and none that it may use of its 1 flavor: h100 has a topologyName\n"},
		"not asked for, and all know":         {"h100=16", knows, workers(), ""},
		"not asked for, one of two does not":  {"h100=16 a100=16", knows + build.ResourceFlavor("a100", ""), workers(), ""},
		"not asked for, too little elsewhere": {"h100=16 a100=8", knows + build.ResourceFlavor("a100", ""), workers(), never + "2 Workers ask for 16 nvidia.com/gpu; the quota in flavor a100 is 8\n"},
		"a flavor that nobody has seen":       {"h100=16", "", workers("required-topology"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			objects := build.LocalQueue("") + build.ClusterQueue("cq", "", tc.flavors, "") + tc.objects
			if got := build.Violations(build.View(t, objects, build.Kueue(), build.Nodes(2, "a", build.GPUs(8))), tc.gang); got != tc.want {
				t.Errorf("%q; want %q", got, tc.want)
			}
		})
	}
}

func TestKueueAgreesWithTryingEveryFlavor(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	seen := map[string]int{}
	for round := range 1500 {
		flavors := []string{"f0", "f1", "f2"}[:1+rng.IntN(3)]
		most, left := map[string]int64{}, map[string]int64{}
		var own, lends, ownUsed, lendsUsed []string
		for _, f := range flavors {
			nominal, lent := rng.Int64N(20), rng.Int64N(10)
			used, lentUsed := rng.Int64N(nominal+1), rng.Int64N(lent+1)
			own, lends = append(own, fmt.Sprintf("%s=%d", f, nominal)), append(lends, fmt.Sprintf("%s=%d", f, lent))
			ownUsed, lendsUsed = append(ownUsed, fmt.Sprintf("%s=%d", f, used)), append(lendsUsed, fmt.Sprintf("%s=%d", f, lentUsed))
			most[f], left[f] = nominal+lent, nominal+lent-used-lentUsed
		}
		var g gang.Gang
		var asks []int64
		for i := range 1 + rng.IntN(3) {
			each, n := 1+rng.Int64N(5), 1+rng.IntN(3)
			g.Groups = append(g.Groups, build.Group(fmt.Sprintf("role%d", i), n, build.Asks(fmt.Sprint(each))))
			asks = append(asks, each*int64(n))
		}
		var try func(int, map[string]int64) bool
		try = func(at int, room map[string]int64) bool {
			if at == len(asks) {
				return true
			}
			for _, f := range flavors {
				if room[f] >= asks[at] {
					room[f] -= asks[at]
					ok := try(at+1, room)
					room[f] += asks[at]
					if ok {
						return true
					}
				}
			}
			return false
		}
		want := "fits"
		if !try(0, most) {
			want = "never"
		} else if !try(0, left) {
			want = "now"
		}
		objects := build.LocalQueue("") + build.ClusterQueue("cq", ", cohort: all", strings.Join(own, " "), strings.Join(ownUsed, " ")) + "\n---\n" +
			build.ClusterQueue("other", ", cohort: all", strings.Join(lends, " "), strings.Join(lendsUsed, " "))
		got := "fits"
		if limits := quota.Violations(build.View(t, objects, build.Kueue()), build.Queued(gang.Kueue, "team", g)); len(limits) > 0 {
			got = limits[0].When.String()
		}
		if seen[want]++; got != want {
			t.Fatalf("round %d: %s, trying every flavor says %s; most %v, left %v, asked %v", round, got, want, most, left, asks)
		}
	}
	for _, v := range []string{"fits", "now", "never"} {
		if seen[v] < 100 {
			t.Errorf("only %d rounds say %s: %v", seen[v], v, seen)
		}
	}
}

func TestAJobThatRunsHasPassedItsQueue(t *testing.T) {
	g := build.Queued(gang.Kueue, "team", build.Workers(3, "8"))
	g.Own = func(p *corev1.Pod) (string, bool) { return "Worker", p.Name == "own" }
	s := build.View(t, build.LocalQueue("")+build.ClusterQueue("cq", "", "h100=16", ""), build.Kueue(), build.Pod("own", build.In("ml"), build.On("a")))
	if got := build.Violations(s, g); got != "" {
		t.Errorf("limits of a job with a pod: %s; want none", got)
	}
	g.Own = nil
	g.Exists = true
	if got := build.Violations(s, g); got != "" {
		t.Errorf("limits of a job that Kueue has resumed: %s; want none", got)
	}
	g.Paused = true
	if got := build.Violations(s, g); got == "" {
		t.Error("no limits of a job that waits for its queue")
	}
}
