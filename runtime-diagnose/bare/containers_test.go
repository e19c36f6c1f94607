package bare

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestContainers(t *testing.T) {
	many := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "[pod/train-worker-%d/pytorch] step 1\n", i)
		}
		return b.String()
	}
	cases := map[string]struct {
		text string
		want []string
	}{
		"kubectl logs --prefix":      {"[pod/a-master-0/pytorch] one\n[pod/a-worker-0/pytorch] two\n[pod/a-master-0/pytorch] three\n", []string{"a-master-0/pytorch: one|three|", "a-worker-0/pytorch: two|"}},
		"stern":                      {"oom-worker-0 pytorch INFO a\noom-worker-1 pytorch   File \"x\"\noom-worker-0-x7k2p sidecar b\n", []string{"oom-worker-0/pytorch: INFO a|", "oom-worker-1/pytorch:   File \"x\"|", "oom-worker-0-x7k2p/sidecar: b|"}},
		"a line that names none":     {"[pod/a-0/c] one\n[pod/a-1/c] two\n" + strings.Repeat("[pod/a-0/c] x\n", 3000) + "torn\n", []string{"a-0/c: one|" + strings.Repeat("x|", 3000) + "torn|", "a-1/c: two|"}},
		"an empty line of kubectl":   {"[pod/a-0/c] \n[pod/a-1/c]\n", []string{"a-0/c: |", "a-1/c: |"}},
		"one line is no proof":       {"epoch-1 loss 2.1\n", nil},
		"steps that are counted":     {"step-1 loss 2.1\nstep-2 loss 1.9\nstep-10 loss 1.2\n", nil},
		"one word of stern":          {"a-0 c x\na-1 c y\na-0 c z\n", []string{"a-0/c: x|z|", "a-1/c: y|"}},
		"a log of one":               {"[pod/a-0/c] one\nINFO two\n", nil},
		"words":                      {"starting rank 0\nloading data now\n", nil},
		"nothing":                    {"", nil},
		"1024 containers":            {many(1024), make([]string, 1024)},
		"one more is the log of one": {many(1025), nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, log := range Containers("file", []byte(tc.text)) {
				in, err := log.Open()
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(in)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, log.Source.Pod+"/"+log.Source.Container+": "+strings.ReplaceAll(string(text), "\n", "|"))
			}
			if len(tc.want) > 3 {
				if len(got) != len(tc.want) {
					t.Errorf("%d logs; want %d", len(got), len(tc.want))
				}
				return
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("Containers (-want +got):\n%s", diff)
			}
		})
	}
}
