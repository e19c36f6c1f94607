package ground

import (
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// Members are called by the end of their names, by their numbers, in lists and in ranges; times by what lies between them and to the digits that are
// told. Each form stands beside one that is false: that is never published, and what is said of a wrong member not shown at all.
func TestMembersByTheEndOfTheirNames(t *testing.T) {
	at := time.Date(2026, 11, 22, 5, 20, 28, 436e6, time.UTC)
	item := func(id, pod, node, text string, after time.Duration) evidence.Item {
		i := evidence.Item{ID: evidence.ID(id), Text: text, Source: evidence.Source{Pod: pod, Node: node, Rank: -1}}
		if after >= 0 {
			i.At = at.Add(after)
		}
		return i
	}
	s := Shown{
		Says: "fused-worker-10 (node n7): killed (SIGKILL), without an out-of-memory report (exit code 137)\nhost-oom-killed",
		Root: []evidence.ID{"pod/fused-worker-10/t/exit"}, Effects: []evidence.ID{"pod/fused-worker-9/t#2", "pod/fused-worker-11/t#2", "pod/fused-worker-12/t#2"},
		Names: []string{"", "fused-worker-9", "n6", "fused-worker-10", "n7", "fused-worker-11", "n8", "fused-worker-12", "n9"},
		Items: []evidence.Item{
			item("pod/fused-worker-10/t/exit", "fused-worker-10", "n7", "container t ended: exit code 137", 0),
			item("pod/fused-worker-9/t#2", "fused-worker-9", "n6", "RuntimeError: Connection reset by peer", 106*time.Millisecond),
			item("pod/fused-worker-11/t#2", "fused-worker-11", "n8", "RuntimeError: Connection reset by peer", 2464*time.Millisecond),
			item("pod/fused-worker-12/t#2", "fused-worker-12", "n9", "RuntimeError: Connection reset by peer", 2464*time.Millisecond),
		},
	}
	const exit, nine, eleven, twelve = "[pod/fused-worker-10/t/exit]", "[pod/fused-worker-9/t#2]", "[pod/fused-worker-11/t#2]", "[pod/fused-worker-12/t#2]"
	for so, not := range map[string]string{
		"worker-9 and worker-11 saw their connections reset " + nine + " " + eleven + ".":  "worker-9 and worker-11 were killed with exit code 137 " + nine + " " + eleven + " " + exit + ".",
		"worker-10 ended with exit code 137 " + exit + ".":                                 "worker-12 ended with exit code 137 " + exit + " " + twelve + ".",
		"Pods 9 and 11-12 saw a reset connection " + nine + " " + eleven + ".":             "Pods 9 to 12 saw a reset connection " + nine + " " + eleven + " " + twelve + ".",
		"fused-worker-10 on n7 ended with exit code 137 " + exit + ".":                     "fused-worker-10 on n8 ended with exit code 137 " + exit + " " + eleven + ".",
		"worker-9 (n6) and worker-11 (n8) saw a reset " + nine + " " + eleven + ".":        "worker-9 (n8) and worker-11 (n6) saw a reset " + nine + " " + eleven + ".",
		"The connection of worker-9 was reset 106 ms later " + nine + ".":                  "The connection of worker-9 was reset 560 ms later " + nine + ".",
		"The connection of worker-11 was reset 2.5 s later " + eleven + ".":                "The connection of worker-11 was reset 1.9 s later " + eleven + ".",
		"worker-10 ended at 05:20:28.4 " + exit + ".":                                      "worker-10 ended at 05:20:28.7 " + exit + ".",
		"约 0.1 秒后，worker-9 的连接被重置 " + nine + "。":                                           "约 1.9 秒后，worker-9 的连接被重置 " + nine + "。",
		"Pods 11 and 12 are therefore victims rather than causes " + eleven + twelve + ".": "Pods 11 and 12 were killed with exit code 137 " + exit + eleven + twelve + ".",
	} {
		if k := Keep(Answer{Analysis: so}, s); outcomeOf(k) == dropped {
			t.Errorf("%s: is left out: %s", so, k.LeftOut())
		}
		if k := Keep(Answer{Analysis: not}, s); outcomeOf(k) != dropped {
			t.Errorf("%s: is shown: %s%v", not, k.Analysis, k.Unsupported)
		}
	}
	s.Names[len(s.Names)-1], s.Items[3].Source.Node = "h100-2", "h100-2"
	if k := Keep(Answer{Analysis: "Somebody else's jobs on node h100-9 hold them " + twelve + "."}, s); outcomeOf(k) != dropped {
		t.Errorf("a node that was not read is shown: %s%v", k.Analysis, k.Unsupported)
	}
	if k := Keep(Answer{Analysis: "28 workers saw a reset connection " + nine + "."}, s); outcomeOf(k) != dropped {
		t.Errorf("the seconds of a time count nothing: %s%v", k.Analysis, k.Unsupported)
	}
}

// A "not" that stands apart from what it turns round, a word with a beginning that turns it round, a code below zero, a server that answered: each
// claim says the contrary of its evidence in the words of that.
func TestContrariesInTheWordsOfTheEvidence(t *testing.T) {
	key := gang("run-0: the program does not know a value it was given", "0/t#1", "", "0/t#1 ValueError: unknown configuration key 'batch_size'; known keys: ['batch', 'data', 'dim']")
	crash := gang("run-0: native code crashed", "0/t#1", "", "0/t#1 Fatal Python error: Segmentation fault")
	label := gang("run-0: an exception of the program (type KeyError)", "0/t#1", "", "0/t#1 KeyError: 'mixed'")
	mount := gang("run-0: a volume cannot be mounted", "0/t#1", "", "0/t#1 mount.nfs: access denied by server while mounting 10.0.0.9:/export")
	code := gang("run-0: a rank was killed with SIGKILL", "0/t#1", "", "0/t#1 ERROR: failed (exitcode: -9) local_rank: 1 (pid: 16) of binary: /usr/bin/python3.11")
	memory := gang("run-0: the GPU ran out of memory", "0/t#1", "", "0/t#1 torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.21 GiB is free.")
	for sentence, s := range map[string]Shown{
		"'batch_size' is a known configuration key [pod/run-0/t#1].":           key,
		"run-0 没有发生段错误 [pod/run-0/t#1]。":                                       crash,
		"run-0 没有抛出 KeyError [pod/run-0/t#1]。":                                 label,
		"The server did not respond to the mount [pod/run-0/t#1].":             mount,
		"run-0 ended with exit code -1 [pod/run-0/t#1].":                       code,
		"run-0 以退出码 -1 结束 [pod/run-0/t#1]。":                                    code,
		"It tried to allocate 2 GiB (2048 GiB) [pod/run-0/t#1].":               memory,
		"None of the 3 nodes lacks memory [pod/run-0/t#1].":                    memory,
		"The run did not run out of memory; it was stopped [pod/run-0/t#1].":   memory,
		"并非显存不足，而是被停止 [pod/run-0/t#1]。":                                        memory,
		"About 3.4 GiB lay between what was asked and free [pod/run-0/t#1].":   memory,
		"The configuration knows batch_size but not 'batch' [pod/run-0/t#1].":  key,
		"The program was given the known key 'batch_size' [pod/run-0/t#1].":    key,
		"退出码 16 [pod/run-0/t#1]。":                                              code,
		"The file registry.evil.io/x/y:1 has to be opened [pod/run-0/t#1].":    memory,
		"The image registry.evil.io/ml/x:1 holds the program [pod/run-0/t#1].": memory,
	} {
		if k := Keep(Answer{Analysis: sentence}, s); outcomeOf(k) == published || outcomeOf(k) == apart && s.Items[0].Text == crash.Items[0].Text {
			t.Errorf("%s: is shown: %s%v", sentence, k.Analysis, k.Unsupported)
		}
	}
}

// What is worked out from the evidence or says in other words what it says is not left out.
func TestOtherFormsAreNotLeftOut(t *testing.T) {
	full := gang("run-0: not enough free GPUs: of 8 nodes 8 lack nvidia.com/gpu", "0/t#1", "", "0/t#1 0/8 nodes are available: 8 Insufficient nvidia.com/gpu.")
	evicted := gang("run-0: the kubelet evicted the pod", "0/t#1", "", "0/t#1 Evicted: The node was low on resource: ephemeral-storage. Threshold quantity: 53687091200, available: 48211Mi. Container main was using 212Gi, request is 0.")
	image := gang("run-0: the image cannot be pulled (image registry.example.com/ml/train:2026.2)", "0/t#1", "", `0/t#1 container t waits: ImagePullBackOff: Back-off pulling image "registry.example.com/ml/train:2026.2"`)
	stage := gang("run-0: the GPU ran out of memory", "0/t#3", "", "0/t#1 Stage 1 training finished", "0/t#2 starting stage 2", "0/t#3 torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.21 GiB is free.")
	stuck := gang("run-0: a collective did not finish before the watchdog gave up", "0/t#1", "", "0/t#1 WorkNCCL(SeqNum=4, OpType=ALLTOALL_BASE, Timeout(ms)=1800000) ran for 1800009 milliseconds before timing out")
	stopped := gang("run-0: the run was told to stop (signal 15)", "0/t#1", "", "0/t#1 WARNING: Received 15 death signal, shutting down workers")
	hub := gang("run-0: the model hub refused access", "0/t#1", "", "0/t#1 GatedRepoError: 403 Client Error. Cannot access gated repo for url https://huggingface.co/acme/base")
	preempted := gang("run-0: preempted by PyTorchJob prod/urgent (priority 100000), and without a node since", "0/t#1", "", "0/t#1 pod run-0: Unschedulable: 0/3 nodes are available: 3 Insufficient nvidia.com/gpu. preemption: 0/3 nodes are available")
	sent := gang("run-0: native code crashed", "0/t#1", "1/t#3", "0/t#1 traceback : Signal 11 (SIGSEGV) received by PID 15", "0/t#2 WARNING:torch.distributed.elastic.multiprocessing.api:Sending process 16 closing signal SIGTERM", "1/t#3 RuntimeError: Connection reset by peer", "2/t#3 RuntimeError: Connection reset by peer", "0/t#4 Epoch 5 | Training snapshot saved at /shared/snapshot.pt")
	for i := range sent.Items {
		sent.Items[i].At = sent.Items[0].At.Add(time.Duration(i*4) * time.Second)
	}
	snap := gang("run-0: a rank was killed with SIGKILL", "0/t#1", "", "0/t#1 ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -9) local_rank: 1 (pid: 16) of binary: /usr/bin/python3.11", "0/t#2 Epoch 5 | Training snapshot saved at /shared/snapshot.pt")
	write := gang("run-0: there is no space left", "0/t#1", "", "0/t#1 RuntimeError: unexpected pos 12238272 vs 12238160")
	for sentence, s := range map[string]Shown{
		"run-0 是被优先级 100000 的 PyTorchJob prod/urgent 抢占的 [pod/run-0/t#1]。":                              preempted,
		"torchrun sent SIGTERM to the sibling process 16 [pod/run-0/t#2] [pod/run-0/t#1].":              sent,
		"Between the crash and the reset 8 seconds passed [pod/run-0/t#1] [pod/run-1/t#3].":             sent,
		"It took less than 8.5 seconds until the connection was reset [pod/run-1/t#3].":                 sent,
		"run-0 被 SIGKILL，此前最后一个快照（epoch 5）已保存 [pod/run-0/t#1] [pod/run-0/t#2]。":                         snap,
		"The writer was at position 12238272 where it expected 12238160 [pod/run-0/t#1].":               write,
		"Not one of the eight nodes has enough free nvidia.com/gpu [pod/run-0/t#1].":                    full,
		"About 47 GiB were left, below the threshold of 50 GiB [pod/run-0/t#1].":                        evicted,
		"Its container main used 212 GiB while it requested none [pod/run-0/t#1].":                      evicted,
		"The image registry.example.com/ml/train:2026.2 can't be pulled [pod/run-0/t#1].":               image,
		"Stage 1 completed, stage 2 ran out of memory [pod/run-0/t#1] [pod/run-0/t#2] [pod/run-0/t#3].": stage,
		"2 GiB (2048 MiB) were requested, 1.21 GiB of 79.15 GiB were free [pod/run-0/t#3].":             stage,
		"About 0.79 GiB were missing [pod/run-0/t#3].":                                                  stage,
		"GPU 总容量 79.15 GiB，空闲 1.21 GiB [pod/run-0/t#3]。":                                                stage,
		"The collective 4, an ALLTOALL_BASE, hit its 30-minute timeout [pod/run-0/t#1].":                stuck,
		"The run did not crash; it was told to stop by signal 15 [pod/run-0/t#1].":                      stopped,
		"任务并非自身出错，而是收到信号 15 后被停止 [pod/run-0/t#1]。":                                                      stopped,
		"run-0 访问受限仓库 acme/base 时被拒绝（HTTP 403）[pod/run-0/t#1]。":                                         hub,
		"The launcher received the death signal 15 [pod/run-0/t#1].":                                    stopped,
	} {
		if k := Keep(Answer{Analysis: sentence}, s); outcomeOf(k) == dropped {
			t.Errorf("%s: is left out: %s", sentence, k.LeftOut())
		}
	}
}
