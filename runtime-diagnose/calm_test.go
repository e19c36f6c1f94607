package diagnose_test

import (
	"fmt"
	"strings"
	"testing"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// A program that ends with what it did or found, and complains of nothing, has run well, whether or not it counted.
// Said anywhere else, the same words are of a part of it.
func TestTheLastWordsOfARunWithoutComplaint(t *testing.T) {
	const warning = "WARNING 06-25 16:32:09 [import_utils.py:408] Traceback (most recent call last):\nWARNING 06-25 16:32:09 [import_utils.py:408]   File \"/lib/a.py\", line 16, in <module>\n" +
		"WARNING 06-25 16:32:09 [import_utils.py:408] ImportError: libnvrtc.so.13: cannot open shared object file: No such file or directory\n"
	const pushed = "INFO:root:epoch=0 batch=100 loss=2.30\nERROR:root:could not push metrics to http://pushgateway:9091: HTTPConnectionPool(host='pushgateway', port=9091): Max retries exceeded with url: /metrics/job/train\n"
	const steps = "INFO:root:epoch=0 batch=200 loss=2.11\nINFO:root:epoch=0 batch=300 loss=2.02\nINFO:root:epoch=1 batch=100 loss=1.88\nINFO:root:epoch=1 batch=200 loss=1.79\n"
	const raised = "Traceback (most recent call last):\n  File \"/app/push.py\", line 9, in push\n    r.get(url)\nrequests.exceptions.ConnectionError: HTTPConnectionPool(host='pushgateway', port=9091): Max retries exceeded with url: /metrics\n"
	const misused = "usage: add.py [-h]\nadd.py: error: unrecognized arguments: --optimiser adam\n"
	serves := "INFO:     Uvicorn running on http://0.0.0.0:8001 (Press CTRL+C to quit)\n" + strings.Repeat("INFO:     10.0.0.7:40010 - \"POST /v1/score HTTP/1.1\" 200 OK\n", 20)
	const sheet = "Using cpu device\n-------------------\n| time/          |      |\n|    fps         | 1284 |\n|    time_elapsed| 3    |\n| train/         |      |\n|    entropy_loss| -0.6 |\n|    loss        | 6.04 |\n|    value_loss  | 48.8 |\n-------------------\n"
	const tasks = "|Task   |Version|Metric|Value |   |Stderr|\n|-------|------:|------|-----:|---|-----:|\n|piqa   |      0|acc   |0.7818|±  |0.0096|\n|wsc273 |      0|acc   |0.8095|±  |0.0238|\n"
	sizes := strings.Repeat("      196608         49152     float     min      -1    125.5    1.57    2.94      0    124.9    1.57    2.95      0\n", 5)
	const trees = "34:     learn: 0.95  test: 0.82 best: 0.83 (1)\n35:     learn: 0.96  test: 0.82 best: 0.83 (1)\n36:     learn: 0.96  test: 0.82 best: 0.83 (1)\n37:     learn: 0.97  test: 0.82 best: 0.83 (1)\n38:     learn: 0.97  test: 0.82 best: 0.83 (1)\n"
	gradients := func(none int) string { // behind four that are some
		var b strings.Builder
		for i := range 4 + none {
			norm := "3.06"
			if i >= 4 {
				norm = "nan"
			}
			fmt.Fprintf(&b, "10/30 22:18:02 - engine - INFO - Epoch(train) [1][%d/735]  lr: 1.9e-04  loss: 2.%d  grad_norm: %s\n", 10*i, 900-i, norm)
		}
		return b.String()
	}
	const work = "loading the tiles\nlooking at north\nlooking at south\nlooking at the rest\n"
	for name, tc := range map[string]struct {
		log  string
		want diagnose.Verdict
	}{
		"how long it took":                             {work + "Execution time: 145.4 seconds\n", diagnose.Healthy},
		"what was written":                             {work + "Summary written to north.csv\n", diagnose.Healthy},
		"results":                                      {work + "Exact Match    : 0.78\nF1       : 0.88\n", diagnose.Healthy},
		"tests":                                        {work + "Ran 2 tests in 0.000s\n\nOK\n", diagnose.Healthy},
		"a warning of Python's far above":              {"/lib/typing.py:63: UserWarning: An issue occurred while importing 'scatter': undefined symbol: _ZN5torch3jit\n" + strings.Repeat("shard opened\n", 30) + "Results saved to out.csv\n", diagnose.Healthy},
		"a shell that goes on":                         {"./configure: line 145: SPECIAL_INFO: command not found\nchecking for a part\nchecked: a compiler\nparts made\nconfigure: done\n", diagnose.Healthy},
		"a small command that is refused":              {"mkdir: cannot create directory '/srv/a': Permission denied\nchecking for a part\nchecked: a compiler\nparts made\nconfigure: done\n", diagnose.Healthy},
		"refused at the end":                           {work + "mkdir: cannot create directory '/srv/a': Permission denied\n", diagnose.Diagnosed},
		"a call before a right one":                    {misused + strings.Repeat("added a sample\n", 120) + "Done adding\nsaved to set.pkl\n", diagnose.Healthy},
		"raised in a run before":                       {raised + strings.Repeat("added a sample\n", 120) + "Done adding\nsaved to set.pkl\n", diagnose.Healthy},
		"raised, and not so long before":               {strings.Repeat("added a sample\n", 60) + strings.Replace(raised, "in push", "in <module>", 1) + strings.Repeat("added a sample\n", 120) + "Done adding\nsaved to set.pkl\n", diagnose.Diagnosed},
		"a call before one that says no end":           {misused + strings.Repeat("added a sample\n", 120), diagnose.Diagnosed},
		"nothing counted wrong":                        {work + "End of compilation\nErrors: 0, Warnings: 2\n", diagnose.Healthy},
		"an error of one request":                      {serves + raised + strings.Repeat("INFO:     10.0.0.7:40010 - \"POST /v1/score HTTP/1.1\" 200 OK\n", 8), diagnose.Healthy},
		"an error, and only its health is asked for":   {serves + raised + strings.Repeat("INFO:     10.0.0.7:40010 - \"GET /metrics HTTP/1.1\" 200 OK\n", 60), diagnose.Diagnosed},
		"a store that listens":                         {work + "[c10d] The server socket is listening on [::]:29500\n", diagnose.Unknown},
		"a shell that does not":                        {"./run.sh: line 145: train: command not found\n", diagnose.Diagnosed},
		"a command missed when the work is done":       {work + "Results saved\nrun.sh: line 19: d: command not found\n", diagnose.Healthy},
		"a command missed":                             {work + "run.sh: line 19: train: command not found\n", diagnose.Diagnosed},
		"a part is written":                            {"Summary written to north.csv\n" + work, diagnose.Unknown},
		"nothing is said":                              {work, diagnose.Unknown},
		"it was not done":                              {work + "The work is not done\n", diagnose.Unknown},
		"a complaint that is said of many":             {strings.Repeat("added mp-100 to the set\nerror with mp-200, confirm existence\n", 30) + "Done adding\nsaved to set.pkl\n", diagnose.Healthy},
		"a complaint close by":                         {work + "ERROR: no north\nnorth.csv written\n", diagnose.Inconclusive},
		"a failure that is not taken back":             {work + "OSError: [Errno 28] No space left on device\nFinished!\n", diagnose.Diagnosed},
		"a line that sounds like an end":               {work + "south.csv written\nKilled by nobody\n", diagnose.Inconclusive},
		"too little to speak of":                       {"done\n", diagnose.Unknown},
		"a rule and a rate":                            {work + "==========\nSUMMARY\n==========\nGPU 0: 162.16 tokens/sec\n", diagnose.Healthy},
		"two lines":                                    {"start preprocess\nend preprocess\n", diagnose.Healthy},
		"in Chinese":                                   {work + "模型已保存\n", diagnose.Healthy},
		"it failed, in Chinese":                        {work + "保存未完成\n", diagnose.Unknown},
		"a warning further up":                         {warning + work + "Results saved\n", diagnose.Healthy},
		"a warning at the end":                         {work + warning + "Results saved\n", diagnose.Diagnosed},
		"an error further up":                          {strings.ReplaceAll(warning, "WARNING", "ERROR") + work + "Results saved\n", diagnose.Diagnosed},
		"logged, trained past, written":                {pushed + steps + "INFO:root:eval acc=0.61\nINFO:root:wrote /out/final.pt\n", diagnose.Healthy},
		"logged, trained past, no end":                 {pushed + steps, diagnose.Healthy},
		"logged, and too few steps":                    {pushed + steps[:len(steps)/2] + "INFO:root:eval acc=0.61\nINFO:root:wrote /out/final.pt\n", diagnose.Diagnosed},
		"raised by a rank, and steps of others":        {"[rank1]: " + strings.ReplaceAll(strings.TrimSuffix(raised, "\n"), "\n", "\n[rank1]: ") + "\n" + steps + "INFO:root:eval acc=0.61\nINFO:root:wrote /out/final.pt\n", diagnose.Diagnosed},
		"results below a warning without its source":   {"loading\n/lib/data.py:408: UserWarning: The number of samples (10) is small.\n{'val_loss_step': 1.94, 'val_loss_epoch': 1.90}\n", diagnose.Healthy},
		"classes without a sample":                     {work + "val_loss 0.0517\nPseudo dice [0.0, nan, 0.51]\nEpoch time: 111.79 s\n", diagnose.Healthy},
		"classes without a result":                     {work + "val_loss 0.0517\nPseudo dice [nan, nan]\nEpoch time: 111.79 s\n", diagnose.Unknown},
		"trials in their last state":                   {work + "Number of trials: 1 ({'TERMINATED': 1})\nTERMINATED trials:\n - a:\tTERMINATED, [1 CPUs, 0 GPUs], 0 s, 1 iter\n", diagnose.Healthy},
		"a run that was ended":                         {work + "Number of trials: 1\njob terminated\n", diagnose.Inconclusive},
		"a sheet of results":                           {sheet, diagnose.Healthy},
		"a sheet with a loss that is none":             {strings.Replace(sheet, "48.8 ", "nan ", 1), diagnose.Unknown},
		"a sheet of changes":                           {"  --> EVAL PERFORMANCE\n     | > avg_loader_time: 0.20 (+0)\n     | > avg_loss_disc: 2.72 (+0)\n     | > avg_loss_gen: 3.05 (+0)\n     | > avg_loss_kl: 174.01 (-0.1)\n     | > avg_loss_mel: 27.18 (+0)\n     | > avg_loss_dur: 1.34 (+0)\n", diagnose.Healthy},
		"a sheet of settings":                          {"| batch_size | 64  |\n| gamma      | 0.9 |\n| lambda     | 0.9 |\n| loss_scale | 1.0 |\n| epochs     | 3   |\n", diagnose.Unknown},
		"a table of tasks":                             {tasks, diagnose.Healthy},
		"a table without results":                      {strings.NewReplacer("0.78", "yes", "0.80", "no").Replace(tasks), diagnose.Unknown},
		"messages of growing size":                     {sizes, diagnose.Healthy},
		"three messages":                               {sizes[:len(sizes)/5*3], diagnose.Unknown},
		"four rows are no sheet":                       {"| loss | 6.04 |\n| value_loss | 48.8 |\n| fps | 12 |\n| n | 3 |\n", diagnose.Unknown},
		"a gradient that is none, and the next is one": {" Epoch [1][100/62598]\tlr: 1.000e-03, loss: 1.9091, grad_norm: nan\n2021-11-22 01:32:34,502 - ocr - INFO - Epoch [1][200/62598]\tlr: 1.000e-03, loss: 0.9186, grad_norm: 3.9772\n", diagnose.Healthy},
		"gradients that are none to the end":           {gradients(12), diagnose.Diagnosed},
		"never a gradient":                             {"{'loss': 4.4202, 'grad_norm': nan, 'learning_rate': 0.0, 'epoch': 0.13}\n{'loss': 4.4061, 'grad_norm': nan, 'learning_rate': 0.0, 'epoch': 0.27}\n", diagnose.Diagnosed},
		"two gradients that are none":                  {gradients(2), diagnose.Healthy},
		"trees counted like tasks":                     {trees, diagnose.Healthy},
		"tasks that wait":                              {strings.Repeat("0: waits for 3 of 4\n1: waits for 3 of 4\n2: waits for 2 of 4\n3: waits for 2 of 4\n", 3), diagnose.Unknown},
		"a warning of Python's behind a bar":           {"  0%|      | 0/3 [00:00<?, ?it/s]/lib/load.py:752: FutureWarning: The repository for x contains custom code which must be executed to correctly load the dataset.\n" + work + "Results saved\n", diagnose.Healthy},
	} {
		t.Run(name, func(t *testing.T) {
			r := read(t, "", strings.NewReader(tc.log))
			if r.Verdict != tc.want && (tc.want != diagnose.Inconclusive || r.Verdict == diagnose.Healthy) {
				t.Errorf("%s, want %s: %s", r.Verdict, tc.want, r.Error)
			}
		})
	}
}
