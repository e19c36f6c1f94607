package ledger_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/ledger"
)

var ten = time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)

func at(minutes int) time.Time { return ten.Add(time.Duration(minutes) * time.Minute) }

// ended is a pod whose program ran from one minute to another.
func ended(name, uid, node string, from, to int, code int32) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(uid)},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c"}}},
		Status: corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{
			Name: "c", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
				ExitCode: code, StartedAt: metav1.NewTime(at(from)), FinishedAt: metav1.NewTime(at(to)),
			}},
		}}},
	}
}

func drained(p corev1.Pod, minute int) corev1.Pod {
	p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI", LastTransitionTime: metav1.NewTime(at(minute)),
	})
	return p
}

func node(name, kubelet string) corev1.Node {
	n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	n.Status.NodeInfo = corev1.NodeSystemInfo{KubeletVersion: kubelet, OSImage: "Ubuntu 22.04.5 LTS"}
	return n
}

func read(pods []corev1.Pod, nodes ...corev1.Node) ledger.Ledger {
	place := func(p *corev1.Pod) evidence.Source {
		s := evidence.Source{Pod: p.Name, Node: p.Spec.NodeName, Role: "Worker", Rank: -1}
		if _, err := fmt.Sscanf(p.Name, "w-%d", &s.Rank); err != nil {
			s.Rank = -1
		}
		return s
	}
	seen := control.Read(control.Input{Pods: pods, Nodes: nodes, Source: place})
	return ledger.Read(ledger.Input{
		Pods: pods, Seen: seen.Pods, Nodes: nodes, Place: place, Words: seen.Sightings, GPUs: func(string) int64 { return 8 },
	})
}

