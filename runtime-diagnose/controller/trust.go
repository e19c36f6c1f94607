package controller

import (
	"bytes"
	"iter"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/cluster/live"
)

// What stands on a job may have come with it: exported and created again, or written by its user. It is
// believed where the API server says that Signalbox alone has written it.

// diagnosisField is the annotation as managedFields name it
// (https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management).
const diagnosisField = "f:" + Diagnosis

// managersOf are those who have written the metadata of an object, and of it what: as it was decoded, for
// GetManagedFields writes all fields down as JSON.
func managersOf(u *unstructured.Unstructured) iter.Seq2[map[string]any, map[string]any] {
	return func(yield func(entry, metadata map[string]any) bool) {
		all, _, _ := unstructured.NestedFieldNoCopy(u.Object, "metadata", "managedFields")
		entries, _ := all.([]any)
		for _, e := range entries {
			entry, _ := e.(map[string]any)
			fields, _ := entry["fieldsV1"].(map[string]any)
			if metadata, ok := fields["f:metadata"].(map[string]any); ok && !yield(entry, metadata) {
				return
			}
		}
	}
}

func wroteDiagnosis(metadata map[string]any) bool {
	annotations, _ := metadata["f:annotations"].(map[string]any)
	_, wrote := annotations[diagnosisField]
	return wrote
}

// storedOn is the diagnosis that stands on a job, where nobody but Signalbox has written it.
func storedOn(u *unstructured.Unstructured) (s stored, ok bool) {
	mine := false
	for e, metadata := range managersOf(u) {
		if !wroteDiagnosis(metadata) {
			continue
		}
		if e["manager"] != FieldOwner {
			return stored{}, false
		}
		mine = true
	}
	if !mine {
		return stored{}, false
	}
	return readStored(u.GetAnnotations())
}

// trimManagers keeps of an object's managers those that have written the diagnosis or put on a finalizer.
func trimManagers(u *unstructured.Unstructured) {
	var kept []any
	for e, metadata := range managersOf(u) {
		var left map[string]any
		if wroteDiagnosis(metadata) {
			left = map[string]any{"f:annotations": map[string]any{diagnosisField: map[string]any{}}}
		} else if finalizers, there := metadata["f:finalizers"]; there {
			left = map[string]any{"f:finalizers": finalizers}
		} else {
			continue
		}
		e["fieldsV1"] = map[string]any{"f:metadata": left}
		kept = append(kept, e)
	}
	if kept == nil {
		unstructured.RemoveNestedField(u.Object, "metadata", "managedFields")
		return
	}
	u.Object["metadata"].(map[string]any)["managedFields"] = kept // it was read there
}

// ReadsManagers says whether trimManagers may keep something of managers as an API server writes them.
func ReadsManagers(text []byte) bool {
	return bytes.Contains(text, []byte(`"`+diagnosisField+`"`)) || bytes.Contains(text, []byte(`"f:finalizers"`))
}

// Keep packs a job with what the controller reads of it.
func Keep(u *unstructured.Unstructured) (*live.PackedObject, error) {
	trimManagers(u)
	unstructured.RemoveNestedField(u.Object, "metadata", "annotations", corev1.LastAppliedConfigAnnotation)
	return live.Pack(u)
}

// keepObject is what the cache holds of an object.
func keepObject(o any) (any, error) {
	switch o := o.(type) {
	case *unstructured.Unstructured:
		if o.GroupVersionKind().Group == aegisKind.Group { // the manager that has written its status is looked at
			return live.Pack(o)
		}
		return Keep(o)
	case metav1.Object:
		o.SetManagedFields(nil)
	}
	return o, nil // a tombstone, or packed already
}
