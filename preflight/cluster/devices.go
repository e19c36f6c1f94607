package cluster

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// resourceSlice is what of a ResourceSlice is read: the devices that a driver publishes, and
// where (https://pkg.go.dev/k8s.io/api/resource/v1#ResourceSliceSpec).
type resourceSlice struct {
	Spec struct {
		Driver string `json:"driver"`
		Pool   struct {
			Name               string `json:"name"`
			Generation         int64  `json:"generation"`
			ResourceSliceCount int64  `json:"resourceSliceCount"`
		} `json:"pool"`
		NodeName       *string                 `json:"nodeName"`
		NodeSelector   *corev1.NodeSelector    `json:"nodeSelector"`
		Devices        []publishedDevice       `json:"devices"`
		SharedCounters []resourcev1.CounterSet `json:"sharedCounters"`
	} `json:"spec"`

	// What does not depend on other slices.
	Endless bool     `json:"-"` // some device may be allocated many times
	Doubts  []string `json:"-"` // by device: why it may not be had; nil: none may not
}

// readSlice reads a slice, and what does not depend on others.
func readSlice(o *unstructured.Unstructured) (any, error) {
	slice := &resourceSlice{}
	if err := decode(o, slice); err != nil {
		return nil, err
	}
	seen := make(map[string]bool, len(slice.Spec.Devices))
	for i := range slice.Spec.Devices {
		d := &slice.Spec.Devices[i]
		slice.Endless = slice.Endless || d.endless()
		slice.Doubts = slice.doubted(slice.Doubts, i, slice.doubtOf(d, true, seen[d.Name]))
		seen[d.Name] = true
	}
	return slice, nil
}

// doubted adds a doubt of a device, if there is one.
func (slice *resourceSlice) doubted(doubts []string, device int, doubt string) []string {
	if doubt == "" {
		return doubts
	}
	if doubts == nil {
		doubts = make([]string, len(slice.Spec.Devices))
	}
	doubts[device] = doubt
	return doubts
}

// publishedDevice is one device of a slice.
type publishedDevice struct {
	Name                     string                                `json:"name"`
	Attributes               map[string]deviceAttribute            `json:"attributes"`
	Capacity                 map[string]deviceCapacity             `json:"capacity"`
	ConsumesCounters         []resourcev1.DeviceCounterConsumption `json:"consumesCounters"`
	BindingConditions        []string                              `json:"bindingConditions"`
	Taints                   []deviceTaint                         `json:"taints"`
	AllowMultipleAllocations *bool                                 `json:"allowMultipleAllocations"`
}

// deviceCapacity is how much a device has of something, as its driver writes it.
type deviceCapacity struct {
	Value string `json:"value"`
}

type deviceTaint struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Effect string `json:"effect"`
}

// keepsAway says that the device goes to those alone that tolerate the taint.
func (t *deviceTaint) keepsAway() bool {
	return t.Effect == string(resourcev1.DeviceTaintEffectNoSchedule) || t.Effect == string(resourcev1.DeviceTaintEffectNoExecute)
}

// deviceClass is what of a DeviceClass is read, in every version.
type deviceClass struct {
	Spec struct {
		Selectors            []resourcev1.DeviceSelector `json:"selectors"`
		ExtendedResourceName string                      `json:"extendedResourceName"`
	} `json:"spec"`
}

// taintRuleKind is the kind by which administrators taint devices that drivers publish
// (https://pkg.go.dev/k8s.io/api/resource/v1#DeviceTaintRule).
var taintRuleKind = schema.GroupKind{Group: resourcev1.GroupName, Kind: "DeviceTaintRule"}

// taintRule is what of such a rule is read, in every version: whose devices it may taint. Which of them is not worked out.
type taintRule struct {
	Spec struct {
		Selector *struct {
			Driver string `json:"driver"`
		} `json:"deviceSelector"` // nil: none are
		Taint deviceTaint `json:"taint"`
	} `json:"spec"`
}

// taintedByRules are the drivers of which a rule may taint devices; "" stands for all of them.
func taintedByRules(all Objects) map[string]bool {
	var out map[string]bool
	for _, o := range all[taintRuleKind].all() {
		if rule, read := o.read.(*taintRule); !read {
			put(&out, "", true)
		} else if rule.Spec.Selector != nil && rule.Spec.Taint.keepsAway() {
			put(&out, rule.Spec.Selector.Driver, true)
		}
	}
	return out
}

// ClaimGVK is the kind of claims of devices (DRA).
var ClaimGVK = resourcev1.SchemeGroupVersion.WithKind("ResourceClaim")

type device struct{ driver, pool, name string }

// heldDevices are the devices that claims hold, by pool. Snapshots share it: it is copied where it changes.
type heldDevices struct {
	in    map[poolOf][]heldDevice
	count int // devices
}

