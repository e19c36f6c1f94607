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

// pool is a node's slice with devices, each with what is written of it.
func pool(node, more string, devices ...string) string {
	var list []string
	for i, d := range devices {
		list = append(list, fmt.Sprintf("{name: d%d%s}", i, d))
	}
	return fmt.Sprintf("apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s-%s}\nspec: {driver: gpu.example.com, nodeName: %s, pool: {name: %s, generation: 1, resourceSliceCount: 1}%s, devices: [%s]}\n---\n", node, node, node, more, strings.Join(list, ", "))
}

const (
	largeGPU = ", attributes: {size: {string: large}}"
	smallGPU = ", attributes: {size: {string: small}}"
	// classes of one driver, and one whose selector is not read
	classes = "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\nspec: {selectors: [{cel: {expression: 'device.driver == \"gpu.example.com\"'}}]}\n---\n" +
		"apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: large}\nspec: {selectors: [{cel: {expression: 'device.driver == \"gpu.example.com\" && device.attributes[\"gpu.example.com\"].size == \"large\"'}}]}\n---\n" +
		"apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: odd}\nspec: {selectors: [{cel: {expression: 'device.driver == \"gpu.example.com\" && device.attributes[\"gpu.example.com\"].size.startsWith(\"s\")'}}]}\n---\n"
)

// holds is a claim that has a device of a node.
func holds(node string, device int) string {
	return fmt.Sprintf("apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: h-%s-%d, namespace: ml}\nspec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}\nstatus: {allocation: {devices: {results: [{request: r, driver: gpu.example.com, pool: %s, device: d%d}]}}}\n---\n", node, device, node, device)
}

// want is a template with requests.
func template(name string, requests ...string) string {
	for i := range requests {
		requests[i] = fmt.Sprintf("{name: r%d, %s}", i, requests[i])
	}
	return "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: " + name + ", namespace: ml}\nspec: {spec: {devices: {requests: [" + strings.Join(requests, ", ") + "]}}}\n---\n"
}

func of(class string, count int, more string) string {
	return fmt.Sprintf("exactly: {deviceClassName: %s, allocationMode: ExactCount, count: %d%s}", class, count, more)
}

// claiming are pods with a claim from a template each.
func claiming(pods int, templates ...string) gang.Gang {
	var g gang.Gang
	for _, name := range templates {
		g.Groups = append(g.Groups, group("W-"+name, pods, spec(func(s *corev1.PodSpec) {
			s.ResourceClaims = []corev1.PodResourceClaim{{Name: "c", ResourceClaimTemplateName: new(name)}}
		})))
	}
	return in("ml", gangOf(g.Groups...))
}

// deviceKinds are the resources that devices are counted by.
var deviceKinds = []string{"resourceslices.resource.k8s.io", "deviceclasses.resource.k8s.io", "resourceclaims.resource.k8s.io", "resourceclaimtemplates.resource.k8s.io"}

// TestWhoGoesIsNotSaidOfPodsWithDevices: the devices of a pod are free once it is gone, which the search for
// victims does not follow. That no pod has to go would be false.
func TestWhoGoesIsNotSaidOfPodsWithDevices(t *testing.T) {
	g := claiming(1, "gpus")
	g.Groups[0].Pod.Spec.PriorityClassName = "high"
	text := highClass + "\n---\n" + classes + pool("a", "", largeGPU) + holds("a", 0) + template("gpus", of("gpu", 1, ""))
	r := whatif.Answer(t.Context(), ruled(t, text, deviceKinds, build.Node("a"), build.Pod("x", build.On("a"), priority(0))), g)
	const why = "whom the priority class high may move aside is not worked out for pods with claims of devices: which devices are free once others go is not known"
	if r.Verdict != fit.Fragmented || r.Preempts != nil || !slices.Contains(r.Assumed, why) {
		t.Errorf("%s, assumed %q, %v would go; want fragmented and %q", r.Verdict, r.Assumed, r.Preempts, why)
	}
}

