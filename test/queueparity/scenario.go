package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

const (
	namespace = "team"
	localName = "local"
	gpu       = corev1.ResourceName("nvidia.com/gpu")
)

// scenario is queues, what holds quota in them, and a gang that asks the queue named first.
type scenario struct {
	flavors []*kueue.ResourceFlavor
	cohorts []*kueue.Cohort
	queues  []*kueue.ClusterQueue
	held    []*kueue.Workload
	asked   string // the ClusterQueue
	sets    []kueue.PodSet
}

func (s *scenario) String() string {
	var b strings.Builder
	write := func(v any) {
		text, err := json.Marshal(v)
		if err != nil {
			text = []byte(err.Error())
		}
		fmt.Fprintf(&b, "%s\n", text)
	}
	for _, f := range s.flavors {
		write([]any{f.Name, f.Spec})
	}
	for _, c := range s.cohorts {
		write([]any{c.Name, c.Spec})
	}
	for _, q := range s.queues {
		write([]any{q.Name, q.Spec})
	}
	for _, w := range s.held {
		write([]any{w.Name, w.Status.Admission})
	}
	write([]any{s.asked, s.sets})
	return b.String()
}

// newScenario makes the scenario of a seed.
func newScenario(seed uint64) *scenario {
	d := &dice{rand.New(rand.NewPCG(seed, 7))}
	s := &scenario{}
	for i := range 2 + d.IntN(3) {
		s.flavors = append(s.flavors, d.flavor(i))
	}
	for i := range d.IntN(4) {
		s.cohorts = append(s.cohorts, d.cohort(i, s.flavors))
	}
	for i := range 1 + d.IntN(4) {
		q := &kueue.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("queue-%d", i)}, Spec: kueue.ClusterQueueSpec{NamespaceSelector: &metav1.LabelSelector{}}}
		if d.chance(75) {
			// A cohort without an object exists all the same.
			q.Spec.CohortName = kueue.CohortReference(fmt.Sprintf("cohort-%d", d.IntN(max(1, len(s.cohorts)))))
		}
		q.Spec.ResourceGroups = d.groups(s.flavors, q.Spec.CohortName != "")
		s.queues = append(s.queues, q)
		for range d.IntN(3) {
			s.held = append(s.held, d.holder(len(s.held), q))
		}
	}
	s.asked = s.queues[d.IntN(len(s.queues))].Name
	for i := range 1 + d.IntN(3) {
		s.sets = append(s.sets, d.podSet(fmt.Sprintf("role-%d", i)))
	}
	return s
}

type dice struct{ *rand.Rand }

func (d *dice) chance(percent int) bool { return d.IntN(100) < percent }

func (d *dice) flavor(i int) *kueue.ResourceFlavor {
	f := &kueue.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("flavor-%d", i)}}
	if d.chance(60) {
		f.Spec.NodeLabels = map[string]string{"gpu": []string{"a100", "h100"}[d.IntN(2)]}
		if d.chance(40) {
			f.Spec.NodeLabels["zone"] = []string{"a", "b"}[d.IntN(2)]
		}
	}
	if d.chance(25) {
		f.Spec.NodeTaints = []corev1.Taint{{Key: "spot", Value: "true", Effect: []corev1.TaintEffect{"NoSchedule", "NoExecute", "PreferNoSchedule"}[d.IntN(3)]}}
		if d.chance(30) {
			f.Spec.Tolerations = []corev1.Toleration{{Key: "spot", Operator: corev1.TolerationOpExists}}
		}
	}
	return f
}

func (d *dice) cohort(i int, flavors []*kueue.ResourceFlavor) *kueue.Cohort {
	c := &kueue.Cohort{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("cohort-%d", i)}}
	if i > 0 && d.chance(70) {
		c.Spec.ParentName = kueue.CohortReference(fmt.Sprintf("cohort-%d", d.IntN(i)))
	}
	if d.chance(50) {
		c.Spec.ResourceGroups = d.groups(flavors, c.Spec.ParentName != "")
	}
	return c
}

// groups are resource groups that share neither a resource nor a flavor, as the API wants.
func (d *dice) groups(flavors []*kueue.ResourceFlavor, below bool) []kueue.ResourceGroup {
	order := d.Perm(len(flavors))
	sets := [][]corev1.ResourceName{{corev1.ResourceCPU, corev1.ResourceMemory, gpu}}
	if d.chance(40) {
		sets = [][]corev1.ResourceName{{corev1.ResourceCPU, corev1.ResourceMemory}, {gpu}}
	}
	if d.chance(15) {
		sets[0] = append(sets[0], corev1.ResourcePods)
	}
	var out []kueue.ResourceGroup
	for i, set := range sets {
		mine := order
		if len(sets) == 2 {
			mine = [][]int{order[:len(order)/2], order[len(order)/2:]}[i]
		} else if d.chance(50) {
			mine = order[:1+d.IntN(len(order))]
		}
		g := kueue.ResourceGroup{CoveredResources: set}
		for _, f := range mine {
			fq := kueue.FlavorQuotas{Name: kueue.ResourceFlavorReference(flavors[f].Name)}
			for _, name := range set {
				fq.Resources = append(fq.Resources, d.quota(name, below))
			}
			g.Flavors = append(g.Flavors, fq)
		}
		out = append(out, g)
	}
	return out
}

