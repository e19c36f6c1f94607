package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
)

// outcome is what came of one scenario.
type outcome struct {
	scenario string
	about    []string
	verdict  fit.Verdict
	said     string // the fit's answer
	differs  string // how the real scheduler disagrees; empty: it agrees, or the fit does not know
}

// judge asks the fit, and then the real scheduler whether that is so.
func (o *oracle) judge(s *scenario, orders int) (outcome, error) {
	snapshot, err := s.snapshot()
	if err != nil {
		return outcome{}, err
	}
	r := whatif.Answer(o.ctx, snapshot, s.gang)
	out := outcome{scenario: s.name, about: s.about, verdict: r.Verdict, said: r.String()}
	switch {
	case r.Verdict == fit.Unknown:
		out.said = strings.Join(r.Assumed, "; ")
	case orders == 0: // the fit alone
	case r.Verdict == fit.Fits:
		out.differs, err = o.confirm(s, r)
	case r.Verdict == fit.TooBig:
		if out.differs, err = o.refute(s, &s.clusterState, orders); out.differs == "" && err == nil {
			out.differs, err = o.refute(s, s.idle(), orders)
			if out.differs != "" {
				out.differs = "on the idle cluster " + out.differs
			}
		}
	default:
		if out.differs, err = o.refute(s, &s.clusterState, orders); out.differs == "" && err == nil {
			out.differs, err = o.moved(s, r, orders)
		}
	}
	return out, err
}

// confirm binds the plan pod by pod, in its order; where any order will do, in two.
func (o *oracle) confirm(s *scenario, r fit.Result) (string, error) {
	pods := s.pending(false)
	plans := [][]fit.Placement{r.Order}
	if len(r.Order) == 0 {
		backwards := make([]fit.Placement, 0, len(r.Plan))
		for _, p := range slices.Backward(r.Plan) {
			backwards = append(backwards, p)
		}
		plans = [][]fit.Placement{s.withoutOwn(r.Plan), s.withoutOwn(backwards)}
	}
	for _, plan := range plans {
		binds, why := s.binds(plan, pods)
		if why != "" {
			return why, nil
		}
		if err := o.load(s.with(pods)); err != nil {
			return "", err
		}
		if why, err := o.replayStages(s, binds); why != "" || err != nil {
			return "the plan does not pass: " + why, err
		}
	}
	return "", nil
}

// binds says which pod goes where, and whether those are all that have to.
func (s *scenario) binds(plan []fit.Placement, pods map[string][]*corev1.Pod) (out []binding, why string) {
	next := map[string]int{}
	for _, p := range plan {
		for range p.Count {
			if next[p.Group] == len(pods[p.Group]) {
				return nil, fmt.Sprintf("the plan has more pods of %s than the gang", p.Group)
			}
			out = append(out, binding{pods[p.Group][next[p.Group]], p.Node})
			next[p.Group]++
		}
	}
	for i := range s.gang.Groups {
		g := &s.gang.Groups[i]
		if least := s.least(g) - s.ownOf(g.Name); next[g.Name] < least {
			return nil, fmt.Sprintf("the plan has %d pods of %s; it needs %d", next[g.Name], g.Name, least)
		}
	}
	return out, ""
}

// refute lets the real scheduler try to place the pods, in several orders. All pods placed
// and able to run would show the fit to be wrong.
func (o *oracle) refute(s *scenario, c *clusterState, orders int) (string, error) {
	pods := s.pending(true)
	on := *c
	on.objects = s.deviceClaimsOf(s.claims(on.objects, pods), pods)
	for order := range orders {
		r := rand.New(rand.NewPCG(uint64(order), uint64(len(s.name))))
		if err := o.load(&on); err != nil {
			return "", err
		}
		queue := s.queue(r, pods, order)
		left, err := o.scheduleStages(s, r, queue, order%2 == 0)
		if err != nil {
			return "", err
		}
		if len(left) == 0 {
			return fmt.Sprintf("the scheduler places all %d pods (order %d): %s", len(queue), order, o.where()), nil
		}
	}
	return "", nil
}

// where the pods of the gang are.
func (o *oracle) where() string {
	all, err := o.snapshot.NodeInfos().List()
	if err != nil {
		return err.Error()
	}
	var out []string
	for _, n := range all {
		for _, p := range n.GetPods() {
			if pod := p.GetPod(); pod.Annotations[gangMark] != "" {
				out = append(out, pod.Name+"→"+n.Node().Name)
			}
		}
	}
	return strings.Join(out, " ")
}

// queue is an order of the pods: as declared, last first, then shuffled.
func (s *scenario) queue(r *rand.Rand, pods map[string][]*corev1.Pod, order int) []*corev1.Pod {
	var out []*corev1.Pod
	for i := range s.gang.Groups {
		out = append(out, pods[s.gang.Groups[i].Name]...)
	}
	switch order {
	case 0:
	case 1:
		for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
			out[i], out[j] = out[j], out[i]
		}
	default:
		r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	}
	return out
}

