package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes/fake"
	volumehelper "k8s.io/component-helpers/storage/volume"
	resourceslicetracker "k8s.io/dynamic-resource-allocation/resourceslice/tracker"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	schedcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	"k8s.io/kubernetes/pkg/scheduler/util/assumecache"
)

// oracle is the real kube-scheduler's framework with its default profile and its real
// cache: PreFilter, Filter, PreScore and Score run as in its scheduling cycle. It does not
// preempt, and instead of binding through an API server it assumes the pod, as the
// scheduler does while the binding is on its way.
type oracle struct {
	ctx       context.Context
	library   *library
	framework framework.Framework
	snapshot  *schedcache.Snapshot
	cache     schedcache.Cache
	manager   fwk.SharedDRAManager
	dra       fwk.ReservePlugin // DynamicResources
	version   int
	volumes   int
	nodes     int
	nominated nominator
}

func newOracle(ctx context.Context) (*oracle, error) {
	metrics.Register()
	cfg, err := latest.Default()
	if err != nil {
		return nil, fmt.Errorf("read the scheduler's defaults: %w", err)
	}
	o := &oracle{ctx: ctx, library: newLibrary(), snapshot: schedcache.NewEmptySnapshot()}
	o.framework, err = o.build(&cfg.Profiles[0])
	return o, err
}

func (o *oracle) build(profile *config.KubeSchedulerProfile) (framework.Framework, error) {
	logger := klog.FromContext(o.ctx)
	claims := assumecache.NewAssumeCache(logger, o.library.Resource().V1().ResourceClaims().Informer(), "ResourceClaim", "", nil)
	slices, err := resourceslicetracker.StartTracker(o.ctx, resourceslicetracker.Options{SliceInformer: o.library.Resource().V1().ResourceSlices()})
	if err != nil {
		return nil, fmt.Errorf("start the resource slice tracker: %w", err)
	}
	o.manager = dynamicresources.NewDRAManager(o.ctx, claims, slices, o.library)
	registry := plugins.NewInTreeRegistry()
	inTree := registry[names.DynamicResources]
	registry[names.DynamicResources] = func(ctx context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
		plugin, err := inTree(ctx, args, handle)
		o.dra, _ = plugin.(fwk.ReservePlugin)
		return plugin, err
	}
	return frameworkruntime.NewFramework(o.ctx, registry, profile,
		frameworkruntime.WithClientSet(fake.NewClientset()),
		frameworkruntime.WithInformerFactory(o.library),
		frameworkruntime.WithSnapshotSharedLister(o.snapshot),
		frameworkruntime.WithSharedDRAManager(o.manager),
		frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(o.library.Storage().V1().CSINodes().Lister())),
		frameworkruntime.WithParallelism(1),
		frameworkruntime.WithPodNominator(&o.nominated),
		frameworkruntime.WithPodsInPreBind(frameworkruntime.NewPodsInPreBindMap()),
		frameworkruntime.WithWaitingPods(frameworkruntime.NewWaitingPodsMap()),
	)
}

// load forgets the last cluster and learns another one.
func (o *oracle) load(c *clusterState) error {
	o.library.clear()
	ctx, cancel := context.WithCancel(o.ctx)
	cancel() // the cache's own goroutine only exports metrics
	o.cache = schedcache.New(ctx, nil, utilfeature.DefaultFeatureGate.Enabled(features.GenericWorkload), false)
	*o.snapshot, o.nodes = *schedcache.NewEmptySnapshot(), len(c.nodes)
	logger := klog.FromContext(o.ctx)
	for _, n := range c.nodes {
		o.library.set(n)
		o.cache.AddNode(logger, n)
	}
	for _, obj := range c.objects {
		o.set(obj.DeepCopyObject())
	}
	o.nominated = nominator{}
	for _, p := range c.pods {
		if err := o.nominated.keep(p); err != nil {
			return err
		}
		if p.Spec.NodeName == "" || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			continue // the scheduler's cache holds assigned pods that have not ended
		}
		if err := o.cache.AddPod(logger, p); err != nil {
			return fmt.Errorf("add pod %s: %w", p.Name, err)
		}
	}
	return nil
}

