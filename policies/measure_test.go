package policies_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight"
)

// TestMeasure: each policy is asked about each job in each round, and those that the data does not
// configure are not. The clock moves by a second whenever it is read.
func TestMeasure(t *testing.T) {
	o := load(t, files("a.rego", policy("big_job", big), "b.rego", policy("broken", `deny contains "x" if to_number(input.job.name) > 3`), "c.rego", policy("silent", `deny contains "x" if input.job.gpus > data.config.most`)))
	at := time.Unix(0, 0)
	clock := func() time.Time {
		at = at.Add(time.Second)
		return at
	}
	got, err := policies.Measure(t.Context(), o.InForce(), []preflight.Input{input("enforce"), input("enforce")}, 3, clock)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if got[i].Policy == "broken" && got[i].Failure == "" {
			t.Error("a failure is not told")
		}
		got[i].Failure = ""
	}
	var want []policies.Cost
	for _, name := range []string{"big-job", "broken"} {
		want = append(want, policies.Cost{Policy: name, Asked: 6, P50: time.Second, P99: time.Second, Most: time.Second})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Measure (-want +got):\n%s", diff)
	}
}
