package cluster

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

func deviceObject(t testing.TB, kind string, obj any) *unstructured.Unstructured {
	t.Helper()
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: fields}
	u.SetGroupVersionKind(resourcev1.SchemeGroupVersion.WithKind(kind))
	return u
}

// holding is a claim that has some devices of a pool.
func holding(name, pool string, devices ...string) *resourcev1.ResourceClaim {
	c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name}, Status: resourcev1.ResourceClaimStatus{Allocation: &resourcev1.AllocationResult{}}}
	for _, d := range devices {
		c.Status.Allocation.Devices.Results = append(c.Status.Allocation.Devices.Results, resourcev1.DeviceRequestAllocationResult{Driver: "d", Pool: pool, Device: d})
	}
	return c
}

// TestDevicesAreCountedByClassAsOneByOne: of random devices and requests the index counts what looking at each
// device does, also with more sets of attributes than are kept, and of claims that come and go.
func TestDevicesAreCountedByClassAsOneByOne(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var store Store
	sizes := []string{"large", "small"}
	nodes, devices := []string{"a", "b", "c"}, map[string][]resourcev1.Device{}
	for _, node := range nodes {
		store.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}})
		for at := range 6 {
			d := resourcev1.Device{Name: fmt.Sprint("d", at), Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"size": {StringValue: &sizes[r.IntN(2)]}}}
			for k := range 10 {
				d.Attributes[resourcev1.QualifiedName(fmt.Sprint("k", k))] = resourcev1.DeviceAttribute{IntValue: new(int64(r.IntN(2)))}
			}
			devices[node] = append(devices[node], d)
		}
		store.SetObject(deviceObject(t, "ResourceSlice", &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: node}, Spec: resourcev1.ResourceSliceSpec{
			Driver: "d", NodeName: &node, Pool: resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1}, Devices: devices[node],
		}}))
	}
	store.SetObject(deviceObject(t, "DeviceClass", &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "all"}}))
	claim := func(name string) *resourcev1.ResourceClaim {
		return holding(name, nodes[r.IntN(3)], fmt.Sprint("d", r.IntN(6)), fmt.Sprint("d", r.IntN(6)))
	}
	held := map[string]*resourcev1.ResourceClaim{}
	for round := range 300 {
		c := claim(fmt.Sprint("c", r.IntN(4)))
		before := store.Snapshot(time.Unix(1, 0), "")
		was := before.Allocated()
		store.SetObject(deviceObject(t, "ResourceClaim", c))
		held[c.Name] = c
		if now := before.Allocated(); now != was {
			t.Fatalf("round %d: a snapshot held %d devices, and %d once a claim came", round, was, now)
		}
		s := store.Snapshot(time.Unix(1, 0), "")
		key, value := fmt.Sprint("k", r.IntN(10)), r.IntN(2)
		request, ok := s.DeviceRequestOf("all", []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: fmt.Sprintf(`device.attributes["d"].%s == %d`, key, value)}}}, nil)
		if !ok {
			t.Fatal("the class is not found")
		}
		got := s.CountDevices([]DeviceRequest{request}, false, func(int) bool { return true })[0]
		for at, node := range nodes {
			idle, now := int32(0), int32(0)
			for _, d := range devices[node] {
				if *d.Attributes[resourcev1.QualifiedName(key)].IntValue != int64(value) {
					continue
				}
				idle++
				now++
				for _, c := range held {
					if results := c.Status.Allocation.Devices.Results; results[0].Pool == node && (results[0].Device == d.Name || results[1].Device == d.Name) {
						now--
						break
					}
				}
			}
			if got.Idle[at] != idle || got.Now[at] != now || got.Doubt != "" {
				t.Fatalf("round %d: %s has %d devices with %s=%d, %d free, %q; want %d and %d", round, node, got.Idle[at], key, value, got.Now[at], got.Doubt, idle, now)
			}
		}
	}
}

func TestDevicesAreNotCountedWithoutABudget(t *testing.T) {
	var store Store
	store.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	store.SetObject(deviceObject(t, "DeviceClass", &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "all"}}))
	s := store.Snapshot(time.Unix(1, 0), "")
	request, _ := s.DeviceRequestOf("all", nil, nil)
	if counts := s.CountDevices([]DeviceRequest{request}, false, func(int) bool { return false }); counts != nil {
		t.Errorf("counted %v with nothing to spend", counts)
	}
}