func TestAttemptsAreToldApart(t *testing.T) {
	cases := map[string]struct {
		pods  []corev1.Pod
		nodes []corev1.Node
		want  string
	}{
		"one failure shows nothing": {[]corev1.Pod{ended("w-0", "a", "h1", 0, 60, 1)}, nil, ""},
		"both were there before one failed: one attempt": {
			[]corev1.Pod{ended("w-0", "a", "h1", 0, 60, 1), ended("w-1", "b", "h2", 1, 61, 137)}, nil, "",
		},
		"pods made anew": {
			[]corev1.Pod{
				ended("w-0", "a", "h1", 0, 60, 1), ended("w-1", "b", "h7", 0, 59, 139),
				ended("w-0", "c", "h2", 70, 100, 137), ended("w-1", "d", "h7", 70, 99, 139),
				ended("w-0", "e", "h2", 110, 120, 3),
			}, nil, `     1  Mar 04 10:00, 59 min  w-1: segmentation fault (SIGSEGV); node h7; 16 GPU hours
     2  Mar 04 11:10, 29 min  w-1: segmentation fault (SIGSEGV); node h7; 7.7 GPU hours
     3  Mar 04 11:50, 10 min  w-0: ended with an unusual code; node h2; 1.3 GPU hours
2 of 3 attempts that failed died first on h7. 2 of 3 failed attempts ended of one cause: segmentation fault (SIGSEGV). The 3 attempts that failed took 25 GPU hours.`,
		},
		"a drain, by a tool that says so": {
			[]corev1.Pod{drained(ended("w-0", "a", "h3", 0, 60, 143), 59), ended("w-0", "b", "h4", 70, 80, 1)},
			[]corev1.Node{func() corev1.Node {
				n := node("h3", "v1.31.4")
				n.Spec.Taints = []corev1.Taint{{Key: "node.cluster.x-k8s.io/outdated-revision", Effect: corev1.TaintEffectPreferNoSchedule}}
				return n
			}()},
			`     1  Mar 04 10:00, 60 min  w-0: its node was drained, in an upgrade (Cluster API replaces it (taint node.cluster.x-k8s.io/outdated-revision)); node h3; 8.0 GPU hours
     2  Mar 04 11:10, 10 min  w-0: the program ended with an error of its own; node h4; 1.3 GPU hours
Attempt 1 was ended by the platform on node h3 at Mar 04 11:00: its node was drained; the node was being upgraded: Cluster API replaces it (taint node.cluster.x-k8s.io/outdated-revision). The 2 attempts that failed took 9.3 GPU hours.`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := read(tc.pods, tc.nodes...)
			if diff := cmp.Diff(tc.want, l.Told()+strings.Join(l.Sentences(), " ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			back, err := ledger.Decode(l.Encode())
			if err != nil || back.Told() != l.Told() {
				t.Errorf("it reads back as (%v):\n%s", err, back.Told())
			}
			if again := l.Merge(l); again.Told() != l.Told() {
				t.Errorf("merged with itself it is:\n%s", again.Told())
			}
		})
	}
}

func TestANodeThatWasUpgradedSince(t *testing.T) {
	before := read([]corev1.Pod{drained(ended("w-0", "a", "h3", 0, 60, 143), 59)}, node("h3", "v1.31.4"))
	cases := map[string]struct {
		nodes []corev1.Node
		want  string // the upgrade; empty: none is known
	}{
		"the same node, the same kubelet":     {[]corev1.Node{node("h3", "v1.31.4")}, ""},
		"the same node, another kubelet":      {[]corev1.Node{node("h3", "v1.32.1")}, "v1.31.4 then, v1.32.1 since"},
		"another node with the same kubelet":  {[]corev1.Node{node("h4", "v1.31.4")}, ""},
		"the job is on nodes of a newer one":  {[]corev1.Node{node("h4", "v1.32.1"), node("h5", "v1.32.1")}, "v1.31.4 then, v1.32.1 on the job's nodes since"},
		"some of its nodes are as they were":  {[]corev1.Node{node("h4", "v1.31.4"), node("h5", "v1.32.1")}, ""},
		"nothing is known of the nodes since": {nil, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l, err := ledger.Decode(before.Encode())
			if err != nil {
				t.Fatal(err)
			}
			if l.Upgraded(tc.nodes); l.Attempts[0].Upgrade != tc.want {
				t.Errorf("the upgrade is %q, want %q", l.Attempts[0].Upgrade, tc.want)
			}
		})
	}
}

func TestANodeThatWasUpgradedWithoutADrainEndedNothing(t *testing.T) {
	l := read([]corev1.Pod{ended("w-0", "a", "h3", 0, 60, 1)}, node("h3", "v1.31.4"))
	if l.Upgraded([]corev1.Node{node("h3", "v1.32.1")}); l.Attempts[0].Upgrade != "" {
		t.Errorf("a program's own error is put down to an upgrade: %q", l.Attempts[0].Upgrade)
	}
}

func TestALedgerIsBounded(t *testing.T) {
	var l ledger.Ledger
	for i := range 3 * ledger.Most {
		a := ledger.Attempt{Began: at(10 * i), Ended: at(10*i + 5), Cause: "gpu-oom", Node: fmt.Sprintf("h%d", i%40), Says: strings.Repeat("x", 300), GPUHours: 1}
		l = l.Merge(ledger.Ledger{Attempts: []ledger.Attempt{a}})
	}
	if n := len(l.Attempts); n != ledger.Most {
		t.Errorf("%d attempts are told one by one, want %d", n, ledger.Most)
	}
	if l.Len() != 3*ledger.Most || l.Attempts[ledger.Most-1].Number != 3*ledger.Most {
		t.Errorf("%d attempts are counted, the last one as number %d; there were %d", l.Len(), l.Attempts[ledger.Most-1].Number, 3*ledger.Most)
	}
	text := l.Encode()
	back, err := ledger.Decode(text)
	if err != nil || len(text) > ledger.Bytes || back.Len() != l.Len() {
		t.Errorf("%d bytes hold %d attempts (%v), want at most %d bytes and all %d", len(text), back.Len(), err, ledger.Bytes, l.Len())
	}
	if _, err := ledger.Decode(text + strings.Repeat(" ", ledger.Bytes+1-len(text))); err == nil {
		t.Errorf("a ledger one byte too long is taken")
	}
	again := back.Merge(ledger.Ledger{Attempts: []ledger.Attempt{{Began: at(0), Ended: at(5)}}})
	if again.Len() != back.Len() {
		t.Errorf("an attempt that is counted already is counted again: %d, want %d", again.Len(), back.Len())
	}
}

