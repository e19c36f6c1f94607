package ground

import (
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// What is worked out of the evidence, what it has not, and what stands beside it in time: each form stands beside one that differs from it by what
// is false, which is not shown.
func TestWhatIsWorkedOutAndWhatIsNotThere(t *testing.T) {
	shard := gang("run-3: a file or folder is missing", "3/t#2", "0/t#2", "3/t#1 2026-11-22 05:00:00,450 WARNING [rank3] train: attempt 1 of 2: [Errno 2] No such file or directory: '/l/s-3'", "3/t#2 2026-11-22 05:00:01,169 WARNING [rank3] train: attempt 2 of 2: [Errno 2] No such file or directory: '/l/s-3'",
		"0/t#1 2026-11-22 05:00:02,001 INFO [rank0] train: joining as rank 0 of 4", "0/t#2 RuntimeError: Socket Timeout")
	shard.Items[1].At = shard.Items[0].At.Add(714 * time.Millisecond)
	deadline := gang("run-0: the job ran longer than its deadline allows", "0/t#1", "0/t#2", "0/t#1 job run: activeDeadlineSeconds 14400, backoffLimit 0", "0/t#2 Steps:  87%|████ | 10496/12000 [3:59:50<34:22,  1.37s/it, loss=0.094]")
	probe := gang("run-0: the liveness probe failed and the kubelet ended the container", "0/t#3", "", "0/t#1 2026-11-22T06:58:20.431Z INFO building the index of 1,914,200 utterances, this blocks", "0/t#2 2026-11-22T06:59:51.020Z WARNING received SIGTERM, shutting down",
		`0/t#3 Liveness probe failed: Get "http://10.8.4.21:8080/healthz": context deadline exceeded (3 times), see http://evil.example/healthz`)
	probe.Items[0].At, probe.Items[1].At = time.Time{}, time.Time{}
	full := gang("run-0: the disk is full", "0/t#1", "", "0/t#1 /tmp/ray is over 95% full, available space: 3.1 GB; capacity: 107.3 GB. The object cannot be created because the local object store is full.")
	files := gang("run-1: the process has too many files open", "1/t#2", "0/t#2", "1/t#1 WARNING 1009 files are open, limit is 1024", "1/t#2 OSError: [Errno 24] Too many open files: '/d/c.mp4'", "0/t#1 epoch 2 loss 0.4410", "0/t#2 RuntimeError: Connection closed by peer")
	files.Items[1].At = files.Items[0].At.Add(37 * time.Second)
	for _, of := range []struct {
		shown   Shown
		so, not string
	}{
		{shard, `No "joining as rank 3" was logged.`, `No "joining as rank 0" was logged.`},
		{shard, "Two attempts within 0.8 s, all ENOENT [pod/run-3/t#1] [pod/run-3/t#2].", "Two attempts within 0.2 s, all ENOENT [pod/run-3/t#1] [pod/run-3/t#2]."},
		{shard, "Rank 0 met a Socket Timeout, a consequence of the missing rank 3 [pod/run-0/t#2].", "Rank 0 met a Socket Timeout, a consequence of the missing rank 2 [pod/run-0/t#2]."},
		{deadline, "By then the training had completed 10496 of 12000 steps [pod/run-0/t#2].", "By then the training had completed 12000 of 12000 steps [pod/run-0/t#2]."},
		{probe, "Sequence: 06:58:20 index build starts; 06:59:51 SIGTERM received [pod/run-0/t#1] [pod/run-0/t#2].", "Sequence: 06:58:20 index build starts; 06:59:57 SIGTERM received [pod/run-0/t#1] [pod/run-0/t#2]."},
		{probe, "The probe of http://10.8.4.21:8080/healthz failed three times [pod/run-0/t#3].", "The probe of http://evil.example/healthz failed three times [pod/run-0/t#3]."},
		{full, "The disk has run full, whereby the program could not create the object any more [pod/run-0/t#1].", "The object was created, then the disk ran full [pod/run-0/t#1]."},
		{full, "Only 3.1 GB of 107.3 GB were free, this is less than 5 % [pod/run-0/t#1].", "Only 3.1 GB of 107.3 GB were free, this is less than 2 % [pod/run-0/t#1]."},
		{files, "大约 37 秒之前，该进程已经警告：打开了 1009 个文件 [pod/run-1/t#1] [pod/run-1/t#2]。", "大约 95 秒之前，该进程已经警告：打开了 1009 个文件 [pod/run-1/t#1] [pod/run-1/t#2]。"},
		{files, "出错之前训练正常，loss 为 0.4410 [pod/run-0/t#1]。", "出错之后训练正常，loss 为 0.4410 [pod/run-0/t#1]。"},
		{files, "The program must probably open a file for each clip [pod/run-1/t#2].", "The operator must open fewer files [pod/run-1/t#2]."},
	} {
		if k := Keep(Answer{Analysis: of.so}, of.shown); outcomeOf(k) == dropped {
			t.Errorf("%s: is left out: %s", of.so, k.LeftOut())
		}
		if k := Keep(Answer{Analysis: of.not}, of.shown); outcomeOf(k) != dropped {
			t.Errorf("%s: is shown: %s%v", of.not, k.Analysis, k.Unsupported)
		}
	}
}

// A step that has no other words than an offered one, and the names of what failed, is that one; its contrary is none.
func TestStepsInOtherWords(t *testing.T) {
	s := Shown{
		Items: []evidence.Item{{ID: "pod/w-0/t#1", Text: "KeyError: 'SHARDS_PER_NODE'", Source: evidence.Source{Pod: "w-0", Rank: -1}}}, Root: []evidence.ID{"pod/w-0/t#1"}, Says: "an environment variable is not set",
		Remedies: []string{"Set the variable in the pod template, or give the program a default.", "Close files after reading, or raise the limit (ulimit -n).", "Checkpoint more often, so that less is lost."},
	}
	for step, want := range map[string]string{
		"Set SHARDS_PER_NODE in the pod template of the worker, or give it a default in the program.": "1. " + s.Remedies[0],
		"建议：读完后关闭文件，或者提高 ulimit -n 的上限。":                                                              "1. " + s.Remedies[1],
		"Set OTHER_NAME in the pod template of the worker, or give it a default in the program.":      "",
		"Remove SHARDS_PER_NODE from the pod template, or give it a default in the program.":          "",
		"Checkpoint less often, so that more is lost.":                                                "",
		"不要关闭文件，也不要提高 ulimit -n 的上限。":                                                                 "",
	} {
		if k := Keep(Answer{Solution: step}, s); k.Solution != want {
			t.Errorf("%s: is %q, want %q", step, k.Solution, want)
		}
	}
}
