package fit_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/test/build"
)

// local is a class of which only volumes that are there are to be had.
const local = "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: local}\nprovisioner: kubernetes.io/no-provisioner\nvolumeBindingMode: WaitForFirstConsumer\n---\n"

// disk is a volume of class local that nodes with a label reach.
func disk(name string, size int, key, value string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: %s}\nspec: {storageClassName: local, accessModes: [ReadWriteOnce], capacity: {storage: %dGi}, local: {path: /mnt}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: %s, operator: In, values: [%s]}]}]}}}\nstatus: {phase: Available}\n---\n", name, size, key, value)
}

// asked is a claim that waits for its first pod.
func asked(name, class string, size int, more string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: %s, namespace: ml}\nspec: {storageClassName: %s, accessModes: [ReadWriteOnce], resources: {requests: {storage: %dGi}}%s}\nstatus: {phase: Pending}\n---\n", name, class, size, more)
}

// judged is the verdict about a gang in a view that is whole, and what was not looked at.
func judged(t *testing.T, text string, g gang.Gang) string {
	t.Helper()
	whole := []string{"persistentvolumes", "persistentvolumeclaims", "storageclasses.storage.k8s.io", "csidrivers.storage.k8s.io", "csinodes.storage.k8s.io", "csistoragecapacities.storage.k8s.io", "volumeattachments.storage.k8s.io"}
	s := ruled(t, text, whole, onHosts()...)
	r := fit.Fit(t.Context(), s, in("ml", g), fit.NewBudget(fit.Steps))
	out := r.Verdict.String()
	for _, p := range r.Plan {
		out += " " + p.Group + " " + p.Node
	}
	for _, a := range r.Assumed {
		if strings.Contains(a, "not judged") || strings.Contains(a, "not known") {
			out += "; " + a
		}
	}
	return out
}

func onHosts() []any {
	var nodes []any
	for _, name := range []string{"a", "b"} {
		nodes = append(nodes, build.Node(name, build.GPUs(8), build.Label(corev1.LabelHostname, name), build.Label("zone", "z")))
	}
	return nodes
}

func TestClaimsOfOneClassEachTakeAVolumeOfTheirOwn(t *testing.T) {
	ab := local + asked("one", "local", 5, "") + asked("two", "local", 5, "")
	pair := gangOf(group("Worker", 1, mounts("one", "two")))
	two := gangOf(group("Worker", 1, mounts("one")), group("Server", 1, mounts("two")))
	after := gangOf(group("Worker", 1, mounts("one")), group("Server", 1, mounts("two")))
	after.Groups[1].After = []string{"Worker"}
	wide := func(n int) string {
		var out strings.Builder
		for i := range n {
			out.WriteString(disk(fmt.Sprintf("w%d", i), 10, "zone", "z"))
		}
		return out.String()
	}
	const shared = "; the claims one and two take volumes of the class local, and which is not judged"
	cases := map[string]struct {
		objects string
		gang    gang.Gang
		want    string
	}{
		"a node with one volume is not enough for two": {ab + disk("v1", 10, host, "a") + disk("v2", 10, host, "b") + disk("v3", 10, host, "b"), pair, "fits Worker b"},
		"nor are two, one of them too small":           {local + asked("one", "local", 5, "") + asked("two", "local", 15, "") + disk("v1", 10, host, "a") + disk("v2", 10, host, "a"), pair, "too-big"},
		"the smallest claim takes the smallest":        {local + asked("one", "local", 15, "") + asked("two", "local", 5, "") + disk("v1", 20, host, "a") + disk("v2", 10, host, "a"), pair, "fits Worker a"},
		"none is left":                                 {ab + disk("v1", 10, host, "a") + disk("v2", 10, host, "b"), pair, "too-big"},
		"a volume of a zone helps":                     {ab + disk("v1", 10, host, "a") + disk("v2", 10, "zone", "z"), pair, "fits Worker a"},
		"each suits another claim": {
			local + asked("one", "local", 5, ", selector: {matchLabels: {tier: gold}}") + asked("two", "local", 5, "") + disk("v1", 10, host, "a") + strings.ReplaceAll(disk("v2", 10, host, "a"), "{name: v2}", "{name: v2, labels: {tier: gold}}"), pair,
			"unknown Worker a" + shared,
		},
		"two groups and enough for both":        {ab + disk("v1", 10, host, "a") + disk("v2", 10, host, "a"), two, "fits Worker a Server a"},
		"two groups and one volume for each":    {ab + disk("v1", 10, host, "a") + disk("v2", 10, host, "b"), two, "fits Worker a Server b"},
		"and they keep them when they are done": {ab + disk("v1", 10, host, "a") + disk("v2", 10, host, "b"), after, "unknown Worker a Server a" + shared},
		"two groups and volumes of a zone":      {ab + disk("v1", 10, "zone", "z") + disk("v2", 10, "zone", "z"), two, "unknown Worker a Server a" + shared},
		"64 volumes that all nodes reach":       {ab + wide(64), pair, "fits Worker a"},
		"65 volumes that all nodes reach":       {ab + wide(65), pair, "unknown Worker a" + shared},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := judged(t, tc.objects, tc.gang); got != tc.want {
				t.Errorf("%s; want %s", got, tc.want)
			}
		})
	}
}

