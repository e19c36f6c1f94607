// Package recovery knows the words by which programs say what became of what they complained of: that they try again
// or go on, that they give up, that they are done. It reads single lines and judges no log. Start reading at GoesOn and
// EndsBadly.
package recovery

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/progress"
)

// wrong are words of a line that says that something is wrong. They choose among lines that are new;
// nothing depends on them where there is one.
var wrong = lazy.MustCompile(`(?i)error|\berr\b|fail|fatal|panic|abort|exception|assert|cannot|can't|unable|denied|invalid|not found|timed? ?out|refused|missing|unexpected|` + handed)

// handed is the number of an error as NCCL hands it from caller to caller.
const handed = `\bNCCL INFO \S+\.(?:cc|h|cu):\d+ -> [1-9]`

var handsOn = lazy.MustCompile(handed)

// HandsOn says that a line holds one.
func HandsOn(text string) bool { return strings.Contains(text, " -> ") && handsOn.MatchString(text) }

// Wrong says that a line holds one of them, or the number of an error that NCCL hands from caller to caller
// (https://github.com/NVIDIA/nccl/blob/v2.18.1-1/src/include/checks.h).
func Wrong(text string) bool {
	return wrong.MatchString(text)
}

// endsBadly is a last line after which nobody can call a run well, however it advanced
// before: the program says that it gives up, in words that no signature knows.
var endsBadly = lazy.MustCompile(`(?i)(?:\b|\^C)(?:abort(?:ing|ed)|fatal|panicked|core dumped|killed|terminat(?:ing|ed)|giving up|cannot continue|(?:training|run|job) (?:failed|interrupted))\b`)

// lastState is the state of a trial of Ray Tune that has ended well; one that has not is in the state ERROR
// (https://docs.ray.io/en/releases-2.9.0/tune/key-concepts.html, "Trial lifecycle").
const lastState = "TERMINATED"

// EndsBadly asks for such words. A thread that terminates, at a level below a warning's, is one of many.
func EndsBadly(text string) bool {
	word := endsBadly.FindString(text)
	return word != "" && !Warns(text) && !(strings.EqualFold(word[:1], "t") && Mild(text)) && endsBadly.MatchString(noneOf.ReplaceAllString(strings.ReplaceAll(text, lastState, ""), ""))
}

// Words by which a program says, as its last, that what it did is done, what it took and how fast it was. Anywhere
// else they say so of a part of it.
var (
	finished = lazy.MustCompile(`(?i)\b(?:done|finish(?:ed)?|completed?|success(?:ful(?:ly)?)?|saved|written|wrote|exported|synced|uploaded|passed|already satisfied)\b|^(?:OK|end)\b|\b(?:exit(?:ing|ed)?|rc|return(?:ed)?)(?: (?:with|code|status|value|ret))*\W{1,4}0\b` +
		`|\b(?:time|took|elapsed|duration|runtime)\b\W{0,4}(?:\w+\W+){0,3}?\d|\d ?\w+/s(?:ec)?\b|\b(?:final|best|overall|total) [\w ]{2,24}[:=] ?-?\d|\b(?:result|status|state)\b\W{1,3}(?:OK|succe\w+|passed)\b|\bFind logs at: |^[A-Z_]{4,}_(?:OK|DONE|PASSED|SUCCESS)\b|完成|完毕|结束|成功|已保存|完了|終了`)
	undone = lazy.MustCompile(`(?i)\b(?:not|never|no|0 [a-z]+|without|to be|until|waiting|retry\w*|warn\w*|killed|cancel\w*|interrupt\w*)\b|失败|失敗|错误|异常|未|无法|エラー`)
)

// exits is the word of a program that it ends.
var exits = lazy.MustCompile(`(?i)[,.;:!] (?:now )?exiting\b`)

// Exits says that a line complains of something and that its program ends for it, whatever level the line has.
func Exits(text string) bool { return exits.MatchString(text) && wrong.MatchString(text) }

// EndsWell says that a line among the last does so, or measures a model.
func EndsWell(body string) bool {
	return (finished.MatchString(body) || strings.Contains(body, lastState)) && !undone.MatchString(body) || progress.Measures(body)
}

// noNumber is a result that is none.
var noNumber = lazy.MustCompile(`(?i)[\s:=|(\[]-?(?:nan|inf)\b`)

// someOf is a list of results of which some are numbers: of the others, classes as a rule, there was no sample.
var someOf = lazy.MustCompile(`(?i)\[(?:(?:nan|inf), ?)*-?\d[^\[\]]*\]`)

