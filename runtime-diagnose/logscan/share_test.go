package logscan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

func TestWhatIsKeptOfAllLogsIsBounded(t *testing.T) {
	for logs := 1; logs < 1<<20; logs *= 2 {
		s := shareOf(logs)
		if logs <= 16_000 && (s.sightings*logs > allSightings || s.excerpt*logs > allExcerpts || s.steps*logs > allSteps || s.calls*logs > allCalls) {
			t.Errorf("%d logs: %+v", logs, s)
		}
		if s.sightings < 1 || s.line < 80 || s.steps < 1 || s.calls < 1 {
			t.Errorf("%d logs: too little to tell anything: %+v", logs, s)
		}
	}
	if diff := cmp.Diff(share{sightings: mostSightings, excerpt: allExcerpts / 8, line: mostLineInResults, steps: 32, calls: allCalls / 8}, shareOf(8), cmp.AllowUnexported(share{})); diff != "" {
		t.Errorf("a small gang is kept whole (-want +got):\n%s", diff)
	}
}

func TestForemostSightings(t *testing.T) {
	of := func(id string, role signature.Role, line int) evidence.Observation {
		return evidence.Observation{Signature: &signature.Signature{ID: id, Role: role}, Item: evidence.Item{Source: evidence.Source{Line: line}}}
	}
	var seen []evidence.Observation
	for i := range 50 {
		seen = append(seen, of("noise", signature.Context, i))
	}
	seen = append(seen, of("timeout", signature.Cascade, 60), of("timeout", signature.Cascade, 61), of("abort", signature.Confirmation, 62), of("oom", signature.Root, 70))
	over := of("recovered", signature.Root, 71)
	over.Over = true
	named := of("abort", signature.Confirmation, 80)
	named.First = true
	seen = append(seen, over, named)
	cases := []struct {
		n    int
		want string
	}{
		{100, ""},
		{1, "70"},    // the cause
		{2, "60 80"}, // the first sign of trouble, and what the launcher names
		{3, "60 70 80"},
		{4, "60 62 70 80"},
		{6, "0 60 62 70 71 80"},
		{7, "0 60 61 62 70 71 80"},
	}
	for _, tc := range cases {
		var got []string
		for _, s := range foremost(seen, tc.n) {
			got = append(got, fmt.Sprint(s.Item.Source.Line))
		}
		if tc.want == "" && len(got) == len(seen) {
			continue
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("of %d the foremost are %s, want %s", tc.n, strings.Join(got, " "), tc.want)
		}
	}
}

func TestAnExcerptThatIsTooLongKeepsItsEnd(t *testing.T) {
	e := evidence.Excerpt{Lines: []reduce.Kept{{Number: 1, Text: "aaaa"}, {Number: 2, Text: "bb"}, {Number: 9, Text: "c"}}}
	if got := within(e, 1000); len(got.Lines) != 3 || got.Short {
		t.Errorf("it fits: %+v", got)
	}
	if got := within(e, 2*lineCost+3); len(got.Lines) != 2 || got.Lines[0].Number != 2 || !got.Short {
		t.Errorf("two fit: %+v", got)
	}
	if got := within(e, 0); len(got.Lines) != 0 || !got.Short {
		t.Errorf("none fits: %+v", got)
	}
}
