package policies

import (
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/policies/plan"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// TestInputsAreWhatTheirJSONSays: with nothing in them, with everything, and with texts that are none.
func TestInputsAreWhatTheirJSONSays(t *testing.T) {
	full := preflight.Input{
		Job: preflight.JobView{
			Name: "a\xffb\xfe\xfd", Labels: map[string]string{"k\xff": "<v>&\u2028"}, GPUs: 1 << 60, Runtime: &preflight.RuntimeView{Kind: "K", Path: "spec.x"},
			Roles: []preflight.RoleView{{Name: "r", Requests: map[string]int64{"cpu": -1, "memory": 1 << 40}, Images: []string{}, KeepsFiles: true}, {}},
		},
		Findings: []finding.Finding{{Check: "c", Severity: finding.Error, Path: job.Path("spec"), Message: "m", Facts: []finding.Fact{{Name: "n", Value: int64(7)}, {Name: "s", Value: "x"}, {}}}},
		Object:   preflight.Object{Written: &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"n": int64(3), "f": 1.5}}}},
		Earlier:  preflight.EarlierFacts{Runs: []preflight.RunFacts{{}}},
	}
	full.Cluster.Quotas = []preflight.QuotaFacts{{Kind: "ResourceQuota", Left: 512}}
	for name, in := range map[string]preflight.Input{"empty": {}, "full": full} {
		t.Run(name, func(t *testing.T) {
			want, err := ast.InterfaceToValue(in)
			if err != nil {
				t.Fatal(err)
			}
			got, err := readInput()(&plan.Machine{}, &in).AsOPA()
			if err != nil {
				t.Fatal(err)
			}
			if got.Compare(want) != 0 {
				t.Errorf("%v\nwant %v", got, want)
			}
		})
	}
}
