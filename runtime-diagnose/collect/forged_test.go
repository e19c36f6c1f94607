package collect

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The API server takes an event with the UID of one pod and the name of another, and of a pod that nobody knows it would be
// believed that it has no node.
func TestAnEventIsOfOneObject(t *testing.T) {
	s := subjects{uids: map[types.UID]string{"u1": "worker-0"}, names: map[[2]string]bool{{"Pod", "worker-0"}: true}}
	for name, tc := range map[string]struct {
		of   corev1.ObjectReference
		want bool
	}{
		"a pod":                            {corev1.ObjectReference{Kind: "Pod", Name: "worker-0", UID: "u1"}, true},
		"one of its name before it":        {corev1.ObjectReference{Kind: "Pod", Name: "worker-0", UID: "u0"}, true},
		"without a UID":                    {corev1.ObjectReference{Kind: "Pod", Name: "worker-0"}, true},
		"another name under the pod's UID": {corev1.ObjectReference{Kind: "Pod", Name: "other", UID: "u1"}, false},
		"another pod":                      {corev1.ObjectReference{Kind: "Pod", Name: "other", UID: "u2"}, false},
	} {
		if got := s.has(&corev1.Event{InvolvedObject: tc.of}); got != tc.want {
			t.Errorf("%s: an event about it is read: %t", name, got)
		}
	}
}
