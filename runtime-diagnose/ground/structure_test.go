package ground

import (
	"testing"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// How a sentence is built does not make it false: what was made, where a line stands, what a member did not do, what somebody
// only tried with, and words that the cause's own line has. Who wrote a line is not who it tells of.
func TestHowSentencesAreBuilt(t *testing.T) {
	s := Shown{
		Items: []evidence.Item{
			{ID: "pod/w-2/t#40", Source: evidence.Source{Pod: "w-2", Node: "n2", Rank: 2}, Text: "RuntimeError: the licence daemon at port 27000 gave no more seats to anybody"},
			{ID: "pod/w-2/t#38", Source: evidence.Source{Pod: "w-2", Node: "n2", Rank: 2}, Text: `{"rank": 2, "epoch": 0.88, "loss": 2.25}`},
			{ID: "pod/w-0/t#51", Source: evidence.Source{Pod: "w-0", Node: "n0", Rank: 0}, Text: "barrier: rank 2 missing after 300 s, trying to reach a rendezvous store"},
			{ID: "pod/w-0/t#49", Source: evidence.Source{Pod: "w-0", Node: "n0", Rank: 0}, Text: "waiting for the licence of rank 2"},
			{ID: "pod/w-1/t#7", Source: evidence.Source{Pod: "w-1", Node: "n1", Rank: 1}, Text: "loaded all shards of the licence catalog for seats"},
		},
		Root: []evidence.ID{"pod/w-2/t#40"}, Effects: []evidence.ID{"pod/w-0/t#51", "pod/w-0/t#49"}, Says: "a licence could not be had",
		Job: "run", Namespace: "ml", Names: []string{"run", "w-0", "w-1", "w-2", "n0", "n1", "n2"},
	}
	for sentence, not := range map[string]outcome{
		"The request for a seat was made by rank 2 at port 27000 [pod/w-2/t#40].":                                         dropped,
		"A daemon that gave no more seats to anybody usually needs an administrator of its own.":                          dropped, // the cause's line
		"The message just before tells the loss of rank 2 [pod/w-2/t#38].":                                                dropped,
		"The loss of w-2, 2.25 at epoch 0.88, is an ordinary finite value [pod/w-2/t#38].":                                dropped, // in the log's JSON
		"Rank 1 had no trouble with the daemon at its port, which fits a loaded catalog [pod/w-1/t#7].":                   dropped,
		"The rendezvous store was the target of rank 0 [pod/w-0/t#51].":                                                   dropped, // it is there, if nobody reached it
		"The barrier of w-0 gave up after 300 s; whether earlier runs had the same cause is not recorded [pod/w-0/t#51].": dropped,
		"Rank 0 was missing after 300 s [pod/w-0/t#51].":                                                                  published,
		"Rank 2 was waiting for w-0 [pod/w-0/t#49].":                                                                      published,
		"The missing barrier left rank 2 without any seats of the licence daemon [pod/w-0/t#51] [pod/w-2/t#40].":          published,
	} {
		k := Keep(Answer{Analysis: sentence}, s)
		if got := outcomeOf(k); got == not {
			t.Errorf("%s: is %d (0 published, 1 apart, 2 dropped): %s", sentence, got, k.LeftOut())
		}
	}
}
