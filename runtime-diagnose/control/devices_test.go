package control

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// object is one of the API, from YAML.
func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

const claim = `
kind: ResourceClaim
metadata: {name: train-0-gpu}
status:
  allocation: {devices: {results: [{request: gpu, driver: gpu.nvidia.com, pool: gpu-1, device: gpu-3, tolerations: [
    {key: known, operator: Exists, effect: NoExecute}, {key: soon, operator: Exists, tolerationSeconds: 30}, {key: worn, value: "1"}]}]}}
  devices:
  - {driver: gpu.nvidia.com, pool: gpu-1, device: gpu-3, conditions: [{type: Ready, status: "%s", reason: Lost, message: fell off the bus}]}
`

// taintRule is what an administrator says of devices.
func taintRule(selector, taint string) string {
	return "kind: DeviceTaintRule\nmetadata: {name: broken}\nspec: {" + selector + "taint: {" + taint + "}}"
}

// slice is what the driver says of the devices of a node.
func slice(name, taints string) string {
	return `
kind: ResourceSlice
metadata: {name: gpu-1-a}
spec:
  driver: gpu.nvidia.com
  nodeName: gpu-1
  pool: {name: gpu-1}
  devices:
  - {name: gpu-0, taints: [{key: elsewhere, effect: NoExecute}]}
  - {name: ` + name + `, taints: [` + taints + `]}
`
}

func TestDevicesThatThePodHolds(t *testing.T) {
	const tainted = "device gpu.nvidia.com/gpu-1/gpu-3 of pod train-0 (claim train-0-gpu) is tainted "
	cases := map[string]struct {
		ready string
		slice string
		want  []string
	}{
		"one that is well":                     {"True", slice("gpu-3", ""), nil},
		"one that was tainted with NoExecute":  {"True", slice("gpu-3", `{key: gpu.nvidia.com/xid, value: "79", effect: NoExecute, timeAdded: "2026-11-20T08:00:00Z"}`), []string{"device-tainted " + tainted + "gpu.nvidia.com/xid=79:NoExecute"}},
		"one that takes no new pods":           {"True", slice("gpu-3", `{key: maintenance, effect: NoSchedule}`), []string{"device-cordoned " + tainted + "maintenance:NoSchedule"}},
		"a taint for information":              {"True", slice("gpu-3", `{key: note, effect: None}`), nil},
		"a taint on a device of somebody else": {"True", slice("gpu-4", `{key: gpu.nvidia.com/xid, effect: NoExecute}`), nil},
		"a taint that its claim bears":         {"True", slice("gpu-3", `{key: known, value: x, effect: NoExecute}, {key: worn, value: "1", effect: NoExecute}`), nil},
		"one that it bears for a while":        {"True", slice("gpu-3", `{key: soon, effect: NoExecute}`), []string{"device-tainted " + tainted + "soon:NoExecute"}},
		"one that it bears with another value": {"True", slice("gpu-3", `{key: worn, value: "2", effect: NoExecute}`), []string{"device-tainted " + tainted + "worn=2:NoExecute"}},
		"a rule for this device":               {"True", taintRule(`deviceSelector: {driver: gpu.nvidia.com, pool: gpu-1, device: gpu-3}, `, `key: dead, effect: NoExecute`), []string{"device-tainted " + tainted + "dead:NoExecute by DeviceTaintRule broken"}},
		"a rule for all devices":               {"True", taintRule(`deviceSelector: {}, `, `key: upkeep, effect: NoSchedule`), []string{"device-cordoned " + tainted + "upkeep:NoSchedule by DeviceTaintRule broken"}},
		"a rule for another device":            {"True", taintRule(`deviceSelector: {device: gpu-4}, `, `key: dead, effect: NoExecute`), nil},
		"a rule that selects nothing":          {"True", taintRule(``, `key: dead, effect: NoExecute`), nil},
		"a rule that nobody can evaluate":      {"True", taintRule(`deviceSelector: {selectors: [{cel: {expression: "true"}}]}, `, `key: dead, effect: NoExecute`), nil},
		"a rule whose taint its claim bears":   {"True", taintRule(`deviceSelector: {}, `, `key: known, effect: NoExecute`), nil},
		"before 1.34, under basic":             {"True", slice(`gpu-3, basic: {taints: [{key: old, effect: NoExecute}]}`, ""), []string{"device-tainted " + tainted + "old:NoExecute"}},
		"one that its driver says is not ready": {"False", slice("gpu-3", ""), []string{
			"device-unhealthy device gpu.nvidia.com/gpu-1/gpu-3 of pod train-0 (claim train-0-gpu) is not ready: Lost: fell off the bus",
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := onNode(func(*corev1.Node) {})
			in.Pods[0].Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "gpu", ResourceClaimName: new("train-0-gpu")}}
			in.Objects = []*unstructured.Unstructured{object(t, fmt.Sprintf(claim, tc.ready)), object(t, tc.slice), nil}
			var got []string
			for _, s := range Read(in).Sightings {
				if s.Item.ID == "pod/train-0/device/gpu.nvidia.com/gpu-1/gpu-3" {
					got = append(got, s.Signature.ID+" "+s.Item.Text)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("sightings (-want +got):\n%s", diff)
			}
		})
	}
}
