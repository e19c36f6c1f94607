package ground

import (
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// gangOf is a gang as the platform knows it: each line is of a pod with its role and its index in that.
func gangOf(kind string, lines ...evidence.Item) Shown {
	s := Shown{Says: "run-worker-1 (Worker 1, node n2): ended with an unusual code (exit code 3)", Kind: kind, Job: "run", Namespace: "ml", Names: []string{"run", "run-master-0", "run-worker-0", "run-worker-1", "n0", "n1", "n2"}, Root: []evidence.ID{"pod/run-worker-1/t/exit"}, Items: []evidence.Item{
		{ID: "pod/run-worker-1/t/exit", Text: "container t ended: exit code 3", At: time.Date(2026, 11, 22, 9, 40, 55, 0, time.UTC), Source: evidence.Source{Pod: "run-worker-1", Node: "n2", Role: "Worker", Rank: 1}},
		{ID: "pod/run-master-0/t#1", Text: "RuntimeError: Connection closed by peer", At: time.Date(2026, 11, 22, 9, 40, 57, 0, time.UTC), Source: evidence.Source{Pod: "run-master-0", Node: "n0", Role: "Master", Rank: 0}},
	}}
	s.Items = append(s.Items, lines...)
	return s
}

func lineOfPod(id, pod, role string, index int, text string) evidence.Item {
	return evidence.Item{ID: evidence.ID(id), Text: text, Source: evidence.Source{Pod: pod, Role: role, Rank: index}}
}

// What the platform calls worker 1 is the index of a role, and no rank: behind a master it is rank 2, as the operator of PyTorchJobs counts, or as a
// line of one of the workers shows. Where nothing tells how ranks are counted, none is supported.
func TestAnIndexIsNoRank(t *testing.T) {
	says := "[rank1] train: step 5/30 loss 1.3789"
	for name, tc := range map[string]struct {
		shown Shown
		rank2 outcome
	}{
		"the operator counts":      {gangOf("PyTorchJob"), published},
		"a worker's line shows it": {gangOf("", lineOfPod("pod/run-worker-0/t#1", "run-worker-0", "Worker", 0, says)), published},
		"nobody tells":             {gangOf("XGBoostJob"), dropped},
		"they count otherwise":     {gangOf("PyTorchJob", lineOfPod("pod/run-worker-0/t#1", "run-worker-0", "Worker", 0, "[12:00:00] task NULL got new rank 2")), dropped},
		"behind a launcher":        {gangOf("MPIJob", lineOfPod("pod/run-launcher-0/t#1", "run-launcher-0", "Launcher", 0, "starting")), dropped},
	} {
		t.Run(name, func(t *testing.T) {
			for sentence, want := range map[string]outcome{"Rank 2 exited with code 3 [pod/run-worker-1/t/exit].": tc.rank2, "Rank 1 exited with code 3 [pod/run-worker-1/t/exit].": dropped} {
				if k := Keep(Answer{Analysis: sentence}, tc.shown); outcomeOf(k) != want {
					t.Errorf("%s: is %d, want %d (0 published, 1 apart, 2 dropped): %s", sentence, outcomeOf(k), want, k.LeftOut())
				}
			}
		})
	}
}

// A program says which rank it has joined as; of a launcher the lines of all are there.
func TestRanksThatLinesTell(t *testing.T) {
	got := ranksOf(Shown{Names: []string{"run", "run-worker-2"}, Says: "run-launcher-0 (rank 2, node n1): a message was truncated"}, []evidence.Item{
		lineOfPod("1", "run-launcher-0", "Launcher", 0, "starting"), lineOfPod("2", "run-worker-7", "Worker", 7, "INFO boost - connected as rank 3 of 8"),
		lineOfPod("3", "run-worker-8", "Worker", 8, "[rank8]: step 1"), lineOfPod("4", "run-worker-8", "Worker", 8, "[rank9]: step 1"),
	})
	for pod, want := range map[string]string{"run-worker-7": "3", "run-worker-8": several, "run-launcher-0": ""} {
		if got[pod] != want {
			t.Errorf("rank of %s is %q, want %q", pod, got[pod], want)
		}
	}
}

// What would be asserts nothing, who tells of a failure does not say that all is well, and of whom an uncited sentence speaks no evidence denies.
func TestWhatIsNotAsserted(t *testing.T) {
	s := gangOf("PyTorchJob")
	for sentence, want := range map[string]outcome{
		"run-worker-1 left with exit code 3 and wrote no error [pod/run-worker-1/t/exit].": apart,
		"run-worker-1 wrote no error [pod/run-worker-1/t/exit].":                           dropped,
		"A batch of 48 or 96 would satisfy the check.":                                     apart,
		"It is a batch of 48.":                                 dropped,
		"I cannot tell which line of the program ended it.":    apart,
		"I can't help with that.":                              dropped,
		"So nobody took rank 0.":                               apart,
		"Rank 0 exited with code 3 [pod/run-worker-1/t/exit].": dropped,
	} {
		if k := Keep(Answer{Analysis: sentence}, s); outcomeOf(k) != want {
			t.Errorf("%s: is %d, want %d (0 published, 1 apart, 2 dropped): %s", sentence, outcomeOf(k), want, k.LeftOut())
		}
	}
}

// A number within an identifier is none, "rank 0 of 4" is not none of four, and what the rules say to be unseen is not supported by them.
func TestWhatOnlyLooksLikeSupport(t *testing.T) {
	killed := gang("run-0 (node n0): killed (SIGKILL), without an out-of-memory report (exit code 137)", "0/t/exit", "", "0/t/exit container t ended: exit code 137", "1/t#2 INFO train: joining as rank 0 of 4")
	for sentence, s := range map[string]Shown{
		"run-0 was OOM killed [pod/run-0/t/exit].": killed,
		"四个成员全部加入了进程组 [pod/run-1/t#2]。":            killed,
	} {
		if k := Keep(Answer{Analysis: sentence}, s); outcomeOf(k) == published {
			t.Errorf("%s: is published", sentence)
		}
	}
	if holds("DEVICE(193,7f8ea5fff700,python) device-side assert triggered", "8") || !holds("shard8 of 31GiB", "31") {
		t.Error("a number within an identifier counts, or one behind a word does not")
	}
}

// The only member of a role is called by it, how many others there are is counted, and a name of a program says nothing of it.
func TestMembersAreCountedAndCalledByTheirRole(t *testing.T) {
	s := gangOf("PyTorchJob", lineOfPod("pod/run-worker-0/t#2", "run-worker-0", "Worker", 0, "RuntimeError: Connection closed by peer"))
	s.Effects = []evidence.ID{"pod/run-master-0/t#1", "pod/run-worker-0/t#2"}
	for _, n := range []string{"5", "6"} {
		s.Items = append(s.Items, lineOfPod("pod/run-worker-"+n+"/t#2", "run-worker-"+n, "Worker", -1, "RuntimeError: Connection closed by peer"))
		s.Effects = append(s.Effects, s.Items[len(s.Items)-1].ID)
	}
	for sentence, want := range map[string]outcome{
		"The master lost its connection when rank 2 was already gone [pod/run-master-0/t#1].":                                   apart,
		"One code, four errors of others that follow from it [pod/run-worker-1/t/exit].":                                        apart,
		"One code, eleven errors of others that follow from it [pod/run-worker-1/t/exit].":                                      dropped,
		"The others were in init_process_group then, which is where they wait for each other [pod/run-master-0/t#1].":           apart,
		"The others were in init_process_group_7 then, which is where they wait for each other 9 times [pod/run-master-0/t#1].": dropped,
	} {
		if k := Keep(Answer{Analysis: sentence}, s); outcomeOf(k) != want {
			t.Errorf("%s: is %d, want %d (0 published, 1 apart, 2 dropped): %s", sentence, outcomeOf(k), want, k.LeftOut())
		}
	}
}
