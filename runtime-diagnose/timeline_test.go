package diagnose_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/test/golden"
)

// gangOf is a job of n pods on n nodes whose sixth pod ran out of GPU memory after an hour. Two
// in three of the others lose a connection, the rest are told to stop. One node's clock is 40
// seconds ahead.
func gangOf(n int) diagnose.Case {
	c := diagnose.Case{Job: train(n - 1), Kind: replicas, State: kinds.State{Phase: kinds.Failed}, Now: noon.Add(time.Hour)}
	for i := range n {
		name, node := fmt.Sprintf("train-worker-%d", i-1), fmt.Sprintf("gpu-%d", i)
		if i == 0 {
			name = "train-master-0"
		}
		ahead := time.Duration(0)
		if i == 2 {
			ahead = 40 * time.Second
		}
		say := func(at time.Duration, text string) string {
			return noon.Add(at+ahead+time.Millisecond).Format("2006-01-02T15:04:05.000000000Z ") + text
		}
		lines := []string{say(-time.Hour, "NCCL INFO NET/Plugin: No plugin found (libnccl-net.so), using internal implementation")}
		for s := range 12 {
			lines = append(lines, say(time.Duration(s-11)*2*time.Second, fmt.Sprintf("step %d loss: 2.31", 100+s)))
		}
		end, code := 3*time.Second, int32(1)
		switch {
		case i == 5:
			lines = append(lines, say(time.Second, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB of which 512.00 MiB is free."))
		case i%3 == 1:
			end, code = 20*time.Second, 143
		default:
			lines = append(lines, say(5*time.Second, "torch.distributed.DistBackendError: NCCL error: remote process exited or there was a network error, NCCL version 2.21.5"))
			end = 8 * time.Second
		}
		p := ended(name, node, code, "Error", noon.Add(end+ahead))
		p.Status.ContainerStatuses[0].State.Terminated.StartedAt = metav1.NewTime(noon.Add(ahead - time.Hour))
		reported := metav1.NewTime(noon.Add(end + time.Second))
		p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet", Operation: metav1.ManagedFieldsOperationUpdate, Subresource: "status", Time: &reported}}
		began := metav1.NewTime(noon.Add(ahead - time.Hour))
		p.Status.StartTime = &began
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(noon.Add(-time.Hour))}}
		c.Pods = append(c.Pods, p)
		c.Logs = append(c.Logs, logOf(name, lines...))
	}
	return c
}

func TestTimelinePictures(t *testing.T) {
	paint := func(like, text string) string { return "<" + like + ">" + text + "</>" }
	for _, pods := range []int{8, 512} {
		r := diagnose.Diagnose(t.Context(), gangOf(pods), catalog(t), diagnose.Options{})
		for _, width := range []int{80, 120} {
			plain := diagnose.Timeline(r, diagnose.Picture{Width: width})
			golden.Equal(t, filepath.Join("testdata", "timelines", fmt.Sprintf("%d-pods-%d-columns.txt", pods, width)), []byte(plain))
			for line := range strings.Lines(plain) {
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > width {
					t.Errorf("%d pods: a line has %d columns of %d: %q", pods, n, width, line)
				}
			}
			coloured := diagnose.Timeline(r, diagnose.Picture{Width: width, Paint: paint})
			golden.Equal(t, filepath.Join("testdata", "timelines", fmt.Sprintf("%d-pods-%d-columns-colour.txt", pods, width)), []byte(coloured))
			bare := strings.NewReplacer("<error>", "", "<warning>", "", "<allowed>", "", "</>", "").Replace(coloured)
			if bare != plain {
				t.Errorf("%d pods, %d columns: colour changes more than colour", pods, width)
			}
			old := diagnose.Timeline(r, diagnose.Picture{Width: width, ASCII: true})
			if i := strings.IndexFunc(old, func(c rune) bool { return c > '~' }); i >= 0 {
				t.Errorf("%d pods, %d columns: %q is not ASCII", pods, width, old[i:min(len(old), i+4)])
			}
		}
	}
}

// TestWhoWaitsIsInThePicture: two pods of a gang that were not scheduled have a row, and the text below
// the bars is never cut.
func TestWhoWaitsIsInThePicture(t *testing.T) {
	c := gangOf(8)
	for i := range 2 {
		name := fmt.Sprintf("train-worker-%d", 7+i)
		c.Pods = append(c.Pods, corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ml", UID: types.UID(name), Labels: c.Pods[1].Labels, CreationTimestamp: metav1.NewTime(noon)},
			Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/8 nodes are available: 8 Insufficient nvidia.com/gpu.",
			}}},
		})
	}
	got := diagnose.Timeline(diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{}), diagnose.Picture{Width: 80})
	for _, want := range []string{"2 pods", "┄┄┄┄┄┄┄┄", "has not started", "┄ waits", "a peer went away during a collective"} {
		if !strings.Contains(got, want) {
			t.Errorf("the picture does not hold %q:\n%s", want, got)
		}
	}
}

// TestWhoWaitsAgainHasALifeInThePicture: pods that were preempted ran until then.
func TestWhoWaitsAgainHasALifeInThePicture(t *testing.T) {
	r := diagnose.Diagnose(t.Context(), scenario(t, "testdata/scenarios/preempted-by-a-job-whose-pod-is-known"), catalog(t), diagnose.Options{})
	got := diagnose.Timeline(r, diagnose.Picture{Width: 80})
	for _, want := range []string{"train-worker-0 gpu-a2 ‹─", "train-worker-1 gpu-a3 ‹─", "preempted, waits again", "◆┄", "waits for: 1 of 3 pods is running"} {
		if !strings.Contains(got, want) {
			t.Errorf("the picture does not hold %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "has not started") {
		t.Errorf("pods that ran are drawn as if they had not:\n%s", got)
	}
}

func TestTimelineWithoutTimes(t *testing.T) {
	c := diagnose.Case{Now: noon}
	c.AddLog("train.log", []byte("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"))
	r := diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{})
	if got := diagnose.Timeline(r, diagnose.Picture{}); got != "" {
		t.Errorf("nothing has a time, and this was drawn:\n%s", got)
	}
}