func TestALedgerThatSomebodyWrote(t *testing.T) {
	for _, text := range []string{
		"{", `{"attempts":[{"n":1,"began":"2026-03-04T10:00:00Z","ended":"2026-03-04T09:00:00Z"}]}`,
		`{"before":[{"times":0}]}`, `{"before":[{"times":9000000}]}`, `{"attempts":[` + strings.Repeat(`{"n":1},`, ledger.Most) + `{"n":1}]}`,
	} {
		if _, err := ledger.Decode(text); err == nil {
			t.Errorf("it is taken: %.80s", text)
		}
	}
}

// That pods on a node give way to others shows nothing of the node.
func TestANodeIsNotBlamedForWhatGaveWay(t *testing.T) {
	at := func(n int, cause string) ledger.Attempt {
		began := time.Date(2026, 3, 4, n, 0, 0, 0, time.UTC)
		return ledger.Attempt{Number: n, Began: began, Ended: began.Add(time.Minute), Cause: cause, Node: "h7", Platform: cause == "sigterm-preempted"}
	}
	for name, tc := range map[string]struct {
		causes []string
		want   string
	}{
		"one failed, one gave way":   {[]string{"segfault", "sigterm-preempted"}, ""},
		"two failed, one gave way":   {[]string{"segfault", "gpu-oom", "sigterm-preempted"}, "2 of 3 attempts that failed died first on h7."},
		"both failed":                {[]string{"segfault", "gpu-oom"}, "All 2 attempts that failed died first on h7."},
		"all gave way":               {[]string{"sigterm-preempted", "sigterm-preempted"}, ""},
		"their node was lost, twice": {[]string{"node-lost", "node-lost"}, "All 2 attempts that failed died first on h7."},
	} {
		var l ledger.Ledger
		for i, cause := range tc.causes {
			l.Attempts = append(l.Attempts, at(i+1, cause))
		}
		got := ""
		for _, s := range l.Sentences() {
			if strings.Contains(s, "died first on") {
				got = s
			}
		}
		if got != tc.want {
			t.Errorf("%s: %q; want %q", name, got, tc.want)
		}
	}
}

// Of the attempts that the platform ended the last ones are told, and the others counted.
func TestAttemptsThatThePlatformEndedAreCounted(t *testing.T) {
	for n, want := range map[int]string{
		3: "Attempt 3 was ended, Attempt 2 was ended, Attempt 1 was ended",
		4: "Attempt 4 was ended, Attempt 3 was ended, Attempt 2 was ended, 1 earlier attempt was",
		6: "Attempt 6 was ended, Attempt 5 was ended, Attempt 4 was ended, 3 earlier attempts were",
	} {
		var pods []corev1.Pod
		for i := range n {
			pods = append(pods, drained(ended("w-0", fmt.Sprintf("u%d", i), fmt.Sprintf("h%d", i), 100*i, 100*i+60, 143), 100*i+59))
		}
		var told []string
		for _, s := range read(pods).Sentences() {
			if head, _, ok := strings.Cut(s, " ended by the platform, too."); ok {
				told = append(told, head)
			} else if head, _, ok := strings.Cut(s, " by the platform on node"); ok {
				told = append(told, head)
			}
		}
		if diff := cmp.Diff(want, strings.Join(told, ", ")); diff != "" {
			t.Errorf("of %d (-want +got):\n%s", n, diff)
		}
	}
}
