package fit_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/test/build"
)

func TestEachNodeIsRefusedOnceAtItsFirstGate(t *testing.T) {
	s := clusterOf(
		build.Node("a-not-ready-and-cordoned", build.GPUs(8), build.NotReady(), build.Cordoned()),
		build.Node("b-cordoned-and-tainted", build.GPUs(8), build.Cordoned(), build.Taint("x:NoSchedule")),
		build.Node("c-other-pool-and-tainted", build.GPUs(8), build.Taint("x:NoSchedule")),
		build.Node("d-tainted-and-small", build.Label("pool", "a"), build.Taint("x=1:NoExecute")),
		build.Node("e-small", build.Label("pool", "a"), build.GPUs(4)),
		build.Node("f-full", build.Label("pool", "a"), build.GPUs(8)), build.Pod("p", build.On("f-full"), build.Asks("1")),
		build.Node("g-port-taken", build.Label("pool", "a"), build.GPUs(8)), build.Pod("q", build.On("g-port-taken"), build.HostPort(2222)),
		build.Node("h-open", build.Label("pool", "a"), build.GPUs(8), build.Taint("soft:PreferNoSchedule")),
	)
	got := whatif.Answer(t.Context(), s, gangOf(group("Worker", 2, build.Asks("8"), build.HostPort(2222), selects("pool", "a"))))
	want := fit.Rejections{Total: 8, NotReady: 1, Cordoned: 1, Selector: 1, Taint: 1, TooSmall: 1, Full: 1, Other: 1, Open: 1, Taints: []string{"x=1:NoExecute"}}
	if diff := cmp.Diff(want, got.Rejected); diff != "" {
		t.Errorf("Rejected (-want +got):\n%s", diff)
	}
}

func affinity(terms ...corev1.NodeSelectorTerm) build.PodOption {
	return build.Spec(func(s *corev1.PodSpec) {
		s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
		}}
	})
}

func expr(key string, op corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: op, Values: values}
}

// placedOn is where one pod with these options goes on three nodes: a and b in pool x
// with 8 and 16 (label gpus), c in pool y; empty: nowhere.
func placedOn(t *testing.T, options ...build.PodOption) string {
	s := clusterOf(
		build.Node("a", build.Label("pool", "x"), build.Label("gpus", "8")),
		build.Node("b", build.Label("pool", "x"), build.Label("gpus", "16")),
		build.Node("c", build.Label("pool", "y"), build.Taint("k=v:NoSchedule")),
	)
	r := whatif.Answer(t.Context(), s, gangOf(group("Worker", 3, append(options, build.Spec(func(s *corev1.PodSpec) {
		s.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 1, HostPort: 1}} // one per node
	}))...)))
	var nodes []string
	for _, p := range r.Plan {
		nodes = append(nodes, p.Node)
	}
	return strings.Join(nodes, " ")
}

func TestWhichNodesAPodMayUse(t *testing.T) {
	cases := map[string]struct {
		pod  []build.PodOption
		want string
	}{
		"a taint keeps pods away":                  {nil, "a b"},
		"a toleration lets them in":                {[]build.PodOption{tolerates("k")}, "a b c"},
		"a toleration of another value does not":   {[]build.PodOption{build.Spec(func(s *corev1.PodSpec) { s.Tolerations = []corev1.Toleration{{Key: "k", Value: "w"}} })}, "a b"},
		"a selector":                               {[]build.PodOption{tolerates("k"), selects("pool", "y")}, "c"},
		"two selectors must both hold":             {[]build.PodOption{selects("pool", "x"), selects("gpus", "16")}, "b"},
		"affinity In":                              {[]build.PodOption{affinity(corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{expr("gpus", corev1.NodeSelectorOpIn, "16", "32")}})}, "b"},
		"affinity NotIn holds without the label":   {[]build.PodOption{tolerates("k"), affinity(corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{expr("gpus", corev1.NodeSelectorOpNotIn, "16")}})}, "a c"},
		"affinity Gt compares numbers":             {[]build.PodOption{affinity(corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{expr("gpus", corev1.NodeSelectorOpGt, "9")}})}, "b"},
		"terms are alternatives":                   {[]build.PodOption{affinity(corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{expr("gpus", corev1.NodeSelectorOpIn, "8")}}, corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{expr("gpus", corev1.NodeSelectorOpIn, "16")}})}, "a b"},
		"affinity to a node by name":               {[]build.PodOption{affinity(corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{expr("metadata.name", corev1.NodeSelectorOpIn, "b")}})}, "b"},
		"an empty term chooses nothing":            {[]build.PodOption{affinity(corev1.NodeSelectorTerm{})}, ""},
		"an operator nobody knows chooses nothing": {[]build.PodOption{affinity(corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{expr("gpus", "Like", "8")}})}, ""},
		"a fixed node name":                        {[]build.PodOption{build.Spec(func(s *corev1.PodSpec) { s.NodeName = "a" })}, "a"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := placedOn(t, tc.pod...); got != tc.want {
				t.Errorf("pods go to %q, want %q", got, tc.want)
			}
		})
	}
}

