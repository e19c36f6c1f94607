package ground

import (
	"strings"
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// gang is a job of four pods, and what was read of it; # stands for the number of a pod.
func gang(says string, root, effect string, lines ...string) Shown {
	s := Shown{Says: says, Job: "run", Namespace: "ml", Names: []string{"run", "run-0", "run-1", "run-2", "run-3", "n0", "n1", "n2", "n3"}, Root: []evidence.ID{evidence.ID("pod/run-" + root)}}
	if effect != "" {
		s.Effects = []evidence.ID{evidence.ID("pod/run-" + effect)}
	}
	for i, l := range lines {
		id, text, _ := strings.Cut(l, " ")
		for n := range strings.SplitSeq("0123", "") {
			if !strings.HasPrefix(id, "#") && !strings.HasPrefix(id, n+"/") {
				continue
			}
			s.Items = append(s.Items, evidence.Item{
				ID: evidence.ID("pod/run-" + n + strings.TrimLeft(id, "0123#")[:0] + id[1:]), Kind: evidence.Log, Times: 1, Text: text, At: time.Date(2026, 11, 22, 5, 0, 0, i*1000, time.UTC),
				Source: evidence.Source{Pod: "run-" + n, Node: "n" + n, Container: "t", Rank: -1, Line: i + 1},
			})
		}
	}
	return s
}

// What a good model writes about failures that nothing was tuned to is shown, if only apart, and what is wrong in it is not
// shown as supported.
func TestWhatFreshAnswersSay(t *testing.T) {
	sizes := gang("run-0 and 3 more: a size of the model does not divide over the parallel ranks", "0/t#3", "",
		`#/t#1   File "/w/train.py", line 90, in main`, "#/t#2     assert args.global_batch % n == 0", "#/t#3 AssertionError: global batch size (64) is not divisible by micro batch size (8) times data parallel size (6)", "#/t/exit container t ended: exit code 1")
	file := gang("run-2 (node n2): a checkpoint cannot be read", "2/t#3", "0/t#6",
		`2/t#1   File "/w/train.py", line 105, in main`, "2/t#2     state = torch.load(path)", "2/t#3 RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory",
		"2/t#4 INFO train: resumed at step 20", `2/t#5 {"level": "INFO", "rank": 4, "step": 10, "loss": 6.3734}`, "0/t#6 RuntimeError: connect [10.0.0.2]:35227: Connection refused")
	disk := gang("run-1: the disk is full", "1/t#1", "", "1/t#1 checkpoint not written: [Errno 28] No space left on device: '/ckpt/m.pt', volume scratch")
	shard := gang("run-2: a file or folder is missing", "2/t#1", "", "2/t#1 FileNotFoundError: [Errno 2] No such file or directory: '/data/shard-00006.npz'")
	label := gang("run-1: an exception of the program", "1/t#1", "", "1/t#1 XGBoostError: label must be in [0,1] for logistic regression")
	read := gang("run-1: a file system failed", "1/t#1", "", "1/t#1 OSError: [Errno 5] Input/output error")
	name := gang("run-1: a name does not resolve (host run-mastr)", "1/t#1", "", "1/t#1 the addresses of (run-mastr, 29500) cannot be retrieved (gai error: Name or service not known)")
	type of = map[string]Shown
	for want, sentences := range map[outcome]of{
		published: {
			"Rank 4 was at step 10 with a loss of 6.3734 then [pod/run-2/t#5].": file,
			"The loss was 6.37 then [pod/run-2/t#5].":                           file,
		},
		apart: {
			"run-1 stopped because its labels are not within [0,1], which logistic regression requires [pod/run-1/t#1].":                   label,
			"The job died because shard-00006.npz is not present under /data on run-2 [pod/run-2/t#1].":                                    shard,
			"The aborted group is a side effect of the refused connection rather than a separate problem [pod/run-0/t#6].":                 file,
			"Every pod stopped at the same assertion in train.py, line 90, right at start-up [pod/run-0/t#1] [pod/run-1/t#1].":             sizes,
			"Nothing is wrong with the network here; the sizes simply don't fit together [pod/run-0/t#3].":                                 sizes,
			"This kind of check runs before the first step, so no training progress was lost.":                                             sizes,
			"The traceback goes through torch.load in train.py line 105, i.e. it happened while resuming [pod/run-2/t#1] [pod/run-2/t#2].": file,
			"Interestingly, another process on the same pod did manage to resume at step 20 [pod/run-2/t#4].":                              file,
			"A refused connection means that nothing was listening on that port any more [pod/run-0/t#6].":                                 file,
			"run-0 could not establish its connection during the setup of the group: the peer refused it [pod/run-0/t#6].":                 file,
			"The others then failed in the backward pass because the connection was refused by that peer [pod/run-0/t#6].":                 file,
			"The volume for checkpoints is probably too small [pod/run-1/t#1].":                                                            disk,
			"Reading the data failed with an I/O error (errno 5) in the loader of the data on run-1 [pod/run-1/t#1].":                      read,
		},
		dropped: {
			"The name run-mastr resolved to an address [pod/run-1/t#1].":                                                              name,
			"The checkpoint was read completely before the crash [pod/run-2/t#3].":                                                    file,
			"The data parallel size is 8 and the micro batch size is 6 [pod/run-0/t#3].":                                              sizes,
			"Only run-2 failed the assertion [pod/run-2/t#3].":                                                                        sizes,
			"Nothing is wrong with the sizes and their mismatched shapes [pod/run-0/t#3].":                                            sizes,
			"The peer refused the connection, and that truncated the checkpoint being read by run-2 [pod/run-0/t#6] [pod/run-2/t#3].": file,
		},
	} {
		for sentence, s := range sentences {
			if k := Keep(Answer{Analysis: sentence}, s); outcomeOf(k) != want {
				t.Errorf("%s: is %d, want %d (0 published, 1 apart, 2 dropped): %s", sentence, outcomeOf(k), want, k.LeftOut())
			}
		}
	}
}
