package redact

import (
	"maps"
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

func TestSecretsInAMapAreMasked(t *testing.T) {
	for name, tc := range map[string]struct{ in, want map[string]string }{
		"nothing":                                {nil, nil},
		"what needs nothing":                     {map[string]string{"team": "vision", "cost-center": "4711"}, map[string]string{"team": "vision", "cost-center": "4711"}},
		"within a value":                         {map[string]string{"note": "password=hunter2 was refused", "a": "b"}, map[string]string{"note": "password=[masked] was refused", "a": "b"}},
		"the value of a key named like a secret": {map[string]string{"db.example.com/password": "hunter2"}, map[string]string{"db.example.com/password": "[masked]"}},
	} {
		t.Run(name, func(t *testing.T) {
			before := maps.Clone(tc.in)
			if diff := cmp.Diff(tc.want, Map(tc.in)); diff != "" {
				t.Errorf("masked (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, tc.in); diff != "" {
				t.Errorf("the map itself was changed:\n%s", diff)
			}
		})
	}
}
