package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/test/build"
)

// clusterState is what the scheduler sees besides the pods it is to place.
type clusterState struct {
	nodes   []*corev1.Node
	pods    []*corev1.Pod
	objects []runtime.Object // claims, volumes, classes, CSI nodes and drivers, namespaces
}

// scenario is a cluster, a gang, and what it is about.
type scenario struct {
	name string
	clusterState
	gang  gang.Gang
	about []string         // predicates it is about
	ranks []runtime.Object // priority classes, of which the scheduler's plugins know nothing

	ranked   bool  // pods have priorities
	priority int32 // the gang's
}

// gangMark is the annotation of pods of the gang; labels are for selectors.
const gangMark = "parity/gang"

const (
	home  = "ml"
	other = "prod"
	zone  = corev1.LabelTopologyZone
	rack  = "rack"
	host  = corev1.LabelHostname
)

// writer makes one scenario from its number.
type writer struct {
	*rand.Rand
	s scenario
}

func (w *writer) one(in int) bool               { return w.IntN(in) == 0 }
func pick[T any](w *writer, from ...T) T        { return from[w.IntN(len(from))] }
func (w *writer) about(what string)             { w.s.about = append(w.s.about, what) }
func (w *writer) add(objects ...runtime.Object) { w.s.objects = append(w.s.objects, objects...) }

// newScenario is the same for the same number, on every machine.
func newScenario(seed uint64) *scenario {
	w := &writer{Rand: rand.New(rand.NewPCG(seed, 20))}
	w.s.name = fmt.Sprintf("scenario %d", seed)
	if !w.large(seed) {
		w.small(seed)
	}
	slices.Sort(w.s.about)
	w.s.about = slices.Compact(w.s.about)
	return &w.s
}

// small is a scenario of at most twelve nodes and three roles.
func (w *writer) small(seed uint64) {
	w.namespaces()
	w.nodes()
	w.running()
	w.roles()
	w.rare(seed)
	w.storage(seed)
	w.devices(seed)
	w.own()
	w.priorities(seed)
	w.stages(seed)
	w.gates(seed)
}

func (w *writer) namespaces() {
	for _, name := range []string{home, other, "default"} {
		n := &corev1.Namespace{}
		n.Name, n.Labels = name, map[string]string{"kubernetes.io/metadata.name": name, "team": "vision"}
		if name == other {
			n.Labels["team"] = "serving"
		}
		w.add(n)
	}
}

// nodes of two or three shapes, as clusters are made of pools.
func (w *writer) nodes() {
	shapes := 1 + w.IntN(3)
	zones, racks := 1+w.IntN(3), 1+w.IntN(5)
	for i := range min(12, 1+w.IntN(16)) {
		shape := w.IntN(shapes)
		o := []build.NodeOption{
			build.GPUs([]int{8, 4, 0}[shape]), build.Allocatable("cpu", fmt.Sprint([]int{32, 16, 8}[shape])),
			build.Allocatable("memory", "64Gi"), build.Allocatable("ephemeral-storage", "100Gi"),
			build.Allocatable("pods", fmt.Sprint(pick(w, 110, 110, 12, 6))),
			build.Label("pool", string(rune('a'+shape))), build.Label("generation", fmt.Sprint(1+shape*4)),
			build.Label(rack, fmt.Sprintf("r%d", i%racks)),
		}
		if !w.one(10) {
			o = append(o, build.Label(zone, fmt.Sprintf("z%d", i%zones)))
		}
		if w.one(6) {
			o = append(o, build.Allocatable("nvidia.com/mig-1g.10gb", "7"), build.Allocatable("nvidia.com/gpu.shared", "10"))
		}
		switch {
		case w.one(8):
			o = append(o, build.Taint(pick(w, "gpu=a:NoSchedule", "gpu=b:NoExecute", "soft:PreferNoSchedule", "size=7:NoSchedule")))
		case w.one(14):
			o = append(o, build.Cordoned(), build.Taint("node.kubernetes.io/unschedulable:NoSchedule"))
		case w.one(14):
			o = append(o, build.NotReady(), build.Taint("node.kubernetes.io/not-ready:NoSchedule"), build.Taint("node.kubernetes.io/not-ready:NoExecute"))
		}
		w.s.nodes = append(w.s.nodes, build.Node(fmt.Sprintf("n%02d", i), o...))
	}
}

