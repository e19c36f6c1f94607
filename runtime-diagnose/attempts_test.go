package diagnose_test

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

func TestAttemptsAreComparedWithEachOther(t *testing.T) {
	const oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
	const module = "ModuleNotFoundError: No module named 'apex'\n"
	const disk = "OSError: [Errno 28] No space left on device\n"
	life := func(pod string, attempt int, text string) diagnose.Log {
		return diagnose.Log{
			Source: evidence.Source{Pod: pod, Container: "c", Role: "Worker", Rank: 0, Attempt: attempt}, Past: attempt > 0,
			Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil },
		}
	}
	cases := map[string]struct {
		logs []diagnose.Log
		want string // in the analysis; empty: nothing of attempts
		cite evidence.ID
	}{
		"the first": {[]diagnose.Log{life("w", 0, oom)}, "", ""},
		"the same again": {
			[]diagnose.Log{life("w", 0, oom), life("w", 1, oom), life("w", 2, oom)}, "It came back: 3 attempts of the container ended with it.", "",
		},
		"something else before": {
			[]diagnose.Log{life("w", 0, oom), life("w", 1, module)}, "An earlier attempt ended otherwise: ", "pod/w/c-before-1#1",
		},
		"other things before, the last of which is named": {
			[]diagnose.Log{life("w", 0, oom), life("w", 3, module), life("w", 1, disk)}, ", and so did 1 before it.", "pod/w/c-before-1#1",
		},
		"a pod of another name that took its place": {
			[]diagnose.Log{life("w-abc", 0, oom), life("w-xyz", 1, module)}, "An earlier attempt ended otherwise: ", "pod/w-xyz/c-before-1#1",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := diagnose.Diagnose(t.Context(), diagnose.Case{Now: noon, State: kinds.State{Phase: kinds.Failed}, Logs: tc.logs}, catalog(t), diagnose.Options{})
			if r.Category != "gpu-oom" {
				t.Fatalf("the cause is %s", r.Category)
			}
			if tc.want == "" && (strings.Contains(r.Analysis, "attempt") || strings.Contains(r.Analysis, "came back")) || !strings.Contains(r.Analysis, tc.want) {
				t.Errorf("want %q in: %s", tc.want, r.Analysis)
			}
			if tc.cite != "" && (!strings.Contains(r.Analysis, string(tc.cite)) || !slices.ContainsFunc(r.Evidence, func(i evidence.Item) bool { return i.ID == tc.cite })) {
				t.Errorf("%s is not cited, or no evidence: %s", tc.cite, r.Analysis)
			}
		})
	}
}
