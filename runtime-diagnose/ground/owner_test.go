package ground

import "testing"

// Memory is of what the line speaks of that tells of it: that of a GPU is none of the container or the node, and a limit of the container is none of a
// GPU. A name is none of a longer one, though all its letters stand in it. What a line denies besides does not take from what it says.
func TestWhatIsSaidOfAnOwner(t *testing.T) {
	gpu := gang("run-1 (node n1): the GPU ran out of memory", "1/t#1", "1/t/exit", "1/t#1 torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", "1/t/exit container t ended: exit code 1")
	limit := gang("run-1 (node n1): the container went over its memory limit (exit code 137)", "1/t/exit", "", "1/t/exit container t ended: exit code 137, reason OOMKilled")
	module := gang("run-1 (node n1): a Python package is not installed (module apex)", "1/t#1", "", "1/t#1 ModuleNotFoundError: No module named 'apex'")
	module.Items[0].Source.Container = "pytorch"
	rule := gang("run-1 (node n1): a policy ended the job", "1/t#1", "", "1/t#1 exit code 1 matches FailJob (index 1)")
	pool := gang("run-1 (node n1): the GPU driver had no memory left", "1/t#7", "", "1/t#5 eval_pool got: step=1 0:00:02", "1/t#7 Error: Out of memory. Requested 1070; Free 1010")
	exit := gang("run-0 (node n0): ended with an unusual code (exit code 7)", "0/t/exit", "", "0/t#3 run 4711 leaves", "0/t/exit container t ended: exit code 7")
	resumed := gang("run-1 (node n1): the loss is not finite", "1/t#2", "", "1/t#1 resumed at step 4000, not at step 5000", "1/t#2 loss nan")
	for want, sentences := range map[outcome]map[string]Shown{
		published: {
			"run-1 ran out of GPU memory [pod/run-1/t#1].":             gpu,
			"The container ran out of memory [pod/run-1/t/exit].":      limit,
			"No module named 'apex' [pod/run-1/t#1].":                  module,
			"The container ended with exit code 7 [pod/run-0/t/exit].": exit,
			"容器以退出码 7 结束 [pod/run-0/t/exit]。":                          exit,
			"run-1 resumed at step 4000 [pod/run-1/t#1].":              resumed,
		},
		apart: {
			"No module named 'torch' [pod/run-1/t#1].":                                             module,
			"The node ran out of memory [pod/run-1/t#1].":                                          gpu,
			"The node ended with exit code 7 [pod/run-0/t/exit].":                                  exit,
			"The container ran out of memory [pod/run-1/t#1] [pod/run-1/t/exit].":                  gpu,
			"CUDA ran out of memory [pod/run-1/t/exit].":                                           limit,
			"The machine ran out of memory [pod/run-1/t/exit].":                                    limit,
			"主机内存不足 [pod/run-1/t/exit]。":                                                           limit,
			"Exit code `1` → `FailJob` (index `1`) by the policy [pod/run-1/t#1].":                 rule,
			"Somebody who uses InfiniBand would see the same [pod/run-1/t#1].":                     gpu,
			"The pool was ready at step 1, before memory ran out [pod/run-1/t#5] [pod/run-1/t#7].": pool,
		},
	} {
		for sentence, s := range sentences {
			if k := Keep(Answer{Analysis: sentence}, s); outcomeOf(k) != want {
				t.Errorf("%s: is %d, want %d (0 published, 1 apart, 2 dropped): %s", sentence, outcomeOf(k), want, k.LeftOut())
			}
		}
	}
}

// A clause that names nobody is of who was named before it, whosever line has its words.
func TestAClauseThatNamesNobody(t *testing.T) {
	job := gang("run-2 (rank 2, node n2): a file is missing\na file is missing\nFileNotFoundError: [Errno 2] No such file or directory: '/data/part-0007.tar'", "2/t#3", "0/t#4",
		"2/t#1 loaded shard part-0003 (412 MB)", "2/t#3 FileNotFoundError: [Errno 2] No such file or directory: '/data/part-0007.tar'", "0/t#1 loaded shard part-0001 (398 MB)", "0/t#4 RuntimeError: Connection closed by peer",
		"0/t/exit container t ended: exit code 143", "2/t/exit container t ended: exit code 1", "1/t#2 listening on port 29500", "1/t/exit container t ended: exit code 15")
	job.Effects = append(job.Effects, "pod/run-0/t/exit", "pod/run-2/t/exit")
	for sentence, want := range map[string]outcome{
		"run-0 loaded shard part-0001, and its container ended with exit code 143 [pod/run-0/t#1] [pod/run-0/t/exit].":     published,
		"run-0 loaded shard part-0001, and its container ended with exit code 1 [pod/run-0/t#1] [pod/run-2/t/exit].":       apart,
		"run-0 loaded shard part-0001, and run-2 ended with exit code 1 [pod/run-0/t#1] [pod/run-2/t/exit].":               published,
		"run-0 loaded shard part-0001 and got a FileNotFoundError [pod/run-0/t#1] [pod/run-2/t#3].":                        apart,
		"run-1 was listening on port 29500, and its container ended with exit code 15 [pod/run-1/t#2] [pod/run-1/t/exit].": published,
		"run-1 was listening on port 29500, and the container ended with exit code 1 [pod/run-1/t#2] [pod/run-2/t/exit].":  apart,
		"run-0 加载了 shard part-0001，容器 t 以退出码 143 结束 [pod/run-0/t#1] [pod/run-0/t/exit]。":                                   published,
		"run-0 加载了 shard part-0001，容器 t 以退出码 1 结束 [pod/run-0/t#1] [pod/run-2/t/exit]。":                                     apart,
	} {
		if got := outcomeOf(Keep(Answer{Analysis: sentence}, job)); got != want {
			t.Errorf("%s: %v, want %v", sentence, got, want)
		}
	}
}
