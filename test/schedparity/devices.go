package main

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/dynamic-resource-allocation/resourceclaim"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/signalbox-dev/signalbox/test/build"
)

// Features of device claims, each of which a run must have drawn.
const (
	deviceClaims      = "device claims"
	deviceSelectors   = "device claims with selectors"
	deviceAlternative = "device claims with alternatives"
	deviceTaints      = "device taints"
	deviceCounters    = "device counters"
	deviceAdmin       = "admin access to devices"
	deviceOfNone      = "devices of no node"
	deviceOfVictim    = "devices of pods that may go"
	deviceShared      = "device claims that pods share"
)

const gpuDriver = "gpu.example.com"

// devices give the pods of some seeds claims of devices, and the nodes devices. Seeds decide, as for
// stages.
func (w *writer) devices(seed uint64) {
	if seed%80 != 19 {
		return
	}
	w.about(deviceClaims)
	w.classes()
	w.slices(seed)
	for i := range w.s.gang.Groups {
		g := &w.s.gang.Groups[i]
		if i > 0 && w.one(3) {
			continue
		}
		if g.Min == 0 && !w.one(3) {
			g.Count = min(g.Count, 1+w.IntN(4))
		}
		delete(g.Pod.Spec.Containers[0].Resources.Requests, build.GPU)
		delete(g.Pod.Spec.Containers[0].Resources.Limits, build.GPU)
		name := "devices-" + g.Name
		if seed%800 == 19 {
			w.about(deviceShared)
			g.Pod.Spec.ResourceClaims = w.sharedOf(name, i, seed)
			continue
		}
		w.add(w.template(name, seed))
		g.Pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "devices", ResourceClaimTemplateName: &name}}
	}
}

func selects(expressions ...string) (out []resourcev1.DeviceSelector) {
	for _, e := range expressions {
		out = append(out, resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: e}})
	}
	return out
}

// classes are those of large and small devices of one driver.
func (w *writer) classes() {
	classes := map[string]string{
		"gpu":   `device.driver == "gpu.example.com"`,
		"large": `device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].size == "large"`,
		"small": `device.driver == 'gpu.example.com' && device.attributes['gpu.example.com'].size == 'small'`,
	}
	for _, name := range sorted(classes) {
		c := &resourcev1.DeviceClass{}
		c.Name, c.Spec.Selectors = name, selects(classes[name])
		w.add(c)
	}
}

// slices are the devices of the nodes, some of which claims hold.
func (w *writer) slices(seed uint64) {
	counters, none, old := seed%400 == 99, seed%400 == 179, w.one(12)
	mixed := w.one(2)
	for i, n := range w.s.clusterState.nodes {
		if w.one(8) {
			continue
		}
		s := &resourcev1.ResourceSlice{}
		s.Name = "slice-" + n.Name
		s.Spec.Driver, s.Spec.NodeName = gpuDriver, &n.Name
		s.Spec.Pool = resourcev1.ResourcePool{Name: n.Name, Generation: 1, ResourceSliceCount: 1}
		if none && i == 0 {
			w.about(deviceOfNone)
			yes := true
			s.Spec.NodeName, s.Spec.AllNodes = nil, &yes
		}
		for at := range 1 + w.IntN(8) {
			size := []string{"large", "small"}[i%2]
			if mixed {
				size = pick(w, "large", "small")
			}
			d := resourcev1.Device{Name: fmt.Sprintf("gpu-%d", at), Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"size": {StringValue: &size}}}
			if w.one(10) {
				w.about(deviceTaints)
				d.Taints = []resourcev1.DeviceTaint{{Key: "health", Value: pick(w, "bad", "odd"), Effect: pick(w, resourcev1.DeviceTaintEffectNoSchedule, resourcev1.DeviceTaintEffectNoExecute, resourcev1.DeviceTaintEffectNone)}}
			}
			if counters {
				d.ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "memory", Counters: map[string]resourcev1.Counter{"slices": {Value: resource.MustParse(pick(w, "1", "2"))}}}}
			}
			s.Spec.Devices = append(s.Spec.Devices, d)
			if !counters && w.one(4) {
				w.add(w.holder(s, d.Name, n.Name))
			}
		}
		if counters {
			w.about(deviceCounters)
			s.Spec.Pool.ResourceSliceCount = 2
			shared := s.DeepCopy()
			shared.Name, shared.Spec.Devices = "counters-"+n.Name, nil
			shared.Spec.SharedCounters = []resourcev1.CounterSet{{Name: "memory", Counters: map[string]resourcev1.Counter{"slices": {Value: resource.MustParse("6")}}}}
			w.add(shared)
		}
		w.add(s)
		if old && !counters { // what a driver has just replaced
			before := s.DeepCopy()
			before.Name, before.Spec.Pool.Generation = "old-"+n.Name, 0
			w.add(before)
		}
	}
}

