package quota_test

import (
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/test/build"
)

func TestLimitsOfNodePools(t *testing.T) {
	pool := func(gpus string) string {
		return strings.TrimSuffix(build.NodePool("gpu", "", ""), "}") + ", limits: {nvidia.com/gpu: " + gpus + "}}"
	}
	cases := map[string]struct {
		objects string
		items   []any
		want    string
	}{
		"within":                            {pool("16"), nil, ""},
		"above":                             {pool("15"), nil, "never node-pool NodePool gpu: 2 Workers ask for 16 nvidia.com/gpu; the limits of 1 node pool and other nodes allow 15\n"},
		"nodes that Karpenter did not make": {pool("8"), []any{build.Node("own", build.GPUs(8))}, ""},
		"nodes that it made":                {pool("8"), []any{build.Node("made", build.GPUs(8), build.Label("karpenter.sh/nodepool", "gpu"))}, "never node-pool NodePool gpu: 2 Workers ask for 16 nvidia.com/gpu; the limits of 1 node pool and other nodes allow 8\n"},
		"a pool without a limit":            {pool("8") + "\n---\n" + build.NodePool("more", "", ""), nil, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := build.Violations(build.View(t, tc.objects, []string{"nodepools.karpenter.sh"}, tc.items...), build.Within("ml", build.Workers(2, "8"))); got != tc.want {
				t.Errorf("limits %q; want %q", got, tc.want)
			}
		})
	}
}