func TestVolumesThatEachPodTakesForItselfAreCounted(t *testing.T) {
	scratch := build.Spec(func(s *corev1.PodSpec) {
		class := "local"
		s.Volumes = []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{
			Spec: corev1.PersistentVolumeClaimSpec{
				StorageClassName: &class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")}},
			},
		}}}}}
	})
	one, after := gangOf(group("Worker", 1, scratch)), gangOf(group("Worker", 1, scratch), group("Server", 1, scratch))
	after.Groups[1].After = []string{"Worker"}
	wide := func(n int) string {
		var out strings.Builder
		for i := range n {
			out.WriteString(disk(fmt.Sprintf("w%d", i), 10, "zone", "z"))
		}
		return out.String()
	}
	reached := "; the volume scratch may take volumes that several nodes reach; on which of them they are taken is not judged"
	cases := map[string]struct {
		objects string
		gang    gang.Gang
		want    string
	}{
		"one on a node":                   {local + disk("v1", 10, host, "b"), one, "fits Worker b"},
		"too small":                       {local + disk("v1", 5, host, "b"), one, "too-big"},
		"two for two":                     {local + disk("v1", 10, host, "b"), gangOf(group("Worker", 2, scratch)), "too-big Worker b"},
		"pods that are done keep theirs":  {local + disk("v1", 10, host, "b"), after, "unknown Worker b Server b; the volume scratch and other claims take volumes of the class local, and which is not judged"},
		"64 volumes that all nodes reach": {local + wide(64), one, "unknown Worker a" + reached},
		"65 volumes that all nodes reach": {local + wide(65), one, "unknown Worker a; the volume scratch may take volumes that are there; how many there are is not judged"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := judged(t, tc.objects, tc.gang); got != tc.want {
				t.Errorf("%s; want %s", got, tc.want)
			}
		})
	}
}

// host is the label by which volumes name their node.
const host = corev1.LabelHostname

// roomy is a class of a driver that says how much storage it has where.
const roomy = "apiVersion: storage.k8s.io/v1\nkind: CSIDriver\nmetadata: {name: csi.example.com}\nspec: {storageCapacity: true}\n---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: room}\nprovisioner: csi.example.com\nvolumeBindingMode: WaitForFirstConsumer\n---\n"

func capacity(name, class, topology, size string) string {
	return fmt.Sprintf("apiVersion: storage.k8s.io/v1\nkind: CSIStorageCapacity\nmetadata: {name: %s, namespace: csi}\nstorageClassName: %s\nnodeTopology: %s\n%s\n---\n", name, class, topology, size)
}

