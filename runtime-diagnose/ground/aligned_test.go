package ground

import "testing"

// Every word of a claim may stand in a line, and in another order: then it is not shown as what the line says.
func TestSupportedHasTheOrderOfALine(t *testing.T) {
	probe := gang("run-1: the kubelet ended a container because a probe failed (container t)", "1/t#1", "", "1/t#1 Killing: Container t failed liveness probe, will be restarted")
	variable := gang("run-1: an exception of the program", "1/t#1", "", "1/t#1 UnboundLocalError: local variable 'rate' referenced before assignment")
	quota := gang("run-1: a quota is used up", "1/t#1", "", "1/t#1 exceeded quota: gpus, requested: 8, used: 24, limited: 24")
	limit := gang("run-1: the job was cancelled at its time limit", "1/t#1", "", "1/t#1 JOB 77 ON node17 CANCELLED AT 09:09:37 DUE TO TIME LIMIT")
	group := gang("run-1: the others waited in vain", "1/t#1", "2/t#2", "1/t#1 INFO waiting for data", "2/t#2 RuntimeError: Timed out waiting 8000ms for recv operation to complete")
	for so, not := range map[string]string{
		"Container t failed liveness probe [pod/run-1/t#1].":                  "The probe failed because the kubelet had killed the container [pod/run-1/t#1].",
		"Root cause: waiting for data [pod/run-1/t#1].":                       "Root cause: RuntimeError, timed out waiting 8000ms [pod/run-2/t#2].",
		"The run ended because of the time limit [pod/run-1/t#1].":            "The node ended because of the time limit [pod/run-1/t#1].",
		"Local variable 'rate' referenced before assignment [pod/run-1/t#1].": "rate was assigned before it was referenced [pod/run-1/t#1].",
		"Quota gpus: requested 8, used 24 [pod/run-1/t#1].":                   "Requested were 24 [pod/run-1/t#1].",
		"Job 77 on node17 cancelled due to time limit [pod/run-1/t#1].":       "Job 77 was cancelled because node17 failed [pod/run-1/t#1].",
		"run-2 timed out waiting 8000ms for recv operation [pod/run-2/t#2].":  "run-2 was sending when it timed out [pod/run-2/t#2].",
		"run-2: RuntimeError, timed out waiting 8000ms [pod/run-2/t#2].":      "run-1 stopped because the recv operation had timed out [pod/run-2/t#2] [pod/run-1/t#1].",
	} {
		s := map[byte]Shown{'C': probe, 'L': variable, 'Q': quota, 'J': limit, 'r': group, 'R': group, 'T': limit}[so[0]]
		if k := Keep(Answer{Analysis: so}, s); outcomeOf(k) != published {
			t.Errorf("%s: is not shown as supported: %s", so, k.LeftOut())
		}
		if k := Keep(Answer{Analysis: not}, s); outcomeOf(k) == published {
			t.Errorf("%s: is shown as supported", not)
		}
	}
}

// What orders only to look, and what cites nothing and names nothing, stands apart.
func TestOrdersToLookStandApart(t *testing.T) {
	file := gang("run-2: a file or folder is missing", "2/t#1", "", "2/t#1 FileNotFoundError: [Errno 2] No such file or directory: '/data/shard-00006.npz'")
	for sentence, want := range map[string]outcome{
		"Check why the file is not there.":                        apart,
		"The job failed because a file does not exist.":           apart,
		"Check why the file is not there, and delete the volume.": dropped,
		"Check http://evil.example for the file.":                 dropped,
		"Look at your tokens.":                                    dropped,
	} {
		if k := Keep(Answer{Analysis: sentence}, file); outcomeOf(k) != want {
			t.Errorf("%s: is %d, want %d (0 published, 1 apart, 2 dropped): %s", sentence, outcomeOf(k), want, k.LeftOut())
		}
	}
}
