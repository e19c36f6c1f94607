package fit_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/test/build"
)

// hostile is a question that somebody who wants the webhook to be slow would ask.
type hostile struct {
	on   *cluster.Snapshot
	gang gang.Gang
}

// hostiles are such questions, by what makes them hard.
func hostiles() map[string]func(testing.TB) []hostile {
	return map[string]func(testing.TB) []hostile{
		"constrained_no_fits":      func(testing.TB) []hostile { return constrained(60) },
		"ties_over_8_topologies":   eightTopologies,
		"500_priorities":           manyPriorities,
		"2000_quotas":              manyQuotas,
		"20000_claims":             func(b testing.TB) []hostile { return manyClaims(b, 5000, 20000) },
		"40000_devices":            func(b testing.TB) []hostile { return manyDevices(b, 5000) },
		"hostile_label_keys":       hostileKeys,
		"2000_roles_of_one_shape":  func(testing.TB) []hostile { return []hostile{{demo(), shapes(2000)}} },
		"200_roles_that_differ":    func(testing.TB) []hostile { return []hostile{{twoZones(), rivals(200)}} },
		"2000_roles_that_differ":   func(testing.TB) []hostile { return []hostile{{inZones(2, 8), crowdOf(2000)}} },
		"2000_roles_in_a_row":      func(testing.TB) []hostile { return []hostile{{demo(), inARow(2000, 1)}, {demo(), inARow(2000, 100)}} },
		"5000_pods_that_keep_away": manyGuards,
		"256_places_of_their_own": func(testing.TB) []hostile {
			return []hostile{{inRacks(100, 8), placed(100, 8)}, {inRacks(99, 9), placed(100, 8)}, {inRacks(255, 3), placed(256, 2)}}
		},
	}
}

// BenchmarkAdversary is what the worst questions cost: each at least once, the processor time and the
// memory of one.
func BenchmarkAdversary(b *testing.B) {
	all := hostiles()
	for _, name := range sortedNames(all) {
		b.Run(name, func(b *testing.B) {
			asked := all[name](b)
			for i := range asked { // the first question to a snapshot pays for its columns
				whatif.Answer(b.Context(), asked[i].on, gpus(1, "1"))
			}
			runtime.GC()
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			var took laps
			unknown, most := 0, uint64(0)
			for b.Loop() {
				for _, h := range asked {
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					start := spent()
					r := whatif.Answer(b.Context(), h.on, h.gang)
					took = append(took, spent()-start)
					runtime.ReadMemStats(&after)
					most = max(most, after.TotalAlloc-before.TotalAlloc)
					if r.Verdict == fit.Unknown && strings.Contains(strings.Join(r.Assumed, ";"), "steps that a question may cost") {
						unknown++
					}
				}
			}
			ended, cancel := context.WithCancel(b.Context())
			cancel()
			longest := time.Duration(0)
			for _, h := range asked { // all of this is work that does not end with the context
				start := spent()
				whatif.Answer(ended, h.on, h.gang)
				longest = max(longest, spent()-start)
			}
			b.ReportMetric(float64(longest.Nanoseconds()), "ended-ns")
			took.report(b, "")
			b.ReportMetric(float64(took[len(took)-1].Nanoseconds()), "max-ns")
			b.ReportMetric(float64(most)/(1<<20), "max-MiB")
			b.ReportMetric(100*float64(unknown)/float64(len(took)), "%unknown")
		})
	}
}

