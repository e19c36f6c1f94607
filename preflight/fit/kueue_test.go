package fit_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/quota"
	"github.com/signalbox-dev/signalbox/test/build"
)

var kueueWhole = []string{
	"localqueues.kueue.x-k8s.io", "clusterqueues.kueue.x-k8s.io", "cohorts.kueue.x-k8s.io", "resourceflavors.kueue.x-k8s.io", "namespaces",
}

const mlNamespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: ml, labels: {team: red}}\n---\n"

// localQ is the LocalQueue team of namespace ml.
func localQ(more string) string {
	return mlNamespace + "apiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {name: team, namespace: ml}\nspec: {clusterQueue: cq" + more + "}\n---\n"
}

// clusterQ is a ClusterQueue with quota for GPUs in some flavors: "h100=16 a100=8/4" is 8
// that may be 4 more by borrowing, "/4/2" lends 2 at most.
func clusterQ(name, more, flavors, used string) string {
	var quotas, reserved []string
	for f := range strings.FieldsSeq(flavors) {
		name, amounts, _ := strings.Cut(f, "=")
		parts := strings.Split(amounts, "/")
		q := "{name: nvidia.com/gpu, nominalQuota: " + parts[0]
		if len(parts) > 1 && parts[1] != "" {
			q += ", borrowingLimit: " + parts[1]
		}
		if len(parts) > 2 {
			q += ", lendingLimit: " + parts[2]
		}
		quotas = append(quotas, "{name: "+name+", resources: ["+q+"}]}")
	}
	for f := range strings.FieldsSeq(used) {
		name, amount, _ := strings.Cut(f, "=")
		reserved = append(reserved, "{name: "+name+", resources: [{name: nvidia.com/gpu, total: "+amount+"}]}")
	}
	return "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {name: " + name + "}\nspec: {namespaceSelector: {}" + more +
		", resourceGroups: [{coveredResources: [nvidia.com/gpu], flavors: [" + strings.Join(quotas, ", ") + "]}]}\nstatus: {flavorsReservation: [" + strings.Join(reserved, ", ") + "]}"
}

func flavorQ(name, spec string) string {
	return "\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata: {name: " + name + "}\nspec: {" + spec + "}"
}

// queued puts a gang into a queue.
func queued(system gang.QueueSystem, queue string, g gang.Gang) gang.Gang {
	g = in("ml", g)
	g.Queue, g.System, g.At = queue, system, "metadata.labels.queue"
	return g
}