func TestWhatTakesRoom(t *testing.T) {
	free := func(p *corev1.Pod) int64 {
		return clusterOf(build.Node("a", build.GPUs(8)), p).Nodes()[0].Free(build.GPU)
	}
	always := corev1.ContainerRestartPolicyAlways
	asks := func(n string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Requests: corev1.ResourceList{build.GPU: resource.MustParse(n)}}
	}
	cases := map[string]struct {
		pod  *corev1.Pod
		want int64
	}{
		"a running pod":                 {build.Pod("p", build.On("a"), build.Asks("3")), 5},
		"a pod bound and not started":   {build.Pod("p", build.On("a"), build.Phase(corev1.PodPending), build.Asks("3")), 5},
		"a pod without a node":          {build.Pod("p", build.Asks("3")), 8},
		"a pod on a node we do not see": {build.Pod("p", build.On("z"), build.Asks("3")), 8},
		"a pod that succeeded":          {build.Pod("p", build.On("a"), build.Phase(corev1.PodSucceeded), build.Asks("3")), 8},
		"a pod that failed":             {build.Pod("p", build.On("a"), build.Phase(corev1.PodFailed), build.Asks("3")), 8},
		"an init container larger than the rest": {build.Pod("p", build.On("a"), build.Asks("1"), build.Spec(func(s *corev1.PodSpec) {
			s.InitContainers = []corev1.Container{{Name: "i", Resources: asks("6")}}
		})), 2},
		"a sidecar beside the rest": {build.Pod("p", build.On("a"), build.Asks("1"), build.Spec(func(s *corev1.PodSpec) {
			s.InitContainers = []corev1.Container{{Name: "i", RestartPolicy: &always, Resources: asks("2")}}
		})), 5},
		"overhead": {build.Pod("p", build.On("a"), build.Asks("1"), build.Spec(func(s *corev1.PodSpec) {
			s.Overhead = corev1.ResourceList{build.GPU: resource.MustParse("1")}
		})), 6},
		"more than there is": {build.Pod("p", build.On("a"), build.Asks("30")), 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := free(tc.pod); got != tc.want {
				t.Errorf("%d GPUs are free, want %d", got, tc.want)
			}
		})
	}
}

func TestPodsThatKeepApart(t *testing.T) {
	apart := func(topology string) build.PodOption {
		return func(p *corev1.Pod) {
			metav1.SetMetaDataLabel(&p.ObjectMeta, "role", "w")
			p.Spec.Affinity = apartFrom(topology, "role", "w")
		}
	}
	three := func(extra ...any) *cluster.Snapshot {
		return clusterOf(append(extra, build.Node("a", build.GPUs(8), build.Label("zone", "1")), build.Node("b", build.GPUs(8), build.Label("zone", "1")), build.Node("c", build.GPUs(8), build.Label("zone", "2")))...)
	}
	cases := map[string]struct {
		on   *cluster.Snapshot
		gang gang.Gang
		want fit.Verdict
	}{
		"one per node, and as many nodes":          {three(), gangOf(group("Worker", 3, build.Asks("1"), apart(corev1.LabelHostname))), fit.Fits},
		"one per node, and too few nodes":          {three(), gangOf(group("Worker", 4, build.Asks("1"), apart(corev1.LabelHostname))), fit.TooBig},
		"another job's pod of that label is there": {three(build.Pod("x", build.On("a"), build.PodLabel("role", "w"))), gangOf(group("Worker", 3, build.Asks("1"), apart(corev1.LabelHostname))), fit.Full},
		"such a pod in another namespace":          {three(build.Pod("x", build.In("other"), build.On("a"), build.PodLabel("role", "w"))), gangOf(group("Worker", 3, build.Asks("1"), apart(corev1.LabelHostname))), fit.Fits},
		"a pod that is there keeps ours away":      {three(build.Pod("x", build.On("a"), build.Spec(func(s *corev1.PodSpec) { s.Affinity = apartFrom("zone", "role", "w") }))), gangOf(group("Worker", 2, build.Asks("8"), build.PodLabel("role", "w"))), fit.Full},
		"over zones, and as many zones":            {three(), gangOf(group("Worker", 2, build.Asks("1"), apart("zone"))), fit.Fits},
		"over zones, and too few zones":            {three(), gangOf(group("Worker", 3, build.Asks("1"), apart("zone"))), fit.TooBig},
		"over zones, but too big without that":     {three(), gangOf(group("Worker", 4, build.Asks("8"), apart("zone"))), fit.TooBig},
		"one pod over zones clashes with nobody":   {three(), gangOf(group("Worker", 1, build.Asks("1"), apart("zone"))), fit.Fits},
		"one host port, and two pods for one node": {clusterOf(build.Node("a", build.GPUs(8))), gangOf(group("Worker", 2, build.Asks("1"), build.HostPort(22))), fit.TooBig},
		"two roles with one host port":             {clusterOf(build.Node("a", build.GPUs(8))), gangOf(group("Master", 1, build.HostPort(22)), group("Worker", 1, build.Asks("1"), build.HostPort(22))), fit.TooBig},
		"two roles with two host ports":            {clusterOf(build.Node("a", build.GPUs(8))), gangOf(group("Master", 1, build.HostPort(22)), group("Worker", 1, build.Asks("1"), build.HostPort(23))), fit.Fits},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := whatif.Answer(t.Context(), tc.on, tc.gang); got.Verdict != tc.want {
				t.Errorf("Fit says %s, want %s\n%s\nassumed: %q", got.Verdict, tc.want, got, got.Assumed)
			}
		})
	}
}

