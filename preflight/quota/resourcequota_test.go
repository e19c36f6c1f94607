package quota_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/quota"
	"github.com/signalbox-dev/signalbox/test/build"
)

func home() build.PodOption {
	return build.Spec(func(s *corev1.PodSpec) {
		s.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: "zone"}}}}
	})
}

func across() build.PodOption {
	return build.Spec(func(s *corev1.PodSpec) {
		s.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
			{Weight: 1, PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: "zone", Namespaces: []string{"web"}}},
		}}}
	})
}

func classScope(operator, value string) string {
	values := ""
	if value != "" {
		values = ", values: [" + value + "]"
	}
	return ", scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: " + operator + values + "}]}"
}

func TestQuotas(t *testing.T) {
	two := func(options ...build.PodOption) gang.Gang {
		return build.Within("ml", build.Gang(build.Group("Worker", 2, options...)))
	}
	cases := map[string]struct {
		objects string
		gang    gang.Gang
		want    string
	}{
		"cpu is counted under three names": {
			build.ResourceQuota("cpu: 3, requests.cpu: 3, limits.cpu: 7", "cpu: 0, requests.cpu: 0, limits.cpu: 0", ""), two(build.Requests("cpu=2"), limited("cpu", "4")),
			"never quota ResourceQuota ml/q: 2 Workers ask for 4 cpu; the hard limit is 3\n" +
				"never quota ResourceQuota ml/q: 2 Workers ask for 8 limits.cpu; the hard limit is 7\n" +
				"never quota ResourceQuota ml/q: 2 Workers ask for 4 requests.cpu; the hard limit is 3\n",
		},
		"a limit counts as the request that is not written": {
			build.ResourceQuota("requests.memory: 10Gi", "requests.memory: 0", ""), two(limited("memory", "6Gi")),
			"never quota ResourceQuota ml/q: 2 Workers ask for 12Gi requests.memory; the hard limit is 10Gi\n",
		},
		"devices are counted by their requests only": {
			build.ResourceQuota("nvidia.com/gpu: 1, limits.nvidia.com/gpu: 1", "", ""), two(build.Asks("8")), "",
		},
		"pods are counted as pods and as objects": {
			build.ResourceQuota("pods: 1, count/pods: 1", "pods: 0, count/pods: 0", ""), two(),
			"never quota ResourceQuota ml/q: 2 Workers ask for 2 count/pods; the hard limit is 1\n" +
				"never quota ResourceQuota ml/q: 2 Workers need 2 pods; the hard limit is 1\n",
		},
		"without a status nothing is known to be used": {
			"apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: ml}\nspec: {hard: {pods: 2}}", two(), "",
		},
		"the status counts where it differs from the spec": {
			"apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: ml}\nspec: {hard: {pods: 1}}\nstatus: {hard: {pods: 2}, used: {pods: 0}}", two(), "",
		},
		"pods that end after a time": {
			build.ResourceQuota("pods: 1", "pods: 0", ", scopes: [Terminating]"), two(build.Spec(func(s *corev1.PodSpec) { s.ActiveDeadlineSeconds = new(int64(60)) })),
			"never quota ResourceQuota ml/q: 2 Workers need 2 pods; the hard limit is 1\n",
		},
		"pods that do not end":                {build.ResourceQuota("pods: 1", "pods: 0", ", scopes: [Terminating]"), two(), ""},
		"best effort is a pod without cpu":    {build.ResourceQuota("pods: 1", "pods: 0", ", scopes: [BestEffort]"), two(build.Requests("cpu=1")), ""},
		"only a device is best effort":        {build.ResourceQuota("pods: 1", "pods: 0", ", scopes: [BestEffort]"), two(build.Asks("1")), "never quota ResourceQuota ml/q: 2 Workers need 2 pods; the hard limit is 1\n"},
		"every scope has to match":            {build.ResourceQuota("pods: 1", "pods: 0", ", scopes: [NotTerminating, BestEffort]"), two(build.Requests("cpu=1")), ""},
		"a priority class that is in":         {build.ResourceQuota("pods: 1", "pods: 0", classScope("In", "high")), two(build.PriorityClass("high")), "never quota ResourceQuota ml/q: 2 Workers need 2 pods; the hard limit is 1\n"},
		"a priority class that is not in":     {build.ResourceQuota("pods: 1", "pods: 0", classScope("In", "high")), two(build.PriorityClass("low")), ""},
		"the default class is filled in":      {build.ResourceQuota("pods: 1", "pods: 0", classScope("In", "std")) + "\n---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: std}\nglobalDefault: true\nvalue: 5", two(), "never quota ResourceQuota ml/q: 2 Workers need 2 pods; the hard limit is 1\n"},
		"a default class that nobody saw":     {build.ResourceQuota("pods: 1", "pods: 0", classScope("Exists", "")), two(), ""},
		"no class is none of these":           {build.ResourceQuota("pods: 1", "pods: 0", classScope("NotIn", "high")), two(build.PriorityClass("low")), "never quota ResourceQuota ml/q: 2 Workers need 2 pods; the hard limit is 1\n"},
		"affinity that looks elsewhere":       {build.ResourceQuota("pods: 1", "pods: 0", ", scopes: [CrossNamespacePodAffinity]"), two(across()), "never quota ResourceQuota ml/q: 2 Workers need 2 pods; the hard limit is 1\n"},
		"affinity that stays at home":         {build.ResourceQuota("pods: 1", "pods: 0", ", scopes: [CrossNamespacePodAffinity]"), two(home()), ""},
		"an amount that has to be said":       {build.ResourceQuota("limits.cpu: 64", "limits.cpu: 0", ""), two(build.Requests("cpu=2")), "never amount ResourceQuota ml/q: container main of Worker does not say limits.cpu, which the quota needs of every container\n"},
		"an amount of the pod is said":        {build.ResourceQuota("limits.cpu: 64", "limits.cpu: 0", ""), two(build.Spec(podLimit("cpu", "8"))), ""},
		"a runtime class adds to every pod":   {build.ResourceQuota("requests.cpu: 5", "requests.cpu: 0", "") + "\n---\napiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: kata}\nhandler: kata\noverhead: {podFixed: {cpu: 1}}", two(build.Requests("cpu=2"), build.Spec(func(s *corev1.PodSpec) { s.RuntimeClassName = new("kata") })), "never quota ResourceQuota ml/q: 2 Workers ask for 6 requests.cpu; the hard limit is 5\n"},
		"an elastic role counts at its least": {build.ResourceQuota("pods: 3", "pods: 0", ""), build.Within("ml", gang.Gang{Groups: []gang.Group{{Name: "Worker", Count: 8, Min: 3, Pod: job.Pod{Spec: build.Pod("x").Spec}}}}), ""},
		"roles that run one after the other do not add up": {
			build.ResourceQuota("pods: 2, count/pods: 3", "pods: 0, count/pods: 0", ""), build.Within("ml", gang.Gang{Groups: []gang.Group{
				{Name: "prepare", Count: 2, Pod: job.Pod{Spec: build.Pod("x").Spec}},
				{Name: "train", Count: 2, Pod: job.Pod{Spec: build.Pod("x").Spec}, After: []string{"prepare"}},
			}}),
			"never quota ResourceQuota ml/q: 2 pods of prepare + 2 pods of train ask for 4 count/pods; the hard limit is 3\n",
		},
		"claims made from a template": {
			build.ResourceQuota("count/resourceclaims.resource.k8s.io: 1, gpu.nvidia.com.deviceclass.resource.k8s.io/devices: 15", "", "") + "\n---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: eight, namespace: ml}\nspec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, count: 8}}]}}}",
			two(build.Spec(func(s *corev1.PodSpec) {
				s.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: new("eight")}}
			})),
			"never quota ResourceQuota ml/q: 2 Workers ask for 2 count/resourceclaims.resource.k8s.io; the hard limit is 1\n" +
				"never quota ResourceQuota ml/q: 2 Workers ask for 16 gpu.nvidia.com.deviceclass.resource.k8s.io/devices; the hard limit is 15\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, build.Violations(build.View(t, tc.objects, nil), tc.gang)); diff != "" {
				t.Errorf("Limits (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAJobOfTheKindThatAQuotaCounts(t *testing.T) {
	g := build.Within("ml", build.Workers(1, "1"))
	g.Self.Group, g.Self.Resource = "kubeflow.org", "pytorchjobs"
	full := build.View(t, build.ResourceQuota("count/pytorchjobs.kubeflow.org: 2", "count/pytorchjobs.kubeflow.org: 2", ""), nil)
	want := "now quota ResourceQuota ml/q: the job asks for 1 count/pytorchjobs.kubeflow.org beside 2 in use; the hard limit is 2\n"
	if diff := cmp.Diff(want, build.Violations(full, g)); diff != "" {
		t.Errorf("a new job (-want +got):\n%s", diff)
	}
	g.Exists = true
	if got := build.Violations(full, g); got != "" {
		t.Errorf("a job that is stored already: %s; want nothing", got)
	}
}

// TestWhatAnOperatorMayMakeBesidePods: where a quota leaves none of it, a yes is none.
func TestWhatAnOperatorMayMakeBesidePods(t *testing.T) {
	doubts := func(group, resource, hard, used string) int {
		g := build.Within("ml", build.Workers(1, "1"))
		g.Self.Group, g.Self.Resource = group, resource
		found, notes := quota.Check(build.View(t, build.ResourceQuota(hard, used, ""), nil), g)
		if len(found) > 0 {
			t.Errorf("%s.%s with %s: %v; want doubts at most", resource, group, hard, found)
		}
		return len(notes.Doubts)
	}
	for name, tc := range map[string]struct {
		group, resource, hard, used string
		want                        int
	}{
		"none of its own API":       {"ray.io", "rayjobs", "count/rayclusters.ray.io: 0", "count/rayclusters.ray.io: 0", 1},
		"all in use":                {"ray.io", "rayjobs", "count/rayclusters.ray.io: 2", "count/rayclusters.ray.io: 2", 1},
		"one is left":               {"ray.io", "rayjobs", "count/rayclusters.ray.io: 2", "count/rayclusters.ray.io: 1", 0},
		"of another API":            {"ray.io", "rayjobs", "count/mpijobs.kubeflow.org: 0", "count/mpijobs.kubeflow.org: 0", 0},
		"services":                  {"jobset.x-k8s.io", "jobsets", "count/services: 0", "count/services: 0", 1},
		"services by the old name":  {"jobset.x-k8s.io", "jobsets", "services: 0", "services: 0", 1},
		"sets of pods":              {"leaderworkerset.x-k8s.io", "leaderworkersets", "count/statefulsets.apps: 0", "count/statefulsets.apps: 0", 1},
		"claims, which are counted": {"ray.io", "rayjobs", "count/persistentvolumeclaims: 0", "count/persistentvolumeclaims: 0", 0},
		"a plain Job":               {"batch", "jobs", "count/services: 0", "count/services: 0", 0},
	} {
		if got := doubts(tc.group, tc.resource, tc.hard, tc.used); got != tc.want {
			t.Errorf("%s: %d doubts, want %d", name, got, tc.want)
		}
	}
}

// TestOwnPodsAreNotCountedTwice: pods of the job that exist are in what is used already.
func TestOwnPodsAreNotCountedTwice(t *testing.T) {
	quota := func(used int) string {
		return build.ResourceQuota("requests.nvidia.com/gpu: 16", fmt.Sprintf("requests.nvidia.com/gpu: %d", used), "")
	}
	pod := func(name, node string) *corev1.Pod {
		return build.Pod(name, build.On(node), build.In("ml"), build.Asks("8"), build.PodLabel("job", "train"))
	}
	g := build.Within("ml", build.Workers(2, "8"))
	g.Own = func(p *corev1.Pod) (string, bool) { return "Worker", p.Labels["job"] == "train" }
	cases := map[string]struct {
		used int
		pods []any
		want string
	}{
		"both run":                     {16, []any{pod("a", "h-1"), pod("b", "h-2")}, ""},
		"one runs, one waits":          {16, []any{pod("a", "h-1"), pod("b", "")}, ""},
		"one runs, one is not created": {8, []any{pod("a", "h-1")}, ""},
		"one runs, others hold the rest": {
			16,
			[]any{pod("a", "h-1")},
			"now quota ResourceQuota ml/q: the job asks for 8 requests.nvidia.com/gpu beside 16 in use; the hard limit is 16\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, build.Violations(build.View(t, quota(tc.used), nil, tc.pods...), g)); diff != "" {
				t.Errorf("Limits (-want +got):\n%s", diff)
			}
		})
	}
}