// set gives an object a newer version than all before: the scheduler's caches ask for it.
func (o *oracle) set(obj runtime.Object) {
	o.version++
	if m, ok := obj.(interface{ SetResourceVersion(string) }); ok {
		m.SetResourceVersion(fmt.Sprint(o.version))
	}
	o.library.set(obj)
}

// cycle is one scheduling cycle up to the choice: nodes that pass, not more than enough of them, looked
// for from one of the nodes on, and why the others do not.
func (o *oracle) cycle(pod *corev1.Pod, only string, from, enough int) (state fwk.CycleState, feasible []fwk.NodeInfo, why []string, err error) {
	if err := o.cache.UpdateSnapshot(klog.FromContext(o.ctx), o.snapshot); err != nil {
		return nil, nil, nil, fmt.Errorf("update the snapshot: %w", err)
	}
	all, err := o.snapshot.NodeInfos().List()
	if err != nil {
		return nil, nil, nil, fmt.Errorf("list nodes: %w", err)
	}
	if pod.Spec.NodeName != "" { // it passes by the scheduler, and its kubelet asks about NoExecute only
		pod = pod.DeepCopy()
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule})
	}
	state = framework.NewCycleState()
	result, status, _ := o.framework.RunPreFilterPlugins(o.ctx, state, pod)
	if !status.IsSuccess() {
		return state, nil, []string{"all nodes: " + status.Message()}, nil
	}
	for i := range all {
		n := all[(from+i)%len(all)]
		name := n.Node().Name
		if only != "" && name != only {
			continue
		}
		if len(feasible) == enough {
			break
		}
		if !result.AllNodes() && !result.NodeNames.Has(name) {
			why = append(why, name+": not among those that the pod names")
			continue
		}
		if s := o.framework.RunFilterPluginsWithNominatedPods(o.ctx, state, pod, n); !s.IsSuccess() {
			why = append(why, name+": "+s.Message())
			continue
		}
		feasible = append(feasible, n)
	}
	slices.Sort(why)
	return state, feasible, why, nil
}

// schedule tries pods in an order, again and again while any finds a place, and returns
// those that are left. byScore chooses among nodes as the scheduler does; otherwise any
// node that passes may be chosen.
func (o *oracle) schedule(r *rand.Rand, pods []*corev1.Pod, byScore bool) (pending []*corev1.Pod, err error) {
	enough := 1
	for {
		pending = nil
		var refused *corev1.Pod // since a pod was bound
		for _, pod := range pods {
			if refused != nil && alike(refused, pod) {
				pending = append(pending, pod)
				continue
			}
			if byScore {
				enough = o.enough()
			}
			state, feasible, _, err := o.cycle(pod, "", r.IntN(max(1, o.nodes)), enough)
			if err != nil {
				return nil, err
			}
			if len(feasible) == 0 {
				pending, refused = append(pending, pod), pod
				continue
			}
			refused = nil
			slices.SortFunc(feasible, func(a, b fwk.NodeInfo) int { return strings.Compare(a.Node().Name, b.Node().Name) })
			at := r.IntN(len(feasible))
			if byScore {
				if at, err = o.best(r, state, pod, feasible); err != nil {
					return nil, err
				}
			}
			if err := o.bind(state, pod, feasible[at].Node().Name); err != nil {
				return nil, err
			}
		}
		if len(pending) == 0 || len(pending) == len(pods) {
			return pending, nil
		}
		pods = pending
	}
}

// enough is how many nodes that pass the scheduler looks for (k8s.io/kubernetes v1.37
// pkg/scheduler/schedule_one.go, numFeasibleNodesToFind).
func (o *oracle) enough() int {
	return max(min(o.nodes, 100), o.nodes*max(5, 50-o.nodes/125)/100)
}

// alike says that no plugin can tell two pods apart: what nodes refuse to the one they refuse to the
// other. Pods with claims of their own differ.
func alike(a, b *corev1.Pod) bool {
	own := func(v corev1.Volume) bool { return v.Ephemeral != nil }
	return maps.Equal(a.Labels, b.Labels) && !slices.ContainsFunc(a.Spec.Volumes, own) && len(a.Spec.ResourceClaims) == 0 && equality.Semantic.DeepEqual(a.Spec, b.Spec)
}