func TestWhatIsNotModelledIsSaid(t *testing.T) {
	cases := map[string]struct {
		change func(*corev1.PodSpec)
		want   fit.Verdict
		said   string
	}{
		"a wish to spread is no rule": {func(s *corev1.PodSpec) {
			s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.ScheduleAnyway}}
		}, fit.Fits, ""},
		"device claims": {func(s *corev1.PodSpec) {
			s.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}}
		}, fit.Unknown, "Worker: resource claims (DRA) are not judged: the devices that are published are not all in the snapshot"},
		"another scheduler": {func(s *corev1.PodSpec) { s.SchedulerName = "volcano" }, fit.Fits, "Worker is placed by the scheduler volcano, which may decide by rules of its own"},
		"a claim we do not see": {func(s *corev1.PodSpec) {
			s.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
		}, fit.Unknown, "the claim data was not read; it may bind Worker to some nodes"},
		"a part of a device": {func(s *corev1.PodSpec) {
			s.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{build.GPU: resource.MustParse("500m")}}}}
		}, fit.Unknown, "Worker asks for 500m nvidia.com/gpu; the API server takes whole devices, and a limit that is the request"},
		"a device without a limit": {func(s *corev1.PodSpec) {
			s.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{build.GPU: resource.MustParse("8")}}}}
		}, fit.Unknown, "Worker asks for 8 nvidia.com/gpu; the API server takes whole devices, and a limit that is the request"},
		"a pod that the API server refuses": {func(s *corev1.PodSpec) {
			s.Tolerations = []corev1.Toleration{{Key: "x", Operator: corev1.TolerationOpExists, Value: "y"}}
		}, fit.Unknown, "Worker: a toleration of x has operator Exists and the value \"y\", and takes only one of the two; the API server refuses such pods"},
		"a priority class we do not see": {func(s *corev1.PodSpec) { s.PriorityClassName = "gold" }, fit.Unknown, "the PriorityClass gold was not read; the API server refuses pods of one that does not exist"},
		"a runtime class we do not see":  {func(s *corev1.PodSpec) { name := "kata"; s.RuntimeClassName = &name }, fit.Unknown, "the runtime class kata was not read; what it adds to Worker is not counted"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := whatif.Answer(t.Context(), demo(), gangOf(group("Worker", 2, build.Asks("8"), build.Spec(tc.change))))
			if got.Verdict != tc.want {
				t.Errorf("Fit says %s, want %s: %q", got.Verdict, tc.want, got.Assumed)
			}
			if tc.said != "" && !slices.Contains(got.Assumed, tc.said) {
				t.Errorf("assumed %q; want %q among them", got.Assumed, tc.said)
			}
			if tc.said == "" && len(got.Assumed) > 0 {
				t.Errorf("assumed %q; want nothing", got.Assumed)
			}
		})
	}
}