func TestDevicesThatAreAlikeForAllRequestsAreCounted(t *testing.T) {
	four := []string{largeGPU, largeGPU, smallGPU, smallGPU}
	two := classes + pool("a", "", four...) + pool("b", "", four...)
	whole := deviceKinds
	ill := ", taints: [{key: health, value: bad, effect: NoSchedule}]"
	var many strings.Builder
	var names []string
	for i := range 65 {
		name := fmt.Sprintf("t%02d", i)
		names = append(names, name)
		many.WriteString(template(name, of("gpu", 1, fmt.Sprintf(", selectors: [{cel: {expression: 'device.driver == \"d%d\"'}}]", i))))
	}
	const (
		atMost     = "W-gpus: devices of class %s are counted at most: "
		overlap    = "some devices suit several requests and others one of them"
		notCounted = "resource claims (DRA) are not judged"
		noPlace    = "no placement keeps how many devices of class %s a node has"
		choice     = `firstAvailable: [{name: x, deviceClassName: large, count: 1}, {name: z, deviceClassName: gpu, count: 2, selectors: [{cel: {expression: 'device.attributes["gpu.example.com"].size == "small"'}}]}]`
		notLarge   = `, selectors: [{cel: {expression: 'device.attributes["gpu.example.com"].size != "large"'}}]`
	)
	cases := map[string]struct {
		objects string
		gang    gang.Gang
		want    fit.Verdict
		why     string
	}{
		"four of four, twice":                       {two + template("gpus", of("gpu", 4, "")), claiming(2, "gpus"), fit.Fits, ""},
		"two pods of three on a node of four":       {two + template("gpus", of("gpu", 3, "")), claiming(3, "gpus"), fit.TooBig, ""},
		"one is taken":                              {two + holds("a", 0) + template("gpus", of("gpu", 4, "")), claiming(2, "gpus"), fit.Fragmented, fmt.Sprintf(noPlace, "gpu")},
		"two large on each node":                    {two + template("gpus", of("large", 2, "")), claiming(2, "gpus"), fit.Fits, ""},
		"three large on none":                       {two + template("gpus", of("large", 3, "")), claiming(1, "gpus"), fit.TooBig, fmt.Sprintf(noPlace, "large")},
		"two requests of one claim":                 {two + template("gpus", of("large", 1, ""), of("large", 1, "")), claiming(2, "gpus"), fit.Fits, ""},
		"two groups share what there is":            {two + template("gpus", of("large", 2, "")) + template("more", of("large", 1, "")), claiming(2, "gpus", "more"), fit.TooBig, ""},
		"two requests of the same devices":          {two + template("gpus", of("gpu", 2, "")) + template("more", of("gpu", 2, `, selectors: [{cel: {expression: 'device.driver == "gpu.example.com"'}}]`)), claiming(3, "gpus", "more"), fit.TooBig, ""},
		"and enough for both":                       {two + template("gpus", of("gpu", 2, "")) + template("more", of("gpu", 2, `, selectors: [{cel: {expression: 'device.driver == "gpu.example.com"'}}]`)), claiming(2, "gpus", "more"), fit.Fits, ""},
		"a device that is ill is none":              {classes + pool("a", "", largeGPU+ill, largeGPU) + template("gpus", of("gpu", 2, "")), claiming(1, "gpus"), fit.TooBig, ""},
		"unless that is tolerated":                  {classes + pool("a", "", largeGPU+ill, largeGPU) + template("gpus", of("gpu", 2, ", tolerations: [{key: health, operator: Exists}]")), claiming(1, "gpus"), fit.Fits, ""},
		"but not another value":                     {classes + pool("a", "", largeGPU+ill, largeGPU) + template("gpus", of("gpu", 2, ", tolerations: [{key: health, operator: Equal, value: odd}]")), claiming(1, "gpus"), fit.TooBig, ""},
		"some devices suit both requests":           {two + template("gpus", of("gpu", 2, ""), of("large", 2, "")), claiming(1, "gpus"), fit.Unknown, fmt.Sprintf(atMost, "gpu") + overlap},
		"more than both have at most":               {two + template("gpus", of("gpu", 2, ""), of("large", 3, "")), claiming(1, "gpus"), fit.TooBig, ""},
		"a selector that is not read":               {two + template("gpus", of("odd", 2, "")), claiming(1, "gpus"), fit.Unknown, fmt.Sprintf(atMost, "odd") + "which devices of gpu.example.com it selects is written in CEL that is not read"},
		"and more than it could select":             {two + template("gpus", of("odd", 5, "")), claiming(1, "gpus"), fit.TooBig, ""},
		"a driver that has none":                    {two + template("gpus", of("gpu", 1, `, selectors: [{cel: {expression: 'device.driver == "nic.example.com"'}}]`)), claiming(1, "gpus"), fit.TooBig, ""},
		"parts that share counters":                 {classes + pool("a", "", largeGPU+", consumesCounters: [{counterSet: m, counters: {n: {value: 1}}}]", largeGPU) + template("gpus", of("gpu", 2, "")), claiming(1, "gpus"), fit.Unknown, fmt.Sprintf(atMost, "gpu") + "devices of gpu.example.com are parts that share counters"},
		"devices that are made ready first":         {classes + pool("a", "", largeGPU+", bindingConditions: [x], bindingFailureConditions: [z]") + template("gpus", of("gpu", 1, "")), claiming(1, "gpus"), fit.Unknown, fmt.Sprintf(atMost, "gpu") + "devices of gpu.example.com have to be made ready first"},
		"devices that several nodes reach":          {classes + strings.Replace(pool("a", "", largeGPU), "nodeName: a", "allNodes: true", 1) + template("gpus", of("gpu", 1, "")), claiming(1, "gpus"), fit.Unknown, fmt.Sprintf(atMost, "gpu") + "devices of gpu.example.com are reached from several nodes"},
		"a pool that is not whole":                  {classes + strings.Replace(pool("a", "", largeGPU), "resourceSliceCount: 1", "resourceSliceCount: 2", 1) + template("gpus", of("gpu", 1, "")), claiming(1, "gpus"), fit.Unknown, fmt.Sprintf(atMost, "gpu") + "the pool a of gpu.example.com is not published whole"},
		"a slice that was replaced":                 {classes + pool("a", "", largeGPU) + strings.NewReplacer("generation: 1", "generation: 0", "name: s-a", "name: s-old").Replace(pool("a", "", four...)) + template("gpus", of("gpu", 2, "")), claiming(1, "gpus"), fit.TooBig, ""},
		"two devices of one name":                   {classes + strings.Replace(pool("a", "", largeGPU, largeGPU), "d1", "d0", 1) + template("gpus", of("gpu", 1, "")), claiming(1, "gpus"), fit.Unknown, fmt.Sprintf(atMost, "gpu") + "the pool a of gpu.example.com has two devices d0"},
		"devices that many may have":                {classes + pool("a", "", largeGPU+", allowMultipleAllocations: true") + template("gpus", of("gpu", 2, "")), claiming(1, "gpus"), fit.Unknown, notCounted},
		"who only looks on finds none of 9":         {two + template("gpus", of("gpu", 9, ", adminAccess: true")), claiming(1, "gpus"), fit.TooBig, "how many devices of class gpu for W-gpus, whoever has them, a node has"},
		"but 4 that are held, as often as wanted":   {two + holds("a", 0) + holds("b", 0) + template("gpus", of("gpu", 4, ", adminAccess: true")), claiming(9, "gpus"), fit.Fits, ""},
		"and 4 twice of 4 perhaps":                  {two + template("gpus", of("gpu", 4, ", adminAccess: true"), of("gpu", 4, ", adminAccess: true")), claiming(1, "gpus"), fit.Unknown, fmt.Sprintf(atMost, "gpu") + "those of several requests may be the same"},
		"beside who takes them":                     {two + template("gpus", of("gpu", 4, ", adminAccess: true")) + template("more", of("gpu", 4, "")), claiming(2, "gpus", "more"), fit.Fits, ""},
		"one of several":                            {two + template("gpus", "firstAvailable: [{name: x, deviceClassName: gpu, count: 4}]"), claiming(1, "gpus"), fit.Fits, ""},
		"two of several, six times":                 {two + template("gpus", choice), claiming(6, "gpus"), fit.Fits, ""},
		"but not seven times":                       {two + template("gpus", choice), claiming(7, "gpus"), fit.TooBig, "1 of class large or 2 of class gpu"},
		"one of several beside who takes its own":   {two + template("gpus", choice) + template("more", of("large", 1, "")), claiming(1, "gpus", "more"), fit.Unknown, notCounted},
		"one of several of which one is not read":   {two + template("gpus", "firstAvailable: [{name: x, deviceClassName: odd, count: 4}]"), claiming(1, "gpus"), fit.Unknown, notCounted},
		"some suit both, and enough for either":     {two + template("gpus", of("gpu", 1, ""), of("large", 1, "")), claiming(2, "gpus"), fit.Fits, ""},
		"on a node without any that suit the other": {classes + pool("a", "", smallGPU) + pool("b", "", largeGPU) + template("gpus", of("gpu", 1, "")) + template("more", of("large", 1, "")), claiming(1, "gpus", "more"), fit.Fits, ""},
		"what is selected by what it is not":        {two + template("gpus", of("gpu", 2, notLarge)), claiming(2, "gpus"), fit.Fits, ""},
		"and more than that":                        {two + template("gpus", of("gpu", 3, notLarge)), claiming(1, "gpus"), fit.TooBig, ""},
		"parts, and enough for any two":             {classes + parts(4) + template("gpus", of("gpu", 2, "")), claiming(1, "gpus"), fit.Fits, ""},
		"parts, and enough for some two":            {classes + parts(2) + template("gpus", of("gpu", 2, "")), claiming(1, "gpus"), fit.Unknown, "parts that share counters"},
		"parts, of which one is taken":              {classes + parts(4) + holds("a", 2) + template("gpus", of("gpu", 2, "")), claiming(1, "gpus"), fit.Fits, ""},
		"parts, and another is taken":               {classes + parts(3) + holds("a", 0) + template("gpus", of("gpu", 2, "")), claiming(1, "gpus"), fit.Unknown, "parts that share counters"},
		"devices of several nodes beside its own":   {classes + pool("a", "", largeGPU) + strings.Replace(pool("b", "", largeGPU), "nodeName: b", "allNodes: true", 1) + template("gpus", of("gpu", 1, "")), claiming(1, "gpus"), fit.Fits, ""},
		"8 requests beside each other":              {slots(7), claiming(1, append(manyNames(7), "gpus")...), fit.Fits, ""},
		"9 requests beside each other":              {slots(8), claiming(1, append(manyNames(8), "gpus")...), fit.Unknown, overlap},
		"all that there are":                        {two + template("gpus", "exactly: {deviceClassName: gpu, allocationMode: All}"), claiming(1, "gpus"), fit.Unknown, notCounted},
		"a rule that taints devices":                {two + "apiVersion: resource.k8s.io/v1\nkind: DeviceTaintRule\nmetadata: {name: r}\nspec: {deviceSelector: {}, taint: {key: health, effect: NoSchedule}}\n---\n" + template("gpus", of("gpu", 1, "")), claiming(1, "gpus"), fit.Unknown, fmt.Sprintf(atMost, "gpu") + "some devices may be tainted by a DeviceTaintRule"},
		"a rule that taints none":                   {two + "apiVersion: resource.k8s.io/v1\nkind: DeviceTaintRule\nmetadata: {name: r}\nspec: {taint: {key: health, effect: NoSchedule}}\n---\n" + template("gpus", of("gpu", 1, "")), claiming(1, "gpus"), fit.Fits, ""},
		"a rule for another driver":                 {two + "apiVersion: resource.k8s.io/v1\nkind: DeviceTaintRule\nmetadata: {name: r}\nspec: {deviceSelector: {driver: nic.example.com}, taint: {key: health, effect: NoSchedule}}\n---\n" + template("gpus", of("gpu", 1, "")), claiming(1, "gpus"), fit.Fits, ""},
		"a rule whose taint only informs":           {two + "apiVersion: resource.k8s.io/v1\nkind: DeviceTaintRule\nmetadata: {name: r}\nspec: {deviceSelector: {}, taint: {key: health, effect: None}}\n---\n" + template("gpus", of("gpu", 1, "")), claiming(1, "gpus"), fit.Fits, ""},
		"a class that is not there":                 {two + template("gpus", of("none", 1, "")), claiming(1, "gpus"), fit.Unknown, notCounted},
		"33 devices are more than a claim may have": {classes + pool("a", "", strings.Split(strings.Repeat(largeGPU+";", 40), ";")[:40]...) + template("gpus", of("gpu", 33, "")), claiming(1, "gpus"), fit.Unknown, notCounted},
		"32 are not":                                {classes + pool("a", "", strings.Split(strings.Repeat(largeGPU+";", 40), ";")[:40]...) + template("gpus", of("gpu", 32, "")), claiming(1, "gpus"), fit.Fits, ""},
		"64 requests":                               {classes + many.String(), claiming(1, names[:64]...), fit.TooBig, ""},
		"65 requests":                               {classes + many.String() + pool("a", "", largeGPU), claiming(1, names[64]), fit.TooBig, ""},
		"the 65th of 65 is not counted":             {manyOf(65) + template("t64", of("gpu", 1, `, selectors: [{cel: {expression: 'device.driver == "none"'}}]`)), claiming(1, append(manyNames(64), "t64")...), fit.Unknown, notCounted},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := ruled(t, tc.objects, whole, build.Node("a"), build.Node("b"))
			r := fit.Fit(t.Context(), s, tc.gang, fit.NewBudget(fit.Steps))
			if said := strings.Join(append(r.Assumed, r.Reason), "; "); r.Verdict != tc.want || !strings.Contains(said, tc.why) {
				t.Errorf("%s, said %q; want %s, %q", r.Verdict, said, tc.want, tc.why)
			}
		})
	}
}