// holder is a claim that has a device, of a pod that runs there where one does.
func (w *writer) holder(s *resourcev1.ResourceSlice, of, node string) *resourcev1.ResourceClaim {
	c := &resourcev1.ResourceClaim{}
	c.Namespace, c.Name = other, "holds-"+node+"-"+of
	c.UID = types.UID(c.Name)
	c.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1}}}
	c.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{{Request: "r", Driver: s.Spec.Driver, Pool: s.Spec.Pool.Name, Device: of}}}}
	c.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: "gone", UID: "gone"}}
	for _, p := range w.s.pods {
		if p.Spec.NodeName == node && p.Annotations[gangMark] == "" {
			c.Namespace, c.Status.ReservedFor[0].Name, c.Status.ReservedFor[0].UID = p.Namespace, p.Name, p.UID
			break
		}
	}
	return c
}

// sharedOf are the claims of a role whose pods share one: all roles the same one, or each its own, beside claims of each
// pod's or not.
func (w *writer) sharedOf(role string, at int, seed uint64) []corev1.PodResourceClaim {
	name := role
	if seed%1600 == 19 {
		name = "devices-of-all"
	}
	if at == 0 || name == role {
		w.add(w.shared(name, seed))
	}
	out := []corev1.PodResourceClaim{{Name: "shared", ResourceClaimName: &name}}
	if seed%2400 == 19 {
		w.add(w.template(role, seed))
		out = append(out, corev1.PodResourceClaim{Name: "devices", ResourceClaimTemplateName: &role})
	}
	return out
}

// shared is a claim of the gang's namespace that pods share. One in three has a device, which others have with it or nobody.
func (w *writer) shared(name string, seed uint64) *resourcev1.ResourceClaim {
	c := &resourcev1.ResourceClaim{Spec: w.template(name, seed).Spec.Spec}
	c.Namespace, c.Name, c.UID = home, name, types.UID(name)
	for _, o := range w.s.objects {
		if s, ok := o.(*resourcev1.ResourceSlice); ok && s.Spec.NodeName != nil && len(s.Spec.Devices) > 0 && s.Spec.Pool.Generation == 1 && w.one(3) {
			w.give(c, s)
			break
		}
	}
	return c
}

// give gives a claim the last device of a slice, unless another has it.
func (w *writer) give(c *resourcev1.ResourceClaim, s *resourcev1.ResourceSlice) {
	was := w.holder(s, s.Spec.Devices[len(s.Spec.Devices)-1].Name, *s.Spec.NodeName)
	if slices.ContainsFunc(w.s.objects, func(o runtime.Object) bool {
		other, ok := o.(*resourcev1.ResourceClaim)
		return ok && other.Name == was.Name || ok && other.Status.Allocation != nil && other.Status.Allocation.Devices.Results[0].Device == was.Status.Allocation.Devices.Results[0].Device &&
			other.Status.Allocation.Devices.Results[0].Pool == s.Spec.Pool.Name
	}) {
		return
	}
	c.Status.Allocation = was.Status.Allocation
	c.Status.Allocation.Devices.Results[0].Request = c.Spec.Devices.Requests[0].Name
	c.Status.Allocation.NodeSelector = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchFields: []corev1.NodeSelectorRequirement{{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{*s.Spec.NodeName}}},
	}}}
	if was.Namespace == home {
		c.Status.ReservedFor = was.Status.ReservedFor
	}
}