func TestKueue(t *testing.T) {
	workers := func(n int, options ...build.PodOption) gang.Gang {
		return queued(gang.Kueue, "team", gangOf(group("Worker", n, append([]build.PodOption{build.Asks("8")}, options...)...)))
	}
	const cohort = ", cohort: all"
	cases := map[string]struct {
		objects string
		gang    gang.Gang
		want    string
	}{
		"within its quota":           {localQ("") + clusterQ("cq", "", "h100=16", ""), workers(2), ""},
		"above its quota":            {localQ("") + clusterQ("cq", "", "h100=16", ""), workers(3), "never queue-quota ClusterQueue cq: 3 Workers ask for 24 nvidia.com/gpu; the quota in flavor h100 is 16\n"},
		"its quota is in use":        {localQ("") + clusterQ("cq", "", "h100=16", "h100=8"), workers(2), "now queue-quota ClusterQueue cq: 2 Workers ask for 16 nvidia.com/gpu; other workloads leave 8 in flavor h100\n"},
		"one role has one flavor":    {localQ("") + clusterQ("cq", "", "h100=16 a100=16", ""), workers(3), "never queue-quota ClusterQueue cq: 3 Workers ask for 24 nvidia.com/gpu; the quota in flavors h100, a100 is 32, but no choice of one flavor for each role holds them all\n"},
		"two roles have two flavors": {localQ("") + clusterQ("cq", "", "h100=16 a100=16", ""), queued(gang.Kueue, "team", gangOf(group("Master", 2, build.Asks("8")), group("Worker", 2, build.Asks("8")))), ""},
		"what a cohort lends": {
			localQ("") + clusterQ("cq", cohort, "h100=16", "") + "\n---\n" + clusterQ("other", cohort, "h100=8", ""), workers(3), "",
		},
		"what a cohort lends is limited by the borrower": {
			localQ("") + clusterQ("cq", cohort, "h100=16/4", "") + "\n---\n" + clusterQ("other", cohort, "h100=16", ""), workers(3),
			"never queue-quota ClusterQueue cq: 3 Workers ask for 24 nvidia.com/gpu; the quota in flavor h100 is 20, with what cohort all may lend\n",
		},
		"what a cohort lends is limited by the lender": {
			localQ("") + clusterQ("cq", cohort, "h100=16", "") + "\n---\n" + clusterQ("other", cohort, "h100=16//4", ""), workers(3),
			"never queue-quota ClusterQueue cq: 3 Workers ask for 24 nvidia.com/gpu; the quota in flavor h100 is 20, with what cohort all may lend\n",
		},
		"the cohort uses its own": {
			localQ("") + clusterQ("cq", cohort, "h100=16", "") + "\n---\n" + clusterQ("other", cohort, "h100=16", "h100=12"), workers(3),
			"now queue-quota ClusterQueue cq: 3 Workers ask for 24 nvidia.com/gpu; other workloads leave 20 in flavor h100, with what cohort all may lend\n",
		},
		"a cohort of its own quota below another": {
			localQ("") + clusterQ("cq", cohort, "h100=8", "") + "\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: Cohort\nmetadata: {name: all}\nspec: {parentName: root, resourceGroups: [{coveredResources: [nvidia.com/gpu], flavors: [{name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}]}]}\n---\n" +
				clusterQ("far", ", cohort: root", "h100=8", ""),
			workers(3), "",
		},
		"cohorts in a circle prove nothing": {
			localQ("") + clusterQ("cq", cohort, "h100=8", "") + "\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: Cohort\nmetadata: {name: all}\nspec: {parentName: root}\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: Cohort\nmetadata: {name: root}\nspec: {parentName: all}",
			workers(3), "",
		},
		"a flavor of other nodes does not count": {
			localQ("") + clusterQ("cq", "", "h100=8 a100=64", "") + flavorQ("a100", "nodeLabels: {gpu: a100}") + flavorQ("h100", "nodeLabels: {gpu: h100}"),
			workers(2, selects("gpu", "h100")),
			"never queue-quota ClusterQueue cq: 2 Workers ask for 16 nvidia.com/gpu; the quota in flavor h100 is 8\n",
		},
		"who asks for nothing, and says so, needs a flavor": {
			localQ("") + clusterQ("cq", "", "a100=8", "") + flavorQ("a100", "nodeLabels: {gpu: a100}"),
			queued(gang.Kueue, "team", gangOf(group("Worker", 2, build.Asks("0"), selects("gpu", "h100")))),
			"never queue-quota ClusterQueue cq: node selector and tolerations of Worker match none of its 1 flavor: a100\n",
		},
		"a queue in debt takes who asks for nothing": {
			localQ("") + clusterQ("cq", "", "h100=8", "h100=16"),
			queued(gang.Kueue, "team", gangOf(group("Worker", 2, build.Asks("0")))), "",
		},
		"a selector that no flavor knows is for the nodes": {
			localQ("") + clusterQ("cq", "", "h100=16", "") + flavorQ("h100", "nodeLabels: {gpu: h100}"), workers(2, selects("zone", "b")), "",
		},
		"a tainted flavor does not count": {
			localQ("") + clusterQ("cq", "", "spot=64", "") + flavorQ("spot", "nodeTaints: [{key: spot, value: 'yes', effect: NoSchedule}]"), workers(1),
			"never queue-quota ClusterQueue cq: node selector and tolerations of Worker match none of its 1 flavor: spot\n",
		},
		"a tainted flavor that is tolerated does": {
			localQ("") + clusterQ("cq", "", "spot=64", "") + flavorQ("spot", "nodeTaints: [{key: spot, value: 'yes', effect: NoSchedule}]"), workers(1, tolerates("spot")), "",
		},
		"there is no such LocalQueue": {
			mlNamespace + clusterQ("cq", "", "h100=16", ""), workers(1),
			"never queue-missing LocalQueue ml/team: it does not exist in namespace ml\n",
		},
		"the ClusterQueue behind it is gone": {
			strings.TrimSuffix(localQ(""), "\n---\n"), workers(1), "never queue-missing ClusterQueue cq: it does not exist\n",
		},
		"the LocalQueue is held": {
			localQ(", stopPolicy: Hold") + clusterQ("cq", "", "h100=16", ""), workers(1),
			"now queue-closed LocalQueue ml/team: stopPolicy is Hold; it admits no jobs until that is None\n",
		},
		"the ClusterQueue is not active": {
			localQ("") + strings.Replace(clusterQ("cq", "", "h100=16", ""), "status: {", "status: {conditions: [{type: Active, status: 'False', reason: FlavorNotFound}], ", 1), workers(1),
			"now queue-closed ClusterQueue cq: it is not active: FlavorNotFound\n",
		},
		"namespaces are selected": {
			localQ("") + strings.Replace(clusterQ("cq", "", "h100=16", ""), "namespaceSelector: {}", "namespaceSelector: {matchLabels: {team: blue}}", 1), workers(1),
			"never queue-missing ClusterQueue cq: it takes no jobs of namespace ml: its namespaceSelector is team=blue\n",
		},
		"an elastic role counts at its least": {
			localQ("") + clusterQ("cq", "", "h100=16", ""), queued(gang.Kueue, "team", gang.Gang{Groups: []gang.Group{elastic(2, 8)}}), "",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, told(ruled(t, tc.objects, kueueWhole), tc.gang)); diff != "" {
				t.Errorf("Limits (-want +got):\n%s", diff)
			}
		})
	}
}