// parts are devices that take 1, 1 and 2 of a counter of so much.
func parts(of int) string {
	take := func(n int) string {
		return fmt.Sprintf("%s, consumesCounters: [{counterSet: m, counters: {n: {value: %d}}}]", largeGPU, n)
	}
	return pool("a", fmt.Sprintf(", sharedCounters: [{name: m, counters: {n: {value: %d}}}]", of), take(1), take(1), take(2))
}

// slots are devices in so many slots, and templates for one of each and for one of any.
func slots(n int) string {
	var devices []string
	out := classes + template("gpus", of("gpu", 1, ""))
	for i := range 40 {
		devices = append(devices, fmt.Sprintf(", attributes: {slot: {int: %d}}", i%n))
	}
	for i, name := range manyNames(n) {
		out += template(name, of("gpu", 1, fmt.Sprintf(`, selectors: [{cel: {expression: 'device.attributes["gpu.example.com"].slot == %d'}}]`, i)))
	}
	return out + pool("a", "", devices...)
}

// manyOf is a node with a device of each of so many drivers but the last, and templates for them.
func manyOf(n int) string {
	var out strings.Builder
	out.WriteString(strings.ReplaceAll(classes, `'device.driver == "gpu.example.com"'`, `'device.driver != ""'`))
	for i := range n - 1 {
		driver := fmt.Sprintf("d%d.example.com", i)
		out.WriteString(strings.NewReplacer("gpu.example.com", driver, "s-a", "s-"+driver).Replace(pool("a", "", largeGPU)))
	}
	for i := range n - 1 {
		out.WriteString("apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: " + fmt.Sprintf("c%d", i) + "}\nspec: {selectors: [{cel: {expression: 'device.driver == \"" + fmt.Sprintf("d%d.example.com", i) + "\"'}}]}\n---\n")
		out.WriteString(template(manyNames(n)[i], of(fmt.Sprintf("c%d", i), 1, "")))
	}
	return out.String()
}

func manyNames(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("t%02d", i))
	}
	return out
}
