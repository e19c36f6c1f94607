package attribute_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/attribute"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/report"
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

func seen(s *signature.Signature, pod string, after time.Duration, line int) evidence.Observation {
	return evidence.Observation{Signature: s, Item: evidence.Item{
		ID: evidence.ID(pod + "/" + s.ID), At: noon.Add(after), Source: evidence.Source{Pod: pod, Line: line, Rank: -1},
	}}
}

// input is sightings of as many members as there are pods.
func input(all []evidence.Observation, failed bool) attribute.Input {
	pods := map[string]bool{}
	for _, s := range all {
		pods[s.Item.Source.Pod] = true
	}
	return attribute.Input{Seen: all, Failed: failed, Members: len(pods), Spread: func(s *evidence.Observation) int {
		in := map[string]bool{s.Item.Source.Pod: true}
		for _, i := range s.Also {
			in[i.Source.Pod] = true
		}
		return len(in)
	}}
}

func platform(s evidence.Observation) evidence.Observation { s.Platform = true; return s }
func over(s evidence.Observation) evidence.Observation     { s.Over = true; return s }

func TestDecide(t *testing.T) {
	cases := map[string]struct {
		seen   []evidence.Observation
		failed bool
		want   []string // root, then effects
		rivals []string
	}{
		"three ranks wait for one that ran out of memory": {
			seen: []evidence.Observation{seen(watchdog, "a", 600*time.Second, 9), seen(watchdog, "b", 600*time.Second, 9), seen(oom, "c", 0, 4)},
			want: []string{"c/oom", "a/watchdog"},
		},
		"nothing but a cascade: it is all there is":            {seen: []evidence.Observation{seen(watchdog, "a", 0, 9), seen(child, "a", 0, 12)}, want: []string{"a/watchdog", "a/child"}},
		"a launcher's report alone is no cause":                {seen: []evidence.Observation{seen(child, "a", 0, 12)}, want: []string{"", "a/child"}},
		"advice is never a cause":                              {seen: []evidence.Observation{seen(advice, "a", 0, 1)}, failed: true, want: []string{""}},
		"a warning counts only beside a failure":               {seen: []evidence.Observation{seen(warning, "a", 0, 1)}, want: []string{""}},
		"beside one it explains what it hides":                 {seen: []evidence.Observation{seen(warning, "a", 0, 1), seen(oom, "a", 0, 5)}, want: []string{"a/driver", "a/oom"}},
		"the deeper cause goes before the earlier one":         {seen: []evidence.Observation{seen(general, "a", 0, 1), seen(disk, "a", time.Minute, 50)}, want: []string{"a/disk", "a/exception"}},
		"of two causes the earlier one":                        {seen: []evidence.Observation{seen(oom, "a", time.Minute, 50), seen(disk, "b", 0, 60)}, want: []string{"b/disk", "a/oom"}},
		"what the platform says goes before what a log says":   {seen: []evidence.Observation{seen(oom, "a", 0, 5), platform(seen(disk, "b", time.Minute, 0))}, want: []string{"b/disk", "a/oom"}},
		"a decisive line goes before how the container ended":  {seen: []evidence.Observation{platform(seen(sigterm, "a", 0, 0)), seen(oom, "a", 0, 5)}, want: []string{"a/oom", "a/sigterm"}},
		"what is over is no cause":                             {seen: []evidence.Observation{over(seen(oom, "a", 0, 5))}, want: []string{""}},
		"two causes within the skew of clocks stay two causes": {seen: []evidence.Observation{seen(oom, "a", 0, 5), seen(disk, "b", time.Second, 5)}, want: []string{"a/oom"}, rivals: []string{"b/disk"}},
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

// Other members that say the same are sources of their own, but of what collectives hand on to all.
func TestWhatSpreadsToAllIsOneSource(t *testing.T) {
	nan := &signature.Signature{ID: "nan", Category: "nan-loss", Role: signature.Root}
	for _, tc := range []struct {
		of   *signature.Signature
		want attribute.Standing
	}{{oom, attribute.Established}, {nan, attribute.Supported}} {
		a := attribute.Decide(input([]evidence.Observation{seen(tc.of, "a", 0, 4), seen(tc.of, "b", 0, 4), seen(tc.of, "c", 0, 4)}, true))
		if got := a.Confidence.Standing; got != tc.want {
			t.Errorf("%s of three members is %s; want %s", tc.of.ID, got, tc.want)
		}
	}
}

// Of two signatures that know one line, the one that knows it less exactly is no rival of another cause.
func TestWhatALineSaysMoreExactlyIsNoRival(t *testing.T) {
	rule := func(id, category string, depth int) *signature.Signature {
		return &signature.Signature{ID: id, Category: category, Role: signature.Root, Depth: depth}
	}
	group := func(s *signature.Signature) evidence.Observation {
		return platform(evidence.Observation{Signature: s, Item: evidence.Item{ID: "PodGroup/train/Unschedulable", Source: evidence.Source{Rank: -1}}})
	}
	gang, quota := group(rule("gang-unschedulable", "unschedulable-gpu", signature.General)), group(rule("queue-quota", "quota-exceeded", signature.Precise))
	waits := platform(seen(rule("unschedulable-gpu", "unschedulable-gpu", signature.Precise), "a", 0, 0))
	if got := attribute.Decide(input([]evidence.Observation{waits, quota}, false)).Rivals; len(got) != 1 {
		t.Errorf("alone, the queue is one of %d rivals, want 1", len(got))
	}
	if got := attribute.Decide(input([]evidence.Observation{waits, gang, quota}, false)); len(got.Rivals) != 0 || got.Cause.Signature != waits.Signature {
		t.Errorf("beside what the line says more exactly: cause %s, %d rivals; want unschedulable-gpu and none", got.Cause.Signature.ID, len(got.Rivals))
	}
}

func TestAnAnswerDoesNotDependOnTheOrderOfTheInput(t *testing.T) {
	all := []evidence.Observation{seen(oom, "a", 0, 5), seen(watchdog, "b", time.Minute, 3), seen(oom, "c", 0, 7), seen(general, "d", 0, 1)}
	want := attribute.Decide(input(all, true)).Cause.Item.ID
	for i := range all {
		turned := append(append([]evidence.Observation(nil), all[i:]...), all[:i]...)
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
		in   []evidence.Observation
		line int
		also int
	}{
		"the earliest stands for all":                 {[]evidence.Observation{seen(oom, "b", time.Minute, 1), short}, 10, 1},
		"of two close by, the one that says more":     {[]evidence.Observation{short, long}, 12, 1},
		"an exception of another type is no copy":     {[]evidence.Observation{short, outer}, 10, 1},
		"the one a launcher names as the first":       {[]evidence.Observation{short, long, first}, 40, 2},
		"the end of the traceback, not its quotation": {[]evidence.Observation{short, raised}, 60, 1},
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

// What is vetoed is never the cause, whatever its points; where all would be, somebody was first.
func TestVetoes(t *testing.T) {
	follows := func(s evidence.Observation) evidence.Observation { s.Follower = true; return s }
	explained := func(s evidence.Observation) evidence.Observation { s.Explained = true; return s }
	cases := map[string]struct {
		seen []evidence.Observation
		want string
	}{
		"who went after another is none, however precise":    {[]evidence.Observation{seen(general, "a", 0, 5), follows(seen(oom, "b", time.Minute, 5))}, "a/exception"},
		"an end that its log explains is none":               {[]evidence.Observation{explained(seen(sigterm, "a", 0, 0)), seen(watchdog, "b", 0, 3)}, "b/watchdog"},
		"where all went after another, one of them was":      {[]evidence.Observation{follows(seen(oom, "a", 0, 5)), follows(seen(watchdog, "b", time.Minute, 5))}, "a/oom"},
		"but what is explained or confirms never becomes it": {[]evidence.Observation{explained(seen(sigterm, "a", 0, 0)), seen(child, "a", 0, 3)}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if c := attribute.Decide(input(tc.seen, true)).Cause; c != nil {
				got = string(c.Item.ID)
			}
			if got != tc.want {
				t.Errorf("cause %q, want %q", got, tc.want)
			}
		})
	}
}

// An open failure more never makes the job healthier, and a passing one changes nothing.
func TestMoreFailuresAreNoHealth(t *testing.T) {
	all := []evidence.Observation{seen(oom, "a", 0, 5), seen(watchdog, "b", time.Minute, 3), seen(disk, "c", 0, 7), seen(general, "d", 0, 1), seen(sigterm, "e", 0, 2)}
	for i, more := range all {
		for _, one := range all[:i] {
			if attribute.Decide(input([]evidence.Observation{one, more}, true)).Cause == nil {
				t.Errorf("%s and %s together are no failure", one.Item.ID, more.Item.ID)
			}
			with := attribute.Decide(input([]evidence.Observation{one, over(more)}, true))
			if with.Cause == nil || with.Cause.Item.ID != one.Item.ID || with.Confidence != attribute.Decide(input([]evidence.Observation{one}, true)).Confidence {
				t.Errorf("%s beside %s, which is over: cause %+v", one.Item.ID, more.Item.ID, with.Cause)
			}
		}
	}
}

// The points of a table that is given count, and none is given: those in use.
func TestATableMayBeGiven(t *testing.T) {
	var table attribute.Table
	table[attribute.General], table[attribute.Precise] = 9, 1
	in := input([]evidence.Observation{seen(general, "a", 0, 5), seen(oom, "a", 0, 9)}, true)
	if got := attribute.Decide(in).Cause.Item.ID; got != "a/oom" {
		t.Errorf("cause %s, want a/oom", got)
	}
	in.Table = &table
	if got := attribute.Decide(in).Cause; got.Item.ID != "a/exception" || got.Score != 9 {
		t.Errorf("cause %s with %d points, want a/exception with 9", got.Item.ID, got.Score)
	}
}

// Of more types of exceptions than are told apart, those that are left are one.
func TestTypesOfExceptions(t *testing.T) {
	unknown := &signature.Signature{ID: "python-exception", Category: "python-exception-user-code", Role: signature.Root}
	for n, want := range map[int]int{1: 1, 2: 2, 16: 16, 17: 17, 40: 17} {
		var all []evidence.Observation
		for i := range n {
			s := seen(unknown, "a", 0, i+1)
			s.Item.ID, s.Facts = evidence.ID("a#"+strings.Repeat("i", i)), map[string]string{"type": strings.Repeat("E", i+1) + "Error"}
			all = append(all, s)
		}
		if got := len(attribute.Decide(input(all, true)).Candidates); got != want {
			t.Errorf("%d types are %d candidates, want %d", n, got, want)
		}
	}
}

// A feature's name in the source is that in the table: make weights writes one from the other.
func TestNamesOfFeatures(t *testing.T) {
	for _, f := range attribute.Features() {
		if f.String() == "" || f.Doc() == "" {
			t.Errorf("feature %d has no name or says nothing", f)
		}
	}
	if got := attribute.BareEnd.GoName() + " " + attribute.Precise.GoName(); got != "BareEnd Precise" {
		t.Errorf("names are %s", got)
	}
}

// What a feature rests on is cited up to a bound, and of more it is said how many.
func TestWhatAFeatureRestsOnIsCountedBeyondABound(t *testing.T) {
	for n, more := range map[int]int{4: 0, 5: 1} {
		all := []evidence.Observation{seen(general, "a", 0, 1)}
		for i := range n {
			s := *oom
			s.ID, s.Hides = strings.Repeat("o", i+1), []string{"exception"}
			all = append(all, seen(&s, "a", time.Second, i+2))
		}
		for _, c := range attribute.Decide(input(all, true)).Candidates {
			for _, why := range c.Because {
				if why.Feature == attribute.Superseded && (len(why.Cites) != 4 || why.More != more) {
					t.Errorf("of %d that explain it %d are cited and %d counted, want 4 and %d", n, len(why.Cites), why.More, more)
				}
			}
			if c.Signature != general {
				continue
			}
			told := report.Why(report.Report{Candidates: []attribute.Candidate{c}})
			if strings.Contains(told, " and 1 more\n") != (more == 1) {
				t.Errorf("of %d it is told:\n%s", n, told)
			}
		}
	}
}