func elastic(least, most int) gang.Group {
	g := group("Worker", most, build.Asks("8"))
	g.Min = least
	return g
}

func TestWhatTheViewOfQueuesLacksIsUnknown(t *testing.T) {
	g := queued(gang.Kueue, "team", gpus(3, "8"))
	node := build.Nodes(3, "a", build.GPUs(8))
	cases := map[string]struct {
		objects string
		whole   []string
		want    string
	}{
		"no queues at all":                   {gpuQuota[1:], nil, "the LocalQueue team is not in the snapshot; what it allows is not known"},
		"a namespace under another name":     {gpuQuota[1:], kueueWhole, "the namespace ml is not in the snapshot; whether it has a LocalQueue team is not known"},
		"a cohort that may have more queues": {localQ("") + clusterQ("cq", ", cohort: all", "h100=8", ""), kueueWhole[:1], "the cohort all of ClusterQueue cq is not whole in the snapshot; what may be borrowed is not known"},
		"a resource without a quota": {
			localQ("") + strings.ReplaceAll(clusterQ("cq", "", "h100=64", ""), "nvidia.com/gpu", "cpu"), kueueWhole,
			"ClusterQueue cq has no quota for nvidia.com/gpu; unless Kueue is configured to leave it out, the job is not admitted",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := whatif.Answer(t.Context(), ruled(t, tc.objects, tc.whole, node), g)
			for _, l := range r.Violations {
				if l.Rule != quota.RuleQuota {
					t.Errorf("a limit: %s", l)
				}
			}
			if got := strings.Join(r.Assumed, "\n"); !strings.Contains(got, tc.want) {
				t.Errorf("assumed %q; want %q among it", got, tc.want)
			}
		})
	}
}

func TestTheDefaultQueueIsFilledIn(t *testing.T) {
	objects := strings.Replace(localQ("")+clusterQ("cq", "", "h100=8", ""), "name: team", "name: default", 1)
	g := in("ml", gpus(2, "8"))
	g.Self.Group, g.Self.Resource = "kubeflow.org", "pytorchjobs"
	r := whatif.Answer(t.Context(), ruled(t, objects, kueueWhole, build.Nodes(1, "a", build.GPUs(8))), g)
	if r.Queue != "default" || !r.Blocked() || r.Warns() {
		t.Errorf("queue %q, blocked %t, speaks %t; want default, true, false", r.Queue, r.Blocked(), r.Warns())
	}
	g.Self.Group = "frameworkcontroller.microsoft.com"
	if r := whatif.Answer(t.Context(), ruled(t, objects, kueueWhole, build.Nodes(1, "a", build.GPUs(8))), g); r.Queue != "" || r.Held() {
		t.Errorf("a kind that Kueue does not queue: queue %q, limits %v; want none", r.Queue, r.Violations)
	}
}