func sortedNames[T any](of map[string]T) (out []string) {
	for name := range of {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// constrained are gangs of two or three roles with hard spread and affinity on clusters of 20 to 56
// nodes, most of which do not fit.
func constrained(n int) (out []hostile) {
	for seed := range n {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		var items []any
		zones, racks := 2+r.IntN(3), 4+r.IntN(6)
		for i := range 20 + r.IntN(37) {
			name := fmt.Sprintf("n%02d", i)
			items = append(items, build.Node(name, build.GPUs(8), build.Label("zone", fmt.Sprint(i%zones)), build.Label("rack", fmt.Sprint(i%racks))))
			for j := range r.IntN(4) {
				items = append(items, build.Pod(fmt.Sprintf("p%s-%d", name, j), build.On(name), build.Asks(fmt.Sprint(1+r.IntN(2))), build.Requests("cpu="+fmt.Sprint(1+r.IntN(20)))))
			}
		}
		roles := []string{"a", "b", "c"}[:2+r.IntN(2)]
		var g gang.Gang
		for _, name := range roles {
			other, topology := roles[r.IntN(len(roles))], []string{"zone", "rack", corev1.LabelHostname}[r.IntN(3)]
			o := []build.PodOption{build.Asks(fmt.Sprint(1 + r.IntN(8))), build.Requests("cpu=" + fmt.Sprint(1+r.IntN(30))), role(name)}
			if r.IntN(3) > 0 {
				o = append(o, even(topology, name, int32(1+r.IntN(2))))
			}
			switch r.IntN(4) {
			case 0:
				o = append(o, near([]string{"zone", "rack"}[r.IntN(2)], other))
			case 1:
				o = append(o, apartOver([]string{"zone", "rack", corev1.LabelHostname}[r.IntN(3)], other))
			case 2:
				o = append(o, even("zone", other, 1))
			}
			g.Groups = append(g.Groups, group(name, 4+r.IntN(30), o...))
		}
		out = append(out, hostile{clusterOf(items...), gangOf(g.Groups...)})
	}
	return out
}

// eightTopologies is a gang that spreads over eight labels at once, and whose roles keep to each other
// over them.
func eightTopologies(testing.TB) (out []hostile) {
	for _, nodes := range []int{48, 1000} {
		r := rand.New(rand.NewPCG(8, uint64(nodes)))
		var items []any
		for i := range nodes {
			o := []build.NodeOption{build.GPUs(8)}
			for t := range 8 {
				o = append(o, build.Label(fmt.Sprintf("t%d", t), fmt.Sprint(r.IntN(2+t))))
			}
			name := fmt.Sprintf("n%04d", i)
			items = append(items, build.Node(name, o...), build.Pod("p"+name, build.On(name), build.Asks(fmt.Sprint(r.IntN(9)))))
		}
		var groups []gang.Group
		for i, name := range []string{"a", "b", "c"} {
			o := []build.PodOption{build.Asks(fmt.Sprint(2 + i)), role(name)}
			for t := range 8 {
				o = append(o, even(fmt.Sprintf("t%d", t), name, 1))
			}
			if i > 0 {
				o = append(o, near("t0", "a"))
			}
			groups = append(groups, group(name, 20, o...))
		}
		out = append(out, hostile{clusterOf(items...), gangOf(groups...)})
	}
	return out
}

// manyPriorities is a gang of 64 whole nodes of high priority on nodes full of pods of 500 others.
func manyPriorities(b testing.TB) []hostile {
	text := highClass + "\n---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: ml}\nspec: {volumeName: v, accessModes: [ReadWriteMany]}\nstatus: {phase: Bound}\n---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: v}\nspec: {accessModes: [ReadWriteMany], nfs: {server: s, path: /}}\n"
	var items []any
	for i := range 128 {
		name := fmt.Sprintf("n%03d", i)
		items = append(items, build.Node(name, build.GPUs(8)))
		for j := range 8 {
			p := build.Pod(fmt.Sprintf("p%d-%d", i, j), build.On(name), build.Asks("1"))
			priority := int32((8*i + j) % 500)
			p.Spec.Priority = &priority
			items = append(items, p)
		}
	}
	s := ruled(b, text, nil, items...)
	var out []hostile
	for _, o := range []build.PodOption{
		build.Asks("8"),
		build.Spec(func(s *corev1.PodSpec) { s.Volumes = append(s.Volumes, corev1.Volume{Name: "dshm"}) }),
		build.HostPort(29500),
		build.Spec(func(s *corev1.PodSpec) { s.Affinity = apartFrom(corev1.LabelHostname, "role", "w") }),
		mounts("data"),
	} {
		out = append(out, hostile{s, in("ml", gangOf(group("Worker", 64, build.Asks("8"), class("high"), role("w"), o)))})
	}
	return out
}

// manyQuotas is a namespace with 2,000 quotas.
func manyQuotas(b testing.TB) []hostile {
	var text strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&text, "---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q%d, namespace: ml}\nspec: {hard: {requests.nvidia.com/gpu: %d}}\nstatus: {hard: {requests.nvidia.com/gpu: %d}, used: {requests.nvidia.com/gpu: 2}}\n", i, 8+i, 8+i)
	}
	var items []any
	for _, n := range build.Nodes(8, "a", build.GPUs(8)) {
		items = append(items, n)
	}
	return []hostile{{ruled(b, text.String(), nil, items...), in("ml", gpus(6, "8"))}}
}