func (d *dice) quota(name corev1.ResourceName, below bool) kueue.ResourceQuota {
	q := kueue.ResourceQuota{Name: name, NominalQuota: d.amount(name, 40)}
	if below && d.chance(35) {
		q.BorrowingLimit = new(d.amount(name, 16))
	}
	if below && d.chance(35) {
		q.LendingLimit = new(d.amount(name, 16))
	}
	return q
}

func (d *dice) amount(name corev1.ResourceName, most int) resource.Quantity {
	n := int64(d.IntN(most + 1))
	switch name {
	case corev1.ResourceCPU:
		return *resource.NewMilliQuantity(n*1000+int64(d.IntN(2))*500, resource.DecimalSI)
	case corev1.ResourceMemory:
		return *resource.NewQuantity(n<<30, resource.BinarySI)
	default:
		return *resource.NewQuantity(n, resource.DecimalSI)
	}
}

// holder is a workload that holds quota of a queue, more than there is now and then: quotas
// may be lowered while workloads run.
func (d *dice) holder(i int, q *kueue.ClusterQueue) *kueue.Workload {
	use := kueue.PodSetAssignment{Name: "main", Count: new(int32(1)), Flavors: map[corev1.ResourceName]kueue.ResourceFlavorReference{}, ResourceUsage: corev1.ResourceList{}}
	for _, g := range q.Spec.ResourceGroups {
		if len(g.Flavors) == 0 {
			continue
		}
		f := g.Flavors[d.IntN(len(g.Flavors))].Name
		for _, name := range g.CoveredResources {
			use.Flavors[name], use.ResourceUsage[name] = f, d.amount(name, 14)
		}
	}
	return &kueue.Workload{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("held-%d", i), Namespace: namespace},
		Spec:       kueue.WorkloadSpec{QueueName: "others", Active: new(true), PodSets: []kueue.PodSet{{Name: "main", Count: 1}}},
		Status: kueue.WorkloadStatus{
			Admission:  &kueue.Admission{ClusterQueue: kueue.ClusterQueueReference(q.Name), PodSetAssignments: []kueue.PodSetAssignment{use}},
			Conditions: []metav1.Condition{{Type: kueue.WorkloadQuotaReserved, Status: metav1.ConditionTrue, Reason: "QuotaReserved"}},
		},
	}
}

func (d *dice) podSet(name string) kueue.PodSet {
	requests := corev1.ResourceList{}
	for _, r := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, gpu} {
		if d.chance(80) {
			requests[r] = d.amount(r, 5)
		}
	}
	spec := corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: requests}}}}
	if d.chance(20) {
		spec.NodeSelector = map[string]string{"gpu": []string{"a100", "h100"}[d.IntN(2)]}
	}
	if d.chance(15) {
		term := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: []string{"gpu", "zone", "other"}[d.IntN(3)], Operator: []corev1.NodeSelectorOperator{"In", "NotIn"}[d.IntN(2)], Values: []string{"a100", "a"}}}}
		spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term}}}}
	}
	if d.chance(25) {
		spec.Tolerations = []corev1.Toleration{{Key: "spot", Operator: corev1.TolerationOpEqual, Value: "true", Effect: []corev1.TaintEffect{"", "NoSchedule"}[d.IntN(2)]}}
	}
	always := corev1.ContainerRestartPolicyAlways
	before := func(name string, policy *corev1.ContainerRestartPolicy) {
		spec.InitContainers = append(spec.InitContainers, corev1.Container{Name: name, RestartPolicy: policy, Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: d.amount(corev1.ResourceCPU, 5), gpu: d.amount(gpu, 3)},
		}})
	}
	if d.chance(15) {
		before("sidecar", &always)
	}
	if d.chance(15) {
		before("init", nil)
	}
	if d.chance(10) {
		spec.RuntimeClassName, spec.Overhead = new(sandboxed.Name), sandboxed.Overhead.PodFixed // as the API server writes it
	}
	return kueue.PodSet{Name: kueue.PodSetReference(name), Count: int32(1 + d.IntN(6)), Template: corev1.PodTemplateSpec{Spec: spec}}
}

// sandboxed is the class of pods that take more than their containers.
var sandboxed = nodev1.RuntimeClass{
	ObjectMeta: metav1.ObjectMeta{Name: "sandboxed"}, Handler: "sandbox",
	Overhead: &nodev1.Overhead{PodFixed: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m"), corev1.ResourceMemory: resource.MustParse("1Gi")}},
}
