package ground

import (
	"testing"
	"time"
)

// What a claim leaves open, supposes or makes of the rest it does not say to be so; what it says beside that it does.
func TestWhatIsLeftOpenIsNotAsserted(t *testing.T) {
	job := gang("run-2: the GPU ran out of memory (asked 2.00 GiB)\ngpu-oom", "2/t#2", "0/t#3",
		"2/t#1 step 40 loss 2.1", "2/t#2 torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", "0/t#3 RuntimeError: Connection closed by peer [10.0.0.2]:35227", "1/t#4 wrote sample 7")
	for so, not := range map[string]string{
		"Which tensor it was, be it a gradient, a buffer or an activation, does not follow from the line [pod/run-2/t#2].": "Which tensor it was does not follow from the line, but the job is healthy [pod/run-2/t#2].",
		"What exactly was allocated cannot be determined from this.":                                                       "What was allocated cannot be determined, the job completed successfully.",
		"run-1 wrote a sample, which suggests that the writer was healthy and simply slow [pod/run-1/t#4].":                "The job is healthy, which suggests that nothing needs to be done [pod/run-2/t#2].",
		"这些行没有说明最初是什么占用了显存 [pod/run-2/t#2]。":                                                                               "这些行没有说明是什么占用了显存，作业健康 [pod/run-2/t#2]。",
		"The run had been at step 40; what it waits for is a file called READY [pod/run-2/t#1].":                           "The run is at step 40 and everything is ready [pod/run-2/t#2].",
		"Sharding only works if all of the ranks take part, so this is no matter of one setting [pod/run-2/t#2].":          "All of the ranks work fine [pod/run-2/t#2].",
		"You can see it in the line: the allocation of 2.00 GiB failed [pod/run-2/t#2].":                                   "You can raise the limit of run-2 [pod/run-2/t#2].",
		"Up to step 40 all good, at least by the loss [pod/run-2/t#1].":                                                    "All good [pod/run-2/t#2].",
		"They must overlap in time [pod/run-0/t#3].":                                                                       "They must be restarted [pod/run-0/t#3].",
		"Start-up of run-2 was over by then, the 2.00 GiB were asked for at step 40 [pod/run-2/t#2] [pod/run-2/t#1].":      "Start run-2 over with 1.00 GiB [pod/run-2/t#2].",
	} {
		if k := Keep(Answer{Analysis: so}, job); outcomeOf(k) == dropped {
			t.Errorf("%s: is left out: %s", so, k.LeftOut())
		}
		if k := Keep(Answer{Analysis: not}, job); outcomeOf(k) != dropped {
			t.Errorf("%s: is shown: %s%v", not, k.Analysis, k.Unsupported)
		}
	}
}

