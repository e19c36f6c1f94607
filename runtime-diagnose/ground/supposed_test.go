package ground

import (
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// What is left out contradicts the finding, or brings something of its own. What else was read may be well and may be behind the cause, what has to
// be so is no order, and what is so in general or would be blames nobody; beside each stands one that is left out.
func TestWhatIsLeftOutHasAReason(t *testing.T) {
	job := gang("run-2 (node n2): a volume cannot be mounted (volume cache)\nmount-failed", "2/t#3", "0/t#4",
		"2/t#3 FailedMount (x9): hostPath type check failed: /nvme/cache is not a directory, uid must be in 1000-2000", "0/t#4 RuntimeError: still waiting for run-2 after 480 s",
		"2/claim claim asr-data: Bound, 2Ti", "2/node added on the evening of 26 November", "1/t#4 executor lost because it sent no heartbeat for 128 s", "2/spec dtype float16", "0/t#5 signal received while attempting to unscale the cache")
	at := time.Date(2026, 11, 27, 6, 0, 0, 0, time.UTC)
	for i, item := range job.Items {
		if after, ok := map[evidence.ID]time.Duration{"pod/run-2/t#3": time.Minute, "pod/run-0/t#4": 3*time.Minute + 30*time.Second, "pod/run-1/t#4": 9 * time.Minute}[item.ID]; ok {
			job.Items[i].At = at.Add(after)
		} else {
			job.Items[i].At = time.Time{}
		}
	}
	for so, not := range map[string]string{
		"Its sister claim asr-data is fine: Bound, 2Ti [pod/run-2/claim].":                                                                   "The volume is mounted and everything is fine [pod/run-2/claim].",
		"The node was added only on the evening before, so probably the cache was not there yet [pod/run-2/node] [pod/run-2/t#3].":           "run-0 waited too long, so the cache was no directory [pod/run-0/t#4] [pod/run-2/t#3].",
		"The uid has to be in the range of 1000 to 2000 [pod/run-2/t#3].":                                                                    "The volume has to be mounted by somebody [pod/run-2/t#3].",
		"The node should be the one of the evening before [pod/run-2/node].":                                                                 "The node should be given a new volume [pod/run-2/node].",
		"Waiting won't fix it [pod/run-2/t#3].":                                                                                              "Making the directory fixes this [pod/run-2/t#3].",
		"The job's own code doesn't appear to be at fault.":                                                                                  "The driver of the switch is at fault [pod/run-2/spec].",
		"For 128 s no heartbeat was sent, which is the reason why it lost the executor [pod/run-1/t#4].":                                     "The executor was lost because it sent no heartbeat for 900 s [pod/run-1/t#4].",
		"With float16, trainable parameters usually stay in FP32 [pod/run-2/spec].":                                                          "The parameters stayed in A6000_32 [pod/run-2/spec].",
		"The service account presumably has no access to a looser constraint such as `anyuid` [pod/run-2/t#3].":                              "The log says `rm -rf /nvme/cache` [pod/run-2/t#3].",
		"Two and a half minutes after the volume had failed, run-0 was still waiting [pod/run-0/t#4] [pod/run-2/t#3].":                       "Nine and a half minutes after the volume had failed, run-0 was still waiting [pod/run-0/t#4] [pod/run-2/t#3].",
		"The scaler of the cache was asked to unscale it [pod/run-0/t#5].":                                                                   "The cache was unscaled twice by A6000_32 [pod/run-0/t#5].",
		"The RuntimeError of run-0 came after the check of the hostPath, because it was still waiting then [pod/run-0/t#4] [pod/run-2/t#3].": "The mount failed because run-0 was still waiting [pod/run-0/t#4] [pod/run-2/t#3].",
		"run-0 收到信号是收尾时的正常动作 [pod/run-0/t#5]。":                                                                                               "run-0 一切正常 [pod/run-0/t#5]。",
		"The spec of run-2 needs to name the type, and your own program reads it [pod/run-2/spec].":                                          "The team needs to name the type in the spec of run-2 [pod/run-2/spec].",
		"The spec of run-2 is in use and its loading went well [pod/run-2/spec].":                                                            "The job went well [pod/run-2/spec].",
	} {
		if k := Keep(Answer{Analysis: so}, job); outcomeOf(k) == dropped {
			t.Errorf("%s: is left out: %s", so, k.LeftOut())
		}
		if k := Keep(Answer{Analysis: not}, job); outcomeOf(k) != dropped {
			t.Errorf("%s: is shown: %s%v", not, k.Analysis, k.Unsupported)
		}
	}
}
