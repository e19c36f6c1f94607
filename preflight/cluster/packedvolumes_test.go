package cluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What is packed comes out as it went in: every field that a reader fills.
func TestAClaimAndItsVolumeAreToldAsTheyWereRead(t *testing.T) {
	amounts := corev1.ResourceList{"storage": resource.MustParse("5Gi")}
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "c", UID: "u", Annotations: map[string]string{"a": "b"}},
		Spec: corev1.PersistentVolumeClaimSpec{
			VolumeName: "v", StorageClassName: new("fast"), VolumeAttributesClassName: new("gold"), VolumeMode: new(corev1.PersistentVolumeBlock), AccessModes: modes,
			Resources: corev1.VolumeResourceRequirements{Requests: amounts},
		},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound},
	}
	if diff := cmp.Diff(claim, packClaim(claim.DeepCopy()).whole()); diff != "" {
		t.Errorf("claim (-want +got):\n%s", diff)
	}
	volume := volumeOf(&corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "v", Labels: map[string]string{"l": "m"}, Annotations: map[string]string{"a": "b"}},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: amounts, AccessModes: modes, StorageClassName: "fast", VolumeMode: new(corev1.PersistentVolumeBlock), VolumeAttributesClassName: new("gold"),
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{"n1"}}},
			}}}},
			ClaimRef:               &corev1.ObjectReference{Namespace: "ml", Name: "c", UID: "u"},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "d", VolumeHandle: "h"}},
		},
		Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeBound},
	})
	for _, csi := range []*corev1.CSIPersistentVolumeSource{volume.Spec.CSI, nil} {
		volume.Spec.CSI = csi
		if diff := cmp.Diff(volume, packVolume(volume.DeepCopy(), volume.volumeReach).whole(), cmp.AllowUnexported(Volume{}, volumeReach{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("volume (-want +got):\n%s", diff)
		}
	}
}
