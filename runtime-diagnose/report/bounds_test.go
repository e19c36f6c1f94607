package report_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/attribute"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/report"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

var ten = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

// written is a report on what was found.
func written(t *testing.T, found func(*report.Findings)) report.Report {
	t.Helper()
	f := &report.Findings{Clocks: &timeline.Clocks{}, MostEvidence: 40}
	f.Now, f.Read.Suspect = ten, func(e evidence.Excerpt) int { return len(e.Lines) - 1 }
	found(f)
	return report.Write(t.Context(), f)
}

// failedOf are pods that ended with so many codes.
func failedOf(codes int) []control.Pod {
	var out []control.Pod
	for i := range codes {
		name := fmt.Sprintf("w-%d", i)
		out = append(out, control.Pod{Name: name, Phase: corev1.PodFailed, Exit: &control.Exit{Container: "c", Code: int32(20 + i)}})
	}
	return out
}

// logsOf are the ends of so many logs, one line each.
func logsOf(n int) []evidence.Excerpt {
	var out []evidence.Excerpt
	for i := range n {
		out = append(out, evidence.Excerpt{Source: evidence.Source{Pod: fmt.Sprintf("w-%02d", i), Rank: -1}, Lines: []reduce.Kept{{Number: 1, Text: "no seat is left"}}})
	}
	return out
}

// sightings are those of one signature by so many pods.
func sightings(pods int) []evidence.Observation {
	s := &signature.Signature{ID: "oom", Title: "the GPU was out of memory", Category: "gpu-oom", Role: signature.Root}
	var out []evidence.Observation
	for i := range pods {
		source := evidence.Source{Pod: fmt.Sprintf("w-%02d", i), Line: 1, Rank: -1}
		out = append(out, evidence.Observation{Signature: s, Line: "CUDA out of memory", Item: evidence.Item{ID: source.LineID(), Kind: evidence.Log, Source: source, Text: "CUDA out of memory"}})
	}
	return out
}

// What a person is told of many things ends at a bound, and the others are counted.
func TestWhatIsNotToldIsCounted(t *testing.T) {
	cases := map[string]struct {
		most  int
		found func(f *report.Findings, n int)
		more  string // told of one above the bound, and of no fewer
	}{
		"remarks": {8, func(f *report.Findings, n int) {
			for i := range n {
				p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("w-%d", i)}}
				p.Status.EphemeralContainerStatuses = []corev1.ContainerStatus{{Name: "debugger"}}
				f.Pods = append(f.Pods, p)
			}
		}, "note: 1 more remark is left out."},
		"nodes alone": {3, func(f *report.Findings, n int) {
			f.Events = []corev1.Event{{Reason: "NodeReady"}}
			for i := range n {
				f.Nodes = append(f.Nodes, corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("gpu-%d", i)}})
			}
		}, "; 1 more node was read."},
		"ways to end": {3, func(f *report.Findings, n int) {
			f.Failed, f.Seen.Pods = true, failedOf(n)
		}, "The others ended in 1 more way."},
		"ends of logs": {3, func(f *report.Findings, n int) {
			f.Failed, f.Read.Excerpts, f.Read.Suspect = true, logsOf(n), func(evidence.Excerpt) int { return -1 }
		}, "the ends of 1 more log are not shown\n"},
		"lines that may be it": {3, func(f *report.Findings, n int) {
			f.Failed, f.Read.Excerpts = true, logsOf(n)
		}, "     no seat is left\n  and 1 more\n"},
		"candidates that may be it": {3, func(f *report.Findings, n int) {
			f.Failed = true
			for _, s := range sightings(n) {
				f.Answer.Candidates = append(f.Answer.Candidates, attribute.Candidate{Observation: s})
			}
		}, "  and 1 more\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for n, said := range map[int]bool{tc.most: false, tc.most + 1: true} {
				r := written(t, func(f *report.Findings) { tc.found(f, n) })
				if text := report.Text(r); strings.Contains(text, tc.more) != said || !said && strings.Contains(text, "more") {
					t.Errorf("of %d it is said %v that one is left out:\n%s", n, !said, text)
				}
			}
		})
	}
}

// followersIn are members that ended in so many ways, each with as many places.
func followersIn(ways, places int) []report.Followers {
	var out []report.Followers
	for i := range ways {
		f := report.Followers{Says: fmt.Sprintf("way %d", i)}
		for k := range places {
			f.Places = append(f.Places, fmt.Sprintf("w-%d-%02d", i, k))
		}
		out = append(out, f)
	}
	return out
}