// noneOf are counts of nothing, what a result or a loss is called, and when something terminated, which batch systems and their
// programs say of every run (https://htcondor.readthedocs.io/en/latest/codes-other-values/job-event-log-codes.html,
// https://www.molpro.net/manual/doku.php?id=running_molpro).
var noneOf = lazy.MustCompile(`(?i)\b(?:0|no|without(?: any)?) (?:errors?|failures?|failed|aborted|killed)\b|\d\]? \w[\w ]{1,40}[.,;] \[?0\]? (?:\w+ ){1,2}(?:failed|failures?|errors?)\b|(?:\b|_)(?:errors?|exceptions?|failures?|failed|aborted|killed|cancell?ed|time-?outs?)[:=]? ?0\b|\b(?:time-?outs?|failures?|errors?|aborts?) (?:rate|ratio|count|cases?|steps?)[:=]` +
	`|\b(?:mean|squared|absolute|relative|percentage|rms|rmse|standard|median|average|reconstruction|prediction|quanti[sz]ation|rounding|approximation)[_ -]errors?\b` +
	`|\bterminated(?: of its own accord)? (?:on|at) [\w ./-]{6,24}\d\d:\d\d\b|^ ?Molpro calculation terminated$`)

// WithoutCounts is a line without them.
func WithoutCounts(body string) string { return noneOf.ReplaceAllString(body, "") }

// SpoilsTheEnd says that a line among the last speaks of something wrong, or gives a result that is none. Below
// what a program tries again stands whether it went well.
func SpoilsTheEnd(body string, well bool) bool {
	return Wrong(body) && !(well && GoesOn(body)) || EndsBadly(body) || noNumber.MatchString(someOf.ReplaceAllString(body, ""))
}

// warned is a warning as Python prints it, on a line of its own or behind a progress bar that has not ended its line.
var warned = lazy.MustCompile(`(?:^|\])\S+\.py:\d+: \w*Warning: `)

// Warns asks warned of the few lines that name one.
func Warns(text string) bool {
	return strings.Contains(text, "Warning: ") && warned.MatchString(text)
}

// missed is what a shell says of a command of a script that it does not find; it goes on with the next one.
var missed = lazy.MustCompile(`^\S{1,120}: line \d+: \S{1,80}: command not found$`)

// MissesCommand says that a line says so.
func MissesCommand(text string) bool {
	return strings.HasSuffix(text, ": command not found") && missed.MatchString(text)
}

// goesOn are the words of a retry that is still to come, not of one that was the last
// ("Max retries exceeded"), and of a sample that is left out.
var goesOn = lazy.MustCompile(`(?i)\b(?:re-?try(?:ing)?|fall(?:ing)? back|skipp(?:ing|ed)|ignor(?:ing|ed))\b`)

// goesOnBegins is how those words begin.
var goesOnBegins = []string{"retry", "re-try", "fall", "skipp", "ignor"}

// inWord are the bytes of a word.
var inWord = func() (t [256]bool) {
	for c := range byte(0x80) {
		t[c] = isLetter(c) || isDigit(c) || c == '_'
	}
	return t
}()

// TriesAgain asks goesOn of the few lines that hold one of them. Beyond ASCII letters have more than two forms.
func TriesAgain(text string) bool {
	within := false // a word
	for i := range len(text) {
		c := text[i]
		if c >= utf8.RuneSelf {
			return goesOn.MatchString(text)
		}
		begins := !within
		if within = inWord[c]; !begins || c|0x20 != 'r' && c|0x20 != 'f' && c|0x20 != 's' && c|0x20 != 'i' {
			continue
		}
		for _, word := range goesOnBegins {
			if c|0x20 == word[0] && len(text)-i >= len(word) && strings.EqualFold(text[i:i+len(word)], word) {
				return goesOn.MatchString(text)
			}
		}
	}
	return false
}

// GoesOn is a line that announces no end.
func GoesOn(text string) bool { return TriesAgain(text) || Mild(text) }

// mostHead is how much of a line a level is looked for in: loggers put it before their message.
const mostHead = 160

func headOf(text string) string { return text[:min(len(text), mostHead)] }

// Mild is a line that its program calls less than an error. NCCL calls its errors WARN.
func Mild(text string) bool {
	head := headOf(text)
	if level := rayLevel(head); level != 0 {
		return strings.IndexByte("DIW", level) >= 0
	}
	if ofPostgres(head) || Remarked(text) {
		return true
	}
	return mildLevel(head) && !strings.Contains(text, "NCCL WARN") && !ncclWarns.MatchString(head) && !strings.Contains(head, ofSignal) && !lostTask(text) || ofLoader(head)
}

