package fit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/test/build"
)

// sliceOf publishes devices on a node; "" is no node in particular.
func sliceOf(node string, devices int, more string) string {
	list := strings.TrimSuffix(strings.Repeat("{name: d"+more+"}, ", devices), ", ")
	on := "allNodes: true"
	if node != "" {
		on = "nodeName: " + node
	}
	return fmt.Sprintf("apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s-%s}\nspec: {driver: gpu.nvidia.com, %s, devices: [%s]}", node, on, list)
}

// claimOf is the template gpus of namespace ml with one request.
func claimOf(request string) string {
	return "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: gpus, namespace: ml}\nspec: {spec: {devices: {requests: [{name: r, " + request + "}]}}}"
}

const gpuClass = "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu.nvidia.com}\nspec: {extendedResourceName: nvidia.com/gpu}"

func claims(n int) gang.Gang {
	return in("ml", gangOf(group("Worker", n, spec(func(s *corev1.PodSpec) {
		s.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpus", ResourceClaimTemplateName: new("gpus")}}
	}))))
}

func TestDevicesThatArePublishedAreAnUpperBound(t *testing.T) {
	whole := []string{"resourceslices.resource.k8s.io", "deviceclasses.resource.k8s.io"}
	const class = "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu.nvidia.com}\n---\n"
	two := class + sliceOf("a", 4, "") + "\n---\n" + sliceOf("b", 4, "") + "\n---\n"
	exactly := func(n int) string {
		return claimOf(fmt.Sprintf("exactly: {deviceClassName: gpu.nvidia.com, allocationMode: ExactCount, count: %d}", n))
	}
	const one = "never devices DeviceClass gpu.nvidia.com: one Worker asks for 5 devices; no node publishes more than 4\n"
	cases := map[string]struct {
		objects string
		whole   []string
		gang    gang.Gang
		want    string
	}{
		"as many as a node has":                    {two + exactly(4), whole, claims(2), ""},
		"more than any node has":                   {two + exactly(5), whole, claims(1), one},
		"more than all nodes have":                 {two + exactly(4), whole, claims(3), "never devices DeviceClass gpu.nvidia.com: the pods ask for 12 devices; 8 are all that is published\n"},
		"not all slices are in the view":           {two + exactly(5), nil, claims(1), ""},
		"devices that belong to no node help":      {two + sliceOf("", 1, "") + "\n---\n" + exactly(5), whole, claims(1), ""},
		"devices that many may have at once":       {two + sliceOf("c", 1, ", allowMultipleAllocations: true") + "\n---\n" + exactly(9), whole, claims(9), ""},
		"who only looks on takes nothing":          {two + claimOf("exactly: {deviceClassName: gpu.nvidia.com, count: 9, adminAccess: true}"), whole, claims(1), ""},
		"a class that does not exist":              {strings.TrimPrefix(two, class) + exactly(1), whole, claims(1), "never object DeviceClass gpu.nvidia.com: it does not exist, and the scheduler finds no device of it\n"},
		"who only looks on needs a mark":           {two + claimOf("exactly: {deviceClassName: gpu.nvidia.com, adminAccess: true}") + "\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: ml}", whole, claims(1), "never amount Namespace ml: gpus asks for admin access, and the label resource.kubernetes.io/admin-access of the namespace is not true\n"},
		"the least of several choices":             {two + claimOf("firstAvailable: [{name: x, deviceClassName: big, count: 9}, {name: y, deviceClassName: gpu.nvidia.com, count: 4}]"), whole, claims(1), ""},
		"an extended resource that a class serves": {two + gpuClass, whole, in("ml", gpus(1, "5")), one},
		"the template is not in the view":          {two + gpuClass, whole, claims(9), ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := told(ruled(t, tc.objects, tc.whole, build.Node("a"), build.Node("b")), tc.gang); got != tc.want {
				t.Errorf("limits %q; want %q", got, tc.want)
			}
		})
	}
}

