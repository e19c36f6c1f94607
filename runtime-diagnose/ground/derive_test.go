package ground

import (
	"strings"
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// A number that can be worked out of the evidence is shown, if only apart; one that can't be is not.
func TestNumbersThatAreWorkedOut(t *testing.T) {
	job := gang("run-2: the file system is read-only", "2/t#9", "0/t#4",
		"2/t#9 OSError: [Errno 30] Read-only file system: '/ckpt/s2000'", "2/t#1 saved /ckpt/s1000 (3.8 GB) in 21 s", "2/t#2 loading took 78.4 seconds, utilization 0.60, total 44.39 GiB",
		"2/t#3 GPU 0 has a total capacity of 79.15 GiB of which 1.21 GiB is free", "2/t#4 step 6200/50000 wer 0.182", "2/t#5 TensorShape=[51123456]", "2/t#6 pthread_create failed: Resource temporarily unavailable",
		"2/t#10 Threshold quantity: 24068434671, available: 23201836Ki. Container main was using 311846200Ki", "2/t#11 serving 1,914,200 utterances", "2/t#12 partition 5", "2/t#7 driver too old (found version 12040)", "2/t#8 node takes 8 GPUs and 4 of them were lost, 600041 ms, loss 9.87e13", "0/t#4 index map 37 % done", "0/t#5 watchdog: 1800000 ms without an answer")
	for i := range job.Items {
		job.Items[i].At = time.Date(2026, 11, 22, 5, 0, 0, 0, time.UTC)
		if job.Items[i].ID == "pod/run-0/t#4" {
			job.Items[i].At = job.Items[i].At.Add(24 * time.Second)
		}
	}
	for so, not := range map[string]string{
		"The loading took it roughly 1 min 18 s [pod/run-2/t#2].":                                                "The loading took it roughly 1 min 58 s [pod/run-2/t#2].",
		"A share of 60 % of the total makes about 26.6 GiB [pod/run-2/t#2].":                                     "A share of 60 % of the total makes about 31.2 GiB [pod/run-2/t#2].",
		"About 98 % of the capacity of the GPU was taken [pod/run-2/t#3].":                                       "About 71 % of the capacity of the GPU was taken [pod/run-2/t#3].",
		"By then 12 % of the way had been covered [pod/run-2/t#4].":                                              "By then 37 % of the way had been covered [pod/run-2/t#4].",
		"The word error rate was 18.2 % [pod/run-2/t#4].":                                                        "The word error rate was 28.2 % [pod/run-2/t#4].",
		"That message is EAGAIN (errno 11), the answer to a limit [pod/run-2/t#6].":                              "That message is EAGAIN (errno 12), the answer to a limit [pod/run-2/t#6].",
		"The driver supports CUDA 12.4 at most [pod/run-2/t#7].":                                                 "The driver supports CUDA 12.8 at most [pod/run-2/t#7].",
		"Lost in all: 4 x 8 = 32 of them [pod/run-2/t#8].":                                                       "Lost in all: 4 x 8 = 36 of them [pod/run-2/t#8].",
		"Losses of about 9.9e13 point to a divergence [pod/run-2/t#8].":                                          "Losses of about 7.7e13 point to a divergence [pod/run-2/t#8].",
		"37% of the index map were done by then [pod/run-0/t#4].":                                                "41% of the index map was finished [pod/run-0/t#4].",
		"Twenty-four seconds lay between the two [pod/run-0/t#4] [pod/run-2/t#9].":                               "Ninety-four seconds lay between the two [pod/run-0/t#4] [pod/run-2/t#9].",
		"The watchdog waited 1,800,000 ms (30 minutes) [pod/run-0/t#5].":                                         "The watchdog waited 1,800,000 ms (50 minutes) [pod/run-0/t#5].",
		"Whereas a full disk would have been reported as errno 28, errno 30 tells of the mount [pod/run-2/t#9].": "A full disk was reported as errno 28, so errno 30 tells of the mount [pod/run-2/t#9].",
		"A card that is sold as an 80 GB GPU shows such a capacity [pod/run-2/t#3].":                             "A card that is sold as a 24 GB GPU shows such a capacity [pod/run-2/t#3].",
		"The threshold of the quantity is about 22.4 GiB [pod/run-2/t#10].":                                      "The threshold of the quantity is about 31.7 GiB [pod/run-2/t#10].",
		"The answer of errno 30 rather than 28 tells of a mount [pod/run-2/t#9].":                                "The answer of errno 28 tells of a mount [pod/run-2/t#9].",
	} {
		if k := Keep(Answer{Analysis: so}, job); outcomeOf(k) == dropped {
			t.Errorf("%s: is left out: %s", so, k.LeftOut())
		}
		if k := Keep(Answer{Analysis: not}, job); outcomeOf(k) != dropped {
			t.Errorf("%s: is shown: %s%v", not, k.Analysis, k.Unsupported)
		}
	}
}

// A time that is told without a figure is held against the times of what is cited like any other.
func TestTimesWithoutFigures(t *testing.T) {
	job := gang("run-2: the certificate has expired", "2/t#1", "0/t#1", "2/t#1 certificate verify failed: certificate has expired", "0/t#1 RuntimeError: barrier timed out")
	job.Items[0].At = time.Date(2026, 11, 22, 5, 0, 0, 0, time.UTC)
	for took, of := range map[time.Duration][2]string{
		30 * time.Minute: {"half an hour", "half a minute"}, 31 * time.Second: {"half a minute", "half an hour"}, 61 * time.Second: {"one minute", "an hour"}, 59 * time.Minute: {"an hour", "a minute"},
		time.Second: {"a second", "one hour"}, 91 * time.Second: {"a minute and a half", "half a minute"}, 15 * time.Minute: {"a quarter of an hour", "one minute"},
	} {
		job.Items[1].At = job.Items[0].At.Add(took)
		for i, want := range []outcome{published, apart} {
			sentence := "The certificate had expired, and the barrier of run-0 timed out " + of[i] + " later [pod/run-2/t#1] [pod/run-0/t#1]."
			k := Keep(Answer{Analysis: sentence}, job)
			if got := outcomeOf(k); want == apart && got == published || want == published && got == dropped {
				t.Errorf("after %v: %s: is %d (0 published, 1 apart, 2 dropped): %s", took, sentence, got, k.LeftOut())
			}
		}
	}
}

// What a line says of one thing that it numbers is not said of a part that it counts.
func TestPartsThatAreCounted(t *testing.T) {
	job := gang("run-2: an actor is missing", "2/t#1", "", "2/t#1 5 of 6 actors are sending, actor 5 has never been seen", "2/t#2 Expected 12 fields in line 3412, saw 14", "2/t#3 NodeList=nid[0040-0043]")
	for so, not := range map[string]string{
		"5 of 6 actors are sending [pod/run-2/t#1].":                     "5 of 6 actors have never been seen [pod/run-2/t#1].",
		"Line 3412 has 14 fields and not the expected [pod/run-2/t#2].":  "Line 3412 has 41 fields and not the expected [pod/run-2/t#2].",
		"One of the nodes is nid0042, which was in use [pod/run-2/t#3].": "One of the nodes is nid0052, which was in use [pod/run-2/t#3].",
	} {
		if k := Keep(Answer{Analysis: so}, job); outcomeOf(k) == dropped {
			t.Errorf("%s: is left out: %s", so, k.LeftOut())
		}
		if k := Keep(Answer{Analysis: not}, job); outcomeOf(k) == published || outcomeOf(k) == apart && !strings.Contains(not, "never") {
			t.Errorf("%s: is shown: %s%v", not, k.Analysis, k.Unsupported)
		}
	}
}

// The amount of one measure is none of another's, though a line has it in another unit or without one.
func TestAmountsOfOtherMeasures(t *testing.T) {
	job := gang("run-2: the pod was evicted", "2/t#1", "", "2/t#1 Threshold quantity: 24068434671, available: 23201836Ki. Container main was using 311846200Ki")
	for _, not := range []string{"The threshold is 297 GiB [pod/run-2/t#1].", "The threshold quantity is 22.1 GiB [pod/run-2/t#1]."} {
		if k := Keep(Answer{Analysis: not}, job); outcomeOf(k) == published {
			t.Errorf("%s: is shown as supported", not)
		}
	}
}

// Of the numbers of a calculation all are taken, and what is cut from a version or an address is none of them.
func TestCalculationsOfClaims(t *testing.T) {
	for claim, wrong := range map[string]bool{
		"10 + 4 + 8 = 22 nodes": false, "10 + 4 + 8 = 21 nodes": true, "2 x 3 x 4 = 24": false, "a block of 2 x 3 x 4 numbers": false, "1,000 + 24 = 1,024": false,
		"1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 = 8": false,
	} {
		if got := miscalculated(claim); got != wrong {
			t.Errorf("%q is wrong: %t, want %t", claim, got, wrong)
		}
	}
	if got := inPairs("images of 16 x 16 x 3, 1,024 of them"); got != "images of 16 x 16 x 3, 1,024 of them" {
		t.Errorf("what is no calculation became %q", got)
	}
	if got := unshortened("closed by peer 10.1.2.4", "port 2.4200"); got != "closed by peer 10.1.2.4" {
		t.Errorf("the address became %q", got)
	}
}

// The ranks of pods are those that the rules say, and those with which each begins its own lines; where two begin them with one, nobody's are.
func TestRanksOfPods(t *testing.T) {
	item := func(pod, text string) evidence.Item {
		return evidence.Item{ID: evidence.ID("pod/" + pod + "/t#1"), Text: text, Source: evidence.Source{Pod: pod, Rank: -1}}
	}
	for name, tc := range map[string]struct {
		items []evidence.Item
		says  string
		want  map[string]string
	}{
		"each its own":    {[]evidence.Item{item("a", "rank 0: step 1"), item("b", "INFO rank 1: step 1")}, "", map[string]string{"a": "0", "b": "1"}},
		"one alone":       {[]evidence.Item{item("a", "rank 1 did not answer")}, "", map[string]string{"a": ""}},
		"two of one":      {[]evidence.Item{item("a", "rank 1: step 1"), item("b", "rank 1: step 1"), item("c", "rank 2: step 1")}, "", map[string]string{"a": "", "b": "", "c": "2"}},
		"the rules say":   {[]evidence.Item{item("a", "rank 1 did not answer"), item("b", "rank 0: step 1")}, "a (rank 0, node n1): the disk is full", map[string]string{"a": "0"}},
		"in the brackets": {[]evidence.Item{item("a", "[rank3]: RuntimeError")}, "", map[string]string{"a": "3"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := ranksOf(Shown{Says: tc.says}, tc.items)
			for pod, want := range tc.want {
				if got[pod] != want {
					t.Errorf("rank of %s is %q, want %q", pod, got[pod], want)
				}
			}
		})
	}
}