// postgres is a record of PostgreSQL at a level below a warning's, also where a composer of containers hands it on: LOG is
// for its administrators, and what ends a session is ERROR, FATAL or PANIC
// (https://www.postgresql.org/docs/16/runtime-config-logging.html#RUNTIME-CONFIG-SEVERITY-LEVELS).
var postgres = lazy.MustCompile(`\[\d+(?:-\d+)?\] (?:LOG|HINT|DETAIL|NOTICE|STATEMENT|CONTEXT): `)

func ofPostgres(head string) bool {
	at := strings.IndexByte(head, ']')
	return at > 0 && isDigit(head[at-1]) && len(head) > at+2 && strings.IndexByte("LHDNSC", head[at+2]) >= 0 && postgres.MatchString(head)
}

// callsWarning is a line whose head is the word: "libibverbs: Warning: ", "nvcc warning : ", "[Warning] ", "WARNING: ".
var callsWarning = lazy.MustCompile(`(?i)^(?:[\w./+()>-]+:? ){0,4}?\[?warning\]?(?: #\w+)? ?:? |^.{0,60}\[warning\]`)

// CallsWarning says that a line calls itself a warning, as Python's do, or as tools without levels do.
func CallsWarning(text string) bool {
	return Warns(text) || callsWarning.MatchString(headOf(text))
}

// instead are the words by which a program says what it does where something failed, and that this is no failure.
var instead = lazy.MustCompile(`(?i)\bfall(?:s|ing)?[ -]?back to\b|^error caught was: `)

// Instead says that a line has such words.
func Instead(text string) bool { return instead.MatchString(text) }

// remarks are what runtimes log at the level of a warning, or of an error, of every run: that a dataset has ended, that an
// iterator was left before its end, that what pip has installed asks for other versions
// (https://github.com/tensorflow/tensorflow/blob/v2.16.1/tensorflow/core/framework/local_rendezvous.cc,
// https://github.com/pypa/pip/blob/24.0/src/pip/_internal/commands/install.py), or that a node's daemon could not tidy up a
// control group when a step of a batch job had ended
// (https://github.com/SchedMD/slurm/blob/slurm-23.11/src/plugins/cgroup/v1/cgroup_v1.c, cgroup_p_step_destroy,
// https://github.com/galaxyproject/galaxy/pull/7766). Installers end with 0 after theirs.
var remarks = lazy.MustCompile(`rendezvous is aborting with status: OUT_OF_RANGE: End of sequence|finalizing GeneratorDataset iterator: Cancelled: |^(?:#\d+ [\d.]+ )?ERROR: pip's dependency resolver does not |^slurmstepd(?:-\S+)?: error: .*(?:/sys/fs/cgroup|\bcgroup\.procs|root cgroup|_cgroup_)`)

// ofRemarks are parts of them, of which a line has one.
var ofRemarks = []string{"OUT_OF_RANGE: ", "GeneratorDataset", "ERROR: pip's", "slurmstepd"}

// Remarked says that a line is one of them: it says nothing of the run.
func Remarked(text string) bool {
	return slices.ContainsFunc(ofRemarks, func(part string) bool { return strings.Contains(text, part) }) && remarks.MatchString(text)
}

// Debugs says that a line is what its program tells those who debug it: no run ends for it. What it hands on of a warning
// is the warning.
func Debugs(text string) bool {
	head := headOf(text)
	return strings.Contains(head, "DEBUG") && Mild(text) && !strings.Contains(head, "WARN") && !strings.Contains(head, "Warning") && !strings.Contains(head, "INFO")
}

// loads is a warning of TensorFlow's loader that there is no TensorRT, which only speeds up a model that is served: no
// training needs it, and what does says so itself. The loader warns of the libraries of CUDA in the same form, and those a
// run on a GPU does need
// (https://github.com/tensorflow/tensorflow/blob/v2.11.0/tensorflow/compiler/xla/stream_executor/platform/default/dso_loader.cc,
// https://github.com/tensorflow/tensorflow/blob/v2.11.0/tensorflow/compiler/tf2tensorrt/utils/py_utils.cc).
var loads = lazy.MustCompile(`^[\d: .-]{1,30}W \S{1,120}/(?:dso_loader\.cc:\d+\] Could not load dynamic library 'libnvinfer|tf2tensorrt/utils/py_utils\.cc:\d+\] )`)

func ofLoader(head string) bool {
	return (strings.Contains(head, "libnvinfer") || strings.Contains(head, "/py_utils.cc:")) && loads.MatchString(head)
}