func TestWhereDevicesMayServeAResourceItsAbsenceIsNoProof(t *testing.T) {
	cases := map[string]struct {
		objects string
		whole   []string
		want    fit.Verdict
		why     string
	}{
		"a device class offers it":          {gpuClass, nil, fit.Unknown, "nvidia.com/gpu is served as devices of class gpu.nvidia.com (DRA), which are not counted"},
		"a driver of the vendor may":        {sliceOf("a", 4, ""), nil, fit.Unknown, "nvidia.com/gpu is served as devices of class that was not read, of driver gpu.nvidia.com (DRA), which are not counted"},
		"a driver, and no class offers it":  {sliceOf("a", 4, ""), []string{"deviceclasses.resource.k8s.io"}, fit.TooBig, ""},
		"a driver of another vendor cannot": {strings.ReplaceAll(sliceOf("a", 4, ""), "nvidia", "example"), nil, fit.TooBig, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := ruled(t, tc.objects, tc.whole, build.Node("a"))
			r := whatif.Answer(t.Context(), s, in("ml", gpus(1, "2")))
			if r.Verdict != tc.want || !strings.Contains(strings.Join(r.Assumed, ";"), tc.why) {
				t.Errorf("%s, assumed %q; want %s, %q", r.Verdict, r.Assumed, tc.want, tc.why)
			}
			if s.Devices("nvidia.com/gpu") != (tc.want == fit.Unknown) {
				t.Errorf("Devices says %t", s.Devices("nvidia.com/gpu"))
			}
		})
	}
}

func TestWhatIsUnknownOfClaimsIsSaid(t *testing.T) {
	whole := []string{"resourceslices.resource.k8s.io", "resourceclaims.resource.k8s.io"}
	two := sliceOf("a", 4, "") + "\n---\n" + sliceOf("b", 4, "") + "\n---\n"
	held := func(name, device, more string) string {
		return "\n---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: " + name + ", namespace: ml}\nspec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu.nvidia.com}}]}}\n" +
			"status: {allocation: {devices: {results: [{request: r, driver: gpu.nvidia.com, pool: a, device: " + device + more + "}]}}}"
	}
	template := claimOf("exactly: {deviceClassName: gpu.nvidia.com, count: 2}")
	named := in("ml", gangOf(group("Worker", 1, spec(func(s *corev1.PodSpec) {
		s.ResourceClaims = []corev1.PodResourceClaim{{Name: "c", ResourceClaimName: new("mine")}, {Name: "d", ResourceClaimName: new("none")}}
	}))))
	cases := map[string]struct {
		objects string
		whole   []string
		gang    gang.Gang
		want    string
	}{
		"a template": {two + template, whole, claims(1), "template gpus asks for 2 devices of class gpu.nvidia.com; 8 devices are published, 0 allocated"},
		"devices that claims hold, each once": {
			two + template + held("x", "d0", "") + held("y", "d1", "") + held("z", "d1", "") + held("w", "d2", ", adminAccess: true"), whole, claims(1),
			"template gpus asks for 2 devices of class gpu.nvidia.com; 8 devices are published, 2 allocated",
		},
		"claims by name":           {two + held("mine", "d0", "")[5:], whole, named, "claim mine asks for 1 device of class gpu.nvidia.com; claim none was not read; 8 devices are published, 1 allocated"},
		"several classes":          {two + claimOf("exactly: {deviceClassName: b}}, {name: s, exactly: {deviceClassName: a, count: 3}"), whole, claims(1), "template gpus asks for 3 devices of class a and 1 device of class b; 8 devices are published, 0 allocated"},
		"claims are not all known": {two + template, whole[:1], claims(1), "template gpus asks for 2 devices of class gpu.nvidia.com; 8 devices are published"},
		"nor are the devices":      {two + template, nil, claims(1), "template gpus asks for 2 devices of class gpu.nvidia.com; the devices that are published are not all in the snapshot"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := whatif.Answer(t.Context(), ruled(t, tc.objects, tc.whole, build.Node("a"), build.Node("b")), tc.gang)
			want := "Worker: resource claims (DRA) are not judged: " + tc.want
			if r.Verdict != fit.Unknown || !slices.Contains(r.Assumed, want) {
				t.Errorf("%s, assumed %q; want unknown and %q", r.Verdict, r.Assumed, want)
			}
		})
	}
}
