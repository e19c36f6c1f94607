//go:build integration

package integration

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/preflight/quota"
)

// What Signalbox says about quotas and limit ranges is held against what the API server
// does: the pods of each case are created for real. No controller runs, so the specs write
// the status of a quota, as the quota controller would; the API server counts from there.
var _ = Describe("quotas and limit ranges", Ordered, func() {
	const cases = 200

	BeforeAll(func(ctx SpecContext) {
		_, err := plane.Clientset().SchedulingV1().PriorityClasses().Create(ctx, &schedulingv1.PriorityClass{
			ObjectMeta: metav1.ObjectMeta{Name: "limits-high"}, Value: 100,
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		c := &limitsCase{namespace: "limits-class"}
		c.create(ctx)
		Eventually(func() error {
			_, err := plane.Clientset().CoreV1().Pods(c.namespace).Create(ctx, &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: "asks"},
				Spec:       corev1.PodSpec{PriorityClassName: "limits-high", Containers: []corev1.Container{{Name: "main", Image: "registry.example.com/train:1"}}},
			}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			return err
		}).Should(Succeed())
	})

	It("are judged as the API server judges them", func(ctx SpecContext) {
		rng := rand.New(rand.NewPCG(2026, 11))
		seen := map[string]int{}
		for i := range cases {
			c := newLimitsCase(rng, fmt.Sprintf("limits-%d", i))
			c.create(ctx)
			view := c.view(ctx)
			limits := quota.Violations(view, c.gang)
			now, pods := c.submit(ctx)
			Expect(now).To(Equal(len(limits) == 0), "case %d: the API server lets all pods in: %t; Signalbox says %v\n%s", i, now, limits, c)
			for _, p := range pods {
				admitted := quota.Admitted(view, c.namespace, job.Pod{Spec: c.spec(p)})
				Expect(podspec.Requested(admitted)).To(Equal(podspec.Effective(&p.Spec)), "case %d: what a stored pod takes\n%s", i, c)
			}
			c.clear(ctx, pods)
			ever, pods := c.submit(ctx)
			never := len(limits) > 0 && limits[0].When == quota.Never
			Expect(ever).To(Equal(!never), "case %d: the API server lets all pods in when nothing is used: %t; Signalbox says %v\n%s", i, ever, limits, c)
			c.clear(ctx, pods)
			seen[map[bool]string{true: "in", false: "out"}[now]+"/"+map[bool]string{true: "in", false: "out"}[ever]]++
			for _, l := range limits {
				seen[string(l.Rule)]++
			}
		}
		AddReportEntry("cases by what the API server did, now and with nothing used, and rules met", seen)
		for _, kind := range []string{"in/in", "out/in", "out/out", "quota", "limit-range", "amount"} {
			Expect(seen[kind]).To(BeNumerically(">=", 8), "%v", seen)
		}
	})
})

// limitsCase is one namespace with rules and one gang.
type limitsCase struct {
	namespace string
	quotas    []*corev1.ResourceQuota
	ranges    []*corev1.LimitRange
	gang      gang.Gang
}

func (c *limitsCase) String() string {
	GinkgoHelper()
	out := ""
	show := func(what string, v any) {
		text, err := yaml.Marshal(v)
		Expect(err).NotTo(HaveOccurred())
		out += what + ":\n" + string(text)
	}
	for _, q := range c.quotas {
		show("quota", q.Spec)
		show("used", q.Status.Used)
	}
	for _, r := range c.ranges {
		show("range", r.Spec)
	}
	for _, g := range c.gang.Groups {
		show(fmt.Sprintf("%d pods", g.Count), g.Pod.Spec)
	}
	return out
}

func newLimitsCase(rng *rand.Rand, namespace string) *limitsCase {
	c := &limitsCase{namespace: namespace, gang: gang.Gang{Name: "train", Namespace: namespace}}
	for i := range 1 + rng.IntN(2) {
		c.gang.Groups = append(c.gang.Groups, gang.Group{Name: fmt.Sprintf("role%d", i), Count: 1 + rng.IntN(3), Pod: job.Pod{Spec: randomPod(rng)}})
	}
	for i := range rng.IntN(3) {
		c.quotas = append(c.quotas, randomQuota(rng, namespace, fmt.Sprintf("q%d", i)))
	}
	if rng.IntN(2) == 0 {
		c.ranges = append(c.ranges, randomRange(rng, namespace))
	}
	return c
}

// pick is one of the values.
func pick[T any](rng *rand.Rand, values ...T) T { return values[rng.IntN(len(values))] }

func randomAmounts(rng *rand.Rand) corev1.ResourceRequirements {
	r := corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		low := resource.MustParse(fmt.Sprint(1 + rng.IntN(3)))
		high := resource.MustParse(fmt.Sprint(3 + rng.IntN(3)))
		switch rng.IntN(6) {
		case 0, 1:
			r.Requests[name] = low
		case 2:
			r.Limits[name] = high
		case 3, 4:
			r.Requests[name], r.Limits[name] = low, high
		}
	}
	if rng.IntN(3) > 0 {
		n := resource.MustParse(fmt.Sprint(1 + rng.IntN(4)))
		r.Requests["example.com/gpu"], r.Limits["example.com/gpu"] = n, n
	}
	return r
}

