package control

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// everOn are the nodes on which a pod of the job is or was, as far as anything says so.
func (r *reader) everOn() map[string]bool {
	nodes := map[string]bool{}
	for i := range r.seen.Pods {
		nodes[r.seen.Pods[i].Source.Node] = true
	}
	for i := range r.Events {
		e := &r.Events[i]
		if e.InvolvedObject.Kind == "Pod" && e.Source.Host != "" { // a kubelet's word about its pod
			nodes[e.Source.Host] = true
		}
		if at := strings.LastIndex(e.Message, " to "); at >= 0 && e.Reason == "Scheduled" {
			nodes[e.Message[at+4:]] = true
		}
	}
	return nodes
}

// takeStock says of the pods that have a place in the job now whether they are as many as it wants, whether all of them run
// and are ready, or have ended well, where they run, and when they were made.
func (r *reader) takeStock() {
	n, good := 0, 0
	r.present, r.stays = map[string]bool{}, map[string]*stay{}
	for i := range r.seen.Pods {
		p := &r.seen.Pods[i]
		if p.Past {
			continue
		}
		n++
		r.stays[p.Source.Node], r.all = r.stays[p.Source.Node].add(p, r.Now), r.all.add(p, r.Now)
		if p.Phase != corev1.PodSucceeded {
			r.present[p.Source.Node] = true
		}
		if p.Created.After(r.newest) {
			r.newest = p.Created
		}
		if r.oldest.IsZero() || p.Created.Before(r.oldest) {
			r.oldest = p.Created
		}
		if p.Phase == corev1.PodSucceeded || p.Running() && p.Ready && p.Exit == nil && !p.Deleted {
			good++
		}
	}
	r.there = r.Wanted > 0 && n >= r.Wanted
	r.well = r.there && good == n
}

// elsewhere says that an event is about what is no part of the job any more, or never was: a node on which no pod of it
// ever was, or on which all of them began later and ran for long; a pod, or a node, in whose place another one was found since;
// a refusal to make pods that were made, or to start a job that began; where all pods are well, whatever was said before
// the first of them was made. What still concerns a job that lacks pods is not known, and counts.
func (r *reader) elsewhere(e *corev1.Event) bool {
	at := when(*e)
	if at.IsZero() || ruleForReason(e.Reason) == ruleGroupAgain { // pods made since are what it is about
		return false
	}
	switch e.InvolvedObject.Kind {
	case "Node":
		return r.foreign(e.InvolvedObject.Name) || r.stays[e.InvolvedObject.Name].ranSince(at) || !r.present[e.InvolvedObject.Name] && (r.well || r.there && r.newest.After(at))
	case "Pod":
		_, present := r.phase[e.InvolvedObject.Name]
		return !present && (r.well || r.there && r.newest.After(at))
	case "PodGroup", "Workload":
		return r.there && r.all.beganAfter(at) || !r.DoneAt.IsZero() && at.Before(r.DoneAt)
	default:
		return r.well && r.oldest.After(at) || r.there && strings.HasPrefix(e.Reason, "FailedCreate") && r.newest.After(at)
	}
}

// stay is what the programs of the job on one node, or on all, have in common.
type stay struct {
	first time.Time     // when the first of them began
	waits bool          // one has not begun
	least time.Duration // for how long the shortest of them ran
}

func (s *stay) add(p *Pod, now time.Time) *stay {
	end := p.Stopped
	if end.IsZero() {
		end = now
	}
	ran := end.Sub(p.Began)
	if s == nil {
		s = &stay{least: ran}
	}
	s.least, s.waits = min(s.least, ran), s.waits || p.Began.IsZero()
	if s.first.IsZero() || p.Began.Before(s.first) {
		s.first = p.Began
	}
	return s
}

// beganAfter says that every program began after a time: what held the job back then has let it go.
func (s *stay) beganAfter(at time.Time) bool { return s != nil && !s.waits && s.first.After(at) }

// ranSince says that every program of the job on a node began after a time and ran for so long that what was said of the
// node then did not keep it from running.
func (s *stay) ranSince(at time.Time) bool { return s.beganAfter(at) && s.least >= Calm }

// foreign says that all pods of the job are there, and that none of it was ever on a node; or that all of them are well
// on other ones.
func (r *reader) foreign(node string) bool {
	return r.there && !r.touched[node] || r.well && !r.present[node]
}

// enough says that each role of an elastic job has as many pods that are well as it goes on with.
func (r *reader) enough() bool {
	well := map[string]int{}
	for i := range r.seen.Pods {
		if p := &r.seen.Pods[i]; !p.Past && p.Exit == nil && !p.Deleted && (p.Phase == corev1.PodSucceeded || p.Running() && p.Ready) {
			well[p.Source.Role]++
		}
	}
	for role, least := range r.Least {
		if well[role] < max(1, least) {
			return false
		}
	}
	return len(r.Least) > 0
}