// TestQuotaAgreesWithCreatingPodsOneByOne plays the API server: it creates pod after pod,
// on an unused quota and on the one there is. The job is over the quota for ever if the
// first stops, and now if the second does.
func TestQuotaAgreesWithCreatingPodsOneByOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	verdicts := map[string]int{}
	for round := range 3000 {
		amounts := func() (cpu, gpu int64) { return 1 + rng.Int64N(4), rng.Int64N(3) }
		hard := map[string]int64{"pods": rng.Int64N(8), "requests.cpu": rng.Int64N(16), "requests.nvidia.com/gpu": rng.Int64N(10)}
		used := map[string]int64{}
		var hardText, usedText []string
		for _, name := range []string{"pods", "requests.cpu", "requests.nvidia.com/gpu"} {
			used[name] = rng.Int64N(hard[name] + 1)
			hardText = append(hardText, fmt.Sprintf("%s: %d", name, hard[name]))
			usedText = append(usedText, fmt.Sprintf("%s: %d", name, used[name]))
		}
		var g gang.Gang
		var pods []map[string]int64
		for i := range 1 + rng.IntN(3) {
			cpu, gpu := amounts()
			options := []build.PodOption{build.Requests(fmt.Sprintf("cpu=%d", cpu))}
			if gpu > 0 {
				options = append(options, build.Asks(fmt.Sprint(gpu)))
			}
			n := 1 + rng.IntN(3)
			g.Groups = append(g.Groups, build.Group(fmt.Sprintf("role%d", i), n, options...))
			for range n {
				pods = append(pods, map[string]int64{"pods": 1, "requests.cpu": cpu, "requests.nvidia.com/gpu": gpu})
			}
		}
		created := func(used map[string]int64) bool {
			now := map[string]int64{}
			for _, p := range pods {
				for name, n := range p {
					if n > 0 && used[name]+now[name]+n > hard[name] {
						return false
					}
				}
				for name, n := range p {
					now[name] += n
				}
			}
			return true
		}
		want := "fits"
		if !created(nil) {
			want = "never"
		} else if !created(used) {
			want = "now"
		}
		got := "fits"
		if limits := quota.Violations(build.View(t, build.ResourceQuota(strings.Join(hardText, ", "), strings.Join(usedText, ", "), ""), nil), build.Within("ml", g)); len(limits) > 0 {
			got = limits[0].When.String()
		}
		if verdicts[want]++; got != want {
			t.Fatalf("round %d: %s, creating the pods says %s; hard %v, used %v, pods %v", round, got, want, hard, used, pods)
		}
	}
	for _, v := range []string{"fits", "now", "never"} {
		if verdicts[v] < 100 {
			t.Errorf("only %d rounds say %s: %v", verdicts[v], v, verdicts)
		}
	}
}
