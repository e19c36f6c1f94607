package attribute_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/attribute"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/rank"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

var (
	oom      = &signature.Signature{ID: "oom", Category: "gpu-oom", Role: signature.Root}
	disk     = &signature.Signature{ID: "disk", Category: "disk-full", Role: signature.Root}
	general  = &signature.Signature{ID: "exception", Category: "python-exception-user-code", Role: signature.Root}
	warning  = &signature.Signature{ID: "driver", Category: "cuda-driver-mismatch", Role: signature.Root, Weak: true, Hides: []string{"oom"}}
	watchdog = &signature.Signature{ID: "watchdog", Category: "nccl-timeout", Role: signature.Cascade}
	child    = &signature.Signature{ID: "child", Category: "python-exception-user-code", Role: signature.Confirmation}
	advice   = &signature.Signature{ID: "advice", Category: "nccl-timeout", Role: signature.Context}
	sigterm  = &signature.Signature{ID: "sigterm", Category: "sigterm-preempted", Role: signature.Root, Depth: signature.Symptom}
)

func seen(s *signature.Signature, pod string, after time.Duration, line int) rank.Sighting {
	return rank.Sighting{Signature: s, Item: evidence.Item{
		ID: evidence.ID(pod + "/" + s.ID), At: noon.Add(after), Source: evidence.Source{Pod: pod, Line: line, Rank: -1},
	}}
}

// input is sightings of as many members as there are pods.
func input(all []rank.Sighting, failed bool) attribute.Input {
	pods := map[string]bool{}
	for _, s := range all {
		pods[s.Item.Source.Pod] = true
	}
	return attribute.Input{Seen: all, Failed: failed, Members: len(pods), Spread: func(s *rank.Sighting) int {
		in := map[string]bool{s.Item.Source.Pod: true}
		for _, i := range s.Also {
			in[i.Source.Pod] = true
		}
		return len(in)
	}}
}

func platform(s rank.Sighting) rank.Sighting { s.Platform = true; return s }
func over(s rank.Sighting) rank.Sighting     { s.Over = true; return s }

func TestDecide(t *testing.T) {
	cases := map[string]struct {
		seen   []rank.Sighting
		failed bool
		want   []string // root, then effects
		rivals []string
	}{
		"three ranks wait for one that ran out of memory": {
			seen: []rank.Sighting{seen(watchdog, "a", 600*time.Second, 9), seen(watchdog, "b", 600*time.Second, 9), seen(oom, "c", 0, 4)},
			want: []string{"c/oom", "a/watchdog"},
		},
		"nothing but a cascade: it is all there is":            {seen: []rank.Sighting{seen(watchdog, "a", 0, 9), seen(child, "a", 0, 12)}, want: []string{"a/watchdog", "a/child"}},
		"a launcher's report alone is no cause":                {seen: []rank.Sighting{seen(child, "a", 0, 12)}, want: []string{"", "a/child"}},
		"advice is never a cause":                              {seen: []rank.Sighting{seen(advice, "a", 0, 1)}, failed: true, want: []string{""}},
		"a warning counts only beside a failure":               {seen: []rank.Sighting{seen(warning, "a", 0, 1)}, want: []string{""}},
		"beside one it explains what it hides":                 {seen: []rank.Sighting{seen(warning, "a", 0, 1), seen(oom, "a", 0, 5)}, want: []string{"a/driver", "a/oom"}},
		"the deeper cause goes before the earlier one":         {seen: []rank.Sighting{seen(general, "a", 0, 1), seen(disk, "a", time.Minute, 50)}, want: []string{"a/disk", "a/exception"}},
		"of two causes the earlier one":                        {seen: []rank.Sighting{seen(oom, "a", time.Minute, 50), seen(disk, "b", 0, 60)}, want: []string{"b/disk", "a/oom"}},
		"what the platform says goes before what a log says":   {seen: []rank.Sighting{seen(oom, "a", 0, 5), platform(seen(disk, "b", time.Minute, 0))}, want: []string{"b/disk", "a/oom"}},
		"a decisive line goes before how the container ended":  {seen: []rank.Sighting{platform(seen(sigterm, "a", 0, 0)), seen(oom, "a", 0, 5)}, want: []string{"a/oom", "a/sigterm"}},
		"what is over is no cause":                             {seen: []rank.Sighting{over(seen(oom, "a", 0, 5))}, want: []string{""}},
		"two causes within the skew of clocks stay two causes": {seen: []rank.Sighting{seen(oom, "a", 0, 5), seen(disk, "b", time.Second, 5)}, want: []string{"a/oom"}, rivals: []string{"b/disk"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := attribute.Decide(input(tc.seen, tc.failed))
			got := []string{""}
			if r.Cause != nil {
				got[0] = string(r.Cause.Item.ID)
			}
			for _, e := range r.Effects {
				got = append(got, string(e.Item.ID))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("root and effects (-want +got):\n%s", diff)
			}
			var rivals []string
			for _, s := range r.Rivals {
				rivals = append(rivals, string(s.Item.ID))
			}
			if diff := cmp.Diff(tc.rivals, rivals); diff != "" {
				t.Errorf("rivals (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnAnswerDoesNotDependOnTheOrderOfTheInput(t *testing.T) {
	all := []rank.Sighting{seen(oom, "a", 0, 5), seen(watchdog, "b", time.Minute, 3), seen(oom, "c", 0, 7), seen(general, "d", 0, 1)}
	want := attribute.Decide(input(all, true)).Cause.Item.ID
	for i := range all {
		turned := append(append([]rank.Sighting(nil), all[i:]...), all[:i]...)
		if got := attribute.Decide(input(turned, true)).Cause.Item.ID; got != want {
			t.Errorf("turned by %d: root %s, want %s", i, got, want)
		}
	}
}

func TestEqualSightingsBecomeOne(t *testing.T) {
	short, long := seen(oom, "a", 0, 10), seen(oom, "a", 0, 12)
	long.Facts = map[string]string{"asked": "2 GiB"}
	outer := seen(oom, "a", 0, 13)
	outer.Facts = map[string]string{"asked": "2 GiB", "type": "RuntimeError"}
	first := seen(oom, "a", 0, 40)
	first.First = true
	raised := seen(oom, "a", 0, 60)
	raised.Raised = true
	cases := map[string]struct {
		in   []rank.Sighting
		line int
		also int
	}{
		"the earliest stands for all":                 {[]rank.Sighting{seen(oom, "b", time.Minute, 1), short}, 10, 1},
		"of two close by, the one that says more":     {[]rank.Sighting{short, long}, 12, 1},
		"an exception of another type is no copy":     {[]rank.Sighting{short, outer}, 10, 1},
		"the one a launcher names as the first":       {[]rank.Sighting{short, long, first}, 40, 2},
		"the end of the traceback, not its quotation": {[]rank.Sighting{short, raised}, 60, 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := attribute.Decide(input(tc.in, true)).Candidates
			if len(got) != 1 || got[0].Item.Source.Line != tc.line || len(got[0].Also) != tc.also {
				t.Errorf("got %d sightings, line %d with %d others; want 1, line %d with %d", len(got), got[0].Item.Source.Line, len(got[0].Also), tc.line, tc.also)
			}
		})
	}
}
