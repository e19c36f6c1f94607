package collect

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// The API server takes thousands of statuses of containers that a pod does not have, and many of one that it has.
func TestAContainerHasOneStatus(t *testing.T) {
	p := &corev1.Pod{Spec: corev1.PodSpec{InitContainers: []corev1.Container{{Name: "before"}}, Containers: []corev1.Container{{Name: "pytorch"}, {Name: "beside"}}}}
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}}
	p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "before", State: ended}}
	for i := range 6000 {
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: fmt.Sprint("c", i), State: ended}, corev1.ContainerStatus{Name: "pytorch", RestartCount: int32(i), State: ended})
	}
	p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: "beside", State: ended})
	TrimStatuses(p)
	var got []string
	for _, w := range logsOf(p) {
		got = append(got, fmt.Sprintf("%s#%d", w.container, w.life))
	}
	if diff := cmp.Diff([]string{"before#0", "pytorch#0", "beside#0"}, got); diff != "" {
		t.Errorf("logs that are asked for (-want +got):\n%s", diff)
	}
}