func randomPod(rng *rand.Rand) corev1.PodSpec {
	container := func(name string) corev1.Container {
		return corev1.Container{Name: name, Image: "registry.example.com/train:1", Resources: randomAmounts(rng)}
	}
	s := corev1.PodSpec{Containers: []corev1.Container{container("main")}}
	if rng.IntN(3) == 0 {
		s.Containers = append(s.Containers, container("beside"))
	}
	switch rng.IntN(4) {
	case 0:
		s.InitContainers = []corev1.Container{container("before")}
	case 1:
		sidecar := container("sidecar")
		sidecar.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		s.InitContainers = []corev1.Container{sidecar}
	}
	if rng.IntN(4) == 0 {
		s.ActiveDeadlineSeconds = new(int64(600))
	}
	if rng.IntN(4) == 0 {
		s.PriorityClassName = "limits-high"
	}
	if rng.IntN(8) == 0 {
		s.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("20")}}
	}
	return s
}

func randomQuota(rng *rand.Rand, namespace, name string) *corev1.ResourceQuota {
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{}}}
	q.Status.Used = corev1.ResourceList{}
	names := []corev1.ResourceName{"pods", "count/pods", "cpu", "requests.cpu", "limits.cpu", "requests.memory", "limits.memory", "requests.ephemeral-storage", "requests.example.com/gpu"}
	switch rng.IntN(8) {
	case 0:
		q.Spec.Scopes = []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeTerminating}
	case 1:
		q.Spec.Scopes = []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeNotTerminating}
	case 2:
		q.Spec.Scopes, names = []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeBestEffort}, names[:1]
	case 3:
		q.Spec.Scopes = []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeNotBestEffort}
	case 4:
		op := pick(rng, corev1.ScopeSelectorOpIn, corev1.ScopeSelectorOpNotIn, corev1.ScopeSelectorOpExists, corev1.ScopeSelectorOpDoesNotExist)
		r := corev1.ScopedResourceSelectorRequirement{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: op}
		if op == corev1.ScopeSelectorOpIn || op == corev1.ScopeSelectorOpNotIn {
			r.Values = []string{"limits-high"}
		}
		q.Spec.ScopeSelector = &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{r}}
	}
	for range 1 + rng.IntN(2) {
		name := pick(rng, names...)
		hard := int64(4 + rng.IntN(28))
		q.Spec.Hard[name] = *resource.NewQuantity(hard, resource.DecimalSI)
		q.Status.Used[name] = *resource.NewQuantity(rng.Int64N(1+hard), resource.DecimalSI)
	}
	return q
}

func randomRange(rng *rand.Rand, namespace string) *corev1.LimitRange {
	r := &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "r"}}
	amount := func(low, high int) corev1.ResourceList {
		name := pick(rng, corev1.ResourceCPU, corev1.ResourceMemory)
		return corev1.ResourceList{name: resource.MustParse(fmt.Sprint(low + rng.IntN(high-low+1)))}
	}
	types := []corev1.LimitType{corev1.LimitTypeContainer, corev1.LimitTypePod} // each at most once
	rng.Shuffle(len(types), func(i, j int) { types[i], types[j] = types[j], types[i] })
	for _, of := range types[:1+rng.IntN(2)] {
		item := corev1.LimitRangeItem{Type: of}
		switch rng.IntN(5) {
		case 0:
			item.Max = amount(3, 6)
		case 1:
			item.Min = amount(1, 2)
		case 2:
			item.MaxLimitRequestRatio = amount(2, 4)
		default:
			if item.Type == corev1.LimitTypePod {
				item.Max = amount(5, 9)
			} else if rng.IntN(2) == 0 {
				item.DefaultRequest = amount(1, 2)
			} else {
				item.Default = amount(3, 4)
			}
		}
		r.Spec.Limits = append(r.Spec.Limits, item)
	}
	return r
}

// create makes the namespace and its rules.
func (c *limitsCase) create(ctx SpecContext) {
	GinkgoHelper()
	core := plane.Clientset().CoreV1()
	_, err := core.Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.namespace}}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	_, err = core.ServiceAccounts(c.namespace).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{})
	Expect(err).To(Or(BeNil(), MatchError(ContainSubstring("already exists"))))
	stored := func(err error) bool { // chance makes rules that the API does not take: they are left out
		GinkgoHelper()
		Expect(err).To(Or(BeNil(), Satisfy(apierrors.IsInvalid)), c.String())
		return err == nil
	}
	c.ranges = slices.DeleteFunc(c.ranges, func(r *corev1.LimitRange) bool {
		_, err := core.LimitRanges(c.namespace).Create(ctx, r, metav1.CreateOptions{})
		return !stored(err)
	})
	c.quotas = slices.DeleteFunc(c.quotas, func(q *corev1.ResourceQuota) bool {
		_, err := core.ResourceQuotas(c.namespace).Create(ctx, q, metav1.CreateOptions{})
		return !stored(err)
	})
	_, err = core.LimitRanges(c.namespace).Create(ctx, &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: sentinel}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{
		{Type: corev1.LimitTypePersistentVolumeClaim, Max: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1")}},
	}}}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	_, err = core.ResourceQuotas(c.namespace).Create(ctx, &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: sentinel}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/configmaps": resource.MustParse("1")}},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	c.use(ctx, true)
	Eventually(func() bool { return apierrors.IsForbidden(c.askForClaim(ctx)) }).Should(BeTrue(), c.String())
}

