package cluster

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// asking is a pod that asks for one of each of so many resources.
func asking(resources int, n int64) *corev1.Pod {
	p := &corev1.Pod{}
	p.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{}}}}
	for i := range resources {
		p.Spec.Containers[0].Resources.Requests[corev1.ResourceName(fmt.Sprintf("example.com/r%02d", i))] = *resource.NewQuantity(n, resource.DecimalSI)
	}
	return p
}

func TestEqualVectorsAreHeldOnce(t *testing.T) {
	same := func(a, b *Pod) bool { return &a.Requests()[0] == &b.Requests()[0] }
	if !same(PodOf(asking(mostEntries, 3)), PodOf(asking(mostEntries, 3))) {
		t.Error("equal requests are held twice")
	}
	if one, other := PodOf(asking(2, 3)), PodOf(asking(2, 4)); same(one, other) || one.Equal(other) {
		t.Error("requests that differ are held as one")
	}
	long, again := PodOf(asking(mostEntries+1, 3)), PodOf(asking(mostEntries+1, 3))
	if same(long, again) || !long.Equal(again) || len(long.Requests()) != mostEntries+1 {
		t.Error("requests of more resources than are shared are not each pod's own, whole")
	}
}

func TestEqualAmountsAreHeldOnce(t *testing.T) {
	claim := func(amounts map[string]any) corev1.ResourceList {
		read, err := readClaim(&unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"resources": map[string]any{"requests": amounts}}}})
		c := wholeOf[corev1.PersistentVolumeClaim](read)
		if err != nil || c == nil {
			t.Fatal(read, err)
		}
		return c.Spec.Resources.Requests
	}
	one, two, other := claim(map[string]any{"storage": "1Gi"}), claim(map[string]any{"storage": "1Gi"}), claim(map[string]any{"storage": "2Gi"})
	one["probe"] = resource.MustParse("1") // only a test may: it shows whose the map is
	if _, there := two["probe"]; !there {
		t.Error("equal amounts are held twice")
	}
	delete(one, "probe")
	if q := other[corev1.ResourceStorage]; q.String() != "2Gi" {
		t.Errorf("another amount is %s", q.String())
	}
	many := map[string]any{}
	for i := range mostEntries + 1 {
		many[fmt.Sprint("example.com/r", i)] = "1"
	}
	if long := claim(many); len(long) != mostEntries+1 {
		t.Errorf("%d of %d amounts are read", len(long), mostEntries+1)
	}
}

// Nodes of one machine offer the same; one that offers more kinds of things than a list that is held once has, or nothing, has it alone.
func TestNodesThatOfferTheSameHoldItOnce(t *testing.T) {
	offer := func(memory string) corev1.ResourceList {
		return SharedAmounts(corev1.ResourceList{"cpu": resource.MustParse("96"), "memory": resource.MustParse(memory)})
	}
	one, two, other := offer("1Ti"), offer("1024Gi"), offer("2Ti")
	one["probe"] = resource.MustParse("1") // only a test may: it shows whose the map is
	if _, there := two["probe"]; !there {
		t.Error("equal amounts are held twice")
	}
	delete(one, "probe")
	if q := other["memory"]; q.String() != "2Ti" {
		t.Errorf("another amount is %s", q.String())
	}
	for n, once := range map[int]bool{0: false, mostEntries: true, mostEntries + 1: false} {
		many := func() corev1.ResourceList {
			out := corev1.ResourceList{}
			for i := range n {
				out[corev1.ResourceName(fmt.Sprint("example.com/r", i))] = resource.MustParse("1")
			}
			return out
		}
		a, b := SharedAmounts(many()), SharedAmounts(many())
		a["probe"] = resource.MustParse("1")
		if _, there := b["probe"]; there != once || len(b) < n {
			t.Errorf("%d amounts: held once is %t, want %t", n, there, once)
		}
		delete(a, "probe")
	}
}

func TestWhatIsHeldOnceIsBounded(t *testing.T) {
	var s shared[int]
	for i := range mostHeldOnce {
		s.of(fmt.Append(nil, i), i)
	}
	if len(s.known) != mostHeldOnce || s.of([]byte("7"), -1) != 7 {
		t.Errorf("%d are held; want %d", len(s.known), mostHeldOnce)
	}
	s.of([]byte("one more"), 1)
	if len(s.known) != 1 {
		t.Errorf("%d are held after one above the bound; want to begin anew", len(s.known))
	}
}

func TestShortTextsAreHeldOnce(t *testing.T) {
	for n, once := range map[int]bool{0: true, 1: true, mostText: true, mostText + 1: false} {
		text := strings.Repeat("x", n)
		a, b := sharedText(text), sharedText(strings.Clone(text))
		if *a != text || *b != text || (a == b) != once {
			t.Errorf("a text of %d bytes: %q and %q, one: %v; want %v", n, *a, *b, a == b, once)
		}
	}
}

// Volumes of one zone say the same of their nodes; one that writes a very long list has it alone, and the whole of it.
func TestEqualReachesAreHeldOnce(t *testing.T) {
	inZone := func(zone string) map[string]any {
		return map[string]any{"required": map[string]any{"nodeSelectorTerms": []any{map[string]any{"matchExpressions": []any{
			map[string]any{"key": "zone", "operator": "In", "values": []any{"a", zone}},
		}}}}}
	}
	reach := func(zone string) *volumeReach {
		read, err := readVolume(&unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
			"claimRef": map[string]any{"namespace": "ml", "name": "c"}, "nodeAffinity": inZone(zone),
		}}})
		v := wholeOf[Volume](read)
		if err != nil || v == nil {
			t.Fatal(read, err)
		}
		if got := v.Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0].Values; len(got) != 2 || got[1] != zone {
			t.Errorf("the zones are read as %.80q", got)
		}
		return v.volumeReach
	}
	twice := func(zone string) bool { // they are read as two
		one, other := reach(zone), reach(zone)
		return one != other
	}
	if twice("z") {
		t.Error("equal affinities are held twice")
	}
	if a, b := reach("z"), reach("y"); a == b || a.text == b.text {
		t.Error("affinities that differ are held as one")
	}
	longest := strings.Repeat("z", mostWritten)
	for written, _ := withValue(nil, inZone(longest)); len(written) > mostWritten; written, _ = withValue(written[:0], inZone(longest)) {
		longest = longest[1:]
	}
	if twice(longest) {
		t.Errorf("an affinity of %d bytes is held twice", mostWritten)
	}
	if !twice(longest + "z") {
		t.Errorf("an affinity of %d bytes is held once", mostWritten+1)
	}
}

// What is written for one value is never what is written for another.
func TestDecodedValuesAreToldApart(t *testing.T) {
	seen := map[string]any{}
	for _, v := range []any{
		"", "a", "t",
		[]any{},
		[]any{""},
		[]any{"a", "b"},
		[]any{"ab"},
		[]any{[]any{"a"}, "b"},
		[]any{"a", []any{"b"}},
		map[string]any{},
		map[string]any{"a": "b"},
		map[string]any{"a": []any{"b"}},
		map[string]any{"a": "", "b": ""},
		map[string]any{"a": map[string]any{"b": ""}},
	} {
		written, ok := withValue(nil, v)
		if other, known := seen[string(written)]; !ok || known {
			t.Errorf("%v is written as %v is: %q (%t)", v, other, written, ok)
		}
		seen[string(written)] = v
	}
	for _, v := range []any{1.5, nil, []any{int64(1)}, map[string]any{"a": true}} {
		if written, ok := withValue(nil, v); ok {
			t.Errorf("%v is written: %q", v, written)
		}
	}
}