// running pods are of others, or left from an earlier run.
func (w *writer) running() {
	for i := range w.IntN(3 + len(w.s.clusterState.nodes)*2) {
		n := w.s.clusterState.nodes[w.IntN(len(w.s.clusterState.nodes))]
		p := build.Pod(fmt.Sprintf("run-%d", i), build.In(pick(w, home, home, other)), build.On(n.Name),
			build.PodLabel("app", pick(w, "web", "cache", "train")),
			build.Requests(fmt.Sprintf("cpu=%d", w.IntN(6)), fmt.Sprintf("memory=%dGi", 1+w.IntN(8))))
		if gpus := n.Status.Allocatable[build.GPU]; !gpus.IsZero() && !w.one(3) {
			build.Asks(fmt.Sprint(1 + w.IntN(6)))(p)
		}
		switch {
		case w.one(6):
			build.OwnedBy("DaemonSet", "agent")(p)
		case w.one(12):
			build.Phase(pick(w, corev1.PodSucceeded, corev1.PodFailed))(p)
		case w.one(12):
			now := metav1.Now()
			p.DeletionTimestamp, p.Finalizers = &now, []string{"x/y"}
		case w.one(8):
			w.about("anti-affinity of running pods")
			p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
				w.term(pick(w, host, zone, rack), map[string]string{pick(w, "app", "role"): pick(w, "train", "web", "worker")}),
			}}}
		case w.one(12):
			build.HostPort(int32(pick(w, 2222, 29500)))(p)
		}
		w.run(p, n)
	}
}

// run adds a pod that runs, unless there is one of that name or it is too much.
func (w *writer) run(p *corev1.Pod, n *corev1.Node) bool {
	if w.overcommits(p, n) || slices.ContainsFunc(w.s.pods, func(q *corev1.Pod) bool { return q.Name == p.Name }) {
		return false
	}
	w.s.pods = append(w.s.pods, p)
	return true
}

// overcommits says whether a pod is too much for a node, as no kubelet would have it.
func (w *writer) overcommits(p *corev1.Pod, n *corev1.Node) bool {
	sum := job.Resources{corev1.ResourcePods: 1}
	for _, q := range append(slices.Clone(w.s.pods), p) {
		if q.Spec.NodeName == n.Name {
			for name, v := range podspec.Occupied(q) {
				sum[name] += v
			}
			sum[corev1.ResourcePods]++
		}
	}
	has := job.ResourcesOf(n.Status.Allocatable)
	for name, v := range sum {
		if v > has[name] {
			return true
		}
	}
	return false
}

func (w *writer) term(key string, match map[string]string) corev1.PodAffinityTerm {
	t := corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: &metav1.LabelSelector{MatchLabels: match}}
	switch {
	case w.one(8):
		w.about("namespace selector")
		t.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": pick(w, "vision", "serving")}}
	case w.one(16):
		t.NamespaceSelector = &metav1.LabelSelector{}
	case w.one(12):
		t.Namespaces = []string{pick(w, home, other)}
	}
	return t
}

// size of a gang: small ones are common, and 64 is the most.
func (w *writer) size() int {
	switch {
	case w.one(7):
		return 1 + w.IntN(64)
	case w.one(3):
		return 1 + w.IntN(24)
	default:
		return 1 + w.IntN(8)
	}
}

func (w *writer) roles() {
	w.s.gang = gang.Gang{Name: "train", Namespace: home}
	names := []string{"worker", "master", "server"}[:pick(w, 1, 1, 1, 2, 2, 3)]
	features := w.features()
	left := w.size()
	for i, name := range names {
		count := left
		if i < len(names)-1 {
			count = max(1, left/2)
		}
		if i > 0 && w.one(2) {
			count = 1
		}
		left = max(1, left-count)
		count = min(count, 64)
		p := build.Pod(name, build.In(home), build.PodLabel("app", "train"), build.PodLabel("role", name),
			build.Requests(fmt.Sprintf("cpu=%d", pick(w, 0, 1, 2, 4, 8)), fmt.Sprintf("memory=%dGi", pick(w, 0, 1, 4, 16))))
		if !w.one(3) {
			build.Asks(fmt.Sprint(pick(w, 1, 1, 1, 2, 2, 4, 8)))(p)
		}
		for _, f := range features {
			if i == 0 || !w.one(3) {
				f(w, p, name, names)
			}
		}
		g := gang.Group{Name: name, Count: count, Pod: job.Pod{Spec: p.Spec, Labels: p.Labels, Marks: marksOf(name)}.WithMarks()}
		if w.one(15) && count > 1 {
			w.about("elastic")
			g.Min = 1 + w.IntN(count)
		}
		w.s.gang.Groups = append(w.s.gang.Groups, g)
	}
}

