package podspec

import (
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	volumehelper "k8s.io/component-helpers/storage/volume"
)

// TestDisksConflictAsTheAPIServerStoresThem: what a template leaves out is there in the pods that run.
func TestDisksConflictAsTheAPIServerStoresThem(t *testing.T) {
	rbd := func(pool string, reads bool, monitors ...string) []Disk {
		v := &corev1.Volume{}
		v.RBD = &corev1.RBDVolumeSource{CephMonitors: monitors, RBDPool: pool, RBDImage: "d", ReadOnly: reads}
		return Disks(v)
	}
	for name, tc := range map[string]struct {
		a, b []Disk
		want bool
	}{
		"one pool":                   {rbd("rbd", false, "m"), rbd("rbd", false, "m"), true},
		"the pool that is filled in": {rbd("", false, "m"), rbd("rbd", false, "m"), true},
		"another pool":               {rbd("", false, "m"), rbd("fast", false, "m"), false},
		"both only read":             {rbd("", true, "m"), rbd("rbd", true, "m"), false},
		"no monitor in common":       {rbd("", false, "m"), rbd("rbd", false, "n"), false},
		"one of several in common":   {rbd("", false, "m", "n"), rbd("rbd", true, "n", "o"), true},
	} {
		if got := DiskConflict(tc.a, tc.b); got != tc.want {
			t.Errorf("%s: conflict %t, want %t", name, got, tc.want)
		}
	}
}

// TestVolumesSuitClaimsAsTheSchedulerSays compares with the scheduler's own reader, which is asked for a node that
// reaches every volume. Each volume differs from what its claim wants in a few things only, so that each of them decides.
func TestVolumesSuitClaimsAsTheSchedulerSays(t *testing.T) {
	if NoProvisioner != volumehelper.NotSupportedProvisioner || SelectedNode != volumehelper.AnnSelectedNode {
		t.Errorf("the scheduler says %q and %q", volumehelper.NotSupportedProvisioner, volumehelper.AnnSelectedNode)
	}
	r := rand.New(rand.NewPCG(8, 13))
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	seldom := func() bool { return r.IntN(8) == 0 }
	annotated := func(o *metav1.ObjectMeta) {
		if seldom() {
			o.Annotations = map[string]string{corev1.BetaStorageClassAnnotation: pick("", "fast", "slow")}
		}
	}
	suit, bound := 0, 0
	for range 20_000 {
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "c", UID: types.UID(pick("", "1"))}}
		pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"tier": pick("gold", "iron")}}, Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeAvailable}}
		pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{}} // reached by no node that is known
		annotated(&claim.ObjectMeta)
		annotated(&pv.ObjectMeta)
		if pv.Spec.StorageClassName = "fast"; r.IntN(4) > 0 {
			claim.Spec.StorageClassName = &pv.Spec.StorageClassName
		} else if seldom() {
			pv.Spec.StorageClassName = ""
		}
		for _, m := range []**corev1.PersistentVolumeMode{&claim.Spec.VolumeMode, &pv.Spec.VolumeMode} {
			if mode := corev1.PersistentVolumeMode(pick("Filesystem", "Filesystem", "Filesystem", "Block")); seldom() {
				*m = &mode
			}
		}
		for _, c := range []**string{&claim.Spec.VolumeAttributesClassName, &pv.Spec.VolumeAttributesClassName} {
			if class := pick("", "gold"); seldom() {
				*c = &class
			}
		}
		if r.IntN(6) > 0 {
			claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(pick("1Gi", "1Gi", "2Gi"))}
		}
		if r.IntN(6) > 0 {
			pv.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(pick("1024Mi", "2Gi", "2Gi"))}
		}
		for _, mode := range []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce, corev1.ReadWriteMany} {
			if r.IntN(3) == 0 {
				claim.Spec.AccessModes = append(claim.Spec.AccessModes, mode)
			}
			if !seldom() {
				pv.Spec.AccessModes = append(pv.Spec.AccessModes, mode)
			}
		}
		if r.IntN(4) == 0 {
			claim.Spec.Selector = &metav1.LabelSelector{}
			if !seldom() {
				claim.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOperator(pick("In", "In", "NotIn", "Near")), Values: []string{pick("gold", "iron")}}}
			}
		}
		if r.IntN(3) == 0 {
			pv.Spec.ClaimRef = &corev1.ObjectReference{Namespace: pick("n", "n", "n", "m"), Name: pick("c", "c", "c", "d"), UID: types.UID(pick("", "1"))}
		}
		if seldom() {
			pv.Status.Phase = corev1.PersistentVolumePhase(pick("", "Pending", "Bound", "Released"))
		}
		if seldom() {
			pv.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		}
		reached := pv.DeepCopy()
		reached.Spec.NodeAffinity = nil
		found, err := volumehelper.FindMatchingVolume(claim, []*corev1.PersistentVolume{reached}, &corev1.Node{}, nil, true, true)
		want := err == nil && found != nil
		if got := VolumeSuits(claim, pv); got != want {
			t.Fatalf("%+v\nof %+v: %t, want %t (%v)", pv, claim, got, want, err)
		}
		if got, want := ClaimClass(claim), volumehelper.GetPersistentVolumeClaimClass(claim); got != want {
			t.Fatalf("class of %+v: %q, want %q", claim, got, want)
		}
		if got, want := VolumeClass(pv), volumehelper.GetPersistentVolumeClass(pv); got != want {
			t.Fatalf("class of %+v: %q, want %q", pv, got, want)
		}
		if want && pv.Spec.ClaimRef != nil {
			bound++
		} else if want {
			suit++
		}
	}
	if suit < 1000 || bound < 500 {
		t.Errorf("%d volumes suited and %d were the claim's already; the test has shown little", suit, bound)
	}
}
