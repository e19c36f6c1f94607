package report_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/report"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

// A name is what somebody copies: it is whole at every width, however long.
func TestTheTimelineCutsNoText(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	pod := "llama-pretraining-with-a-name-that-somebody-took-care-of-worker-117"
	node := "gke-production-europe-west4-a100-80g-spot-pool-1-4f7b9c2e-x1.c.some-project.internal"
	says := "the container went over its memory limit, which was 128 GiB"
	r := report.Report{Observed: at.Add(time.Hour), Waiting: "2 of 4 pods wait for 8 nvidia.com/gpu each on one node"}
	for i, name := range []string{pod, "llama-worker-1"} {
		m := timeline.Member{Place: name, Started: at, Ended: at.Add(time.Duration(60+4*i) * time.Second), Failed: true, First: i == 0, Says: says}
		m.Source = evidence.Source{Pod: name, Node: []string{node, "h100-1"}[i]}
		r.Members = append(r.Members, m)
	}
	r.Members = append(r.Members, timeline.Member{Place: "llama-worker-2", Source: evidence.Source{Pod: "llama-worker-2"}})
	for _, width := range []int{60, 80, 120} {
		for _, ascii := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d columns, ASCII %t", width, ascii), func(t *testing.T) {
				got := report.Timeline(r, report.Picture{Width: width, ASCII: ascii})
				for line := range strings.Lines(got) {
					if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
						t.Errorf("%d columns: %q", n, line)
					}
				}
				together := strings.Join(strings.Fields(got), "")
				for _, want := range []string{pod, node, says, r.Waiting, "llama-worker-2", "h100-1", "+4s"} {
					if !strings.Contains(together, strings.Join(strings.Fields(want), "")) {
						t.Errorf("%q is not whole in\n%s", want, got)
					}
				}
				if strings.ContainsAny(got, "…~") {
					t.Errorf("text is cut:\n%s", got)
				}
				if ascii && strings.ContainsFunc(got, func(r rune) bool { return r > 126 }) {
					t.Errorf("not ASCII:\n%s", got)
				}
				if testing.Verbose() {
					t.Log("\n" + got)
				}
			})
		}
	}
}

// A list of pods says that one of them runs, and not since when.
func TestThatAPodRunsNowIsNoTime(t *testing.T) {
	r := report.Report{Observed: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	r.Members = []timeline.Member{{Place: "llama-worker-0", Running: true}}
	if got := report.Timeline(r, report.Picture{}); got != "" {
		t.Errorf("drawn without a time:\n%s", got)
	}
}

// A pod that took another's place may have a volume with the log of the one before, or print what that one wrote.
func TestABarBeginsWithItsContainer(t *testing.T) {
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	r := report.Report{Observed: at.Add(time.Hour), Members: []timeline.Member{
		{Place: "train-worker-0", Started: at.Add(time.Minute), FirstLine: at, Ended: at.Add(2 * time.Minute), Failed: true, First: true},
		{Place: "bare.log", FirstLine: at, LastLine: at.Add(time.Minute)},
	}}
	chart, ok := report.ChartOf(r)
	if !ok {
		t.Fatal("no chart")
	}
	got := map[string]time.Time{}
	for _, l := range chart.Lanes {
		got[l.Name] = l.Start
	}
	want := map[string]time.Time{"train-worker-0": at.Add(time.Minute), "bare.log": at}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