// TestDevicesBeyondTheClassesThatAreLookedUpAreCountedToo: of one class more than are looked up, those that are
// alike are counted alike, and requests that select others stay apart.
func TestDevicesBeyondTheClassesThatAreLookedUpAreCountedToo(t *testing.T) {
	for _, values := range []int{mostShared - 1, mostShared, mostShared + 1} {
		var store Store
		for i := range 2 * values { // each value twice, on nodes that are far from each other
			node := fmt.Sprintf("n%04d", i)
			store.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}})
			store.SetObject(deviceObject(t, "ResourceSlice", &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: node}, Spec: resourcev1.ResourceSliceSpec{
				Driver: "d", NodeName: &node, Pool: resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1},
				Devices: []resourcev1.Device{{Name: "d0", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"id": {IntValue: new(int64(i % values))}}}},
			}}))
		}
		store.SetObject(deviceObject(t, "DeviceClass", &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "all"}}))
		s := store.Snapshot(time.Unix(1, 0), "")
		var requests []DeviceRequest
		for _, id := range []int{values - 1, values - 2} {
			request, _ := s.DeviceRequestOf("all", []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: fmt.Sprintf(`device.attributes["d"].id == %d`, id)}}}, nil)
			requests = append(requests, request)
		}
		counts := s.CountDevices(requests, false, func(int) bool { return true })
		for at, id := range []int{values - 1, values - 2} {
			c := counts[at]
			for node, n := range c.Now {
				if want := int32(bit(node%values == id)); n != want {
					t.Errorf("%d values: node %d has %d devices of id %d; want %d", values, node, n, id, want)
				}
			}
			if c.Same != at || c.Beside != 1<<at || c.Doubt != "" || c.Shared != "" {
				t.Errorf("%d values: request %d is the same as %d, beside %b, doubted for %q %q", values, at, c.Same, c.Beside, c.Doubt, c.Shared)
			}
		}
	}
}

// TestDevicesAreToldApartByTextOfAnyLength: also by more than is kept.
func TestDevicesAreToldApartByTextOfAnyLength(t *testing.T) {
	for _, length := range []int{10, mostKeyText - 100, mostKeyText, mostKeyText + 1} {
		var store Store
		node, values := "a", []string{strings.Repeat("x", length) + "1", strings.Repeat("x", length) + "2"}
		store.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}})
		store.SetObject(deviceObject(t, "DeviceClass", &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "all"}}))
		for i, name := range []string{"one", "two"} {
			store.SetObject(deviceObject(t, "ResourceSlice", &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.ResourceSliceSpec{
				Driver: "d", NodeName: &node, Pool: resourcev1.ResourcePool{Name: name, Generation: 1, ResourceSliceCount: 1},
				Devices: []resourcev1.Device{
					{Name: "d0", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"id": {StringValue: &values[0]}}},
					{Name: "d1", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"id": {StringValue: &values[i]}}},
				},
			}}))
			s := store.Snapshot(time.Unix(1, 0), "")
			request, _ := s.DeviceRequestOf("all", []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: fmt.Sprintf(`device.attributes["d"].id == %q`, values[0])}}}, nil)
			if got := s.CountDevices([]DeviceRequest{request}, false, func(int) bool { return true })[0].Now[0]; got != int32(2+i) {
				t.Errorf("text of %d: %d devices are alike; want %d", length, got, 2+i)
			}
		}
	}
}

// BenchmarkFirstCountAfterADeviceChange is about 40,000 devices on 5,000 nodes, of which one becomes another: the
// snapshot, and the first count in it.
func BenchmarkFirstCountAfterADeviceChange(b *testing.B) {
	var store Store
	sizes := []string{"large", "small"}
	slice := func(i, round int) *unstructured.Unstructured {
		node := fmt.Sprintf("n%04d", i)
		s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: node}, Spec: resourcev1.ResourceSliceSpec{
			Driver: "d", NodeName: &node, Pool: resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1},
		}}
		for at := range 8 {
			uuid := fmt.Sprint("u", i, at, round)
			s.Spec.Devices = append(s.Spec.Devices, resourcev1.Device{Name: fmt.Sprint("d", at), Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"size": {StringValue: &sizes[at%2]}, "uuid": {StringValue: &uuid}}})
		}
		return deviceObject(b, "ResourceSlice", s)
	}
	for i := range 5000 {
		store.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%04d", i)}})
		store.SetObject(slice(i, 0))
	}
	store.SetObject(deviceObject(b, "DeviceClass", &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "all"}}))
	for _, attribute := range []string{"size", "uuid"} {
		b.Run(attribute, func(b *testing.B) {
			for round := 0; b.Loop(); round++ {
				b.StopTimer()
				changed := slice(round%5000, round)
				b.StartTimer()
				store.SetObject(changed)
				s := store.Snapshot(time.Unix(1, 0), "")
				request, _ := s.DeviceRequestOf("all", []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: fmt.Sprintf(`device.attributes["d"].%s == "large"`, attribute)}}}, nil)
				if counts := s.CountDevices([]DeviceRequest{request}, false, func(int) bool { return true }); counts == nil {
					b.Fatal("nothing was counted")
				}
			}
		})
	}
}