// Labels that the job's operator adds to its pods.
const (
	jobMark   = "training.kubeflow.org/job-name"
	roleMark  = "training.kubeflow.org/replica-type"
	indexMark = "training.kubeflow.org/replica-index"
	firstMark = "training.kubeflow.org/job-role"
)

func marksOf(role string) job.Marks {
	return job.Marks{
		Labels: map[string]string{jobMark: "train", roleMark: role}, Varies: []string{indexMark}, Some: []string{firstMark},
		Whole: []string{"training.kubeflow.org/"},
	}
}

// own makes some pods of the gang run already.
func (w *writer) own() {
	if !w.one(8) {
		return
	}
	made := 0
	for i := range w.s.gang.Groups {
		g := &w.s.gang.Groups[i]
		if len(g.Pod.Spec.Volumes) > 0 {
			continue
		}
		for at := range w.IntN(1 + min(3, g.Count)) {
			n := w.s.clusterState.nodes[w.IntN(len(w.s.clusterState.nodes))]
			p := w.s.created(g, at)
			p.Spec.NodeName, p.Status.Phase = n.Name, corev1.PodRunning
			if w.run(p, n) {
				made++
			}
		}
	}
	if made > 0 {
		w.about("pods of the job that run")
		w.s.gang.Own = func(p *corev1.Pod) (string, bool) { return p.Annotations[gangMark], p.Annotations[gangMark] != "" }
	}
}

// created is a pod of a group as the API server stores it: with its real defaults, and
// with the label keys of affinity terms written into their selectors (k8s.io/kubernetes v1.37 pkg/registry/core/pod/strategy.go).
func (s *scenario) created(group *gang.Group, at int) *corev1.Pod {
	g := s.gang
	p := &corev1.Pod{Spec: *group.Pod.Spec.DeepCopy()}
	p.Name, p.Namespace, p.Labels = fmt.Sprintf("%s-%s-%d", g.Name, group.Name, at), g.Namespace, group.Pod.Labels
	if len(group.Pod.Marks.Varies) > 0 {
		p.Labels = maps.Clone(p.Labels)
		for _, key := range group.Pod.Marks.Varies {
			p.Labels[key] = fmt.Sprint(at)
		}
		if slices.Contains(group.Pod.Marks.Some, firstMark) && at == 0 && group.Name == g.Groups[0].Name {
			p.Labels[firstMark] = "master"
		}
	}
	p.UID, p.Spec.Priority = types.UID(p.Name), new(s.priority)
	p.Annotations = map[string]string{gangMark: group.Name}
	p.Status.Phase = corev1.PodPending
	s.admitted(p)
	stored(p)
	if a := p.Spec.Affinity; a != nil {
		if a.PodAffinity != nil {
			writeKeys(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, p.Labels)
		}
		if a.PodAntiAffinity != nil {
			writeKeys(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, p.Labels)
		}
	}
	return p
}

func writeKeys(terms []corev1.PodAffinityTerm, labels map[string]string) {
	for i := range terms {
		t := &terms[i]
		if t.LabelSelector == nil {
			continue
		}
		for op, keys := range map[metav1.LabelSelectorOperator][]string{metav1.LabelSelectorOpIn: t.MatchLabelKeys, metav1.LabelSelectorOpNotIn: t.MismatchLabelKeys} {
			for _, key := range keys {
				if value, ok := labels[key]; ok {
					t.LabelSelector.MatchExpressions = append(t.LabelSelector.MatchExpressions, metav1.LabelSelectorRequirement{Key: key, Operator: op, Values: []string{value}})
				}
			}
		}
	}
}
