package fit_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/test/build"
)

// volumeKinds are the kinds that say where the volumes of pods are.
var volumeKinds = map[string]schema.GroupVersionKind{
	"PersistentVolumeClaim": {Version: "v1", Kind: "PersistentVolumeClaim"},
	"PersistentVolume":      {Version: "v1", Kind: "PersistentVolume"},
	"StorageClass":          {Group: "storage.k8s.io", Version: "v1", Kind: "StorageClass"},
	"CSIDriver":             {Group: "storage.k8s.io", Version: "v1", Kind: "CSIDriver"},
	"CSINode":               {Group: "storage.k8s.io", Version: "v1", Kind: "CSINode"},
	"VolumeAttachment":      {Group: "storage.k8s.io", Version: "v1", Kind: "VolumeAttachment"},
}

// manifest is an object of one of these kinds.
func manifest(kind, namespace, name string, fields map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	maps.Copy(o.Object, fields)
	o.SetGroupVersionKind(volumeKinds[kind])
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// harbour is a cluster of six nodes whose volumes change, and the same written down.
type harbour struct {
	r    *rand.Rand
	kept cluster.Store
	has  map[string]*unstructured.Unstructured
	pods map[string]*corev1.Pod
}

func newHarbour(seed uint64) *harbour {
	h := &harbour{r: rand.New(rand.NewPCG(seed, 14)), has: map[string]*unstructured.Unstructured{}, pods: map[string]*corev1.Pod{}}
	h.furnish(&h.kept)
	return h
}

// furnish adds what stays.
func (h *harbour) furnish(l *cluster.Store) {
	whole(l)
	for _, r := range []string{"persistentvolumeclaims", "persistentvolumes"} {
		l.SetComplete(schema.GroupResource{Resource: r}, true)
	}
	for _, r := range []string{"storageclasses", "csidrivers", "csinodes", "volumeattachments"} {
		l.SetComplete(schema.GroupResource{Group: "storage.k8s.io", Resource: r}, true)
	}
	for i := range 6 {
		l.SetNode(build.Node(fmt.Sprintf("n%d", i), build.GPUs(2), build.Label("zone", []string{"a", "b"}[i%2]), build.Label(corev1.LabelTopologyZone, []string{"a", "b"}[i%2])))
	}
}

func (h *harbour) pick(of string, n int) string { return fmt.Sprintf("%s%d", of, h.r.IntN(n)) }

// change makes one change to pods or to what says where their volumes are.
func (h *harbour) change() {
	switch h.r.IntN(8) {
	case 0, 1:
		name := h.pick("p", 8)
		if h.r.IntN(3) == 0 {
			delete(h.pods, name)
			h.kept.DropPod("default", name)
			return
		}
		p := build.Pod(name, build.On(h.pick("n", 6)), build.Asks("1"), mounts(h.pick("c", 5)))
		if h.r.IntN(4) == 0 {
			build.OwnedBy("DaemonSet", "d")(p)
		}
		h.pods[name] = p
		h.kept.SetPod(p)
	default:
		o := h.object()
		key := o.GetKind() + "/" + o.GetName()
		if h.r.IntN(4) == 0 {
			delete(h.has, key)
			h.kept.DropObject(o.GroupVersionKind(), o.GetNamespace(), o.GetName())
			return
		}
		h.has[key] = o
		h.kept.SetObject(o)
	}
}

func (h *harbour) object() *unstructured.Unstructured {
	switch h.r.IntN(12) {
	case 0:
		mode := []string{"WaitForFirstConsumer", "Immediate"}[h.r.IntN(2)]
		fields := map[string]any{"provisioner": []string{"csi.example.com", "kubernetes.io/no-provisioner"}[h.r.IntN(2)], "volumeBindingMode": mode}
		if h.r.IntN(3) == 0 {
			fields["allowedTopologies"] = []any{map[string]any{"matchLabelExpressions": []any{map[string]any{"key": "zone", "values": []any{"a"}}}}}
		}
		return manifest("StorageClass", "", h.pick("s", 2), fields)
	case 1:
		return manifest("CSIDriver", "", "csi.example.com", map[string]any{"spec": map[string]any{"attachRequired": h.r.IntN(3) > 0}})
	case 2, 3:
		return manifest("CSINode", "", h.pick("n", 6), map[string]any{"spec": map[string]any{"drivers": []any{
			map[string]any{"name": "csi.example.com", "nodeID": "x", "allocatable": map[string]any{"count": h.r.Int64N(4)}},
		}}})
	case 4, 5:
		return manifest("VolumeAttachment", "", h.pick("a", 6), map[string]any{"spec": map[string]any{
			"attacher": "csi.example.com", "nodeName": h.pick("n", 6), "source": map[string]any{"persistentVolumeName": h.pick("v", 5)},
		}})
	case 6, 7, 8:
		spec := map[string]any{
			"capacity": map[string]any{"storage": []any{"1Gi", "5Gi", int64(1 << 30)}[h.r.IntN(3)]}, "accessModes": []any{"ReadWriteOnce"},
			"storageClassName": h.pick("s", 2),
		}
		if h.r.IntN(3) > 0 {
			spec["csi"] = map[string]any{"driver": "csi.example.com", "volumeHandle": h.pick("h", 5)}
		}
		if h.r.IntN(2) == 0 {
			spec["claimRef"] = map[string]any{"namespace": "default", "name": h.pick("c", 5)}
		}
		affinity := func(key string, values ...any) map[string]any {
			return map[string]any{"required": map[string]any{"nodeSelectorTerms": []any{map[string]any{"matchExpressions": []any{
				map[string]any{"key": key, "operator": "In", "values": values},
			}}}}}
		}
		switch h.r.IntN(4) {
		case 0:
			spec["nodeAffinity"] = affinity("zone", "b")
		case 1:
			spec["nodeAffinity"] = affinity(corev1.LabelHostname, h.pick("n", 6), h.pick("n", 6))
		}
		o := manifest("PersistentVolume", "", h.pick("v", 5), map[string]any{"spec": spec, "status": map[string]any{"phase": []any{"Available", "Bound"}[h.r.IntN(2)]}})
		if h.r.IntN(4) == 0 {
			o.SetLabels(map[string]string{corev1.LabelTopologyZone: "a"})
		}
		return o
	default:
		spec := map[string]any{
			"accessModes": []any{[]any{"ReadWriteOnce", "ReadWriteMany", "ReadWriteOncePod"}[h.r.IntN(3)]}, "storageClassName": h.pick("s", 2),
			"resources": map[string]any{"requests": map[string]any{"storage": []any{"1Gi", "3Gi"}[h.r.IntN(2)]}},
		}
		if h.r.IntN(3) > 0 {
			spec["volumeName"] = h.pick("v", 5)
		}
		if h.r.IntN(6) == 0 {
			spec["selector"] = map[string]any{"matchLabels": map[string]any{corev1.LabelTopologyZone: "a"}}
		}
		return manifest("PersistentVolumeClaim", "default", h.pick("c", 5), map[string]any{"spec": spec})
	}
}

func (h *harbour) fresh() *cluster.Snapshot {
	var l cluster.Store
	for _, p := range h.pods {
		l.SetPod(p)
	}
	for _, o := range h.has {
		l.SetObject(o)
	}
	h.furnish(&l)
	return l.Snapshot(build.Taken, "")
}

func volumeQuestions() []gang.Gang {
	own := gangOf(group("Worker", 3, build.Asks("1"), mounts("c1")))
	own.Own = func(p *corev1.Pod) (string, bool) { return "Worker", p.Name < "p3" }
	each := build.Spec(func(s *corev1.PodSpec) {
		class := "s1"
		s.Volumes = []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{
			VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: corev1.PersistentVolumeClaimSpec{
				StorageClassName: &class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			}},
		}}}}
	})
	return []gang.Gang{
		gangOf(group("Worker", 2, build.Asks("1"), mounts("c0"))),
		gangOf(group("Worker", 4, build.Asks("1"), mounts("c1", "c2"))),
		gangOf(group("Worker", 1, build.Asks("1"), mounts("c3")), group("Server", 2, mounts("c3", "c4"))),
		gangOf(group("Worker", 7, each)),
		own,
	}
}

func TestALedgerWhoseVolumesChangeEqualsAFreshOne(t *testing.T) {
	verdicts := map[fit.Verdict]int{}
	for seed := range uint64(60) {
		h := newHarbour(seed)
		for range 40 {
			h.change()
		}
		keepsItsAnswers(t, seed, 12, volumeQuestions(), verdicts, func() (kept, fresh *cluster.Snapshot) {
			for range 1 + h.r.IntN(6) {
				h.change()
			}
			return h.kept.Snapshot(build.Taken, ""), h.fresh()
		})
	}
	for _, v := range []fit.Verdict{fit.Fits, fit.TooBig, fit.Full, fit.Unknown} {
		if verdicts[v] < 20 {
			t.Errorf("%s was the answer %d times; the test is about all verdicts: %v", v, verdicts[v], verdicts)
		}
	}
}