// best is one of the nodes with the highest score.
func (o *oracle) best(r *rand.Rand, state fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo) (int, error) {
	if s := o.framework.RunPreScorePlugins(o.ctx, state, pod, nodes); !s.IsSuccess() {
		return 0, fmt.Errorf("prescore %s: %w", pod.Name, s.AsError())
	}
	scores, s := o.framework.RunScorePlugins(o.ctx, state, pod, nodes)
	if !s.IsSuccess() {
		return 0, fmt.Errorf("score %s: %w", pod.Name, s.AsError())
	}
	var best []int
	for at := range scores {
		switch {
		case len(best) == 0 || scores[at].TotalScore > scores[best[0]].TotalScore:
			best = []int{at}
		case scores[at].TotalScore == scores[best[0]].TotalScore:
			best = append(best, at)
		}
	}
	return best[r.IntN(len(best))], nil
}

// bind assumes a pod on a node and does what the volume controllers do meanwhile.
func (o *oracle) bind(state fwk.CycleState, pod *corev1.Pod, node string) error {
	if err := o.allocate(o.ctx, state, pod, node); err != nil {
		return err
	}
	bound := pod.DeepCopy()
	bound.Spec.NodeName = node
	if err := o.cache.AssumePod(klog.FromContext(o.ctx), bound); err != nil {
		return fmt.Errorf("assume %s on %s: %w", pod.Name, node, err)
	}
	return o.provide(bound)
}

// provide binds the claims of a pod that waited for it: to the volume the scheduler would
// take, or to one that is made, reachable from the pod's node only. The strictest driver
// is the one that tells most.
func (o *oracle) provide(pod *corev1.Pod) error {
	node, err := o.snapshot.Get(pod.Spec.NodeName)
	if err != nil {
		return fmt.Errorf("find node %s: %w", pod.Spec.NodeName, err)
	}
	for i := range pod.Spec.Volumes {
		name := claimName(pod, &pod.Spec.Volumes[i])
		if name == "" {
			continue
		}
		claim, err := o.library.Core().V1().PersistentVolumeClaims().Lister().PersistentVolumeClaims(pod.Namespace).Get(name)
		if err != nil || claim.Spec.VolumeName != "" {
			continue
		}
		o.bindClaim(claim.DeepCopy(), node.Node())
	}
	return nil
}

func (o *oracle) bindClaim(claim *corev1.PersistentVolumeClaim, node *corev1.Node) {
	var all []*corev1.PersistentVolume
	for _, obj := range o.library.book(&corev1.PersistentVolume{}).index.List() {
		all = append(all, obj.(*corev1.PersistentVolume))
	}
	slices.SortFunc(all, func(a, b *corev1.PersistentVolume) int { return strings.Compare(a.Name, b.Name) })
	pv, err := volumehelper.FindMatchingVolume(claim, all, node, nil, true, true)
	if err != nil || pv == nil {
		o.volumes++
		pv = &corev1.PersistentVolume{}
		pv.Name = fmt.Sprintf("made-%d", o.volumes)
		class := volumehelper.GetPersistentVolumeClaimClass(claim)
		pv.Spec.StorageClassName = class
		if sc, err := o.library.Storage().V1().StorageClasses().Lister().Get(class); err == nil {
			pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: sc.Provisioner, VolumeHandle: pv.Name}
			o.shrink(sc, claim.Spec.Resources.Requests[corev1.ResourceStorage], node)
		}
		if name, ok := node.Labels[corev1.LabelHostname]; ok { // else no driver can say so
			only(pv, corev1.LabelHostname, name)
		}
	}
	pv = pv.DeepCopy()
	pv.Spec.AccessModes = claim.Spec.AccessModes
	pv.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID}
	pv.Status.Phase = corev1.VolumeBound
	claim.Spec.VolumeName = pv.Name
	claim.Annotations = map[string]string{volumehelper.AnnBindCompleted: "yes", volumehelper.AnnBoundByController: "yes"}
	claim.Status.Phase = corev1.ClaimBound
	o.set(pv)
	o.set(claim)
}

