package job

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestArgumentsOfTheProgramThatIsLaunched(t *testing.T) {
	cases := map[string]struct{ words, name, want string }{
		"joined":             {"train.py --tensor-parallel-size=8", "tensor-parallel-size", "8"},
		"apart":              {"train.py --tensor-parallel-size 8 x", "tensor-parallel-size", "8"},
		"with underscores":   {"train.py --tensor_parallel_size 8", "tensor-parallel-size", "8"},
		"one dash":           {"train.py -tp 2", "tp", "2"},
		"a dotted name":      {"train.py --parallelism.tensor_parallel_degree=4", "parallelism.tensor-parallel-degree", "4"},
		"quoted":             {`train.py --tp="4"`, "tp", "4"},
		"twice":              {"train.py --tp=4 --tp=8", "tp", "none"},
		"last, and no value": {"train.py --tp", "tp", "none"},
		"not there":          {"train.py --tpx=4 tp=8", "tp", "none"},
		"not a number":       {"train.py --tp=$TP", "tp", "$TP, no count"},
		"nothing":            {"train.py --tp=0", "tp", "0, no count"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := Launch{}
			for i, w := range strings.Fields(tc.words) {
				l.Args = append(l.Args, Word{Text: w, Path: Path("args").Index(i)})
			}
			got := "none"
			if w, ok := l.Arg(tc.name); ok {
				got = w.Text
				if n, at, ok := l.Count(tc.name); !ok {
					got += ", no count"
				} else if fmt.Sprint(n) != got || at != w.Path {
					t.Errorf("Count is %d at %s, Arg is %s at %s", n, at, w.Text, w.Path)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("Arg (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFlagsThatWereSeen(t *testing.T) {
	l := Launch{Flags: []string{"nnodes", "rdzv-backend"}}
	if !l.Has("x", "rdzv-backend") || l.Has("rdzv") || l.Has() {
		t.Errorf("Has does not look for whole names in %v", l.Flags)
	}
	if !Exactly(2).Fixed() || (Range{1, 2}).Fixed() || (Range{}).Fixed() {
		t.Error("Fixed is not a stated range of one number")
	}
}
