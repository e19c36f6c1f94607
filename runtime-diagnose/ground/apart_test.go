package ground

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// A sentence that contradicts nothing is shown apart where nothing shows it; what contradicts the evidence, brings a number
// or a name of its own, orders something or repeats a line is not.
func TestWhatNothingSupportsStandsApart(t *testing.T) {
	s := Shown{
		Items: []evidence.Item{
			{ID: "pod/w-1/t#9", Source: evidence.Source{Pod: "w-1", Rank: 1}, Text: "checkpoint not written: [Errno 28] No space left on device: '/ckpt/step-900/m.pt', volume scratch"},
			{ID: "pod/w-0/t#4", Source: evidence.Source{Pod: "w-0", Rank: 0}, Text: "[rank0] barrier timed out, the scratch quota was raised by somebody at noon"},
		},
		Root: []evidence.ID{"pod/w-1/t#9"}, Effects: []evidence.ID{"pod/w-0/t#4"}, Says: "the disk is full", Job: "j", Namespace: "ml", Names: []string{"j", "w-0", "w-1"},
	}
	for sentence, want := range map[string][]string{
		"The volume for checkpoints was probably shared with bigger experiments [pod/w-1/t#9].":    {"The volume for checkpoints was probably shared with bigger experiments."},
		"A full disk usually hits the rank that writes the checkpoints.":                           {"A full disk usually hits the rank that writes the checkpoints."},
		"The volume for checkpoints holds 40 of them, which is too many [pod/w-1/t#9].":            nil, // a number of its own
		"The volume nfs_fast2 for checkpoints is too small for them [pod/w-1/t#9].":                nil, // a name of its own
		"The checkpoint was saved and the disk has plenty of room [pod/w-1/t#9].":                  nil, // well, where it is not
		"The volume for checkpoints should be made larger by somebody [pod/w-1/t#9].":              nil, // an order
		"On this disk the scratch quota was raised by somebody, so it grew [pod/w-0/t#4].":         nil, // a line of the log
		"It looks like an issue of the network, with a broken switch.":                             nil, // nobody speaks of a network
		"Le disque des checkpoints est trop petit pour tous ces fichiers [pod/w-1/t#9].":           nil, // no language that is read here
		"The volume" + strings.Repeat(" for all the checkpoints", 20) + " is small [pod/w-1/t#9].": nil, // too long
	} {
		k := Keep(Answer{Analysis: sentence}, s)
		if diff := cmp.Diff(want, k.Unsupported); diff != "" || k.Analysis != "" || k.Dropped+len(k.Unsupported) != 1 {
			t.Errorf("%s: published %q, %s; apart (-want +got):\n%s", sentence, k.Analysis, k.LeftOut(), diff)
		}
	}
}

// What stands apart has a bound, for one sentence and for all.
func TestWhatStandsApartIsBounded(t *testing.T) {
	const one = "The volume for checkpoints is probably too small for so many large files"
	var sentences []string
	for more := range strings.FieldsSeq("and and a few others but not so many others that nothing else would stay here or there or even elsewhere on any disk of all those that this node ever had") {
		sentences = append(sentences, one+" "+more+".")
	}
	s := Shown{
		Items: []evidence.Item{{ID: "pod/w-1/t#9", Source: evidence.Source{Pod: "w-1", Rank: 1}, Text: "checkpoint not written: [Errno 28] No space left on device: '/ckpt/m.pt', volume scratch"}},
		Root:  []evidence.ID{"pod/w-1/t#9"}, Says: "the disk is full",
	}
	k := Keep(Answer{Analysis: strings.Join(sentences, " ")}, s)
	if n := len(strings.Join(k.Unsupported, "")); n > MaxUnsupported || n < MaxUnsupported-2*len(one) || k.Why[TooLong] == 0 {
		t.Errorf("%d bytes in %d sentences, %s", n, len(k.Unsupported), k.LeftOut())
	}
	for size, fits := range map[int]bool{longestUnsupported: true, longestUnsupported + 1: false} {
		const before, after = "The volume for checkpoints is too small for", " files."
		room := size - len(before) - len(after)
		sentence := before + strings.Repeat(" many", room/5) + strings.Repeat("y", room%5) + after
		if k := Keep(Answer{Analysis: sentence}, s); (len(k.Unsupported) == 1) != fits || (k.Why[TooLong] == 0) != fits {
			t.Errorf("a sentence of %d bytes is shown: %t; want %t: %s", len(sentence), !fits, fits, k.LeftOut())
		}
	}
	if want := "sentences are not supported by what was read; "; !strings.Contains(k.LeftOut(), want) {
		t.Errorf("said %q, want %q", k.LeftOut(), want)
	}
}

func TestWhatEvidenceSaysInOtherForms(t *testing.T) {
	for text, want := range map[string]string{
		"container ended: exit code 134":                     "signal 6 SIGABRT abort\n",
		"exit 143, ran for 2s":                               "signal 15 SIGTERM terminate\n",
		"exit code 1":                                        "",
		"NVRM: Xid (PCI:0000:5d:00): 48, pid=7":              "Xid 48\n",
		"saving /ckpt/step-900":                              "step 900\n",
		"the model wants 118 columns and got 117":            "117 columns\n",
		"the run took 5 steps and then spent 3 minutes idle": "",
	} {
		if got := restated(text); got != want {
			t.Errorf("%q is restated as %q, want %q", text, got, want)
		}
	}
	for claim, want := range map[string]string{
		"It wrote 2,000 files.": "It wrote 2000 files.",
	} {
		if got := ungrouped(claim, "wrote 2000 files"); got != want {
			t.Errorf("%q is %q, want %q", claim, got, want)
		}
	}
}

// Once as many edits of claims have been tried as one answer may cost, what would have to be tried is not shown.
func TestEditsOfClaimsAreBounded(t *testing.T) {
	s := Shown{
		Items: []evidence.Item{{ID: "pod/w-1/t#9", Source: evidence.Source{Pod: "w-1", Rank: 1}, Text: "checkpoint not written: [Errno 28] No space left on device: '/ckpt/m.pt', volume scratch"}},
		Root:  []evidence.ID{"pod/w-1/t#9"}, Says: "the disk is full",
	}
	const claim = "The volume for the checkpoints is probably shared with others"
	for before, want := range map[int]Reason{mostEdits - 1: "", mostEdits: Otherwise} {
		g := newGrounds(s)
		g.edits = before
		if why := g.standsApart(claim, s.Root, Word); why != want {
			t.Errorf("after %d edits: %q, want %q", before, why, want)
		}
	}
}
