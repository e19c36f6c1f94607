package ground

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// A number is of a whole word, or of one of a longer name: "scheduling: 0" has nothing to do with "pending: 5".
func TestLabelsAreWholeWords(t *testing.T) {
	for text, want := range map[string]map[string][]string{
		"FailedScheduling: 0/9 nodes": {stem("scheduling"): {"0"}, stem("failedscheduling"): {"0"}},
		"data_time 4":                 {stem("data_time"): {"4"}, stem("time"): {"4"}},
		"pending: 5 of them":          {stem("pending"): {"5"}},
		"maxSkew 1":                   {stem("maxskew"): {"1"}, stem("skew"): {"1"}},
		"errno 28":                    {stem("errno"): {"28"}},
		"worker 3":                    {},
	} {
		if diff := cmp.Diff(want, labels(text)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", text, diff)
		}
	}
}

// What is called the cause is not what the rules took for a consequence.
func TestTheCauseIsNoConsequence(t *testing.T) {
	job := gang("run-1 (rank 1, node n1): another process holds the TPU\nanother process holds the TPU\nThe TPU is already in use by process with pid 4120", "1/t#8", "0/t#12",
		"1/t#8 RuntimeError: The TPU is already in use by process with pid 4120", "0/t#12 DEADLINE_EXCEEDED: Barrier timed out")
	for sentence, want := range map[string]outcome{
		"屏障超时是根本原因，TPU 被占用只是提示信息 [pod/run-0/t#12] [pod/run-1/t#8]。":                                                     dropped,
		"The barrier that timed out is the real cause, the TPU in use is only a hint [pod/run-0/t#12] [pod/run-1/t#8].": dropped,
		"TPU 被占用是根本原因，屏障超时是后果 [pod/run-0/t#12] [pod/run-1/t#8]。":                                                        published,
		"屏障超时不是根本原因 [pod/run-0/t#12] [pod/run-1/t#8]。":                                                                  published,
	} {
		if got := outcomeOf(Keep(Answer{Analysis: sentence}, job)); got != want {
			t.Errorf("%s: %v, want %v", sentence, got, want)
		}
	}
}

// What is shown apart is shown without its citations, of objects as well.
func TestACitationOfAnObjectIsNoWord(t *testing.T) {
	job := gang("run-1 (rank 1, node n1): the job has failed\nthe job has failed", "1/t#8", "0/t#12", "1/t#8 RuntimeError: bad", "0/t#12 RuntimeError: gone")
	job.Items = append(job.Items, evidence.Item{ID: "PodGroup/run/Unschedulable", Text: "PodGroup/run: Unschedulable: insufficient nvidia.com/gpu"})
	k := Keep(Answer{Analysis: "The group presumably waits for another one to end [PodGroup/run/Unschedulable]."}, job)
	if len(k.Unsupported) != 1 || strings.Contains(k.Unsupported[0], "[") {
		t.Errorf("shown apart: %q", k.Unsupported)
	}
}

// What a line demands is not shown as not demanded, and room is no memory.
func TestADemandIsNotDenied(t *testing.T) {
	const line = "Error creating: pods are forbidden: failed quota: team: must specify limits.cpu,limits.memory"
	quota := gang("the quota asks for limits that the pods don't set\nthe quota asks for limits that the pods don't set\n"+line, "0/t#2", "", "0/t#2 "+line)
	if got := outcomeOf(Keep(Answer{Analysis: "配额并不要求设置 limits.memory [pod/run-0/t#2]。"}, quota)); got == published {
		t.Error("a demand that a line has is shown as none")
	}
	if unreadHan("内存", "CUDA out of memory") || !unreadHan("内存", "the queue has no room") {
		t.Error("memory is read where the evidence has room, or not where it has memory")
	}
}