// replay binds pods to the nodes of a plan, one by one; the first that a filter refuses
// is the answer, empty: none is.
func (o *oracle) replay(binds []binding) (string, error) {
	for _, b := range binds {
		state, feasible, why, err := o.cycle(b.pod, b.node, 0, 1)
		if err != nil {
			return "", err
		}
		if len(feasible) == 0 {
			return fmt.Sprintf("%s is refused: %s", b.pod.Name, strings.Join(why, "; ")), nil
		}
		if err := o.bind(state, b.pod, b.node); err != nil {
			return "", err
		}
	}
	return o.cannotRun(), nil
}

// binding is a pod and the node it is to go to.
type binding struct {
	pod  *corev1.Pod
	node string
}

// cannotRun names what keeps pods that the scheduler has placed from running: it leaves to
// others that a volume is attached to one node at a time, and that a node's kubelet is
// gone.
func (o *oracle) cannotRun() string {
	if err := o.cache.UpdateSnapshot(klog.FromContext(o.ctx), o.snapshot); err != nil {
		return err.Error()
	}
	all, err := o.snapshot.NodeInfos().List()
	if err != nil {
		return err.Error()
	}
	attached := map[string]string{}
	slices.SortFunc(all, func(a, b fwk.NodeInfo) int { return strings.Compare(a.Node().Name, b.Node().Name) })
	for _, n := range all {
		for _, p := range n.GetPods() {
			pod := p.GetPod()
			if pod.Annotations[gangMark] != "" && pod.Status.Phase == corev1.PodPending && !ready(n.Node()) {
				return fmt.Sprintf("%s is on %s, which is not ready", pod.Name, n.Node().Name)
			}
			for i := range pod.Spec.Volumes {
				pv := o.volumeOf(pod, &pod.Spec.Volumes[i])
				if pv == nil || !o.attachable(pv) || multiAttach(pv) {
					continue
				}
				if on := attached[pv.Name]; on != "" && on != n.Node().Name {
					return fmt.Sprintf("%s is to be attached to %s and %s at once", pv.Name, on, n.Node().Name)
				}
				attached[pv.Name] = n.Node().Name
			}
		}
	}
	return ""
}

func (o *oracle) volumeOf(pod *corev1.Pod, v *corev1.Volume) *corev1.PersistentVolume {
	claim, err := o.library.Core().V1().PersistentVolumeClaims().Lister().PersistentVolumeClaims(pod.Namespace).Get(claimName(pod, v))
	if err != nil || claim.Spec.VolumeName == "" {
		return nil
	}
	pv, err := o.library.Core().V1().PersistentVolumes().Lister().Get(claim.Spec.VolumeName)
	if err != nil {
		return nil
	}
	return pv
}

// multiAttach is the attach-detach controller's rule: a volume that can be written on one
// node only is not attached to a second
// (k8s.io/kubernetes v1.37 pkg/controller/volume/attachdetach/util, IsMultiAttachAllowed).
func multiAttach(pv *corev1.PersistentVolume) bool {
	return len(pv.Spec.AccessModes) == 0 || slices.ContainsFunc(pv.Spec.AccessModes, func(m corev1.PersistentVolumeAccessMode) bool {
		return m == corev1.ReadWriteMany || m == corev1.ReadOnlyMany
	})
}

// attachable says whether a volume's driver wants it attached; a driver that nobody
// registered does.
func (o *oracle) attachable(pv *corev1.PersistentVolume) bool {
	if pv.Spec.CSI == nil {
		return false
	}
	driver, err := o.library.Storage().V1().CSIDrivers().Lister().Get(pv.Spec.CSI.Driver)
	return err != nil || driver.Spec.AttachRequired == nil || *driver.Spec.AttachRequired
}

func ready(n *corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return true
}

// claimName is the claim behind a volume of a pod; empty: there is none.
func claimName(pod *corev1.Pod, v *corev1.Volume) string {
	switch {
	case v.PersistentVolumeClaim != nil:
		return v.PersistentVolumeClaim.ClaimName
	case v.Ephemeral != nil:
		return pod.Name + "-" + v.Name
	default:
		return ""
	}
}