// Numbers that evidence makes are looked for among those of their own kind.
func TestNumbersThatEvidenceMakes(t *testing.T) {
	job := gang("run-2: the GPU ran out of memory\ngpu-oom", "2/t#2", "",
		"2/t#2 CUDA out of memory: 60.97 GiB total capacity; 56.27 GiB already allocated at step 890", "2/t#1 step 880 of 12000, 31822 tokens in all", "2/t#3 rank      : 7 (local_rank: 3), exitcode  : 1 (pid: 188121)", `2/t#4 missing keys "a.b", "c.d", "e.f"`, "2/t#5 saved /ckpt/global_step1500 at 10:00:44,936", "2/t#6 anon-rss:43230644kB", "2/t#7 waited from 10:00:44 to 10:00:51")
	for so, not := range map[string]string{
		"PyTorch held roughly 92 % of the card [pod/run-2/t#2].":                     "PyTorch held roughly 71 % of the card [pod/run-2/t#2].",
		"Ten steps before that it was fine [pod/run-2/t#1].":                         "Eighty steps before that it was fine [pod/run-2/t#1].",
		"About 31.8k tokens had been seen [pod/run-2/t#1].":                          "About 41.8k tokens had been seen [pod/run-2/t#1].",
		"Rank 7 ended with exit code 1 and PID 188121 [pod/run-2/t#3].":              "Rank 3 ended with exit code 7 [pod/run-2/t#4].",
		"The allocated memory is 92.3 % of the capacity [pod/run-2/t#2].":            "The allocated memory is 98.1 % of the capacity [pod/run-2/t#2].",
		"Seven more seconds went by after 10:00:44 [pod/run-2/t#7].":                 "Twelve more seconds went by after 10:00:44 [pod/run-2/t#7].",
		"The three missing keys were looked up in vain [pod/run-2/t#4].":             "The nine missing keys were looked up in vain [pod/run-2/t#4].",
		"The process held some 41 GiB of the host's memory at that [pod/run-2/t#6].": "The process held some 67 GiB of the host's memory at that [pod/run-2/t#6].",
	} {
		if k := Keep(Answer{Analysis: so}, job); outcomeOf(k) == dropped {
			t.Errorf("%s: is left out: %s", so, k.LeftOut())
		}
		if k := Keep(Answer{Analysis: not}, job); outcomeOf(k) != dropped {
			t.Errorf("%s: is shown: %s%v", not, k.Analysis, k.Unsupported)
		}
	}
}

// What a claim takes back, what something is only for, and numbers in common are no assertions and no copies; beside each stands what is one.
func TestFormsThatAssertNoMore(t *testing.T) {
	job := gang("run-2: the host's memory was used up\nhost-oom-killed", "2/t#1", "0/t#2",
		"2/t#1 slurmstepd: error: Detected 1 oom_kill event. Some of the tasks have been OOM Killed.", "0/t#2 MisconfigurationException: You requested GPUs: [0]", "2/t#3 worker processes (pid(s) 3360242, 3361527, 3362405) exited",
		"0/t#4 INFO connected as rank 0 of 4", "1/t#5 Socket Timeout", "3/t#6 Socket Timeout")
	for i, seconds := range []int{0, 3, 3, 4, 8, 17} {
		job.Items[i].At = job.Items[0].At.Add(time.Duration(seconds) * time.Second)
	}
	for so, not := range map[string]string{
		"Power failures are a frequent reason, but nothing here shows it.":                                "Power failures are the reason here.",
		"Not the cause: a power failure.":                                                                 "The cause: a power failure.",
		"The kill on node n2 alone does not prove a leak [pod/run-2/t#1].":                                "run-2 lost GPU 5 [pod/run-2/t#1].",
		"GPU 0 was asked for [pod/run-0/t#2].":                                                            "GPU 1 was asked for [pod/run-0/t#2].",
		"Three worker processes exited at once: 3360242, 3361527 and 3362405 [pod/run-2/t#3].":            "Five worker processes exited at once: 3360242, 3361527 and 3362405 [pod/run-2/t#3].",
		"The others hit a socket timeout between 8 and 17 seconds later [pod/run-1/t#5] [pod/run-3/t#6].": "The others hit a socket timeout between 8 and 70 seconds later [pod/run-1/t#5] [pod/run-3/t#6].",
		"run-0 had connected as rank 0 of 4 before [pod/run-0/t#4].":                                      "run-0 had connected as rank 3 of 4 before [pod/run-0/t#4].",
	} {
		if k := Keep(Answer{Analysis: so}, job); outcomeOf(k) == dropped {
			t.Errorf("%s: is left out: %s", so, k.LeftOut())
		}
		if k := Keep(Answer{Analysis: not}, job); outcomeOf(k) != dropped {
			t.Errorf("%s: is shown: %s%v", not, k.Analysis, k.Unsupported)
		}
	}
	if k := Keep(Answer{Analysis: "没有任务被 OOM 终止 [pod/run-2/t#1]。"}, job); outcomeOf(k) == published {
		t.Errorf("a denial is shown as supported: %s", k.Analysis)
	}
}
