package controller

import (
	"bytes"
	"encoding/json"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// What stands on a job may have come with it: exported and created again, or written by its user. It is
// believed where the API server says that Signalbox alone has written it.

// diagnosisField is the annotation as managedFields name it
// (https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management).
var diagnosisField = []byte(`"f:` + Diagnosis + `"`)

// storedOn is the diagnosis that stands on a job, where nobody but Signalbox has written it.
func storedOn(u *unstructured.Unstructured) (s stored, ok bool) {
	mine := false
	for _, e := range u.GetManagedFields() {
		if e.FieldsV1 == nil || !bytes.Contains(e.FieldsV1.GetRawBytes(), diagnosisField) {
			continue
		}
		if e.Manager != FieldOwner {
			return stored{}, false
		}
		mine = true
	}
	if !mine {
		return stored{}, false
	}
	return readStored(u.GetAnnotations())
}

// finalizersOf is the part of a manager's fields that names its finalizers; nil: it has none.
func finalizersOf(e metav1.ManagedFieldsEntry) *metav1.FieldsV1 {
	var fields struct {
		Metadata struct {
			Finalizers json.RawMessage `json:"f:finalizers"`
		} `json:"f:metadata"`
	}
	if e.FieldsV1 == nil || json.Unmarshal(e.FieldsV1.GetRawBytes(), &fields) != nil || fields.Metadata.Finalizers == nil {
		return nil
	}
	return metav1.NewFieldsV1(`{"f:metadata":{"f:finalizers":` + string(fields.Metadata.Finalizers) + `}}`)
}

// trimManagers keeps of an object's managers those that have written the diagnosis or put on a finalizer.
func trimManagers(o any) (any, error) {
	object, err := meta.Accessor(o)
	if err != nil {
		return o, nil //nolint:nilerr // a tombstone
	}
	if u, ok := o.(*unstructured.Unstructured); ok && u.GroupVersionKind().Group == aegisKind.Group {
		return o, nil // who has written its status is looked at
	}
	var kept []metav1.ManagedFieldsEntry
	for _, e := range object.GetManagedFields() {
		if e.FieldsV1 != nil && bytes.Contains(e.FieldsV1.GetRawBytes(), diagnosisField) {
			e.FieldsV1 = metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{` + string(diagnosisField) + `:{}}}}`)
			kept = append(kept, e)
		} else if finalizers := finalizersOf(e); finalizers != nil {
			e.FieldsV1 = finalizers
			kept = append(kept, e)
		}
	}
	object.SetManagedFields(kept)
	return o, nil
}
