package control

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// held is a device that a pod of the job holds, by driver, pool and name.
type held struct {
	pod        *corev1.Pod
	claim      string
	allocation map[string]any // DeviceRequestAllocationResult; nil: not read
}

// readClaimedDevices looks at the devices that dynamic resource allocation gave to the pods: what the
// driver says of them in the claim, and taints on them, from the slices of the nodes and from the rules
// of administrators (k8s.io/api v0.37 resource/v1: AllocatedDeviceStatus, DeviceTaint, DeviceTaintRule).
func (r *reader) readClaimedDevices() {
	devices := map[string]held{}
	for _, u := range r.Objects {
		if u == nil || u.GetKind() != "ResourceClaim" {
			continue
		}
		pod := r.holder(u.GetName())
		if pod == nil {
			continue
		}
		for _, result := range AllocatedDevices(u) {
			devices[deviceID(result)] = held{pod, u.GetName(), result}
		}
		for _, device := range objectsIn(u.Object, "status", "devices") {
			r.readDeviceConditions(device, held{pod: pod, claim: u.GetName()})
		}
	}
	r.readTaintRules(devices)
	for _, u := range r.Objects {
		if u == nil || u.GetKind() != "ResourceSlice" {
			continue
		}
		driver, _, _ := unstructured.NestedString(u.Object, "spec", "driver")
		pool, _, _ := unstructured.NestedString(u.Object, "spec", "pool", "name")
		for _, device := range objectsIn(u.Object, "spec", "devices") {
			id := strings.Join([]string{driver, pool, text(device, "name")}, "/")
			if by, ok := devices[id]; ok {
				r.readDeviceTaints(device, id, by)
			}
		}
	}
}

// AllocatedDevices are the devices that a ResourceClaim was given, as its status lists them.
func AllocatedDevices(claim *unstructured.Unstructured) []map[string]any {
	return objectsIn(claim.Object, "status", "allocation", "devices", "results")
}

// holder is the pod that a claim is for.
func (r *reader) holder(claim string) *corev1.Pod {
	for i := range r.Pods {
		if slices.ContainsFunc(r.Pods[i].Status.ResourceClaimStatuses, func(s corev1.PodResourceClaimStatus) bool {
			return s.ResourceClaimName != nil && *s.ResourceClaimName == claim
		}) {
			return &r.Pods[i]
		}
	}
	return nil
}

func (r *reader) readDeviceTaints(device map[string]any, name string, by held) {
	inner := device
	if basic, ok := device["basic"].(map[string]any); ok { // v1beta1
		inner = basic
	}
	for _, taint := range objectsIn(inner, "taints") {
		r.readDeviceTaint(taint, name, by, "")
	}
}

// readTaintRules reads the taints that administrators put on devices beside what the drivers say. A rule
// without a selector selects nothing, an empty selector everything; one that asks for more than driver,
// pool and device (before 1.35) is left to whoever collects, who cannot evaluate it either.
func (r *reader) readTaintRules(devices map[string]held) {
	for _, u := range r.Objects {
		if u == nil || u.GetKind() != "DeviceTaintRule" {
			continue
		}
		taint, _, _ := unstructured.NestedMap(u.Object, "spec", "taint")
		for _, name := range slices.Sorted(maps.Keys(devices)) {
			if RuleSelects(u, devices[name].allocation) {
				r.readDeviceTaint(taint, name, devices[name], " by DeviceTaintRule "+u.GetName())
			}
		}
	}
}

// RuleSelects says that a DeviceTaintRule is for an allocated device
// (https://github.com/kubernetes/kubernetes/blob/v1.37.1/pkg/controller/devicetainteviction/device_taint_eviction.go, ruleMatchesDevice).
func RuleSelects(rule *unstructured.Unstructured, device map[string]any) bool {
	selector, ok, err := unstructured.NestedMap(rule.Object, "spec", "deviceSelector")
	if !ok || err != nil || !RuleReadable(rule) {
		return false
	}
	for _, key := range []string{"driver", "pool", "device"} {
		if want, given := selector[key]; given && want != text(device, key) {
			return false
		}
	}
	return true
}

