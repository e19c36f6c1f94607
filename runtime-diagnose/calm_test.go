package diagnose_test

import (
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
	const work = "loading the tiles\nlooking at north\nlooking at south\nlooking at the rest\n"
	for name, tc := range map[string]struct {
		log  string
		want diagnose.Verdict
	}{
		"how long it took":                           {work + "Execution time: 145.4 seconds\n", diagnose.Healthy},
		"what was written":                           {work + "Summary written to north.csv\n", diagnose.Healthy},
		"results":                                    {work + "Exact Match    : 0.78\nF1       : 0.88\n", diagnose.Healthy},
		"tests":                                      {work + "Ran 2 tests in 0.000s\n\nOK\n", diagnose.Healthy},
		"a warning of Python's far above":            {"/lib/typing.py:63: UserWarning: An issue occurred while importing 'scatter': undefined symbol: _ZN5torch3jit\n" + strings.Repeat("shard opened\n", 30) + "Results saved to out.csv\n", diagnose.Healthy},
		"a shell that goes on":                       {"./configure: line 145: SPECIAL_INFO: command not found\n" + strings.Repeat("checking for a part\n", 30) + "configure: done\n", diagnose.Healthy},
		"a small command that is refused":            {"mkdir: cannot create directory '/srv/a': Permission denied\n" + strings.Repeat("checking for a part\n", 30) + "configure: done\n", diagnose.Healthy},
		"refused at the end":                         {work + "mkdir: cannot create directory '/srv/a': Permission denied\n", diagnose.Diagnosed},
		"a call before a right one":                  {misused + strings.Repeat("added a sample\n", 120) + "Done adding\nsaved to set.pkl\n", diagnose.Healthy},
		"raised in a run before":                     {raised + strings.Repeat("added a sample\n", 120) + "Done adding\nsaved to set.pkl\n", diagnose.Healthy},
		"raised, and not so long before":             {strings.Repeat("added a sample\n", 60) + raised + strings.Repeat("added a sample\n", 120) + "Done adding\nsaved to set.pkl\n", diagnose.Diagnosed},
		"a call before one that says no end":         {misused + strings.Repeat("added a sample\n", 120), diagnose.Diagnosed},
		"nothing counted wrong":                      {work + "End of compilation\nErrors: 0, Warnings: 2\n", diagnose.Healthy},
		"the end by name":                            {work + "2026-11-22 12:18:47,850 predict     INFO     END predict.py\n", diagnose.Healthy},
		"an error of one request":                    {serves + raised + strings.Repeat("INFO:     10.0.0.7:40010 - \"POST /v1/score HTTP/1.1\" 200 OK\n", 8), diagnose.Healthy},
		"an error, and only its health is asked for": {serves + raised + strings.Repeat("INFO:     10.0.0.7:40010 - \"GET /metrics HTTP/1.1\" 200 OK\n", 60), diagnose.Diagnosed},
		"a server that listens":                      {work + "Uvicorn running on http://0.0.0.0:8001 (Press CTRL+C to quit)\n", diagnose.Healthy},
		"a store that listens":                       {work + "[c10d] The server socket is listening on [::]:29500\n", diagnose.Unknown},
		"a shell that does not":                      {"./run.sh: line 145: train: command not found\n", diagnose.Diagnosed},
		"a part is written":                          {"Summary written to north.csv\n" + work, diagnose.Unknown},
		"nothing is said":                            {work, diagnose.Unknown},
		"it was not done":                            {work + "The work is not done\n", diagnose.Unknown},
		"a complaint that is said of many":           {strings.Repeat("added mp-100 to the set\nerror with mp-200, confirm existence\n", 30) + "Done adding\nsaved to set.pkl\n", diagnose.Healthy},
		"a complaint close by":                       {work + "ERROR: no north\nnorth.csv written\n", diagnose.Inconclusive},
		"a failure that is not taken back":           {work + "OSError: [Errno 28] No space left on device\nFinished!\n", diagnose.Diagnosed},
		"a line that sounds like an end":             {work + "south.csv written\nKilled by nobody\n", diagnose.Inconclusive},
		"too little to speak of":                     {"done\n", diagnose.Unknown},
		"a rule and a rate":                          {work + "==========\nSUMMARY\n==========\nGPU 0: 162.16 tokens/sec\n", diagnose.Healthy},
		"two lines":                                  {"start preprocess\nend preprocess\n", diagnose.Healthy},
		"in Chinese":                                 {work + "模型已保存\n", diagnose.Healthy},
		"it failed, in Chinese":                      {work + "保存未完成\n", diagnose.Unknown},
		"a warning further up":                       {warning + work + "Results saved\n", diagnose.Healthy},
		"a warning at the end":                       {work + warning + "Results saved\n", diagnose.Diagnosed},
		"an error further up":                        {strings.ReplaceAll(warning, "WARNING", "ERROR") + work + "Results saved\n", diagnose.Diagnosed},
		"logged, trained past, written":              {pushed + steps + "INFO:root:eval acc=0.61\nINFO:root:wrote /out/final.pt\n", diagnose.Healthy},
		"logged, trained past, no end":               {pushed + steps, diagnose.Diagnosed},
		"logged, and too few steps":                  {pushed + steps[:len(steps)/2] + "INFO:root:eval acc=0.61\nINFO:root:wrote /out/final.pt\n", diagnose.Diagnosed},
		"raised, and steps of others":                {raised + steps + "INFO:root:eval acc=0.61\nINFO:root:wrote /out/final.pt\n", diagnose.Diagnosed},
		"a warning of Python's behind a bar":         {"  0%|      | 0/3 [00:00<?, ?it/s]/lib/load.py:752: FutureWarning: The repository for x contains custom code which must be executed to correctly load the dataset.\n" + work + "Results saved\n", diagnose.Healthy},
	} {
		t.Run(name, func(t *testing.T) {
			r := read(t, "", strings.NewReader(tc.log))
			if r.Verdict != tc.want && (tc.want != diagnose.Inconclusive || r.Verdict == diagnose.Healthy) {
				t.Errorf("%s, want %s: %s", r.Verdict, tc.want, r.Error)
			}
		})
	}
}
