package controller

import (
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// hearAfter is how long after an Event its job is looked at again, if others come meanwhile too: what they show stands on
// the job within visible.
const hearAfter = visible / 2

// mirrored are reasons of Events that a pod's own status says again; a change of that is seen without them.
var mirrored = []string{"FailedScheduling", "Scheduled", "Pulling", "Pulled", "Created", "Started", "BackOff"}

// onEvent has the jobs looked at again that an Event may be about and that carry a diagnosis of something wrong. A kubelet
// says that it stopped the containers of a pod, and an operator whom it deleted, when pod and diagnosis may be done
// with already: nothing else changes then. The names only choose whom to look at.
func (m *memory) onEvent(e *corev1.Event, kinds []string, look func(Request, time.Duration)) {
	of := e.InvolvedObject
	if e.ReportingController == FieldOwner || slices.Contains(mirrored, e.Reason) {
		return
	}
	m.mu.Lock()
	var keys []Request
	for i := 0; i <= len(of.Name); i++ {
		if i < len(of.Name) && of.Name[i] != '-' {
			continue // objects of a job are called <job>-<something>
		}
		for _, kind := range kinds {
			if key := (Request{kind, of.Namespace, of.Name[:i]}); m.listens(key) {
				keys = append(keys, key)
			}
		}
	}
	m.mu.Unlock()
	for _, key := range keys {
		look(key, hearAfter)
	}
}

// listens marks the jobs of a name that listen; the lock is held.
func (m *memory) listens(key Request) (listens bool) {
	for _, uid := range m.uids[key] {
		if r := m.jobs[uid]; r.listens.Load() {
			r.news.Add(1)
			listens = true
		}
	}
	return listens
}

// attend says whether a job listens: one that is well is looked at when its pods change.
func (r *remembered) attend(v diagnose.Verdict) { r.listens.Store(v != diagnose.Healthy) }

// pulse changes with all that is known of a job besides what the caches show.
func (r *remembered) pulse() string {
	return strings.Join([]string{r.watched.mark(), strconv.FormatInt(r.news.Load(), 10)}, " ")
}
