package checktest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

const manyPods = `A caption.
-- job.yaml --
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  parallelism: 9 # PARALLELISM
  template:
    spec:
      restartPolicy: Never
      containers:
      - {name: main, image: "registry.example.com/train:1"}
`

// nine reports every job of more than eight pods.
var nine = &check.Check{
	Name: "nine", Title: "too many", Remedy: "Take fewer.", Since: "0.1", Severity: finding.Warning,
	Params: func() any { return &struct{ Most int }{8} },
	Run: func(p *check.Pass) {
		if most := p.Params.(*struct{ Most int }).Most; p.Job.MaxPods() > most {
			p.Reportf("spec.parallelism", "%d pods; %d are fine", p.Job.MaxPods(), most)
		}
	},
}

// TestTheHarnessCanFail: a harness that cannot fail proves nothing.
func TestTheHarnessCanFail(t *testing.T) {
	wants := func(comment string) string { return strings.Replace(manyPods, "# PARALLELISM", comment, 1) }
	cases := map[string]struct {
		name, text string
		want       []string
	}{
		"as wanted":            {"fires-on-nine", wants("# want `warning: 9 pods; 8 are fine`"), nil},
		"a wrong want":         {"fires-on-nine", wants("# want `10 pods`"), []string{"job.yaml:5: unexpected warning: 9 pods; 8 are fine\n  at spec.parallelism", "job.yaml:5: nothing says 10 pods"}},
		"a want elsewhere":     {"fires-on-nine", strings.Replace(manyPods, "kind: Job", "kind: Job # want `9 pods`", 1), []string{"job.yaml:5: unexpected warning: 9 pods; 8 are fine\n  at spec.parallelism", "job.yaml:2: nothing says 9 pods"}},
		"another severity":     {"fires-on-nine", wants("# want `error: 9 pods`"), []string{"job.yaml:5: unexpected warning: 9 pods; 8 are fine\n  at spec.parallelism", "job.yaml:5: nothing says error: 9 pods"}},
		"no want":              {"fires-on-nine", manyPods, []string{"0 wants in a fixture called fires-on-nine", "job.yaml:5: unexpected warning: 9 pods; 8 are fine\n  at spec.parallelism"}},
		"not silent":           {"stays-silent-on-nine", manyPods, []string{"job.yaml:5: unexpected warning: 9 pods; 8 are fine\n  at spec.parallelism"}},
		"silent by parameters": {"stays-silent-on-nine", manyPods + "-- params.yaml --\nMost: 9\n", nil},
		"unknown parameters":   {"stays-silent-on-nine", manyPods + "-- params.yaml --\nLeast: 9\n", []string{`set parameters of nine: no parameter is called "Least"`}},
		"no caption":           {"fires-on-nine", strings.TrimPrefix(wants("# want `9 pods`"), "A caption.\n"), []string{"no caption: say above the first file what is shown"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f, err := Parse(tc.name, []byte(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, f.Problems(t.Context(), nine)); diff != "" {
				t.Errorf("Problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestASkippedCheckProvesNothing(t *testing.T) {
	needs := *nine
	needs.Needs = check.Cluster
	f, err := Parse("stays-silent-without-a-view", []byte(manyPods))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"nine was skipped: needs a cluster view; no cluster was looked at"}
	if diff := cmp.Diff(want, f.Problems(t.Context(), &needs)); diff != "" {
		t.Errorf("Problems (-want +got):\n%s", diff)
	}
}

func TestAFolderHasBothKinds(t *testing.T) {
	fires, silent := Fixture{Fires: true}, Fixture{}
	if got := unbalanced([]Fixture{fires, silent}); got != "" {
		t.Errorf("one of each: %s", got)
	}
	for _, fs := range [][]Fixture{nil, {fires}, {silent}} {
		if unbalanced(fs) == "" {
			t.Errorf("%d fixtures of one kind pass", len(fs))
		}
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	cases := map[string]struct{ name, text, want string }{
		"a name of neither kind": {"nine", manyPods, "a fixture is called fires-… or stays-silent-…"},
		"no job":                 {"fires-on-nine", "A caption.\n", "there is no job.yaml"},
		"an unknown file":        {"fires-on-nine", manyPods + "-- clutser.yaml --\n", "clutser.yaml: not a file of a fixture"},
		"an unknown kind":        {"fires-on-nine", strings.Replace(manyPods, "kind: Job", "kind: Sob", 1), "job.yaml: no reader covers batch/v1, Kind=Sob"},
		"an unreadable job":      {"fires-on-nine", strings.Replace(manyPods, "parallelism: 9", "parallelism: nine", 1), "job.yaml: read Job: spec.parallelism is"},
		"a broken want":          {"fires-on-nine", strings.Replace(manyPods, "# PARALLELISM", "# want `(`", 1), "job.yaml:5: error parsing regexp"},
		"a broken taint":         {"fires-on-nine", manyPods + "-- cluster.yaml --\nnodes: [{name: a, taints: [x]}]\n", `taint "x" of node a: want key=value:Effect`},
		"a slip in the cluster":  {"fires-on-nine", manyPods + "-- cluster.yaml --\nnodse: []\n", "cluster.yaml: read the short form of a cluster"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := Parse(tc.name, []byte(tc.text)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("have %v\nwant %s", err, tc.want)
			}
		})
	}
}
