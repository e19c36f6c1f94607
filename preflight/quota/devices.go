package quota

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// claimUsage is what the claims that are made for one pod count for in quotas: their
// number, and the devices of each class at most
// (https://github.com/kubernetes/kubernetes/blob/v1.36.3/pkg/quota/v1/evaluator/core/resource_claims.go).
func claimUsage(s *cluster.Snapshot, namespace string, spec *corev1.PodSpec) job.Resources {
	out := job.Resources{}
	for _, claim := range spec.ResourceClaims {
		if claim.ResourceClaimTemplateName == nil {
			continue // it exists, and was counted when it was made
		}
		out[claimCount]++
		template := cluster.Find[resourcev1.ResourceClaimTemplate](s.Index(), cluster.TemplateKind, namespace, *claim.ResourceClaimTemplateName)
		if template == nil {
			continue
		}
		for _, request := range template.Spec.Spec.Devices.Requests {
			for class, n := range mostDevicesOf(&request) {
				name := corev1.ResourceName(class + corev1.ResourceClaimsPerClass)
				out[name] = saturate.Add(out[name], n)
			}
		}
	}
	return out
}

// mostDevicesOf is how many devices of each class a request may get at most.
func mostDevicesOf(r *resourcev1.DeviceRequest) map[string]int64 {
	devices := func(mode resourcev1.DeviceAllocationMode, count int64) int64 {
		switch mode {
		case resourcev1.DeviceAllocationModeAll:
			return resourcev1.AllocationResultsMaxSize
		case resourcev1.DeviceAllocationModeExactCount, "":
			return max(1, count) // a count that is not written is 1
		}
		return 0
	}
	out := map[string]int64{}
	for _, alternative := range r.FirstAvailable {
		out[alternative.DeviceClassName] = max(out[alternative.DeviceClassName], devices(alternative.AllocationMode, alternative.Count))
	}
	if e := r.Exactly; e != nil && len(r.FirstAvailable) == 0 {
		out[e.DeviceClassName] = devices(e.AllocationMode, e.Count)
	}
	return out
}

// ClaimText says what the claims of a pod ask for, and how many devices there are: "template
// gpus asks for 4 devices of class gpu.nvidia.com; 8 devices are published, 3 are allocated".
func ClaimText(s *cluster.Snapshot, namespace string, spec *corev1.PodSpec) string {
	var parts []string
	for _, c := range spec.ResourceClaims {
		switch {
		case c.ResourceClaimTemplateName != nil:
			var spec *resourcev1.ResourceClaimSpec
			if template := cluster.Find[resourcev1.ResourceClaimTemplate](s.Index(), cluster.TemplateKind, namespace, *c.ResourceClaimTemplateName); template != nil {
				spec = &template.Spec.Spec
			}
			parts = append(parts, "template "+*c.ResourceClaimTemplateName+requestText(spec))
		case c.ResourceClaimName != nil:
			var spec *resourcev1.ResourceClaimSpec
			if claim := cluster.Find[resourcev1.ResourceClaim](s.Index(), cluster.ClaimGVK, namespace, *c.ResourceClaimName); claim != nil {
				spec = &claim.Spec
			}
			parts = append(parts, "claim "+*c.ResourceClaimName+requestText(spec))
		}
	}
	all := "the devices that are published are not all in the snapshot"
	if s.Holds(schema.GroupResource{Group: "resource.k8s.io", Resource: "resourceslices"}) {
		all = words.Count(int(min(s.Rules().Published.Total, math.MaxInt32)), "device is", "devices are") + " published"
		if s.Holds(cluster.ResourceOf(cluster.ClaimGVK)) {
			all += fmt.Sprintf(", %d allocated", s.Allocated())
		}
	}
	return strings.Join(append(parts, all), "; ")
}

// requestText is what a claim asks for at least, behind its name; nil: it is not known.
func requestText(spec *resourcev1.ResourceClaimSpec) string {
	if spec == nil {
		return " was not read"
	}
	least := map[string]int64{}
	for i := range spec.Devices.Requests {
		class, n := leastDevicesOf(&spec.Devices.Requests[i])
		least[class] = saturate.Add(least[class], n)
	}
	var of []string
	for _, class := range slices.Sorted(maps.Keys(least)) {
		of = append(of, words.Count(int(min(least[class], math.MaxInt32)), "device", "devices")+" of class "+class)
	}
	if len(of) == 0 {
		return " asks for no device"
	}
	return " asks for " + strings.Join(of, " and ")
}

