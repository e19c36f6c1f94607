package diagnose_test

import (
	"fmt"
	"strings"
	"testing"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Work that advanced, or that says what it did, shows no health where the end says otherwise: the shell, a wrapper,
// a level, a traceback that was not handled.
func TestNoFailureIsHealthyForItsCalmWords(t *testing.T) {
	var steps strings.Builder
	for i := 1; i < 30; i++ {
		fmt.Fprintf(&steps, "epoch %d/100 train_loss=%.3f val_acc=0.%d\n", i, 3/float64(i), i)
	}
	const calm = "shard 1 written\nshard 2 written\nSummary written to north.csv\n"
	const trace = "Traceback (most recent call last):\n  File \"train.py\", line 40, in <module>\n    main()\n  File \"train.py\", line 22, in main\n    x = batch[\"labels\"]\nKeyError: 'labels'\n"
	for name, tc := range map[string]struct {
		end  string
		want string // a part of the decisive line
	}{
		"killed":                   {"Killed\n", "Killed"},
		"told to stop":             {"Terminated\n", "Terminated"},
		"its terminal was closed":  {"Hangup\n", "Hangup"},
		"its time was up":          {"Alarm clock\n", "Alarm clock"},
		"a code":                   {"process exited with status 3\n", "status 3"},
		"a code, then how long":    {"Command returned non-zero exit status 2.\nElapsed time: 12.4 s\n", "exit status 2"},
		"a code in short":          {"Results saved to out.json\nrun finished rc=137\n", "rc=137"},
		"make":                     {"make: *** [Makefile:12: train] Error 2\n", "Error 2"},
		"a state":                  {"State: FAILED (exit code 1)\nJob Wall-clock time: 00:02:00\n", "FAILED"},
		"a state in JSON":          {"{\"msg\": \"run completed\", \"status\": \"failed\", \"duration_s\": 12.2}\n", "failed"},
		"R":                        {"Execution halted\n", "halted"},
		"tests":                    {"=== 1 failed, 3 passed in 2.31s ===\n", "1 failed"},
		"a level between dashes":   {"2026-03-01 10:01:01,001 -prog-ERROR-main:unsupported operand type(s) for //: 'str' and 'int'\n", "unsupported"},
		"a level with a name":      {"ts=2026-03-01T10:01:00Z level=error msg=\"worker stopped early\"\nts=2026-03-01T10:01:01Z level=info msg=\"run finished\"\n", "stopped early"},
		"advice, then the error":   {"srun: error: If munged is up, restart with --num-threads=10\nsrun: error: Munge encode failed: Failed to access \"/run/munge.socket.2\": No such file or directory\nsrun: error: Srun communication socket apparently being written to\n", "Munge encode failed"},
		"an error, then its end":   {"[09:10:15] Error: Error reading from here\n[09:10:15] Error: Aborted from getline\n", "Error reading"},
		"a level in JSON":          {"{\"level\":\"error\",\"msg\":\"reward model returned nothing\"}\n{\"level\":\"info\",\"msg\":\"shutdown complete\"}\n", "returned nothing"},
		"an exception, then chat":  {trace + "Copying results to /scratch\n3 files copied, done\n", "KeyError"},
		"an exception, then words": {trace + "Training complete\n", "KeyError"},
		"glog's level":             {"E0301 10:01:01.101 4711 pool.cc:30] no lease is left\n", "no lease is left"},
		"Ray's level, and a stack": {"[2026-03-01 10:01:01,101 C 149 149] node_manager.cc:170: the lease is gone.\n*** StackTrace Information ***\n    ray::RayLog::~RayLog()\n", "the lease is gone"},
		"a level in brackets":      {"[2026-03-01 10:01:01,101][__main__][ERROR] - the lease was lost\n", "the lease was lost"},
		"a level between colons":   {"Mon, 02 Mar 2026 11:04:56 CET(+0100):ERROR:RetryJob the lease was lost\n", "the lease was lost"},
		"told to stop on a bar":    {"copied 20% (117/558) [#      ] eta 28:34:54 \\Terminated\n", "Terminated"},
		"words, then the shell's":  {"### Odd Error: code (0x29) at file:a.cpp line:1226\nAborted (core dumped)\n", "Odd Error"},
		"a letter for a level":     {"[E] [TRT] 4: engine could not be built\nclosing\n", "could not be built"},
	} {
		for before, text := range map[string]string{"steps": steps.String(), "calm": calm} {
			r := read(t, "", strings.NewReader(text+tc.end))
			if r.Verdict != diagnose.Diagnosed || !strings.Contains(r.Root.Line, tc.want) {
				t.Errorf("%s after %s: %s %+v", name, before, r.Verdict, r.Root)
			}
		}
	}
	for _, end := range []string{"Training failed: the loader returned nothing\nTotal time: 12 s\n", "^CTraining interrupted, saving\nsaved\n"} {
		if r := read(t, "", strings.NewReader(steps.String()+end)); r.Verdict != diagnose.Inconclusive {
			t.Errorf("%q: %s", end, r.Verdict)
		}
	}
	r := read(t, "", strings.NewReader(calm+"evaluation finished\nmIoU: nan accuracy: nan\n"))
	if r.Verdict == diagnose.Healthy {
		t.Error("results that are no numbers show health")
	}
	// The end of no process: a thread that says at a level below that it ended, and training after an exception of another launch.
	for name, text := range map[string]string{
		"information":         strings.Repeat("[2026-03-01 10:00:00,101][__main__][INFO] - Compute token embeddings for distilbert-base-uncased\n", 9),
		"named rates":         "2026-03-01 12:56:32, INFO: robot FOV 2.0\n2026-03-01 13:19:42, INFO: Testing success rate: 0.69, timeout rate: 0.02, path length: 17.67\n2026-03-01 13:19:42, INFO: Timeout cases: 28 150 235\n",
		"a total":             "out/70m/cold_gz\nout/70m/cold_raw\nTotal result files: 704\n",
		"no errors":           "converted 400 files\nFinished with 0 errors\nElapsed: 12 s\n",
		"tried again":         "fetching\nERROR: connection reset, retrying (1/5)\nfetched 40 of 40\nDownload finished in 12 s\n",
		"a thread ended":      steps.String() + "[I ProcessGroupNCCL.cpp:844] [Rank 1] NCCL watchdog thread terminated normally\n",
		"trained after that":  trace + steps.String() + "Training complete\n",
		"another launch then": "/lib/a.py:58: DeprecationWarning: old words\n  import a\nprogram begins\n" + trace + "/lib/a.py:58: DeprecationWarning: old words\n  import a\nprogram begins\n" + steps.String()[:400] + "Training complete\n",
	} {
		if r := read(t, "", strings.NewReader(text)); r.Verdict != diagnose.Healthy {
			t.Errorf("%s: %s %s", name, r.Verdict, r.Error)
		}
	}
}

// Ranks wait for each other, so the one whose steps end far before the others' did not end with them.
func TestOneRankEndsFarBeforeTheOthers(t *testing.T) {
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	ranks := func(last ...int) diagnose.Result {
		var c diagnose.Case
		for rank, n := range last {
			var log strings.Builder
			for i := 1; i <= n; i++ {
				fmt.Fprintf(&log, "step %d loss %.4f\n", i, 3/(1+float64(i)/100))
			}
			c.AddLog(fmt.Sprintf("log-%d.txt", rank), []byte(log.String()))
		}
		return diagnose.Diagnose(t.Context(), c, catalog, diagnose.Options{})
	}
	if r := ranks(200, 200, 60, 199); r.Verdict != diagnose.Diagnosed || r.Root.Signature != "member-behind" || r.Root.Source.File != "log-2.txt" {
		t.Errorf("%s %+v", r.Verdict, r.Root)
	}
	for name, last := range map[string][]int{"all alike": {200, 199, 198, 200}, "two": {200, 60}, "no two agree": {200, 120, 60}, "a little": {200, 200, 185}} {
		if r := ranks(last...); r.Verdict != diagnose.Healthy {
			t.Errorf("%s: %s %s", name, r.Verdict, r.Error)
		}
	}
}

// A line without a stamp has that of the line above, and was no earlier; a stamp without a year is of the year
// that the file speaks of.
func TestTimesAreWhatTheFileSays(t *testing.T) {
	const trace = "Traceback (most recent call last):\n  File \"train.py\", line 9, in <module>\n    main()\nRuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
	r := read(t, "", strings.NewReader("2023-03-01 10:00:05,000 INFO step 2 loss 2.0\n"+trace))
	if text := diagnose.Text(r); !strings.Contains(text, ", after 10:00:05\n") || !r.Root.Carried {
		t.Errorf("the time of another line is told as its own:\n%s", text)
	}
	r = read(t, "", strings.NewReader("2023-05-04 10:00:00,000 INFO main: start\nI0504 10:00:01.123456 12 a.cc:1] hi\n"+strings.Repeat("no stamp\n", 40)+"F0504 10:00:11.123456 12 a.cc:7] Check failed: n > 0 (0 vs. 0)\n"))
	if r.Root == nil || r.Root.At.Year() != 2023 || r.Root.Carried {
		t.Errorf("not in the file's year, or not by its own stamp: %+v", r.Root)
	}
	r = read(t, "", strings.NewReader("2022-12-31 23:59:58,000 INFO main: start\nF0101 00:00:11.123456 12 a.cc:7] Check failed: n > 0 (0 vs. 0)\n"))
	if r.Root == nil || r.Root.At.Year() != 2023 {
		t.Errorf("New Year is a year away: %+v", r.Root)
	}
}

// What sounds like a complaint and is output of the program is none where the last line says that the work is done; as the
// last word, or above one that says nothing, it is.
func TestWhatADoneRunPrintedIsNotItsLastWord(t *testing.T) {
	const load = "loading the grid\nsolving on 4 processes\n"
	for name, tc := range map[string]struct {
		log  string
		want diagnose.Verdict
	}{
		"a figure of errors":      {load + "Figure saved to output/heatmap_prediction_error.png\n" + many("Figure saved to output/magnitude%d.png\n", 3) + "Total Execution Time: 415.10 seconds\n", diagnose.Healthy},
		"close to the end":        {load + "Figure saved to output/heatmap_prediction_error.png\nTotal Execution Time: 415.10 seconds\n", diagnose.Unknown},
		"as the last word":        {load + "cannot write heatmap.png\n", diagnose.Diagnosed},
		"above what says nothing": {load + "cannot write heatmap.png\nclosing\n", diagnose.Diagnosed},
		"a failure is its end":    {load + "cannot write heatmap.png\nnot all figures were saved\n", diagnose.Diagnosed},
	} {
		if r := read(t, "", strings.NewReader(tc.log)); r.Verdict != tc.want {
			t.Errorf("%s: %s, want %s: %+v", name, r.Verdict, tc.want, r.Root)
		}
	}
}
