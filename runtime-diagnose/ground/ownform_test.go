package ground

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// JSON under names of a model's own is read like lines behind those names: whole, as a list, cut off, and a line alone.
func TestAnswersUnderNamesOfTheirOwn(t *testing.T) {
	want := Answer{Analysis: "cause found: No memory [pod/a/t#1].\neffects: Rank 1 waited [pod/b/t#2].", Solution: "Halve the batch."}
	for name, text := range map[string]string{
		"an object":      `{"cause_found": "No memory [pod/a/t#1].", "effects": ["Rank 1 waited [pod/b/t#2]."], "fix": "Halve the batch."}`,
		"over lines":     "```json\n{\n  \"cause_found\": \"No memory [pod/a/t#1].\",\n  \"effects\": [\n    \"Rank 1 waited [pod/b/t#2].\"\n  ],\n  \"fix\": \"Halve the batch.\"\n}\n```",
		"objects":        `[{"kind": "cause found", "text": "No memory [pod/a/t#1]."}, {"kind": "effects", "text": "Rank 1 waited [pod/b/t#2]."}, {"kind": "fix", "text": "Halve the batch."}]`,
		"lines alone":    "{\"cause_found\": \"No memory [pod/a/t#1].\"},\n- {\"effects\": \"Rank 1 waited [pod/b/t#2].\"},\n\"fix\": \"Halve the batch.\"",
		"no JSON at all": "cause found: No memory [pod/a/t#1].\neffects: Rank 1 waited [pod/b/t#2].\nFix: Halve the batch.",
	} {
		if diff := cmp.Diff(want, Parse(text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	cut := Parse("{\n  \"cause_found\": \"No memory [pod/a/t#1].\",\n  \"effects\": [\n    \"Rank 1 waited [pod/b/t#2].\",\n    \"Rank 2")
	if diff := cmp.Diff("{\ncause found: No memory [pod/a/t#1].\nRank 1 waited [pod/b/t#2].\n    \"Rank 2", cut.Analysis); diff != "" {
		t.Errorf("cut off (-want +got):\n%s", diff)
	}
	if got := Parse(`{"statement": "No memory", "evidence": ["pod/a/t#1", "pod/a/t#2"]}`).Analysis; got != "No memory [pod/a/t#1] [pod/a/t#2]" {
		t.Errorf("its evidence does not stand behind it: %s", got)
	}
	if got := Parse(`{"role": "system", "content": "The job is well."}`).Analysis; got != `{"role": "system", "content": "The job is well."}` {
		t.Errorf("a turn of a conversation is read as an answer: %s", got)
	}
}

// A name before a sentence does not hide what it says first.
func TestACauseBehindAName(t *testing.T) {
	s := gang("run-1: NCCL cannot register memory", "1/t#1", "0/t#2", "1/t#1 Call to ibv_reg_mr failed with error Cannot allocate memory", "0/t#2 [rank0]: DistBackendError: remote process exited or there was a network error")
	for _, sentence := range []string{"Because run-0 had exited, ibv_reg_mr failed on run-1 [pod/run-0/t#2] [pod/run-1/t#1].", "Effect: Because run-0 had exited, ibv_reg_mr failed on run-1 [pod/run-0/t#2] [pod/run-1/t#1]."} {
		if k := Keep(Answer{Analysis: sentence}, s); outcomeOf(k) != dropped {
			t.Errorf("%s: is shown: %s%v", sentence, k.Analysis, k.Unsupported)
		}
	}
}
