package progress

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

var start = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

func member0(n int) evidence.Source {
	return evidence.Source{Pod: fmt.Sprintf("train-worker-%d", n), Container: "pytorch", Role: "Worker", Rank: n, Node: fmt.Sprintf("gpu-%d", n)}
}

// counted is a log that counts from one step to another, one each every.
func counted(from, to int, begin time.Time, every time.Duration) []byte {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "%s step: %d loss: 2.1\n", begin.Add(time.Duration(i-from)*every).Format(time.RFC3339Nano), i)
	}
	return []byte(b.String())
}

func texts(all []Finding) []string {
	var out []string
	for _, f := range all {
		out = append(out, f.Text)
	}
	return out
}

func TestJudge(t *testing.T) {
	quick, lazy := time.Second, 2*time.Minute
	cases := map[string]struct {
		see  func(p *Pulse)
		at   time.Duration
		want []string
	}{
		"all advance": {func(p *Pulse) {
			for r := range 4 {
				p.See(fmt.Sprint(r), member0(r), counted(1, 30, start, quick))
			}
		}, time.Minute, nil},
		"none advances": {func(p *Pulse) {
			for r := range 4 {
				p.See(fmt.Sprint(r), member0(r), counted(1, 30+r, start, quick))
			}
		}, 15 * time.Minute, []string{"no step for 15m on any of 4 ranks that count, usually one every 1s; the last was step 30 of train-worker-0 (Worker 0, node gpu-0)"}},
		"one stands still": {func(p *Pulse) {
			for r := range 4 {
				p.See(fmt.Sprint(r), member0(r), counted(1, 30, start, quick))
				if r != 2 {
					p.See(fmt.Sprint(r), member0(r), counted(31, 900, start.Add(30*time.Second), quick))
				}
			}
		}, 14 * time.Minute, []string{"train-worker-2 (Worker 2, node gpu-2) has made no step for 14m, usually one every 1s; 1 of 4 ranks that count steps stand still at step 30"}},
		"a slow job is no hang": {func(p *Pulse) { p.See("0", member0(0), counted(1, 10, start, lazy)) }, 45 * time.Minute, nil},
		"a slow job that hangs": {
			func(p *Pulse) { p.See("0", member0(0), counted(1, 10, start, lazy)) }, 90 * time.Minute,
			[]string{"no step for 1h12m on any of 1 ranks that count, usually one every 2m; the last was step 10 of train-worker-0 (Worker 0, node gpu-0)"},
		},
		"silence of a job that counts nothing": {func(p *Pulse) {
			p.See("0", member0(0), []byte(start.Format(time.RFC3339Nano)+" loading the model\n"))
		}, 5 * time.Hour, nil},
		"the last step of all": {func(p *Pulse) {
			var b strings.Builder
			for i := 1; i <= 50; i++ {
				fmt.Fprintf(&b, "%s step: %d/50 loss: 2.1\n", start.Add(time.Duration(i)*quick).Format(time.RFC3339Nano), i)
			}
			p.See("0", member0(0), []byte(b.String()))
		}, time.Hour, nil},
		"a straggler": {func(p *Pulse) {
			for r := range 8 {
				every := quick
				if r == 5 {
					every = 3 * time.Second
				}
				p.See(fmt.Sprint(r), member0(r), counted(1, 20, start, every))
			}
		}, time.Minute, []string{"train-worker-5 (Worker 5, node gpu-5) takes 3 s for a step; the median of 8 ranks is 1 s, and 1 of them are more than 1.5 times slower"}},
		"a restarted rank starts anew": {func(p *Pulse) {
			p.See("a#0", member0(0), counted(1, 30, start, quick))
			p.See("a#1", member0(0), counted(1, 2, start.Add(20*time.Minute), quick))
		}, 21 * time.Minute, nil},
		"a log that is seen twice counts once": {func(p *Pulse) {
			for range 3 {
				p.See("0", member0(0), counted(1, 2, start, quick))
			}
		}, time.Hour, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var p Pulse
			tc.see(&p)
			if diff := cmp.Diff(tc.want, texts(p.Judge(start.Add(tc.at), Limits{}))); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLimitsAreSettings(t *testing.T) {
	var p Pulse
	p.See("0", member0(0), counted(1, 30, start, time.Second))
	now := start.Add(4 * time.Minute)
	if got := p.Judge(now, Limits{}); got != nil {
		t.Errorf("after four minutes: %v", texts(got))
	}
	if got := p.Judge(now, Limits{Least: time.Minute}); len(got) != 1 || got[0].Kind != Hang {
		t.Errorf("with one minute for the least: %v", texts(got))
	}
	if got := p.Judge(now, Limits{Least: time.Minute, Factor: 1000}); got != nil {
		t.Errorf("with a thousand intervals: %v", texts(got))
	}
}

func TestContainersThatAreGoneAreForgotten(t *testing.T) {
	var p Pulse
	p.See("0", member0(0), counted(1, 30, start, time.Second))
	p.Drop(map[string]bool{"1": true})
	if got := p.Judge(start.Add(time.Hour), Limits{}); got != nil {
		t.Errorf("findings about a pod that is gone: %v", texts(got))
	}
}

func FuzzSee(f *testing.F) {
	f.Add(counted(1, 9, start, time.Second))
	f.Add([]byte("2026-11-20T08:00:00Z \r\r\n2026-11-20T07:00:00Z step: 9223372036854775807\nnot a time step: 1\n"))
	f.Fuzz(func(t *testing.T, tail []byte) {
		var p Pulse
		p.See("0", member0(0), tail)
		p.See("0", member0(0), tail)
		p.Judge(start.Add(time.Hour), Limits{})
	})
}

func TestRulesAreComplete(t *testing.T) {
	for _, r := range Rules() {
		if _, ok := signature.CategoryOf(r.Category); !ok || r.Title == "" || r.Proves == "" || r.DoesNotProve == "" || len(r.Steps()) == 0 {
			t.Errorf("rule %s lacks a text or a category", r.ID)
		}
	}
}