// template is that of the claims of a role.
func (w *writer) template(name string, seed uint64) *resourcev1.ResourceClaimTemplate {
	t := &resourcev1.ResourceClaimTemplate{}
	t.Namespace, t.Name = home, name
	for i := range pick(w, 1, 1, 1, 2) {
		e := &resourcev1.ExactDeviceRequest{DeviceClassName: pick(w, "gpu", "gpu", "large", "small"), AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: int64(pick(w, 1, 1, 2, 4))}
		if i > 0 {
			e.DeviceClassName = pick(w, "large", "small")
		}
		if w.one(6) {
			w.about(deviceSelectors)
			e.Selectors = selects(pick(w, `device.driver == "gpu.example.com"`, `device.attributes["gpu.example.com"].size == "large"`, `device.attributes["gpu.example.com"].size != "large"`, `device.driver == "nic.example.com"`))
		}
		if w.one(5) {
			e.Tolerations = []resourcev1.DeviceToleration{pick(w,
				resourcev1.DeviceToleration{Operator: resourcev1.DeviceTolerationOpExists},
				resourcev1.DeviceToleration{Key: "health", Operator: resourcev1.DeviceTolerationOpEqual, Value: "odd"},
				resourcev1.DeviceToleration{Key: "health", Operator: resourcev1.DeviceTolerationOpExists, Effect: resourcev1.DeviceTaintEffectNoSchedule},
			)}
		}
		r := resourcev1.DeviceRequest{Name: fmt.Sprintf("r%d", i), Exactly: e}
		switch {
		case seed%800 == 259:
			w.about(deviceAlternative)
			r.Exactly, r.FirstAvailable = nil, []resourcev1.DeviceSubRequest{
				{Name: "a", DeviceClassName: "large", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1},
				{Name: "b", DeviceClassName: "small", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 2},
			}
		case seed%800 == 659:
			w.about(deviceAdmin)
			yes := true
			e.AdminAccess = &yes
		}
		t.Spec.Spec.Devices.Requests = append(t.Spec.Spec.Devices.Requests, r)
	}
	return t
}

// deviceClaimsOf adds the claims that the controller makes for pods, and says in their status which.
func (s *scenario) deviceClaimsOf(objects []runtime.Object, pods map[string][]*corev1.Pod) []runtime.Object {
	yes := true
	for i := range s.gang.Groups {
		for _, p := range pods[s.gang.Groups[i].Name] {
			p.Status.ResourceClaimStatuses = nil
			for _, of := range p.Spec.ResourceClaims {
				if of.ResourceClaimTemplateName == nil {
					continue
				}
				at := slices.IndexFunc(s.objects, func(o runtime.Object) bool {
					t, ok := o.(*resourcev1.ResourceClaimTemplate)
					return ok && t.Name == *of.ResourceClaimTemplateName
				})
				if at < 0 {
					continue
				}
				c := &resourcev1.ResourceClaim{Spec: *s.objects[at].(*resourcev1.ResourceClaimTemplate).Spec.Spec.DeepCopy()}
				c.Namespace, c.Name = p.Namespace, p.Name+"-"+of.Name
				c.UID = types.UID(c.Name)
				c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID, Controller: &yes}}
				p.Status.ResourceClaimStatuses = append(p.Status.ResourceClaimStatuses, corev1.PodResourceClaimStatus{Name: of.Name, ResourceClaimName: &c.Name})
				objects = append(objects, c)
			}
		}
	}
	return objects
}

// allocate does with the claims of a pod what the scheduler does when it binds the pod: what its plugin
// reserves is written into their status.
func (o *oracle) allocate(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, node string) error {
	if len(pod.Spec.ResourceClaims) == 0 {
		return nil
	}
	if s := o.dra.Reserve(ctx, state, pod, node); !s.IsSuccess() {
		return fmt.Errorf("reserve the devices of %s on %s: %w", pod.Name, node, s.AsError())
	}
	claims := o.manager.ResourceClaims()
	for i := range pod.Spec.ResourceClaims {
		name, _, err := resourceclaim.Name(pod, &pod.Spec.ResourceClaims[i])
		if err != nil || name == nil {
			return fmt.Errorf("find the claim %s of %s: %w", pod.Spec.ResourceClaims[i].Name, pod.Name, err)
		}
		claim, err := claims.Get(pod.Namespace, *name)
		if err != nil {
			return fmt.Errorf("find claim %s: %w", *name, err)
		}
		claim = claim.DeepCopy()
		if claim.Status.Allocation == nil { // else a pod before has it
			if claim.Status.Allocation = claims.GetPendingAllocation(claim.UID); claim.Status.Allocation == nil {
				return fmt.Errorf("claim %s is not reserved", claim.Name)
			}
		}
		claim.Status.ReservedFor = append(claim.Status.ReservedFor, resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: pod.Name, UID: pod.UID})
		o.set(claim)
		claims.MaybeRemoveClaimPendingAllocation(claim.UID, true)
	}
	return nil
}
