package capture

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kubefake "k8s.io/client-go/kubernetes/fake"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/collect"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

var owner = metav1.OwnerReference{Kind: "PyTorchJob", Name: "train", UID: "job-1"}

func pod(uid types.UID, code int32) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "train-worker-0", UID: uid},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
			Name: "pytorch", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}},
		}}},
	}
}

func TestTheLogOfAReplacedPodIsKept(t *testing.T) { synctest.Test(t, keepsReplaced) }

func keepsReplaced(t *testing.T) {
	s := New(1 << 20)
	see := Watch(s, kubefake.NewClientset(), collect.Limits{})
	see(owner, pod("first", 1))
	see(owner, pod("first", 1)) // seen again: read once
	see(owner, pod("well", 0))
	synctest.Wait() // reading happens in the background
	if s.order.Len() != 1 {
		t.Fatalf("%d logs are kept, want 1", s.order.Len())
	}
	job := map[types.UID]bool{"job-1": true}
	logs := s.Logs(job, map[types.UID]bool{"second": true})
	if len(logs) != 1 {
		t.Fatalf("%d logs, want that of the pod that is gone", len(logs))
	}
	want := evidence.Source{Pod: "train-worker-0", Container: "pytorch", Rank: -1, Attempt: 1}
	if logs[0].Source != want {
		t.Errorf("source is %+v, want %+v", logs[0].Source, want)
	}
	in, err := logs[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := io.ReadAll(in); string(text) != "fake logs" {
		t.Errorf("log is %q", text)
	}
	if n := len(s.Logs(job, map[types.UID]bool{"first": true})); n != 0 {
		t.Errorf("%d logs of a pod that is still there; the API server has them", n)
	}
	if n := len(s.Logs(map[types.UID]bool{"job-2": true}, nil)); n != 0 {
		t.Errorf("%d logs for a job of the same name", n)
	}
}

func TestTheOldestLogsGoFirst(t *testing.T) {
	s := New(3 * (overhead + 100))
	for _, uid := range []types.UID{"a", "b", "c", "d"} {
		i := id{pod: uid}
		if !s.claim(i, "job-1", evidence.Source{Pod: string(uid)}) {
			t.Fatalf("no room for %s", uid)
		}
		s.fill(i, []byte(strings.Repeat(string(uid), 100)))
	}
	var got string
	for _, log := range s.Logs(map[types.UID]bool{"job-1": true}, nil) {
		got += log.Source.Pod
	}
	if got != "bcd" || s.used != 3*(overhead+100) {
		t.Errorf("kept %q in %d bytes, want bcd", got, s.used)
	}
	s.fill(id{pod: "a"}, []byte("late")) // its entry is gone
	if s.used != 3*(overhead+100) {
		t.Errorf("a late log took room: %d bytes", s.used)
	}
}

func TestAStoreOfNothingKeepsNothing(t *testing.T) {
	s := New(0)
	see := Watch(s, kubefake.NewClientset(), collect.Limits{})
	see(owner, pod("first", 1))
	if len(s.Logs(map[types.UID]bool{"job-1": true}, nil)) != 0 || s.order.Len() != 0 {
		t.Error("something is kept")
	}
}
