package control

import (
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// Preemptor is the pod that got the node of another one. The scheduler names it by its UID, and before 1.27 by
// its namespace and name.
type Preemptor struct {
	UID             types.UID
	Namespace, Name string
	Node            string
}

// preemptedBy is the message of the Event Preempted
// (https://github.com/kubernetes/kubernetes/blob/v1.34.0/pkg/scheduler/framework/preemption/preemption.go;
// v1.26.0, same file, for the name).
var preemptedBy = regexp.MustCompile(`Preempted by (?:pod (\S+)|([^\s/]+)/(\S+)) on node (\S+)`)

// Preemptors are those for whom pods of a name were preempted, each once, in the order of the events.
func Preemptors(events []corev1.Event, of func(pod string) bool) (out []Preemptor) {
	for i := range events {
		e := &events[i]
		if e.Reason != "Preempted" || e.InvolvedObject.Kind != "Pod" || !of(e.InvolvedObject.Name) {
			continue
		}
		m := preemptedBy.FindStringSubmatch(e.Message)
		if m == nil {
			continue
		}
		if p := (Preemptor{types.UID(m[1]), m[2], m[3], m[4]}); !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// Is says that a pod is this one.
func (p Preemptor) Is(uid types.UID, namespace, name string) bool {
	if p.UID != "" {
		return p.UID == uid
	}
	return p.Namespace == namespace && p.Name == name
}

// tookAway are the reasons by which a pod that is gone is said to have been taken from its node, with the word for it.
var tookAway = map[string]string{
	"Preempted": "preempted", "Evicted": "evicted", "TaintManagerEviction": "evicted", "DeviceTaintManagerEviction": "evicted",
}

// FormerLife is the time that a pod had on its node before it was taken from it.
type FormerLife struct {
	Began, Ended time.Time // Began is zero where no Event is left that says it
	Node         string
	How          string // preempted, evicted
}

// FormerLives are what Events tell of pods that were taken from their nodes and whose names others have now, by name: of
// each name the last one.
func FormerLives(events []corev1.Event, pods []corev1.Pod) map[string]FormerLife {
	now := make(map[string]types.UID, len(pods))
	for i := range pods {
		now[pods[i].Name] = pods[i].UID
	}
	byUID := map[types.UID]*FormerLife{}
	out := map[string]FormerLife{}
	for i := range events {
		e := &events[i]
		pod := e.InvolvedObject
		if uid, ok := now[pod.Name]; !ok || pod.Kind != "Pod" || pod.UID == "" || uid == "" || pod.UID == uid || strings.HasPrefix(e.Message, cancelled) {
			continue
		}
		l := byUID[pod.UID]
		if l == nil {
			l = &FormerLife{}
			byUID[pod.UID] = l
		}
		at := when(*e)
		switch how := tookAway[e.Reason]; {
		case how != "":
			l.Ended, l.How = at, how
		case e.Reason == "Started" && (l.Began.IsZero() || at.Before(l.Began)):
			l.Began = at
		case e.Reason == "Scheduled":
			if i := strings.LastIndex(e.Message, " to "); i >= 0 {
				l.Node = e.Message[i+4:]
			}
		}
		if m := preemptedBy.FindStringSubmatch(e.Message); m != nil {
			l.Node = m[4]
		}
	}
	for i := range events {
		e := &events[i]
		if l := byUID[e.InvolvedObject.UID]; l != nil && !l.Ended.IsZero() && l.Ended.After(out[e.InvolvedObject.Name].Ended) {
			out[e.InvolvedObject.Name] = *l
		}
	}
	return out
}

// placesOfGone are the places of pods that are not there any more, by UID: as they were seen last, or by what events say of
// where they were.
func (r *reader) placesOfGone() map[types.UID]evidence.Source {
	there, out := map[types.UID]bool{"": true}, map[types.UID]evidence.Source{}
	for i := range r.Pods {
		there[r.Pods[i].UID] = true
	}
	for i := range r.Gone {
		if p := &r.Gone[i]; !there[p.UID] {
			out[p.UID] = r.source(p)
		}
	}
	for i := range r.Events {
		e := &r.Events[i]
		of := e.InvolvedObject
		node := ""
		switch m := preemptedBy.FindStringSubmatch(e.Message); {
		case of.Kind != "Pod" || there[of.UID] || out[of.UID].Node != "":
		case e.Source.Component == "kubelet":
			node = e.Source.Host
		case m != nil:
			node = m[4]
		case e.Reason == "Scheduled":
			node = e.Message[strings.LastIndex(e.Message, " ")+1:]
		}
		if node == "" {
			continue
		}
		was, known := out[of.UID]
		if !known {
			was = evidence.Source{Rank: -1}
		}
		was.Node = node
		out[of.UID] = was
	}
	return out
}
