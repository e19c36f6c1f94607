package control

import (
	"strings"

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

// whole says that as many pods are there as the job wants, and that all of them run and are ready, or have ended well.
func (r *reader) whole() (there, well bool) {
	n, good := 0, 0
	for i := range r.seen.Pods {
		p := &r.seen.Pods[i]
		if p.Past {
			continue
		}
		n++
		if p.Phase == corev1.PodSucceeded || p.Running() && p.Ready && p.Exit == nil && !p.Deleted {
			good++
		}
	}
	return r.Wanted > 0 && n >= r.Wanted, r.Wanted > 0 && good == n && n >= r.Wanted
}

// elsewhere says that an event is about a place where nothing of the job is: a node on which no pod of it ever was,
// or, where all pods are well, a node or a pod that another one took the place of. What still concerns a job that
// lacks pods is not known, and counts.
func (r *reader) elsewhere(e *corev1.Event) bool {
	switch e.InvolvedObject.Kind {
	case "Node":
		return r.foreign(e.InvolvedObject.Name) || r.well && !r.inUse()[e.InvolvedObject.Name]
	case "Pod":
		_, present := r.phase[e.InvolvedObject.Name]
		return r.well && !present
	}
	return false
}

// foreign says that all pods of the job are there, and that none of it was ever on a node.
func (r *reader) foreign(node string) bool { return r.there && !r.touched[node] }
