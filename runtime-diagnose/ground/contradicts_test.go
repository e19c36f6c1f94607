package ground

import (
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// What was well before the failure, what is so in general, what is asked or supposed, and whom others wait for contradict no finding; beside each
// form stands one that does, or that orders something.
func TestWhatContradictsNothing(t *testing.T) {
	job := gang("run-2 (rank 2, node n2): the certificate has expired\ncertificate-refused", "2/t#3", "0/t#4",
		"2/t#3 SSLError: certificate verify failed: certificate has expired", "2/t#1 rank 2: step 100 loss 0.31", "0/t#1 rank 0: step 100 loss 0.30", "1/t#1 rank 1: step 100 loss 0.30",
		"0/t#4 RuntimeError: barrier timed out after 600 s", "1/t#4 RuntimeError: barrier timed out after 600 s", "0/t/exit container t ended: exit code 143", "2/t/exit container t ended: exit code 1", "2/t#2 read-only cache, less than 5 shards left")
	job.Effects = append(job.Effects, "pod/run-1/t#4", "pod/run-0/t/exit")
	at := time.Date(2026, 11, 22, 5, 0, 0, 0, time.UTC)
	for i, item := range job.Items {
		job.Items[i].At = at.Add(map[evidence.ID]time.Duration{"pod/run-2/t#3": time.Minute, "pod/run-0/t#4": 11 * time.Minute, "pod/run-1/t#4": 11 * time.Minute, "pod/run-0/t/exit": 12 * time.Minute, "pod/run-2/t/exit": 2 * time.Minute}[item.ID])
	}
	for so, not := range map[string]string{
		"The training as such was doing well: it was at step 100 with a loss of 0.30 [pod/run-0/t#1].":                               "The training as such is doing well after the barrier timed out [pod/run-0/t#4].",
		"143 is 128 + 15, an end by SIGTERM and not a crash [pod/run-0/t/exit].":                                                     "The pod ended without a crash and all is well [pod/run-0/t/exit].",
		"No Python traceback was printed, which is normal for a SIGTERM.":                                                            "No traceback was printed, everything is normal.",
		"Note that this is not a classic network problem; the certificate is checked before anything is read [pod/run-2/t#3].":       "Note that you must renew the certificate [pod/run-2/t#3].",
		"The checkpoint of step 100 should thus be intact [pod/run-2/t#1].":                                                          "The checkpoint of step 100 should be deleted by somebody [pod/run-2/t#1].",
		"It cannot be told from here where the certificate should have come from [pod/run-2/t#3].":                                   "It can be told where the certificate is to be installed [pod/run-2/t#3].",
		"What made the barrier of the others time out is not part of the excerpt [pod/run-0/t#4].":                                   "The barrier of the others made the certificate expire [pod/run-0/t#4] [pod/run-2/t#3].",
		"A certificate that has expired is usually the fault of whoever should have renewed it.":                                     "The certificate was fine, the fault is with the barrier [pod/run-2/t#3].",
		"Once the certificate is valid, the job will presumably train.":                                                              "The certificate is fine and the job completed [pod/run-2/t#3].",
		"A job with a bad certificate cannot go on until it is renewed.":                                                             "The job with the bad certificate goes on [pod/run-2/t#3].",
		"The two timeouts are collateral damage of rank 2's failure [pod/run-0/t#4] [pod/run-1/t#4].":                                "The two timeouts are collateral damage of rank 3's failure [pod/run-0/t#4] [pod/run-1/t#4].",
		"Both were waiting for rank 2 until the barrier timed out [pod/run-0/t#4] [pod/run-1/t#4].":                                  "Both were waiting for rank 3 until the barrier timed out [pod/run-0/t#4] [pod/run-1/t#4].",
		"rank 2 exited with code 1 before the others noticed anything [pod/run-2/t/exit] [pod/run-0/t#4].":                           "rank 3 exited with code 1 before the others noticed anything [pod/run-2/t/exit] [pod/run-0/t#4].",
		"The run had less than five shards left in a cache that it could not write [pod/run-2/t#2].":                                 "The run had more than 9 shards left in a cache [pod/run-2/t#2].",
		"The server answered something like 'expired' in its handshake, and not 'unknown' [pod/run-2/t#3].":                          "The server answered \"certificate is unknown to us\" in its handshake [pod/run-2/t#3].",
		"There are no signs of memory pressure, eviction or hardware faults in the logs.":                                            "There are signs of hardware faults in the logs.",
		"It may well be that the container could not be reached, given that its certificate was rejected [pod/run-2/t#3].":           "According to the rules the container could not be reached by the registry [pod/run-2/t#3].",
		"证书过期导致 rank 2 下载失败，其余 rank 因此超时 [pod/run-2/t#3] [pod/run-0/t#4]。":                                                           "其余 rank 超时导致 rank 2 的证书过期 [pod/run-2/t#3] [pod/run-0/t#4]。",
		"The timeouts of the others came ten minutes after that [pod/run-0/t#4] [pod/run-1/t#4] [pod/run-2/t#3].":                    "The expired certificate caused rank 1 to reach step 100 [pod/run-2/t#3] [pod/run-1/t#1].",
		"Rank 2 saw an expired certificate and rank 0 a barrier that timed out [pod/run-2/t#3] [pod/run-0/t#4].":                     "Rank 0 saw an expired certificate and rank 2 a barrier that timed out [pod/run-2/t#3] [pod/run-0/t#4].",
		"The cache had been read without a problem, so the certificate was the first thing to fail [pod/run-2/t#2] [pod/run-2/t#3].": "The certificate was read without a problem [pod/run-2/t#3].",
		"One minute after reaching step 100, rank 2 could not verify the certificate [pod/run-2/t#1] [pod/run-2/t#3].":               "Ten minutes after the barrier timed out, rank 2 could not verify the certificate [pod/run-0/t#4] [pod/run-2/t#3].",
	} {
		if k := Keep(Answer{Analysis: so}, job); outcomeOf(k) == dropped {
			t.Errorf("%s: is left out: %s", so, k.LeftOut())
		}
		if k := Keep(Answer{Analysis: not}, job); outcomeOf(k) != dropped {
			t.Errorf("%s: is shown: %s%v", not, k.Analysis, k.Unsupported)
		}
	}
	for _, not := range []string{
		"One minute after the barrier timed out, rank 2 could not verify the certificate [pod/run-0/t#4] [pod/run-2/t#3].",
		"The exit of the container left run-2 in an expired certificate [pod/run-0/t/exit] [pod/run-2/t#3].",
	} {
		if k := Keep(Answer{Analysis: not}, job); outcomeOf(k) == published {
			t.Errorf("%s: is shown as supported", not)
		}
	}
}