// sentinel is the name of a quota and a limit range that are written last: once requests
// meet them, the API server, which reads rules from caches, has seen all that came before.
const sentinel = "zz-sentinel"

// askForClaim asks for a claim that the sentinel refuses; nothing is stored.
func (c *limitsCase) askForClaim(ctx SpecContext) error {
	_, err := plane.Clientset().CoreV1().PersistentVolumeClaims(c.namespace).Create(ctx, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "asks"}, Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2")}},
		},
	}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// askForConfigMap asks for a ConfigMap, which the sentinel refuses while it is used up.
func (c *limitsCase) askForConfigMap(ctx SpecContext) error {
	_, err := plane.Clientset().CoreV1().ConfigMaps(c.namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "asks"}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// use writes what is used of the quotas, or nothing.
func (c *limitsCase) use(ctx SpecContext, some bool) {
	GinkgoHelper()
	api := plane.Clientset().CoreV1().ResourceQuotas(c.namespace)
	last := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: sentinel}}
	last.Status.Used = corev1.ResourceList{"count/configmaps": resource.MustParse("1")}
	for _, q := range append(slices.Clone(c.quotas), last) {
		Eventually(func() error {
			now, err := api.Get(ctx, q.Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			now.Status.Hard, now.Status.Used = now.Spec.Hard, corev1.ResourceList{}
			for name := range now.Spec.Hard {
				now.Status.Used[name] = *resource.NewQuantity(0, resource.DecimalSI)
				if some {
					now.Status.Used[name] = q.Status.Used[name]
				}
			}
			_, err = api.UpdateStatus(ctx, now, metav1.UpdateOptions{})
			return err
		}).Should(Succeed())
	}
	Eventually(func() error { return c.askForConfigMap(ctx) }).Should(Satisfy(func(err error) bool {
		return err == nil && !some || some && err != nil && strings.Contains(err.Error(), "exceeded quota: "+sentinel)
	}))
}

// view is what Signalbox sees of the namespace, read back from the API server.
func (c *limitsCase) view(ctx SpecContext) *cluster.Snapshot {
	GinkgoHelper()
	var b cluster.Builder
	core := plane.Clientset().CoreV1()
	quotas, err := core.ResourceQuotas(c.namespace).List(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	ranges, err := core.LimitRanges(c.namespace).List(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	classes, err := plane.Clientset().SchedulingV1().PriorityClasses().List(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	add := func(gvk schema.GroupVersionKind, o runtime.Object) {
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
		Expect(err).NotTo(HaveOccurred())
		u := &unstructured.Unstructured{Object: fields}
		u.SetGroupVersionKind(gvk)
		b.Object(u)
	}
	for i := range quotas.Items {
		add(corev1.SchemeGroupVersion.WithKind("ResourceQuota"), &quotas.Items[i])
	}
	for i := range ranges.Items {
		add(corev1.SchemeGroupVersion.WithKind("LimitRange"), &ranges.Items[i])
	}
	for i := range classes.Items {
		add(schedulingv1.SchemeGroupVersion.WithKind("PriorityClass"), &classes.Items[i])
	}
	b.Complete(schema.GroupResource{Group: "scheduling.k8s.io", Resource: "priorityclasses"})
	return b.Snapshot(metav1.Now().Time)
}

// spec is the template that a pod was made of.
func (c *limitsCase) spec(p *corev1.Pod) corev1.PodSpec {
	for _, g := range c.gang.Groups {
		if p.Labels["role"] == g.Name {
			return g.Pod.Spec
		}
	}
	return corev1.PodSpec{}
}

// submit creates the pods one after the other until one is refused; all says that none was.
func (c *limitsCase) submit(ctx SpecContext) (all bool, created []*corev1.Pod) {
	GinkgoHelper()
	for _, g := range c.gang.Groups {
		for i := range g.Count {
			p, err := plane.Clientset().CoreV1().Pods(c.namespace).Create(ctx, &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", g.Name, i), Labels: map[string]string{"role": g.Name}}, Spec: *g.Pod.Spec.DeepCopy(),
			}, metav1.CreateOptions{})
			if err != nil {
				Expect(apierrors.IsForbidden(err) || apierrors.IsInvalid(err)).To(BeTrue(), "%v\n%s", err, c)
				return false, created
			}
			created = append(created, p)
		}
	}
	return true, created
}

// clear deletes the pods and sets the quotas to unused.
func (c *limitsCase) clear(ctx SpecContext, pods []*corev1.Pod) {
	GinkgoHelper()
	now := int64(0)
	for _, p := range pods {
		Expect(plane.Clientset().CoreV1().Pods(c.namespace).Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: &now})).To(Succeed())
	}
	c.use(ctx, false)
}