// TestKueueAgreesWithTryingEveryFlavor compares with an answer that tries every choice of a
// flavor for every role, with one queue and one that lends.
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
			g.Groups = append(g.Groups, group(fmt.Sprintf("role%d", i), n, build.Asks(fmt.Sprint(each))))
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
		objects := localQ("") + clusterQ("cq", ", cohort: all", strings.Join(own, " "), strings.Join(ownUsed, " ")) + "\n---\n" +
			clusterQ("other", ", cohort: all", strings.Join(lends, " "), strings.Join(lendsUsed, " "))
		got := "fits"
		if limits := quota.Violations(ruled(t, objects, kueueWhole), queued(gang.Kueue, "team", g)); len(limits) > 0 {
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

func TestOtherQueues(t *testing.T) {
	volcano := func(spec, status string) string {
		return "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: q}\nspec: {" + spec + "}\nstatus: {" + status + "}"
	}
	t9k := func(spec, status string) string {
		return "apiVersion: scheduler.tensorstack.dev/v1beta1\nkind: Queue\nmetadata: {name: q, namespace: t9k-system}\nspec: {" + spec + "}\nstatus: {" + status + "}"
	}
	least := queued(gang.Volcano, "q", gangOf(group("Master", 1, build.Asks("1")), group("Worker", 3, build.Asks("8"))))
	least.MinMembers = 2
	cases := map[string]struct {
		objects string
		gang    gang.Gang
		want    string
	}{
		"Volcano: within":                      {volcano("capability: {nvidia.com/gpu: 16}", "state: Open"), queued(gang.Volcano, "q", gpus(2, "8")), ""},
		"Volcano: above":                       {volcano("capability: {nvidia.com/gpu: 15}", ""), queued(gang.Volcano, "q", gpus(2, "8")), "never queue-quota Queue q: 2 Workers ask for 16 nvidia.com/gpu; the queue may hold 15\n"},
		"Volcano: in use":                      {volcano("capability: {nvidia.com/gpu: 16}", "allocated: {nvidia.com/gpu: 4}"), queued(gang.Volcano, "q", gpus(2, "8")), "now queue-quota Queue q: 2 Workers ask for 16 nvidia.com/gpu beside 4 in use; the queue may hold 16\n"},
		"Volcano: no cpu is no limit":          {volcano("capability: {cpu: 0}", ""), queued(gang.Volcano, "q", gangOf(group("Worker", 2, build.Requests("cpu=8")))), ""},
		"Volcano: closing":                     {volcano("", "state: Closing"), queued(gang.Volcano, "q", gpus(1, "8")), "now queue-closed Queue q: its state is Closing; it takes jobs when that is Open\n"},
		"Volcano: a queue above it":            {volcano("parent: p", "") + "\n---\n" + strings.Replace(volcano("capability: {nvidia.com/gpu: 8}", ""), "name: q", "name: p", 1), queued(gang.Volcano, "q", gpus(2, "8")), "never queue-quota Queue p: 2 Workers ask for 16 nvidia.com/gpu; the queue may hold 8\n"},
		"Volcano: what has to start is enough": {volcano("capability: {nvidia.com/gpu: 9}", ""), least, ""},
		"Volcano: what has to start is above":  {volcano("capability: {nvidia.com/gpu: 8}", ""), least, "never queue-quota Queue q: 1 Master + 3 Workers ask for 9 nvidia.com/gpu; the queue may hold 8\n"},
		"Volcano: missing":                     {volcano("", ""), queued(gang.Volcano, "other", gpus(1, "8")), "never queue-missing Queue other: it does not exist; there is q\n"},
		"T9k: above":                           {t9k("quota: {requests: {nvidia.com/gpu: 8}}", ""), queued(gang.T9k, "q", gpus(2, "8")), "never queue-quota Queue t9k-system/q: 2 Workers ask for 16 nvidia.com/gpu; the queue may hold 8\n"},
		"T9k: in use":                          {t9k("quota: {requests: {nvidia.com/gpu: 16}}", "allocated: {nvidia.com/gpu: 4}"), queued(gang.T9k, "q", gpus(2, "8")), "now queue-quota Queue t9k-system/q: 2 Workers ask for 16 nvidia.com/gpu beside 4 in use; the queue may hold 16\n"},
		"T9k: closed":                          {t9k("closed: true", ""), queued(gang.T9k, "q", gpus(1, "8")), "now queue-closed Queue t9k-system/q: it is closed; it takes no jobs until it is opened\n"},
		"T9k: missing":                         {t9k("", ""), queued(gang.T9k, "other", gpus(1, "8")), "never queue-missing Queue other: it does not exist; there is q\n"},
		"KAI is not judged":                    {t9k("", ""), queued(gang.KAI, "other", gpus(1, "8")), ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := ruled(t, tc.objects, []string{"queues.scheduling.volcano.sh", "queues.scheduler.tensorstack.dev"})
			if diff := cmp.Diff(tc.want, told(s, tc.gang)); diff != "" {
				t.Errorf("Limits (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAJobThatRunsHasPassedItsQueue(t *testing.T) {
	g := queued(gang.Kueue, "team", gpus(3, "8"))
	g.Own = func(p *corev1.Pod) (string, bool) { return "Worker", p.Name == "own" }
	s := ruled(t, localQ("")+clusterQ("cq", "", "h100=16", ""), kueueWhole, build.Pod("own", build.In("ml"), build.On("a")))
	if got := told(s, g); got != "" {
		t.Errorf("limits of a job with a pod: %s; want none", got)
	}
}

func TestPodGroups(t *testing.T) {
	group1 := func(apiVersion, spec string) string {
		return "apiVersion: " + apiVersion + "\nkind: PodGroup\nmetadata: {name: g, namespace: ml}\nspec: {" + spec + "}"
	}
	mark := func(key string, annotation bool) gang.Gang {
		g := in("ml", gpus(4, "1"))
		if annotation {
			g.Groups[0].Pod.Annotations = map[string]string{key: "g"}
		} else {
			g.Groups[0].Pod.Labels = map[string]string{key: "g"}
		}
		return g
	}
	native := in("ml", gangOf(group("Worker", 4, spec(func(s *corev1.PodSpec) { s.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: new("g")} }))))
	const five = "never members PodGroup ml/g: it waits for 5 pods; the job has 4 that name it\n"
	cases := map[string]struct {
		objects string
		gang    gang.Gang
		want    string
	}{
		"scheduler-plugins": {group1("scheduling.x-k8s.io/v1alpha1", "minMember: 5"), mark("scheduling.x-k8s.io/pod-group", false), five},
		"Volcano":           {group1("scheduling.volcano.sh/v1beta1", "minMember: 5"), mark("scheduling.k8s.io/group-name", true), five},
		"T9k":               {group1("scheduler.tensorstack.dev/v1beta1", "minMember: 5"), mark("scheduler.tensorstack.dev/group-name", false), five},
		"Kubernetes 1.37":   {group1("scheduling.k8s.io/v1beta1", "schedulingPolicy: {gang: {minCount: 5}}"), native, five},
		"Kubernetes 1.36":   {group1("scheduling.k8s.io/v1alpha2", "schedulingPolicy: {gang: {minCount: 5}}"), native, five},
		"Kubernetes 1.35": {
			"apiVersion: scheduling.k8s.io/v1alpha1\nkind: Workload\nmetadata: {name: w, namespace: ml}\nspec: {podGroups: [{name: other, policy: {gang: {minCount: 9}}}, {name: workers, policy: {gang: {minCount: 5}}}]}",
			in("ml", gang.Gang{Groups: []gang.Group{{Name: "Worker", Count: 4, Workload: "w", WorkloadGroup: "workers", Pod: group("x", 1).Pod}}}),
			"never members Workload ml/w: it waits for 5 pods; the job has 4 that name it\n",
		},
		"as many as there are":         {group1("scheduling.k8s.io/v1beta1", "schedulingPolicy: {gang: {minCount: 4}}"), native, ""},
		"no gang":                      {group1("scheduling.k8s.io/v1beta1", "schedulingPolicy: {basic: {}}"), native, ""},
		"a group that may come later":  {strings.Replace(group1("scheduling.x-k8s.io/v1alpha1", "minMember: 5"), "name: g", "name: h", 1), mark("scheduling.x-k8s.io/pod-group", false), ""},
		"a group of another scheduler": {group1("scheduling.volcano.sh/v1beta1", "minMember: 5"), mark("scheduling.x-k8s.io/pod-group", false), ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, told(ruled(t, tc.objects, nil), tc.gang)); diff != "" {
				t.Errorf("Limits (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPodsOfKubernetes135NameAWorkloadWhereTheJobIsWritten(t *testing.T) {
	source := objects(t, "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: train}\nspec: {template: {spec: {workloadRef: {name: w, podGroup: workers}}}}")[0]
	j := &job.Job{Source: source, Roles: []job.Role{{Name: "Worker", Replicas: job.Exactly(4), Pod: job.Pod{Path: "spec.template.spec"}}}}
	if g := gang.Of(j).Groups[0]; g.Workload != "w" || g.WorkloadGroup != "workers" {
		t.Errorf("workload %q, group %q; want w and workers", g.Workload, g.WorkloadGroup)
	}
}
