package manifest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

func TestTwice(t *testing.T) {
	many := "apiVersion: v1\nkind: X\ndata:\n"
	for i := range 100 {
		many += fmt.Sprintf("  k%d: v\n", i)
	}
	cases := map[string]struct {
		text string
		want []job.DuplicateKey
	}{
		"each key once": {text: "apiVersion: v1\nkind: X\nspec: {a: 1, b: {a: 1}}\n"},
		"a label is lost, in the second document": {
			text: "apiVersion: v1\nkind: Z\n---\napiVersion: v1\nkind: X\nmetadata:\n  labels: {queue: a, team: b}\n  labels:\n    team: c\n",
			want: []job.DuplicateKey{{Path: "metadata.labels", First: 7, Line: 8, Lost: []string{"queue"}}},
		},
		"a value is replaced, in a list": {
			text: "apiVersion: v1\nkind: X\nspec:\n- image: a\n  name: n\n- image: b\n  image: c\n",
			want: []job.DuplicateKey{{Path: "spec[1].image", First: 6, Line: 7}},
		},
		"three times": {
			text: "apiVersion: v1\nkind: X\na: 1\na: 2\na: 2\n",
			want: []job.DuplicateKey{{Path: "a", First: 3, Line: 4}, {Path: "a", First: 4, Line: 5, Same: true}},
		},
		"lost and empty": {
			text: "apiVersion: v1\nkind: X\nspec: {b: 1, a: 2}\nspec:\n",
			want: []job.DuplicateKey{{Path: "spec", First: 3, Line: 4, Lost: []string{"a", "b"}}},
		},
		"in JSON": {
			text: "{\"apiVersion\":\"v1\",\n\"kind\":\"X\",\n\"a b\":1,\n\"a b\":2}",
			want: []job.DuplicateKey{{Path: `["a b"]`, First: 3, Line: 4}},
		},
		"a merge brings what is written out": {
			text: "apiVersion: v1\nkind: X\na: &a {x: 1}\nb:\n  <<: *a\n  x: 2\n",
		},
		"an item of a list of objects": {
			text: "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Z\n- apiVersion: v1\n  kind: X\n  a: 1\n  a: 2\n",
			want: []job.DuplicateKey{{Path: "a", First: 8, Line: 9}},
		},
		"in a mapping of many": {
			text: many + "  k7: w\n",
			want: []job.DuplicateKey{{Path: "data.k7", First: 11, Line: 104}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []job.DuplicateKey
			for d, err := range Read("f.yaml", strings.NewReader(tc.text)) {
				if err != nil {
					t.Fatal(err)
				}
				if twice := d.DuplicateKeys(); d.Object.GetKind() == "X" {
					got = twice
				} else if len(twice) > 0 && !d.List {
					t.Errorf("%s: got %v, which belongs to its neighbour", d.Object.GetKind(), twice)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("DuplicateKeys (-want +got):\n%s", diff)
			}
			if !slices.IsSortedFunc(got, func(a, b job.DuplicateKey) int { return a.Line - b.Line }) {
				t.Error("not in the order of the text")
			}
		})
	}
}

func TestPositionOfAKeyWrittenTwiceIsTheOneThatCounts(t *testing.T) {
	for d, err := range Read("f.yaml", strings.NewReader("apiVersion: v1\nkind: X\na:\n  b: 1\na:\n  b: 2\n")) {
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Position("a.b"); got != 6 {
			t.Errorf("Position: got %d, want 6", got)
		}
	}
}
