package signature_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExplainSaysWhichSignatureCountsAndWhy(t *testing.T) {
	cases := map[string]struct {
		line string
		want []string
	}{
		"a special one before every exception": {
			"FileNotFoundError: [Errno 2] No such file or directory: '/data/a'",
			[]string{"file-not-found", "python-exception: it counts only where nothing else does, and file-not-found does", "said-path-missing: it counts only where nothing else does, and file-not-found does"},
		},
		"what hides another one": {
			`ValueError: Unknown split "validation". Should be one of ['train', 'test'].`,
			[]string{"dataset-empty", "python-exception: it counts only where nothing else does, and dataset-empty does", "value-refused: dataset-empty knows this line more specifically"},
		},
		"nothing knows it": {"all is well", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, r := range builtin(t).Explain(tc.line) {
				text := r.Signature.ID
				if r.GivesWay != "" {
					text += ": " + r.GivesWay
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("Explain (-want +got):\n%s", diff)
			}
		})
	}
}