// heldDevice is a device that so many claims hold
// (https://pkg.go.dev/k8s.io/api/resource/v1#DeviceAllocationResult).
type heldDevice struct {
	name   string
	claims int
}

// held adds the devices of a claim, or takes them out.
func (l *Store) held(claim *resourcev1.ResourceClaim, n int) {
	if claim == nil || claim.Status.Allocation == nil {
		return
	}
	for _, r := range claim.Status.Allocation.Devices.Results {
		if r.AdminAccess != nil && *r.AdminAccess {
			continue
		}
		if l.allocatedShown || l.allocated == nil {
			l.allocated, l.allocatedShown = l.allocated.copy(), false
		}
		l.allocated.add(poolOf{r.Driver, r.Pool}, r.Device, n)
	}
}

func (h *heldDevices) copy() *heldDevices {
	if h == nil {
		return &heldDevices{in: map[poolOf][]heldDevice{}}
	}
	return &heldDevices{in: maps.Clone(h.in), count: h.count}
}

// add counts a device for so many more claims.
func (h *heldDevices) add(pool poolOf, name string, n int) {
	all := slices.Clone(h.in[pool])
	at := slices.IndexFunc(all, func(d heldDevice) bool { return d.name == name })
	if at < 0 {
		at, all = len(all), append(all, heldDevice{name: name})
		h.count++
	}
	if all[at].claims += n; all[at].claims == 0 {
		all = slices.Delete(all, at, at+1)
		h.count--
	}
	if h.in[pool] = all; len(all) == 0 {
		delete(h.in, pool)
	}
}

// PublishedDevices is how many devices there are, whatever they are: an upper bound for every
// class. Which of them a class or a request selects is written in CEL and not worked out.
type PublishedDevices struct {
	drivers map[string]bool
	on      map[string]int64 // by node
	Most    int64            // on one node
	Shared  int64            // not bound to a node
	Total   int64
	Endless bool // some device may be allocated many times: there is no bound
}

func (p *PublishedDevices) add(s *resourceSlice) {
	put(&p.drivers, s.Spec.Driver, true)
	n := int64(len(s.Spec.Devices))
	p.Endless = p.Endless || s.Endless
	p.Total += n
	node := s.node()
	if node == "" {
		p.Shared += n
		return
	}
	put(&p.on, node, p.on[node]+n)
	p.Most = max(p.Most, p.on[node])
}

// Devices says whether an extended resource is, or may be, served as devices (DRA) instead
// of by the nodes that name it: a device class offers it, or classes are not known and a
// driver of the same vendor publishes devices.
func (s *Snapshot) Devices(name corev1.ResourceName) bool {
	return s != nil && s.DeviceClass(name) != ""
}

// driverOf is the driver that may serve an extended resource where device classes are not
// known: one in the domain of the resource. Empty: none, or classes are known.
func (s *Snapshot) driverOf(name corev1.ResourceName) string {
	domain, _, ok := strings.Cut(string(name), "/")
	if !ok || s.rules == nil || len(s.rules.Published.drivers) == 0 || s.Holds(schema.GroupResource{Group: "resource.k8s.io", Resource: "deviceclasses"}) {
		return ""
	}
	for _, driver := range slices.Sorted(maps.Keys(s.rules.Published.drivers)) {
		if driver == domain || strings.HasSuffix(driver, "."+domain) {
			return driver
		}
	}
	return ""
}

// DeviceClass is the class whose devices serve an extended resource; empty: none in the
// view (https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/,
// "extended resource allocation by DRA").
func (s *Snapshot) DeviceClass(name corev1.ResourceName) string {
	if class, ok := strings.CutPrefix(string(name), "deviceclass.resource.kubernetes.io/"); ok {
		return class
	}
	if class := s.rules.deviceClasses[name]; class != "" {
		return class
	}
	if driver := s.driverOf(name); driver != "" {
		return "that was not read, of driver " + driver
	}
	return ""
}

// deviceClassesIn are the extended resources that device classes serve.
func deviceClassesIn(all Objects) map[corev1.ResourceName]string {
	out := map[corev1.ResourceName]string{}
	for key, class := range Each[deviceClass](all, classesKind) {
		name := corev1.ResourceName(class.Spec.ExtendedResourceName)
		if was, ok := out[name]; name != "" && (!ok || key.Name < was) {
			out[name] = key.Name
		}
	}
	return out
}

// ImplicitDevices is the prefix of resource names that stand for the devices of a class
// (https://pkg.go.dev/k8s.io/api/resource/v1#ResourceDeviceClassPrefix).
const ImplicitDevices = "deviceclass.resource.kubernetes.io/"
