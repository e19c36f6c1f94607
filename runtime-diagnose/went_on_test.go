package diagnose_test

import (
	"strings"
	"testing"
)

// A log of which nothing else is known is of a failure where it ends with one: a process that goes on below what went
// wrong did not end for it.
func TestAProcessThatGoesOnHasNotFailed(t *testing.T) {
	const (
		start   = "2026-03-02 11:30:01,120 INFO    MainThread:77 [run.py:setup():10] reading the settings\n"
		hook    = "2026-03-02 11:30:02,120 ERROR   MainThread:77 [hook.py:save():45] Run pip install nbformat to save the history\n"
		memory  = "2026-03-02 11:30:02,120 ERROR   MainThread:77 [cache.py:warm():45] CUDA out of memory. Tried to allocate 2.00 GiB\n"
		records = "2026-03-02 11:30:03,120 INFO    MainThread:77 [run.py:a():46] history of the cell\n2026-03-02 11:30:04,121 INFO    MainThread:77 [run.py:b():47] summary of the cell\n" +
			"2026-03-02 11:30:05,122 INFO    MainThread:77 [run.py:c():48] files of the cell\n2026-03-02 11:30:06,123 INFO    MainThread:77 [run.py:d():49] kernel of the cell\n"
		three   = "2026-03-02 11:30:03,120 INFO    MainThread:77 [run.py:a():46] history of the cell\n2026-03-02 11:30:04,121 INFO    MainThread:77 [run.py:b():47] summary of the cell\n2026-03-02 11:30:05,122 INFO    MainThread:77 [run.py:c():48] files of the cell\n"
		others  = "INFO:launch:history of 3\nINFO:launch:summary of 3\nINFO:launch:files of 3\nINFO:launch:kernel of 3\n"
		inJSON  = `{"time":"2026-03-02T11:30:02.94Z","level":"ERROR","msg":"dialing: could not find default credentials"}` + "\n"
		goesOn  = `{"time":"2026-03-02T11:30:03.10Z","level":"INFO","msg":"stream: started"}` + "\n" + `{"time":"2026-03-02T11:30:03.11Z","level":"INFO","msg":"sender: started"}` + "\n"
		advice  = "Warning: When compiling code please add the following flags to nvcc:\n         -gencode arch=compute_35,code=[compute_35,sm_35] \\\n         -gencode arch=compute_61,code=[compute_61,sm_61] \n"
		driver  = "/lib/python3.12/site-packages/torch/cuda/__init__.py:141: UserWarning: CUDA initialization: The NVIDIA driver on your system is too old (found version 11040). Please update your GPU driver.\n  return torch._C._cuda_getDeviceCount() > 0\n"
		task    = "Task exception was never retrieved\nfuture: <Task finished name='Task-4' coro=<log() done> exception=OSError(95, 'Operation not supported')>\n"
		raised  = "Traceback (most recent call last):\n  File \"/app/serve.py\", line 9, in log\n    send()\nOSError: [Errno 95] Operation not supported\n"
		feeder  = "Traceback (most recent call last):\n  File \"/lib/python3.6/multiprocessing/queues.py\", line 240, in _feed\n    send_bytes(obj)\n  File \"/lib/python3.6/multiprocessing/connection.py\", line 368, in _send\n    n = write(self._handle, buf)\nBrokenPipeError: [Errno 32] Broken pipe\n"
		said    = "size mismatch for rpn_head.rpn_cls.weight: copying a param with shape torch.Size([3, 256, 1, 1]) from checkpoint, the shape in current model is torch.Size([5, 256, 1, 1]).\n"
		script  = "Math data skipped: Dataset scripts are no longer supported, but found proof-pile-2.py\n"
		results = "Average Precision (AP) = 0.407\nAverage Recall (AR) = 0.606\nresults saved to out.json\n"
		ended   = "03-04 18:04:37.187 - INFO: Saving the final model.\n03-04 18:04:37.203 - INFO: End of training.\n"
		feeds   = "Exception in thread Thread-133:\nTraceback (most recent call last):\n  File \"/lib/python3.8/threading.py\", line 932, in _bootstrap_inner\n    self.run()\nAssertionError: only in dynamic mode\n"
		both    = "Exception in thread Thread-7:\nTraceback (most recent call last):\n  File \"/lib/python3.8/threading.py\", line 932, in _bootstrap_inner\nException in thread Thread-8:\nTraceback (most recent call last):\n  File \"/lib/python3.8/threading.py\", line 932, in _bootstrap_inner\n    self.run()\n    self.run()\nAssertionError: only in dynamic mode\nAssertionError: only in dynamic mode\n"
		shell   = "/var/spool/job17/script: line 9: SBATCH: command not found\n"
		toBig   = "Traceback (most recent call last):\n  File \"t.py\", line 3, in <module>\n    y = model(x)\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
		noTorch = "Traceback (most recent call last):\n  File \"t.py\", line 1, in <module>\n    import torch\nModuleNotFoundError: No module named 'torch'\n"
		monitor = "(raylet) [2025-03-02 11:%d0:50,784 E 451 451] (raylet) file_system_monitor.cc:111: /tmp/ray/s1 is over 95%% full, available space: 15301181; object creation will fail if spilling is required.\n"
		order   = "slurmstepd: error: *** STEP 195.5 ON stellar CANCELLED AT 2025-04-09T19:38:15 DUE TO TIME LIMIT ***\n"
		quoted  = "no decoder on the card (cause below)\n[start of the cause]\nTraceback (most recent call last):\n  File \"/lib/site-packages/codec/load.py\", line 93, in load\n    open_library(path)\nFileNotFoundError: [Errno 2] No such file or directory: 'codec7.so'\n[end of the cause]; trying another one\n"
		bars    = "  0%|          | 0/1541 [00:00<?, ?it/s, class_loss=inf, total_loss=inf]"
	)
	bar5 := many("\rrun:  33%%|███▎      | 33%d/1000 [1:04:21<1:57:23, 10.50s/it]", 5)
	launch := "main.py: a package is old\nplease update it\n"
	failed := "Traceback (most recent call last):\n  File \"t.py\", line 3, in <module>\n    f = open(p)\nFileNotFoundError: [Errno 2] No such file or directory: '/data/a.bin'\n"
	for name, tc := range map[string]struct{ log, want string }{
		"an order to end the job, and three lines that count on by tens": {many("Epoch [1/70][%d0/2860] lr: 0.001, loss: 2.10\n", 9) + "slurmstepd: error: *** JOB 534 ON n1 CANCELLED AT 2025-06-13T11:30:52 ***\nEpoch [1/70][100/2860] lr: 0.001, loss: 2.00\nEpoch [1/70][110/2860] lr: 0.001, loss: 2.01\nEpoch [1/70][120/2860] lr: 0.001, loss: 2.02\n", "sigterm-preempted"},
		"a warning of any program's before its end":                      {"Selected 18800/56000 cells\n--> FOAM Warning : Field alpha.water not found\nEnd\nFinalising parallel run\n", "healthy"},
		"the same words, and no warning":                                 {"Selected 18800/56000 cells\n--> FOAM : Field alpha.water not found\nEnd\nFinalising parallel run\n", ""},
		"what completed successfully, but":                               {"Building DAG of jobs...\nJob 1 completed successfully, but some output files are missing. Missing files after 5 seconds. This might be due to filesystem latency.\nShutting down, this might take some time.\n", "file-not-found"},
		"what was only said, and results much later":                     {said + many("part %d of the data was read\n", 24) + results, "healthy"},
		"what was loaded does not fit, and the first step":               {said + "Backbone: resnet101\nEpoch 1/5\n" + strings.Repeat("\n", 60), ""},
		"what was loaded does not fit, and no step":                      {said + "Backbone: resnet101\nEpochs: 5\n", "checkpoint-corrupt-or-mismatch"},
		"that was raised, and the first step":                            {"Traceback (most recent call last):\n  File \"t.py\", line 3, in <module>\n    load(m)\nRuntimeError: " + said + "Epoch 1/5\n", "checkpoint-corrupt-or-mismatch"},
		"a row that complains itself":                                    {script + "Vocab size: 6\n  28 tokens: 'The causal effect of X.'\n  42 tokens: 'If one moves right.'\n  failed of tokens: 'Models of it.'\n", "dataset-error"},
		"what was raised, and results much later":                        {"Traceback (most recent call last):\n  File \"t.py\", line 3, in <module>\n    load(m)\nRuntimeError: " + said + many("part %d of the data was read\n", 24) + results, "checkpoint-corrupt-or-mismatch"},
		"records of its logger to the end":                               {start + hook + records, ""},
		"three records, as of one that cleans up":                        {start + hook + three, "missing-module"},
		"records of another logger":                                      {start + hook + others, "missing-module"},
		"a complaint among the records":                                  {start + hook + records + hook, "missing-module"},
		"an exception in a record, and eight records":                    {start + hook + raised + records + records, ""},
		"two exceptions in a record, and eight records":                  {start + hook + raised + "\nDuring handling of the above exception, another exception occurred:\n\n" + raised + records + records, ""},
		"lines that a warning goes on with":                              {advice + "Note: nothing is compiled now\n", ""},
		"the same below an error":                                        {strings.Replace(advice, "Warning", "Error", 1), "argument-or-config-error"},
		"an old driver, and what the program raises":                     {driver + "cpu\n" + raised, "storage-io"},
		"an old driver, and work without it":                             {driver + "cpu\nrows: 12\ncolumns: 3\n", ""},
		"an old driver, and a complaint":                                 {driver + "cpu\n    assert torch.cuda.is_available()\nAssertionError:\n", "cuda-driver-mismatch"},
		"an exception that ended the training, and eight":                {start + strings.Replace(hook, "Run pip", "Training failed: run pip", 1) + raised + records + records, "storage-io"},
		"an exception in a record, and four":                             {start + hook + raised + records, "storage-io"},
		"an exception in no record, and eight records":                   {start + raised + records + records, "storage-io"},
		"a later complaint, and records below":                           {start + hook + raised + records + memory + records + "done\n", "gpu-oom"},
		"NCCL's words of an error that is handed on":                     {"w1:8640:8763 [1] include/shm.h:28 NCCL WARN Call to posix_fallocate failed : No space left on device\n" + many("w1:8640:8763 [1] NCCL INFO channel.cc:%d is set up\n", 9), "shm-exhausted"},
		"records of JSON":                                                {inJSON + goesOn + goesOn, ""},
		"two records of JSON":                                            {inJSON + goesOn, "permission-denied"},
		"memory, and four records":                                       {start + memory + records, "gpu-oom"},
		"memory, and eight records":                                      {start + memory + records + records, ""},
		"a task that nobody waits for, and words below":                  {"INFO:     Shutting down\n" + task + raised + "INFO:     Application shutdown complete.\n", ""},
		"a task that nobody waits for, at the end":                       {"INFO:     Shutting down\n" + task + raised, "storage-io"},
		"a queue whose reader has gone, and the end":                     {feeder + many("Epoch 1 lr : 0.%d is next\n", 1) + "Summary: loss 7.1\nExperiment ended\n", ""},
		"the same in the main thread":                                    {strings.Replace(feeder, "in _feed", "in put", 1) + "Summary: loss 7.1\nExperiment ended\n", "nccl-timeout"},
		"what is raised where somebody waits":                            {"INFO:     Shutting down\n" + raised + "INFO:     Application shutdown complete.\n", "storage-io"},
		"a launch that has begun below one that failed":                  {launch + failed + launch + "a: 1\nb: 2\nc: 3\nd: 4\ne: 5\n", ""},
		"one of which the first lines are there":                         {launch + failed + launch + "a: 1\n", "file-not-found"},
		"a minimum before the first step of a bar":                       {bars + "\r 99%|█████████▉| 1540/1541 [03:26<00:00,  7.45it/s, class_loss=0.09, total_loss=0.33]\nMean Average Precision = 56.64%\n", "healthy"},
		"a run that somebody interrupted, and its last words":            {trained(5) + "11:30:01 INFO Training interrupted by user. Saving checkpoint...\n11:30:02 INFO Checkpoint saved. Exiting.\n", "sigterm-preempted"},
		"one that went on later":                                         {trained(5) + "11:30:01 INFO Training interrupted by user. Saving checkpoint...\n11:30:02 INFO Checkpoint saved. Exiting.\n" + trained(5), "healthy"},
		"a level that complains of nothing, and the end":                 {"INFO:__main__:data loaded\nCRITICAL:__main__:Starting to tune\nINFO:__main__:model and tokenizer saved to results\n", "healthy"},
		"a level that complains of nothing, and no end":                  {"INFO:__main__:data loaded\nCRITICAL:__main__:Starting to tune\nINFO:__main__:model and tokenizer of 7\n", "python-exception-user-code"},
		"one that complains, and the end":                                {"INFO:__main__:data loaded\nCRITICAL:__main__:cannot tune\nINFO:__main__:model and tokenizer saved to results\n", "python-exception-user-code"},
		"what announces an exception that Ray hands on": {many("step:%d - loss:2.5\n", 9) + "Error executing job with overrides: ['model.tensor_model_parallel_size=1']\nTraceback (most recent call last):\n  File \"/app/main.py\", line 46, in main\n    run(config)\n" +
			"ray.exceptions.RayTaskError(ActorUnavailableError): ray::TaskRunner.run() (pid=62, ip=192.168.77.17, actor_id=1cc7)\n  File \"/app/main.py\", line 95, in run\n    trainer.fit()\nray.exceptions.ActorUnavailableError: The actor d5a1 is unavailable: The actor is temporarily unavailable: RpcError: RPC error: Socket closed rpc_code: 14.\n", "ray-actor-died"},
		"what a library quotes, and results":               {quoted + many("part %d of the data was read\n", 24) + "MAE 6.375 over 16 videos\nresults saved to out.csv\n", "healthy"},
		"what ended a process, and results":                {strings.Replace(quoted, "in load", "in <module>", 1) + many("part %d of the data was read\n", 24) + "MAE 6.375 over 16 videos\nresults saved to out.csv\n", "file-not-found"},
		"what a library quotes, and an error":              {quoted + many("part %d of the data was read\n", 24) + "clip 1   3 / 4  (err: no more)\nMAE 6.375 over 16 videos\nresults saved to out.csv\n", "file-not-found"},
		"orders behind bars, to the last line":             {bar5 + order + order + bar5 + order, "sigterm-preempted"},
		"a minimum of nothing":                             {"Best model found at epoch 0, Val Loss: inf, AUC: 0.00%\nDone\n", ""},
		"a minimum beside a loss that is none":             {"Val loss: inf, best loss: inf\nDone\n", "nan-loss"},
		"a minimum that is no number":                      {"Best model found at epoch 0, Val Loss: nan, AUC: 0.00%\nDone\n", "nan-loss"},
		"a loss that is none where a bar has begun":        {strings.Replace(bars, " 0/", " 9/", 1) + "\n", "nan-loss"},
		"a thread below the end of the training":           {trained(5) + ended + feeds, "healthy"},
		"two threads, and then the main one":               {trained(5) + ended + both + toBig, "gpu-oom"},
		"a thread in the training":                         {trained(5) + feeds, "python-exception-user-code"},
		"the main thread below the end of the training":    {trained(5) + ended + strings.Replace(feeds, "Exception in thread Thread-133:\n", "", 1), "python-exception-user-code"},
		"a script that goes on, and memory":                {shell + "batch 1 is read\n" + toBig, "gpu-oom"},
		"a script that goes on, and a package":             {shell + "batch 1 is read\n" + noTorch, "argument-or-config-error"},
		"counts of nothing at the end":                     {"ERROR 08-13 08:08:59 [info.py:91] Failed to detect devices: [Errno 2] No such file or directory: '/dev/vfio'\n" + many("part %d is read\n", 30) + "[run] exit=0\n[run] rc=0 report=0 timeout=0\n[run] PASS\n[entrypoint] done\n", "healthy"},
		"counts of something at the end":                   {"ERROR 08-13 08:08:59 [info.py:91] Failed to detect devices: [Errno 2] No such file or directory: '/dev/vfio'\n" + many("part %d is read\n", 30) + "[run] exit=0\n[run] rc=0 report=0 timeout=2\n[run] PASS\n[entrypoint] done\n", "file-not-found"},
		"a daemon that measures the same thrice":           {"the actors are there\n" + many(monitor, 3), ""},
		"a daemon that says it once":                       {"the actors are there\n" + many(monitor, 1), "python-exception-user-code"},
		"a batch system's word of an owner":                {"part 1 is fitted\nTERM_OWNER: job killed by owner.\nExited with exit code 143.\n", "sigterm-preempted"},
		"a launcher's code of a signal":                    {"part 1 is fitted\n[main-0] terminated with exit code (143).\n", "sigterm-preempted"},
		"that code, and words below":                       {"part 1 is fitted\nExited with exit code 143.\nCPU time : 17118 sec.\nMax Memory : 29747 MB\nRun time : 3384 sec.\n", "sigterm-preempted"},
		"a code that is no signal":                         {"part 1 is fitted\nExited with exit code 13.\n", "python-exception-user-code"},
		"values of an environment that hold a word or two": {"environ({'SHELL': '/bin/bash', " + strings.Repeat("'COLAB_ADDR': '172.28.0.1:8011', ", 80) + "'ON_ERROR': 'invalid option'})\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if r := read(t, "", strings.NewReader(tc.log)); string(r.Category) != tc.want {
				t.Errorf("category is %q, want %q; %s", r.Category, tc.want, r.Verdict)
			}
		})
	}
}
