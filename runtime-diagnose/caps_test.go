package diagnose_test

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/report"
)

// gaveUp is a job of pods of a program of its own, the first of which ended with code 1; opened counts how often each log is read.
func gaveUp(pods int, opened map[string]int) diagnose.Case {
	c := diagnose.Case{Job: train(pods - 1), Kind: replicas, State: kinds.State{Phase: kinds.Failed}, Now: noon}
	var counting sync.Mutex // logs are read side by side
	for i, pod := range names(pods) {
		log := ownProgram(pod, i, odd)
		if i == 0 {
			c.Pods = append(c.Pods, ended(pod, "gpu-1", 1, "Error", noon))
		} else {
			c.Pods = append(c.Pods, running(pod, "gpu-2"))
			log = ownProgram(pod, i, "closing the ring")
		}
		open := log.Open
		log.Open = func() (io.ReadCloser, error) {
			counting.Lock()
			defer counting.Unlock()
			opened[pod]++
			return open()
		}
		c.Logs = append(c.Logs, log)
	}
	return c
}

// A member is compared with so many others, and the answer says with how many.
func TestWithHowManyOthersAMemberIsComparedIsSaid(t *testing.T) {
	for others, want := range map[int]string{15: "15 other pods", 16: "16 other pods", 17: "16 other pods", 60: "16 other pods"} {
		opened := map[string]int{}
		r := diagnose.Diagnose(t.Context(), gaveUp(others+1, opened), catalog(t), diagnose.Options{})
		again := 0
		for pod, n := range opened {
			if pod != "train-master-0" && n > 1 {
				again++
			}
		}
		if !strings.Contains(r.Analysis, want) || again > 16 {
			t.Errorf("of %d others %d were read for it, want %s; analysis: %s", others, again, want, r.Analysis)
		}
	}
}

// What lies beyond the logs and events that are tested for a line that a model may name is counted.
func TestWhatIsNotTestedAsTheCauseIsCounted(t *testing.T) {
	for name, tc := range map[string]struct {
		pods, events int
		want         report.Untested
	}{
		"as many as are tested": {8, 32, report.Untested{}}, "one log more": {9, 32, report.Untested{Logs: 1}},
		"one event more": {8, 33, report.Untested{Events: 1}}, "many more": {40, 300, report.Untested{Logs: 32, Events: 268}},
	} {
		t.Run(name, func(t *testing.T) {
			c := gaveUp(tc.pods, map[string]int{})
			for i := range tc.events {
				c.Events = append(c.Events, corev1.Event{
					ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("e%d", i), Namespace: "ml"}, Type: corev1.EventTypeWarning, Reason: fmt.Sprintf("SeatRefused%d", i), Message: fmt.Sprintf("seat %d is taken", i),
					InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: "ml", Name: "train-master-0"}, LastTimestamp: metav1.NewTime(noon.Add(-time.Duration(i) * time.Second)),
				})
			}
			r := diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{Nominees: true})
			if diff := cmp.Diff(tc.want, r.Untested); diff != "" {
				t.Errorf("untested (-want +got):\n%s", diff)
			}
			logs, events := map[string]bool{}, 0
			for _, n := range r.Nominees {
				if strings.HasPrefix(string(n.Item.ID), "event/") {
					events++
				} else {
					logs[n.Item.Source.Pod] = true
				}
			}
			if len(logs) != 8 || events != 32 {
				t.Errorf("lines of %d logs and %d events may be named; want 8 and 32", len(logs), events)
			}
		})
	}
}