// manyClaims are pods with a claim, of one node or of any, on a cluster with so many of them, their volumes
// and attachments; of the volumes one in two waits for a claim.
func manyClaims(b testing.TB, nodes, claims int) []hostile {
	var text strings.Builder
	text.WriteString("apiVersion: storage.k8s.io/v1\nkind: CSIDriver\nmetadata: {name: disk}\nspec: {attachRequired: true}\n")
	var items []any
	for i := range nodes {
		name := fmt.Sprintf("n%04d", i)
		items = append(items, build.Node(name, build.GPUs(8), build.Label("zone", fmt.Sprint(i%3))))
		fmt.Fprintf(&text, "---\napiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: %s}\nspec: {drivers: [{name: disk, nodeID: %s, allocatable: {count: 8}}]}\n", name, name)
	}
	for i := range claims {
		fmt.Fprintf(&text, "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c%d, namespace: ml}\nspec: {volumeName: v%d, accessModes: [ReadWriteOnce]}\nstatus: {phase: Bound}\n", i, i)
		fmt.Fprintf(&text, "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: v%d}\nspec: {accessModes: [ReadWriteOnce], csi: {driver: disk, volumeHandle: h%d}}\n", i, i)
		fmt.Fprintf(&text, "---\napiVersion: storage.k8s.io/v1\nkind: VolumeAttachment\nmetadata: {name: a%d}\nspec: {attacher: disk, nodeName: n%04d, source: {persistentVolumeName: v%d}}\n", i, i%nodes, i)
	}
	text.WriteString("---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: local}\nprovisioner: kubernetes.io/no-provisioner\nvolumeBindingMode: WaitForFirstConsumer\n")
	for i := range claims / 2 {
		fmt.Fprintf(&text, "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: l%d}\nspec: {storageClassName: local, capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], local: {path: /d}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n%04d]}]}]}}}\nstatus: {phase: Available}\n", i, i%nodes)
	}
	for i := range 4 {
		fmt.Fprintf(&text, "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: u%d, namespace: ml}\nspec: {storageClassName: local, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\nstatus: {phase: Pending}\n", i)
	}
	s := ruled(b, text.String(), nil, items...)
	return []hostile{
		{s, in("ml", gangOf(group("Worker", 2, build.Asks("8"), mounts("c7"))))},
		{s, in("ml", gangOf(group("Worker", 2, build.Asks("8"), mounts("u0"))))},
		{s, in("ml", gangOf(group("a", 1, build.Asks("8"), mounts("u0"), mounts("u1")), group("b", 1, build.Asks("7"), mounts("u2"), mounts("c8")), group("c", 64, build.Asks("6"), mounts("u3"))))},
	}
}

// hostileKeys is a gang that chooses nodes, spreads and keeps away by labels of which some are on nodes, with
// a value of their own each, and the others on none.
func hostileKeys(testing.TB) (out []hostile) {
	s := labelledNodes(5000, 60)
	for _, own := range []bool{true, false} {
		var g gang.Gang
		for r := range 16 {
			var o []build.PodOption
			for k := range 8 {
				key := fmt.Sprint("user-", r, "-", k)
				if own {
					key = fmt.Sprint("key-", (8*r+k)%60)
				}
				o = append(o, even(key, "a", 1), affinity(corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{expr(key, corev1.NodeSelectorOpNotIn, "x")}}))
			}
			g.Groups = append(g.Groups, group(fmt.Sprint("w", r), 4, append(o, build.Requests(fmt.Sprintf("cpu=%dm", 100+r)), role("a"))...))
		}
		out = append(out, hostile{s, gangOf(g.Groups...)})
	}
	return out
}

// manyGuards is a gang of several roles on a cluster whose pods keep pods with many labels away, from their
// node or from their zone.
func manyGuards(testing.TB) []hostile {
	return []hostile{guarded(corev1.LabelHostname), guarded("zone")}
}

func guarded(topology string) hostile {
	var items []any
	for i := range 1000 {
		items = append(items, build.Node(fmt.Sprintf("n%03d", i), build.GPUs(8), build.Label("zone", fmt.Sprint(i%3))))
	}
	for i := range 5000 {
		p := build.Pod(fmt.Sprintf("p%d", i), build.On(fmt.Sprintf("n%03d", i%1000)), build.Asks("1"), build.PodLabel("app", fmt.Sprint(i%400)))
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: topology, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprint(i % 400)}},
		}}}}
		items = append(items, p)
	}
	var groups []gang.Group
	for i := range 20 {
		groups = append(groups, group(fmt.Sprintf("w%d", i), 60, build.Asks(fmt.Sprint(1+i%5)), build.Requests(fmt.Sprintf("cpu=%d", i+1)), build.PodLabel("app", fmt.Sprint(i))))
	}
	return hostile{clusterOf(items...), gangOf(groups...)}
}

// inARow are as many roles, of which each waits for some before it.
func inARow(roles, before int) gang.Gang {
	var g gang.Gang
	for i := range roles {
		w := group(fmt.Sprintf("w%d", i), 1, build.Asks("1"))
		for j := max(0, i-before); j < i; j++ {
			w.After = append(w.After, fmt.Sprintf("w%d", j))
		}
		g.Groups = append(g.Groups, w)
	}
	return gangOf(g.Groups...)
}

// shapes are as many roles that ask for the same and choose nodes by labels of their own.
func shapes(roles int) gang.Gang {
	var g gang.Gang
	for i := range roles {
		g.Groups = append(g.Groups, group(fmt.Sprintf("w%d", i), 1, build.Asks("1"), selects(fmt.Sprintf("k%d", i), "v"), role(fmt.Sprint(i)), apartOver("zone", fmt.Sprint(i+1))))
	}
	return g
}
