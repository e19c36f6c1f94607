package redact

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSecretsInATreeAreMasked(t *testing.T) {
	for name, tc := range map[string]struct{ in, want any }{
		"within a text": {
			map[string]any{"message": "password=hunter2 was refused"},
			map[string]any{"message": "password=[masked] was refused"},
		},
		"the word behind an option that is named like a secret": {
			map[string]any{"args": []any{"train.py", "--hf-token", "abc", "--password", "x", "--lr", "0.1"}},
			map[string]any{"args": []any{"train.py", "--hf-token", "[masked]", "--password", "[masked]", "--lr", "0.1"}},
		},
		"not what counts tokens or names a tokenizer": {
			[]any{"--tokenizer", "gpt2", "--num-tokens", "4096", "--token-type", "bpe", "--passes", "3"},
			[]any{"--tokenizer", "gpt2", "--num-tokens", "4096", "--token-type", "bpe", "--passes", "3"},
		},
		"an option at the end, one with a value of its own, and one before no text": {
			[]any{"--token=abcdefgh", "--token", int64(3), "--secret"},
			[]any{"--token=[masked]", "--token", int64(3), "--secret"},
		},
		"a secret that looks like an option": {
			[]any{"--api-key", "--token", "plain"},
			[]any{"--api-key", "[masked]", "[masked]"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Tree(tc.in)); diff != "" {
				t.Errorf("masked (-want +got):\n%s", diff)
			}
		})
	}
}
