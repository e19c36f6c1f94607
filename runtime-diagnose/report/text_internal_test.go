package report

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

func TestSizesAreReadByPeople(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 bytes", 1: "1 byte", 9_999: "9999 bytes", 10_000: "9.77 KiB", 149_330: "146 KiB", 1 << 20: "1 MiB", 10_122_667_272: "9.43 GiB", 1 << 60: "1 EiB", 1023 << 10: "0.999 MiB",
	} {
		if got := size(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

func TestWhatAnObjectSaysIsCutOnlyBeyondAnEvent(t *testing.T) {
	for n, want := range map[int]int{longest: longest, longest + 1: longest + len("…")} {
		r := Report{Verdict: Diagnosed, Root: &Cause{Line: strings.Repeat("x", n), Cites: []evidence.ID{"event/a/FailedCreate#1"}}}
		r.Evidence = []evidence.Item{{ID: "event/a/FailedCreate#1", Kind: evidence.Event}}
		_, line, _ := strings.Cut(aroundLine(r), "  > ")
		if got := len(strings.TrimSuffix(line, "\n")); got != want {
			t.Errorf("of %d bytes of an event %d are shown; want %d", n, got, want)
		}
	}
}

// What was not read bounds the verdict, so it stands below it; a list of many stands at the end.
func TestWhatIsMissingStandsBelowTheVerdict(t *testing.T) {
	for name, tc := range map[string]struct {
		missing []string
		want    []string // the lines that speak of it, by number
	}{
		"nothing": {nil, nil},
		"one":     {[]string{"log of a/b: gone"}, []string{"1 missing: log of a/b: gone"}},
		"no log":  {[]string{"a.md is Markdown" + evidence.NotALog}, []string{"3 missing: a.md is Markdown: it was not read as a log"}},
		"a log behind what is none": {
			[]string{"a.md is Markdown" + evidence.NotALog, "log of a/b: gone"},
			[]string{"1 missing: log of a/b: gone, and 1 more, named at the end", "4 missing: a.md is Markdown: it was not read as a log", "5 missing: log of a/b: gone"},
		},
		"of three": {[]string{"x", "y", "z"}, []string{"1 missing: x, and 2 more, named at the end", "4 missing: x", "5 missing: y", "6 missing: z"}},
	} {
		var got []string
		for i, line := range strings.Split(Text(Report{Verdict: Healthy, Coverage: Coverage{Missing: tc.missing}}), "\n") {
			if strings.HasPrefix(line, "missing: ") {
				got = append(got, strconv.Itoa(i)+" "+line)
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// What became of the others is told of three kinds in one sentence, and the other kinds are counted.
func TestKindsOfEndsAreToldOrCounted(t *testing.T) {
	for n, want := range map[int]string{3: "1 × way 2.", 4: "1 × way 2; 1 more kind.", 60: "1 × way 2; 57 more kinds."} {
		var all []Followers
		for i := range n {
			all = append(all, Followers{Says: fmt.Sprintf("way %d", i), Places: []string{"w"}})
		}
		if got := followersSentence(all); got != " The others: 1 × way 0; 1 × way 1; "+want {
			t.Errorf("of %d kinds:%s", n, got)
		}
	}
}

// The others of a silent member are counted in why, in words; "loud 3" says nothing to somebody who reads it first.
func TestFactsForMachinesAreNotInTheSentence(t *testing.T) {
	if got, want := factList(map[string]string{"loud": "3", "says": "a timeout", "limit": "8Gi"}), "limit 8Gi"; got != want {
		t.Errorf("%q; want %q", got, want)
	}
}
