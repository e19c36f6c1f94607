package cluster

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// What the quick readers take of an object is what the converter takes, and what they leave to
// it, in whatever form, is not lost.
func TestQuickReadersReadWhatTheConverterReads(t *testing.T) {
	const claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c, namespace: ml, uid: 1e5-x, annotations: {volume.kubernetes.io/selected-node: n1}}\n"
	const pv = "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: v, labels: {zone: a}}\n"
	for name, text := range map[string]string{
		"a claim":                           claim + "spec: {volumeName: v, storageClassName: fast, accessModes: [ReadWriteOnce], volumeMode: Block, resources: {requests: {storage: 5Gi}}}\nstatus: {phase: Bound}",
		"a claim without a class":           claim + "spec: {accessModes: [ReadWriteMany, ReadOnlyMany]}",
		"a claim of the empty class":        claim + "spec: {storageClassName: ''}",
		"a claim with a number":             claim + "spec: {resources: {requests: {storage: 1073741824}}}",
		"a claim with an exponent":          claim + "spec: {resources: {requests: {storage: 1e9}}}",
		"a claim with a selector":           claim + "spec: {selector: {matchLabels: {a: b}}}",
		"a claim that is being deleted":     "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c, namespace: ml, deletionTimestamp: '2026-01-02T03:04:05Z'}\nspec: {volumeName: v}",
		"a claim whose fields are null":     claim + "spec: {volumeName: null, accessModes: null, resources: null}\nstatus: null",
		"a volume":                          pv + "spec: {capacity: {storage: 5Gi}, accessModes: [ReadWriteOnce], storageClassName: fast, csi: {driver: d, volumeHandle: h, fsType: ext4}, claimRef: {namespace: ml, name: c, uid: u}}\nstatus: {phase: Bound}",
		"a volume of a node":                pv + "spec: {nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n1, n2]}]}]}}}",
		"a volume of a claim and a node":    pv + "spec: {claimRef: {namespace: ml, name: c}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n1, n2]}]}, {matchFields: [{key: metadata.name, operator: In, values: [x]}]}]}}}",
		"a volume of a claim and no node":   pv + "spec: {claimRef: {namespace: ml, name: c}, nodeAffinity: {required: {nodeSelectorTerms: []}}}",
		"a volume of some nodes":            pv + "spec: {nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: z, operator: NotIn, values: [n1]}], matchFields: [{key: metadata.name, operator: In, values: [x]}]}]}}}",
		"a volume of no node":               pv + "spec: {nodeAffinity: {required: {nodeSelectorTerms: []}}}",
		"a volume with an affinity of none": pv + "spec: {nodeAffinity: {}}",
	} {
		t.Run(name, func(t *testing.T) {
			o := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
				t.Fatal(err)
			}
			var got, want any
			read := readObject(o.GroupVersionKind(), o).read
			if c := wholeOf[corev1.PersistentVolumeClaim](read); c != nil {
				read = c
			} else if v := wholeOf[Volume](read); v != nil {
				read = v
			}
			switch read := read.(type) {
			case *corev1.PersistentVolumeClaim:
				whole := &corev1.PersistentVolumeClaim{}
				if err := Decode(o, whole); err != nil {
					t.Fatal(err)
				}
				got, want = claimText(read), claimText(whole)
			case *Volume:
				whole := &corev1.PersistentVolume{}
				if err := Decode(o, whole); err != nil {
					t.Fatal(err)
				}
				got, want = volumeText(read.PersistentVolume), volumeText(whole)
			default:
				t.Fatalf("read as %T", read)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-converter +reader):\n%s", diff)
			}
		})
	}
}

func claimText(c *corev1.PersistentVolumeClaim) string {
	return fmt.Sprintln(c.Namespace, c.Name, c.UID, c.Annotations, c.DeletionTimestamp, c.Spec.VolumeName, text(c.Spec.StorageClassName), c.Spec.AccessModes,
		c.Spec.VolumeMode != nil && *c.Spec.VolumeMode == corev1.PersistentVolumeBlock, job.ResourcesOf(c.Spec.Resources.Requests), c.Spec.Selector, c.Status.Phase)
}

func volumeText(v *corev1.PersistentVolume) string {
	out := fmt.Sprintln(v.Name, v.Labels, job.ResourcesOf(v.Spec.Capacity), v.Spec.AccessModes, v.Spec.StorageClassName, v.Spec.NodeAffinity, v.Status.Phase)
	if csi := v.Spec.CSI; csi != nil {
		out += fmt.Sprintln(csi.Driver, csi.VolumeHandle)
	}
	if ref := v.Spec.ClaimRef; ref != nil {
		out += fmt.Sprintln(ref.Namespace, ref.Name, ref.UID)
	}
	return out
}

func text(s *string) string {
	if s == nil {
		return "none"
	}
	return "=" + *s
}

func TestAVolumeThatCannotBeReadIsUnknown(t *testing.T) {
	for _, text := range []string{
		"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: v}\nspec: {capacity: {storage: plenty}}",
		"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: v}\nspec: {csi: yes}",
		"apiVersion: v1alpha1\nkind: PersistentVolume\nmetadata: {name: v}",
	} {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
			t.Fatal(err)
		}
		var b Builder
		b.Object(o)
		b.Complete(ResourceOf(VolumeKind))
		s := b.Snapshot(o.GetCreationTimestamp().Time)
		if _, there := s.Volume("v"); there != job.Unknown {
			t.Errorf("%s: %v; want unknown", text, there)
		}
		if _, there := s.Volume("w"); there != job.Absent {
			t.Errorf("another one beside %s: %v; want absent", text, there)
		}
	}
}
