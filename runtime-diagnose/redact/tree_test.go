package redact

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// Of the lists of words that a pod has, those of a command line alone hold options.
func TestOnlyCommandLinesOfAPodHoldOptions(t *testing.T) {
	seen, lists := map[reflect.Type]bool{}, map[string]bool{}
	var walk func(reflect.Type)
	walk = func(of reflect.Type) {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct || seen[of] {
			return
		}
		seen[of] = true
		for f := range of.Fields() {
			if f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.String {
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				lists[name] = true
			}
			walk(f.Type)
		}
	}
	walk(reflect.TypeFor[corev1.PodSpec]())
	for name := range lists {
		in := map[string]any{name: []any{"--token", "SYS_ADMIN"}}
		Tree(in)
		got, _ := in[name].([]any)
		if hides, command := got[1] == Masked, slices.Contains([]string{"command", "args"}, name); hides != command {
			t.Errorf("behind an option in %s something is masked: %t", name, hides)
		}
	}
	for name := range noCommands {
		if !lists[name] {
			t.Errorf("a pod has no list %s", name)
		}
	}
}

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
