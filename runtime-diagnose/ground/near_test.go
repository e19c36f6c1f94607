package ground

import (
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// How an explanation may be written without saying more: each form stands beside one that differs from it by what is false, and
// that is neither shown as supported nor apart.
func TestFormsOfWhatIsSoAndWhatIsNot(t *testing.T) {
	job := gang("run-2: the container went over its memory limit (exit code 137, memory limit 420Mi)\nhost-oom-killed", "2/t/exit", "0/t#2",
		"2/t/exit container t ended: exit code 137, reason OOMKilled", "0/t#2 RuntimeError: [pair.cc:598] Connection closed by peer [10.0.0.2]:35227", "1/t#2 RuntimeError: [pair.cc:598] Connection closed by peer [10.0.0.2]:4012",
		"3/t#2 RuntimeError: [pair.cc:598] Connection closed by peer [10.0.0.2]:4013", "2/t#3 INFO received signal, will stop, step 20")
	job.Effects = []evidence.ID{"pod/run-0/t#2", "pod/run-1/t#2", "pod/run-3/t#2"}
	for i, seconds := range []int{0, 12, 12, 13} {
		job.Items[i].At = job.Items[0].At.Add(time.Duration(seconds) * time.Second)
	}
	others := " [pod/run-0/t#2] [pod/run-1/t#2] [pod/run-3/t#2]"
	for so, not := range map[string]string{
		"run-2: OOMKilled, exit 137 [pod/run-2/t/exit].":                                                       "run-1: OOMKilled, exit 137 [pod/run-2/t/exit].",
		"run-2 was SIGKILLed (exit 137) [pod/run-2/t/exit].":                                                   "run-2 was SIGTERMed (exit 143) [pod/run-2/t/exit].",
		"run-0: peer 10.0.0.2:35227 closed the connection [pod/run-0/t#2].":                                    "run-0: peer 10.0.0.7:35227 closed the connection [pod/run-0/t#2].",
		"12 s later run-0 lost its connection [pod/run-0/t#2].":                                                "47 s later run-0 lost its connection [pod/run-0/t#2].",
		"The other three pods only lost a connection" + others + ".":                                           "The other seven pods only lost a connection" + others + ".",
		"其余三个 Pod 的连接被关闭" + others + "。":                                                                       "其余七个 Pod 的连接被关闭" + others + "。",
		"I can't tell which allocation went over the limit [pod/run-2/t/exit].":                                "I was told by the admin that the limit is wrong [pod/run-2/t/exit].",
		"Nothing that I was shown says what was allocated [pod/run-2/t/exit].":                                 "I can tell you to raise the limit [pod/run-2/t/exit].",
		"The connection of run-0 was closed 12 seconds after that [pod/run-0/t#2].":                            "The connection of rank 12 was closed after that [pod/run-0/t#2].",
		"Exit code 137 is 128 + 9 [pod/run-2/t/exit].":                                                         "Exit code 137 is 128 + 11 [pod/run-2/t/exit].",
		"After step 20 run-2 received a signal and would stop [pod/run-2/t#3].":                                "After step 80 run-2 received a signal and would stop [pod/run-2/t#3].",
		"run-2 went over its memory limit, then run-0 lost its connection [pod/run-2/t/exit] [pod/run-0/t#2].": "run-0 lost its connection, then run-2 went over its memory limit [pod/run-2/t/exit] [pod/run-0/t#2].",
	} {
		if k := Keep(Answer{Analysis: so}, job); outcomeOf(k) == dropped {
			t.Errorf("%s: is left out: %s", so, k.LeftOut())
		}
		if k := Keep(Answer{Analysis: not}, job); outcomeOf(k) != dropped {
			t.Errorf("%s: is shown: %s%v", not, k.Analysis, k.Unsupported)
		}
	}
	for _, not := range []string{
		"run-2 没有收到任何信号 [pod/run-2/t#3]。", "run-2 ended by itself, not for its memory limit [pod/run-2/t/exit].", "run-0 reported a memory limit [pod/run-0/t#2].", "- Who: run-0 on n0 [pod/run-0/t#2]", "run-2 received no signal [pod/run-2/t#3].",
		"Alle Pods sind gesund und laufen [pod/run-2/t/exit].", "run-2 logged a memory limit of 420Mi [pod/run-2/t#3].",
	} {
		if k := Keep(Answer{Analysis: not}, job); outcomeOf(k) == published {
			t.Errorf("%s: is shown as supported", not)
		}
	}
}