// pending are the pods that have no place yet, by role; least: only those the gang cannot
// do without.
func (s *scenario) pending(least bool) map[string][]*corev1.Pod {
	out := map[string][]*corev1.Pod{}
	for i := range s.gang.Groups {
		g := &s.gang.Groups[i]
		count := g.Count
		if least {
			count = s.least(g)
		}
		for at := s.ownOf(g.Name); at < count; at++ {
			out[g.Name] = append(out[g.Name], s.created(g, 1000+at))
		}
	}
	return out
}

func (s *scenario) least(g *gang.Group) int {
	if g.Min > 0 && g.Min < g.Count {
		return g.Min
	}
	return g.Count
}

// ownOf is how many pods of a role run already and keep their places.
func (s *scenario) ownOf(role string) (n int) {
	for _, p := range s.pods {
		if p.Annotations[gangMark] == role && p.DeletionTimestamp == nil {
			n++
		}
	}
	return n
}

// withoutOwn is a plan without the pods that run already.
func (s *scenario) withoutOwn(plan []fit.Placement) (out []fit.Placement) {
	for _, p := range plan {
		for _, own := range s.pods {
			if own.Annotations[gangMark] == p.Group && own.Spec.NodeName == p.Node && own.DeletionTimestamp == nil {
				p.Count--
			}
		}
		out = append(out, p)
	}
	return out
}

// with is the cluster with the claims that controllers make for pods.
func (s *scenario) with(pods map[string][]*corev1.Pod) *clusterState {
	c := s.clusterState
	c.objects = s.deviceClaimsOf(s.claims(c.objects, pods), pods)
	return &c
}

// claims adds the claims of volumes that pods have of their own.
func (s *scenario) claims(objects []runtime.Object, pods map[string][]*corev1.Pod) []runtime.Object {
	out := append([]runtime.Object(nil), objects...)
	yes := true
	for i := range s.gang.Groups {
		for _, p := range pods[s.gang.Groups[i].Name] {
			for _, v := range p.Spec.Volumes {
				if v.Ephemeral == nil {
					continue
				}
				c := &corev1.PersistentVolumeClaim{Spec: *v.Ephemeral.VolumeClaimTemplate.Spec.DeepCopy()}
				c.Namespace, c.Name = p.Namespace, p.Name+"-"+v.Name
				c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID, Controller: &yes}}
				c.Status.Phase = corev1.ClaimPending
				out = append(out, c)
			}
		}
	}
	return out
}

// idle is the cluster without the pods that can go away: those of DaemonSets stay, those that a kubelet has from its own
// files, and those of the gang.
func (s *scenario) idle() *clusterState {
	c := s.clusterState
	c.pods = nil
	for _, p := range s.pods {
		stays := len(p.OwnerReferences) > 0 && (p.OwnerReferences[0].Kind == "DaemonSet" || p.OwnerReferences[0].Kind == "Node")
		if stays || p.Annotations[gangMark] != "" {
			c.pods = append(c.pods, p)
		}
	}
	c.objects = nil
	for _, obj := range s.objects {
		if claim, ok := obj.(*resourcev1.ResourceClaim); ok && !slices.ContainsFunc(c.pods, func(p *corev1.Pod) bool {
			return p.Namespace == claim.Namespace && slices.ContainsFunc(claim.Status.ReservedFor, func(r resourcev1.ResourceClaimConsumerReference) bool { return r.Name == p.Name })
		}) { // the pods that held it are gone
			claim = claim.DeepCopy()
			claim.Status = resourcev1.ResourceClaimStatus{}
			obj = claim
		}
		if !isAttachment(obj) {
			c.objects = append(c.objects, obj)
		}
	}
	return &c
}

// snapshot is the scenario as the fit sees it. It holds everything whole.
func (s *scenario) snapshot() (*cluster.Snapshot, error) {
	var b cluster.Builder
	for _, n := range s.nodes {
		b.Node(n)
	}
	for _, p := range s.pods {
		b.Pod(p)
	}
	for _, obj := range slices.Concat(s.objects, s.ranks) {
		u, err := asUnstructured(obj)
		if err != nil {
			return nil, err
		}
		b.Object(u)
	}
	for _, name := range []string{
		"nodes", "pods", "namespaces", "runtimeclasses.node.k8s.io", "persistentvolumes", "persistentvolumeclaims", "storageclasses.storage.k8s.io",
		"csinodes.storage.k8s.io", "csidrivers.storage.k8s.io", "volumeattachments.storage.k8s.io", "csistoragecapacities.storage.k8s.io", "priorityclasses.scheduling.k8s.io",
		"resourceslices.resource.k8s.io", "deviceclasses.resource.k8s.io", "resourceclaims.resource.k8s.io", "resourceclaimtemplates.resource.k8s.io",
	} {
		b.Complete(schema.ParseGroupResource(name))
	}
	return b.Snapshot(time.Unix(1, 0)), nil
}

func asUnstructured(obj runtime.Object) (*unstructured.Unstructured, error) {
	kinds, _, err := scheme.Scheme.ObjectKinds(obj)
	if err != nil {
		return nil, fmt.Errorf("find the kind of %T: %w", obj, err)
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, fmt.Errorf("convert %s: %w", kinds[0], err)
	}
	u := &unstructured.Unstructured{Object: fields}
	u.SetGroupVersionKind(kinds[0])
	return u, nil
}