func TestWhatIsNotShownIsCounted(t *testing.T) {
	cases := map[string]struct {
		most int
		show func(n int) string
		more string
	}{
		"ways in which others ended": {4, func(n int) string { return report.Text(report.Report{Followers: followersIn(n, 1)}) }, "  and 1 more way to end\n"},
		"candidates with their points": {8, func(n int) string {
			r := report.Report{}
			for _, s := range sightings(n) {
				r.Candidates = append(r.Candidates, attribute.Candidate{Observation: s})
			}
			return report.Why(r)
		}, "  and 1 more\n"},
		"rows of the picture": {14, func(n int) string {
			r := report.Report{Observed: ten}
			for i := range n {
				r.Members = append(r.Members, timeline.Member{
					Place: fmt.Sprintf("w-%02d", i), Failed: true, First: i == 0, Started: ten, Ended: ten.Add(time.Duration(60+i) * time.Second), Says: fmt.Sprintf("seat %d is taken", i),
				})
			}
			return report.Timeline(r, report.Picture{Width: 120})
		}, "2 more ways to end or to go on\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if text := tc.show(tc.most); strings.Contains(text, "more") {
				t.Errorf("of %d some are left out:\n%s", tc.most, text)
			}
			text := tc.show(tc.most + 1)
			if !strings.Contains(text, tc.more) {
				t.Errorf("of %d it is not said that one is left out:\n%s", tc.most+1, text)
			}
			if many := tc.show(40 * tc.most); len(many) > len(text)+len(text)/2 {
				t.Errorf("of many %d bytes are shown, and %d of one above the bound", len(many), len(text))
			}
		})
	}
}

// Programs are told of all who ended in one way by their number, and of the first by name.
func TestFollowersInJSONAreNamedUpToABound(t *testing.T) {
	for n, want := range map[int]int{16: 16, 17: 16} {
		data, err := report.JSON(report.Report{Followers: followersIn(1, n)})
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Followers []struct {
				Count int
				Pods  []string
			}
		}
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]int{n, want}, []int{got.Followers[0].Count, len(got.Followers[0].Pods)}); diff != "" {
			t.Errorf("of %d: count and names (-want +got):\n%s", n, diff)
		}
	}
}

// Of those who say what the cause says the first are cited, and all are counted.
func TestThoseWhoSayTheSameAreCounted(t *testing.T) {
	for n, want := range map[int]string{5: "4 others say the same.", 6: "5 others say the same."} {
		r := written(t, func(f *report.Findings) {
			all := sightings(n)
			for _, s := range all[1:] {
				all[0].Also = append(all[0].Also, s.Item)
			}
			f.Failed, f.Answer.Cause = true, &attribute.Candidate{Observation: all[0]}
		})
		if len(r.Root.Cites) != 5 || len(r.Evidence) != 5 || !strings.Contains(r.Analysis, want) {
			t.Errorf("of %d: %d are cited, %d are evidence; %s", n, len(r.Root.Cites), len(r.Evidence), r.Analysis)
		}
	}
}

// Of the pods that gave way the last ones are named, and the others counted.
func TestPodsThatGaveWayAreCounted(t *testing.T) {
	for n, want := range map[int]string{4: "w-03, w-02, w-01, w-00.", 5: "w-04, w-03, w-02, w-01 and 1 more."} {
		r := written(t, func(f *report.Findings) {
			for i := range n + 1 {
				name := fmt.Sprintf("w-%02d", i)
				f.Seen.Pods = append(f.Seen.Pods, control.Pod{Name: name, Phase: corev1.PodPending})
				f.Members = append(f.Members, timeline.Member{Place: name, Source: evidence.Source{Pod: name, Rank: -1}})
				if i < n {
					f.Observations = append(f.Observations, evidence.Observation{Signature: control.Preempted, Item: evidence.Item{
						Kind: evidence.Event, At: ten.Add(time.Duration(i) * time.Minute), Source: evidence.Source{Pod: name, Rank: -1}, Text: "Preempted by pod x on node gpu-1",
					}})
				}
			}
		})
		if !strings.HasSuffix(r.Waiting, want) {
			t.Errorf("of %d that gave way it is said: %s", n, r.Waiting)
		}
	}
}

// The service names 20 tasks that did not come; of a message that names more it is said that there are others.
func TestTasksThatDidNotComeAreNamedUpToABound(t *testing.T) {
	for n, want := range map[int]string{20: "17, 18 and 19", 21: "17, 18, 19 and others"} {
		r := written(t, func(f *report.Findings) {
			s := sightings(1)[0]
			s.Signature = &signature.Signature{ID: "barrier", Title: "a barrier timed out", Category: "rendezvous-timeout", Proves: "It waited for {{.absent}}."}
			s.Line, s.Facts = "DEADLINE_EXCEEDED: Barrier timed out. Id: b::0. Some timed out task names:", map[string]string{"barrier": "b"}
			e := evidence.Excerpt{Source: s.Item.Source, Lines: []reduce.Kept{{Number: 1, Text: s.Line}}}
			for i := range n {
				e.Lines = append(e.Lines, reduce.Kept{Number: i + 2, Text: fmt.Sprintf("/job:jax_worker/replica:0/task:%d", i)})
			}
			f.Failed, f.Answer.Cause, f.Read.Excerpts = true, &attribute.Candidate{Observation: s}, []evidence.Excerpt{e}
		})
		if !strings.Contains(r.Analysis, want) {
			t.Errorf("of %d tasks it is said: %s", n, r.Analysis)
		}
	}
}