// RuleReadable says that a DeviceTaintRule asks for driver, pool and device alone. Those of Kubernetes
// 1.33 and 1.34 may ask for a class of devices or by CEL
// (https://github.com/kubernetes/api/blob/v0.34.1/resource/v1alpha3/types.go, DeviceTaintSelector).
func RuleReadable(rule *unstructured.Unstructured) bool {
	selector, _, _ := unstructured.NestedMap(rule.Object, "spec", "deviceSelector")
	return selector["deviceClassName"] == nil && selector["selectors"] == nil
}

// readDeviceTaint says what one taint does to a pod that holds the device; by whom is empty where the
// driver put it there.
func (r *reader) readDeviceTaint(taint map[string]any, name string, by held, whose string) {
	effect := text(taint, "effect")
	rule := ruleDeviceTainted
	switch effect {
	case "NoExecute":
	case "NoSchedule":
		rule = ruleDeviceCordoned
	default:
		return // for information
	}
	if by.tolerates(taint) {
		return
	}
	written := strings.TrimSuffix(text(taint, "key")+"="+text(taint, "value"), "=") + ":" + effect
	at, _ := time.Parse(time.RFC3339, text(taint, "timeAdded")) // zero: unknown
	r.sight(rule, evidence.Item{
		ID: id("pod", by.pod.Name, "device", name), Kind: evidence.Status, At: at, Source: r.source(by.pod),
		Text: fmt.Sprintf("device %s of pod %s (claim %s) is tainted %s%s", name, by.pod.Name, by.claim, written, whose),
	}, map[string]string{"device": name, "taint": written})
}

// tolerates says that the claim bears the taint for good
// (k8s.io/dynamic-resource-allocation v0.37.2, resourceclaim.ToleratesTaint).
func (h held) tolerates(taint map[string]any) bool {
	for _, t := range objectsIn(h.allocation, "tolerations") {
		effect, key := text(t, "effect"), text(t, "key")
		if t["tolerationSeconds"] != nil || effect != "" && effect != text(taint, "effect") || key != "" && key != text(taint, "key") {
			continue
		}
		if text(t, "operator") == "Exists" || text(t, "value") == text(taint, "value") {
			return true
		}
	}
	return false
}

func (r *reader) readDeviceConditions(device map[string]any, by held) {
	for _, c := range objectsIn(device, "conditions") {
		if text(c, "type") != "Ready" || text(c, "status") != "False" {
			continue
		}
		name := deviceID(device)
		at, _ := time.Parse(time.RFC3339, text(c, "lastTransitionTime")) // zero: unknown
		r.sight(ruleForReason("DeviceUnhealthy"), evidence.Item{
			ID: id("pod", by.pod.Name, "device", name), Kind: evidence.Status, At: at, Source: r.source(by.pod),
			Text: strings.TrimSuffix(fmt.Sprintf("device %s of pod %s (claim %s) is not ready: %s: %s", name, by.pod.Name, by.claim, text(c, "reason"), text(c, "message")), ": "),
		}, map[string]string{"device": name})
	}
}

func deviceID(device map[string]any) string {
	return strings.Join([]string{text(device, "driver"), text(device, "pool"), text(device, "device")}, "/")
}

// objectsIn are the objects in a list below an object; what is something else is left out.
func objectsIn(object map[string]any, path ...string) []map[string]any {
	list, _, err := unstructured.NestedSlice(object, path...)
	if err != nil {
		return nil
	}
	var out []map[string]any
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func text(object map[string]any, key string) string {
	s, _ := object[key].(string)
	return s
}

var ruleDeviceTainted = rule("device-tainted", "a device that the pod holds was tainted, and pods on it are evicted", "gpu-hardware-xid", signature.Precise,
	signature.Hardware, signature.Helps,
	"The driver of the device or an administrator tainted it with NoExecute: pods whose claim does not tolerate that are removed.", "What is wrong with it; the taint's key may say.",
	"Tell the administrator the node and the device; start the job elsewhere.")

var ruleDeviceCordoned = weak(rule("device-cordoned", "a device that the pod holds takes no new pods", "gpu-hardware-xid", signature.General,
	signature.Hardware, signature.Helps,
	"The driver of the device or an administrator tainted it with NoSchedule.", "That this ended the pod: pods that hold it keep it.",
	"Tell the administrator the node and the device; start the job on other devices."))