// ofLostTask is Spark's word of what ended a task. Its driver warns of it, as it tries again: what goes on after it has
// survived it, and where nothing does it is what went wrong
// (https://github.com/apache/spark/blob/v3.5.0/core/src/main/scala/org/apache/spark/scheduler/TaskSetManager.scala).
var ofLostTask = lazy.MustCompile(`Lost task \S+ in stage .{1,200}?: (?:[a-z]\w*\.)+[A-Z]\w*(?:Error|Exception)\b`)

func lostTask(text string) bool {
	return strings.Contains(text, "Lost task ") && ofLostTask.MatchString(text)
}

// ofSignal stands before what glog's handler of fatal signals writes; Paddle logs it as a warning
// (https://github.com/google/glog/blob/v0.6.0/src/signalhandler.cc,
// https://github.com/PaddlePaddle/Paddle/blob/release/1.8/paddle/fluid/platform/init.cc, SignalHandle).
const ofSignal = "] *** "

// ncclWarns is how NCCL wrote before it named itself (https://github.com/NVIDIA/nccl/blob/v2.4.8-1/src/include/debug.h),
// and how its plugin for libfabric writes where NCCL gives it no logger
// (https://github.com/aws/aws-ofi-nccl/blob/v1.1.5/tests/test-common.h).
var ncclWarns = lazy.MustCompile(`^\S+:\d+:\d+ \[\d+\] [\w/]+\.(?:h|cc|cu):\d+ WARN |^(?:\S+ )?WARN: Function: \w+ Line: \d+: NET/`)

// Informs is a line that its program calls less than a warning.
func Informs(text string) bool {
	head := headOf(text)
	return Mild(text) && rayLevel(head) != 'W' && !strings.HasPrefix(strings.TrimPrefix(strings.TrimLeft(head, "[ \t"), "NeMo "), "W") && !strings.Contains(head, "WARN") && !strings.Contains(head[:min(len(head), 40)], ": W ")
}

// rayLevel is the level of a line as Ray's own processes print it, "[2024-08-25 19:21:02,241 E 1111 1111] ", also where
// the driver puts before it whose line it is; 0: it has none
// (https://github.com/ray-project/ray/blob/ray-2.9.0/src/ray/util/logging.cc, RayLog::StartRayLog).
func rayLevel(head string) byte {
	const level = len("[2024-08-25 19:21:02,241 ")
	at := strings.IndexByte(head, '[')
	if at < 0 || len(head) < at+level+len("E 1") {
		return 0
	}
	if before := strings.TrimSpace(head[:at]); before != "" && (before[0] != '(' || before[len(before)-1] != ')') {
		return 0
	}
	stamp := head[at : at+level]
	if stamp[5] != '-' || stamp[8] != '-' || stamp[14] != ':' || stamp[20] != ',' || stamp[level-1] != ' ' || head[at+level+1] != ' ' || !isDigit(head[at+level+2]) {
		return 0
	}
	if c := head[at+level]; strings.IndexByte("DIWEFC", c) >= 0 {
		return c
	}
	return 0
}

// severe is the level of an error or worse as glog and TensorFlow print it. Many a run goes on after such a line.
var severe = lazy.MustCompile(`^[EF]\d{4,8} \d\d:\d\d:\d\d|^[\d: .-]{1,30}[EF] \S{1,200}\.(?:cc|cpp|cu):\d+\]`)

// Severe says that a line has that level.
func Severe(text string) bool {
	level := rayLevel(headOf(text))
	return level != 0 && strings.IndexByte("EFC", level) >= 0 || severe.MatchString(text)
}

// runtime is an error as TensorFlow's runtime and XLA log it, also before their log has a time
// (https://github.com/abseil/abseil-cpp/blob/20240722.0/absl/log/internal/log_format.cc, https://github.com/jax-ml/jax/issues/17879).
var runtime = lazy.MustCompile(`^[\d: .-]{0,30}E \S{0,120}(?:tensorflow|xla)[/\\]\S{1,120}\.cc:\d+\] |^E0000 00:00:\d+\.\d+ +\d+ \S{1,120}\.cc:\d+\] `)

// OfXLA says that a line is an error as TensorFlow's runtime and XLA log it, and no check that ended their process: where
// nothing is raised, it says what they do without.
func OfXLA(text string) bool {
	return runtime.MatchString(text) && !strings.Contains(text, "] Check failed: ")
}

// OfRuntime says that a line is an error as the runtime below the program logs it, Ray's or TensorFlow's. What ends
// a run is raised in the program, so a run that goes on has lived with the line.
func OfRuntime(text string) bool {
	return rayLevel(headOf(text)) == 'E' || runtime.MatchString(text)
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }
