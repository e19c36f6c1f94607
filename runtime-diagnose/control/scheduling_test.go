package control_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
)

func TestSchedulerMessages(t *testing.T) {
	cases := map[string]struct{ message, category, sentence string }{
		"only GPUs are short": {
			"0/4 nodes are available: 4 Insufficient nvidia.com/gpu. preemption: 0/4 nodes are available: 4 No preemption victims found for incoming pod.",
			"unschedulable-gpu", "none of 4 nodes takes it (4 lack free nvidia.com/gpu)",
		},
		"other nodes do not match, the ones that do lack GPUs": {
			"0/15 nodes are available: 10 node(s) didn't match Pod's node affinity/selector, 5 Insufficient nvidia.com/gpu. preemption: 0/15 nodes are available: 10 Preemption is not helpful for scheduling, 5 No preemption victims found for incoming pod.",
			"unschedulable-gpu", "none of 15 nodes takes it (10 do not match its node selector or affinity, 5 lack free nvidia.com/gpu)",
		},
		"another vendor's device": {
			"0/2 nodes are available: 2 Insufficient huawei.com/Ascend910.",
			"unschedulable-gpu", "none of 2 nodes takes it (2 lack free huawei.com/Ascend910)",
		},
		"memory": {
			"0/1 nodes are available: 1 Insufficient memory. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
			"unschedulable-cpu-memory", "none of 1 nodes takes it (1 lacks free memory)",
		},
		"a taint, old text with its key": {
			"0/1 nodes are available: 1 node(s) had untolerated taint {gpu: true}. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
			"unschedulable-taint", "none of 1 nodes takes it (1 is tainted {gpu: true})",
		},
		"taints, new text without keys": {
			"0/3 nodes are available: 3 node(s) had untolerated taint(s). no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
			"unschedulable-taint", "none of 3 nodes takes it (3 are tainted)",
		},
		"selector": {
			"0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 node(s) didn't match Pod's node affinity/selector.",
			"unschedulable-affinity", "none of 3 nodes takes it (1 is tainted {node-role.kubernetes.io/control-plane: }, 2 do not match its node selector or affinity)",
		},
		"storage is short on two, and a taint keeps it from the rest": {
			"0/9 nodes are available: 2 node(s) did not have enough free storage, 3 node(s) had untolerated taint {pool: a}, 4 node(s) had untolerated taint {pool: b}.",
			"unschedulable-taint", "none of 9 nodes takes it (2 node(s) did not have enough free storage, 3 are tainted {pool: a}, 4 are tainted {pool: b})",
		},
		"an extender's device before taints": {
			"0/4 nodes are available: 3 node(s) had untolerated taint {gpu: true}, 1 CardInsufficientMemory.",
			"unschedulable-gpu", "none of 4 nodes takes it (3 are tainted {gpu: true}, 1 CardInsufficientMemory)",
		},
		"a claim is missing": {
			`persistentvolumeclaim "data" not found`,
			"unschedulable-pvc", `no node takes it (persistentvolumeclaim "data" not found)`,
		},
		"a claim is unbound": {
			"0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
			"unschedulable-pvc", "none of 2 nodes takes it (pod has unbound immediate PersistentVolumeClaims)",
		},
		"other pods, on nodes that taints and selectors leave": {
			"0/12 nodes are available: 1 node(s) were unschedulable, 3 node(s) didn't match pod anti-affinity rules, 8 node(s) had untolerated taint(s).",
			"unschedulable-affinity", "none of 12 nodes takes it (1 is cordoned, 3 node(s) didn't match pod anti-affinity rules, 8 are tainted)",
		},
		"a spread": {
			"0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 2 node(s) didn't match pod topology spread constraints.",
			"unschedulable-affinity", "none of 3 nodes takes it (1 does not match its node selector or affinity, 2 node(s) didn't match pod topology spread constraints)",
		},
		"names of old releases": {
			"0/4 nodes are available: 1 NodeUnschedulable, 3 MatchNodeSelector.",
			"unschedulable-affinity", "none of 4 nodes takes it (1 NodeUnschedulable, 3 MatchNodeSelector)",
		},
		"a taint by its old name": {
			"0/2 nodes are available: 2 PodToleratesNodeTaints.",
			"unschedulable-taint", "none of 2 nodes takes it (2 PodToleratesNodeTaints)",
		},
		"counts behind the reasons": {
			"No nodes are available that match all of the following predicates:: Insufficient alpha.kubernetes.io/nvidia-gpu (3).",
			"unschedulable-gpu", "no node takes it (3 lack free alpha.kubernetes.io/nvidia-gpu)",
		},
		"counts behind the reasons, of several": {
			"No nodes are available that match all of the predicates: Insufficient memory (5), PodToleratesNodeTaints (1).",
			"unschedulable-cpu-memory", "no node takes it (5 lack free memory, 1 PodToleratesNodeTaints)",
		},
		"an extender that counts devices": {
			"0/2 nodes are available: 1 node(s) had untolerated taint {gpu: true}, 1 CardInsufficientMemory.",
			"unschedulable-gpu", "none of 2 nodes takes it (1 is tainted {gpu: true}, 1 CardInsufficientMemory)",
		},
		"all nodes are cordoned": {
			"0/2 nodes are available: 2 node(s) were unschedulable.",
			"node-lost", "none of 2 nodes takes it (2 are cordoned)",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u, ok := control.ParseUnschedulable(tc.message)
			if !ok {
				t.Fatal("not read as a scheduler's message")
			}
			rule, _ := control.Judge(u)
			if diff := cmp.Diff([]string{tc.category, tc.sentence}, []string{rule.Category, u.Sentence()}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestABoundVolumeIsNotAMissingOne: the words are those of volumebinding and volumezone.
func TestABoundVolumeIsNotAMissingOne(t *testing.T) {
	for reason, want := range map[string]string{
		"node(s) had volume node affinity conflict":                "unschedulable-volume-elsewhere",
		"node(s) didn't match PersistentVolume's node affinity":    "unschedulable-volume-elsewhere",
		"node(s) had no available volume zone":                     "unschedulable-volume-elsewhere",
		"node(s) didn't find available persistent volumes to bind": "unschedulable-claim",
		"pod has unbound immediate PersistentVolumeClaims":         "unschedulable-claim",
		"node(s) did not have enough free storage":                 "unschedulable-claim",
		"node(s) exceed max volume count":                          "unschedulable-claim",
		"node(s) didn't match Pod's node affinity/selector":        "unschedulable-selector",
	} {
		if rule, _ := control.Judge(control.Unschedulable{Reasons: []control.Refusal{{Count: 3, Reason: reason}}}); rule.ID != want {
			t.Errorf("%q is judged %s; want %s", reason, rule.ID, want)
		}
	}
}

func TestOtherTextsAreNoSchedulerMessages(t *testing.T) {
	for _, text := range []string{"", "Back-off restarting failed container", "all 4 nodes joined", "predicates: Insufficient evidence (3)"} {
		if _, ok := control.ParseUnschedulable(text); ok {
			t.Errorf("%q was read as a scheduler's message", text)
		}
	}
}

func FuzzParseUnschedulable(f *testing.F) {
	f.Add("0/15 nodes are available: 10 node(s) didn't match Pod's node affinity/selector, 5 Insufficient nvidia.com/gpu. preemption: 0/15")
	f.Add(`persistentvolumeclaim "data" not found`)
	f.Fuzz(func(t *testing.T, message string) {
		u, ok := control.ParseUnschedulable(message)
		rule, _ := control.Judge(u)
		if rule == nil || (ok && u.Sentence() == "") {
			t.Fatalf("%q: rule %v, sentence %q", message, rule, u.Sentence())
		}
	})
}

func TestWhichReasonIsToBeLiftedIsNotAlwaysShown(t *testing.T) {
	for message, want := range map[string]bool{
		"0/3 nodes are available: 1 node(s) had untolerated taint {reserved: true}, 2 node(s) didn't match Pod's node affinity/selector.": true,
		"0/9 nodes are available: 2 node(s) did not have enough free storage, 7 node(s) had untolerated taint {pool: a}.":                 true,
		"0/9 nodes are available: 4 node(s) had untolerated taint {pool: a}, 5 node(s) had untolerated taint {pool: b}.":                  false,
		"0/15 nodes are available: 10 node(s) didn't match Pod's node affinity/selector, 5 Insufficient nvidia.com/gpu.":                  false,
		"0/14 nodes are available: 4 Insufficient nvidia.com/gpu, 7 node(s) had volume node affinity conflict.":                           true,
		"0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind.":                                            false,
		"Started container": false,
	} {
		if got := control.Undecided(message); got != want {
			t.Errorf("Undecided(%q) = %v, want %v", message, got, want)
		}
	}
}