// devices reports pods that ask for more devices than any node publishes, and gangs that ask
// for more than there are. There must be no autoscaler, and all slices must be in the view.
func (o *check) devices() {
	o.sharedClaims()
	p := &o.s.Rules().Published
	if p.Endless || o.s.Autoscaler() != "" || Provisioner(o.s, o.gang) != "" || !o.s.Holds(schema.GroupResource{Group: "resource.k8s.io", Resource: "resourceslices"}) {
		return
	}
	sums := job.Resources{}
	for _, set := range o.together() {
		all, first := int64(0), -1
		for _, i := range set {
			class, asked := leastDevices(o.s, o.gang.Namespace, &o.gang.Groups[i].Pod)
			if asked == 0 || o.wanted(i) == 0 {
				continue
			}
			if asked > saturate.Add(p.Most, p.Shared) {
				o.lacksDevices(&o.gang.Groups[i], class, asked, saturate.Add(p.Most, p.Shared),
					fmt.Sprintf("one %s asks for %d devices; no node publishes more than %d", o.gang.Groups[i].Name, asked, saturate.Add(p.Most, p.Shared)))
				return
			}
			if first < 0 {
				first = i
			}
			all = saturate.Add(all, saturate.Mul(asked, o.wanted(i)))
			sums[corev1.ResourceName(class)] = 0
		}
		if all > p.Total {
			o.lacksDevices(&o.gang.Groups[first], string(sums.Names()[0]), all, p.Total,
				fmt.Sprintf("the pods ask for %d devices; %d are all that is published", all, p.Total))
			return
		}
	}
}

func (o *check) lacksDevices(g *gang.Group, class string, asked, hard int64, message string) {
	o.add(Violation{
		Rule: RuleDevices, When: Never, Kind: "DeviceClass", Name: class, Resource: "devices", Asked: asked, Hard: hard,
		Path: "spec.selectors", Role: g.Name, At: g.Path, Message: message,
	})
}

// leastDevices is how many devices one pod takes for itself at least, and a class it asks
// for; 0 where that is not known.
func leastDevices(s *cluster.Snapshot, namespace string, pod *job.Pod) (class string, devices int64) {
	for _, claim := range pod.Spec.ResourceClaims {
		if claim.ResourceClaimTemplateName == nil {
			continue
		}
		template := cluster.Find[resourcev1.ResourceClaimTemplate](s.Index(), cluster.TemplateKind, namespace, *claim.ResourceClaimTemplateName)
		if template == nil {
			continue
		}
		for i := range template.Spec.Spec.Devices.Requests {
			of, n := leastDevicesOf(&template.Spec.Spec.Devices.Requests[i])
			class, devices = cmp.Or(class, of), saturate.Add(devices, n)
		}
	}
	for name, n := range podspec.Requested(*pod) {
		of := s.DeviceClass(name)
		if of == "" || n <= 0 || s.Offered(name) > 0 {
			continue // or a node that names the resource may serve it
		}
		if class == "" || of < class {
			class = of
		}
		devices = saturate.Add(devices, n)
	}
	return class, devices
}

// leastDevicesOf is how many devices a request takes at least.
func leastDevicesOf(r *resourcev1.DeviceRequest) (class string, devices int64) {
	exact := func(mode resourcev1.DeviceAllocationMode, count int64) int64 {
		if mode == resourcev1.DeviceAllocationModeExactCount || mode == "" {
			return max(1, count)
		}
		return 1 // all that there are, and one at least
	}
	if e := r.Exactly; e != nil {
		if e.AdminAccess != nil && *e.AdminAccess {
			return e.DeviceClassName, 0 // looks on and takes nothing
		}
		return e.DeviceClassName, exact(e.AllocationMode, e.Count)
	}
	for i, alternative := range r.FirstAvailable {
		if n := exact(alternative.AllocationMode, alternative.Count); i == 0 || n < devices {
			class, devices = alternative.DeviceClassName, n
		}
	}
	return class, devices
}