func TestAClaimGoesWhereItsDriverHasStorage(t *testing.T) {
	on := func(node string) string { return "{matchLabels: {" + host + ": " + node + "}}" }
	in := func(i int) string {
		return fmt.Sprintf("{matchExpressions: [{key: %s, operator: In, values: [n%d]}]}", host, i)
	}
	one := roomy + asked("one", "room", 10, "")
	single := gangOf(group("Worker", 1, mounts("one")))
	each := func(pods int) gang.Gang {
		return gangOf(group("Worker", pods, build.Spec(func(s *corev1.PodSpec) {
			class := "room"
			s.Volumes = []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{
				Spec: corev1.PersistentVolumeClaimSpec{
					StorageClassName: &class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")}},
				},
			}}}}}
		})))
	}
	selectors := func(n int) string {
		var out strings.Builder
		for i := range n {
			out.WriteString(capacity(fmt.Sprintf("c%d", i), "room", in(i), "capacity: 50Gi"))
		}
		return out.String()
	}
	cases := map[string]struct {
		objects string
		gang    gang.Gang
		want    string
	}{
		"where there is enough":                      {one + capacity("a", "room", on("a"), "capacity: 5Gi") + capacity("b", "room", on("b"), "capacity: 10Gi"), single, "fits Worker b"},
		"not where the largest volume is too small":  {one + capacity("a", "room", on("a"), "capacity: 50Gi\nmaximumVolumeSize: 5Gi") + capacity("b", "room", on("b"), "capacity: 50Gi"), single, "fits Worker b"},
		"not where nobody says so":                   {one + capacity("b", "room", on("b"), "capacity: 50Gi"), single, "fits Worker b"},
		"nor for another class":                      {one + capacity("a", "other", on("a"), "capacity: 50Gi"), single, "full"},
		"nor where no node reaches it":               {one + "apiVersion: storage.k8s.io/v1\nkind: CSIStorageCapacity\nmetadata: {name: a, namespace: csi}\nstorageClassName: room\ncapacity: 50Gi\n---\n", single, "full"},
		"expressions say which nodes":                {one + capacity("b", "room", "{matchExpressions: [{key: "+host+", operator: NotIn, values: [a]}]}", "capacity: 50Gi"), single, "fits Worker b"},
		"a driver that does not say is not asked":    {strings.Replace(one, "storageCapacity: true", "storageCapacity: false", 1), single, "fits Worker a"},
		"volumes of all pods, and enough for all":    {roomy + capacity("a", "room", "{matchLabels: {zone: z}}", "capacity: 20Gi"), each(2), "fits Worker a"},
		"64 capacities that say it in expressions":   {one + selectors(64), single, "full"},
		"65 capacities are too many":                 {one + selectors(65), single, "unknown Worker a; the claim one needs storage that csi.example.com has on some nodes only, which is not judged"},
		"volumes of all pods, and one more than fit": {roomy + capacity("a", "room", "{matchLabels: {zone: z}}", "capacity: 20Gi"), each(3), "unknown Worker a; csi.example.com is to make volumes of 30Gi in all; which of them share its storage, of which as little as 20Gi is left in one place, is not judged"},
		"and enough for all in another place":        {roomy + capacity("a", "room", on("a"), "capacity: 20Gi") + capacity("b", "room", on("b"), "capacity: 30Gi"), each(3), "fits Worker b"},
		"how much is left in sum is not said":        {roomy + capacity("a", "room", "{matchLabels: {zone: z}}", "maximumVolumeSize: 20Gi"), each(2), "unknown Worker a; csi.example.com is to make volumes of 20Gi in all; how much storage it has left in one place is not known"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := judged(t, tc.objects, tc.gang); got != tc.want {
				t.Errorf("%s; want %s", got, tc.want)
			}
		})
	}
}

// TestAVolumeThatNobodyAttachesIsNotHeldToOneNode: what a claim without a provisioner will get may be reached by
// many nodes at once, whatever its access mode; only what a driver attaches is refused on a second node.
func TestAVolumeThatNobodyAttachesIsNotHeldToOneNode(t *testing.T) {
	workers := gangOf(group("Worker", 2, build.Asks("8"), mounts("one")))
	made := strings.ReplaceAll(local, "kubernetes.io/no-provisioner", "csi.example.com")
	for name, tc := range map[string]struct{ objects, want string }{
		"a volume of a zone":                {local + disk("d", 9, "zone", "z") + asked("one", "local", 5, ""), "unknown"},
		"a volume that somebody else made":  {made + disk("d", 9, "zone", "z") + asked("one", "local", 5, ""), "unknown"},
		"a volume that the driver attaches": {made + asked("one", "local", 5, ""), "too-big"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := judged(t, tc.objects, workers); !strings.HasPrefix(got, tc.want) {
				t.Errorf("%s; want %s", got, tc.want)
			}
		})
	}
}
