package collect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
)

// A namespace can hold many thousands of events, an hour's worth by default; beyond this
// many the rest is missing, and said so.
const (
	eventPage  = 500
	eventPages = 20
)

// readEvents reads the events of the job, its pods and what stands between. One list of the
// namespace costs less than a query for each of a thousand pods.
func (r *reading) readEvents(ctx context.Context) {
	about := r.subjects()
	if all, left, ok := r.Followed.of(r.object.GetNamespace()); ok {
		r.out.Events = about.of(all)
		if left {
			r.missing("events", errors.New("the namespace has more than are held; the oldest are not known"))
		}
		slices.SortFunc(r.out.Events, func(a, b corev1.Event) int { return strings.Compare(a.Name, b.Name) })
		return
	}
	options := metav1.ListOptions{Limit: eventPage}
	var all []*corev1.Event
	for range eventPages {
		page, err := r.events(ctx, r.object.GetNamespace(), options)
		if err != nil {
			r.out.Events = about.of(all)
			r.missing("events", err)
			return
		}
		for i := range page.Items {
			all = append(all, trimEvent(&page.Items[i]))
		}
		if options.Continue = page.Continue; options.Continue == "" {
			r.out.Events = about.of(all)
			return
		}
	}
	r.out.Events = about.of(all)
	r.readEventsByName(ctx, about)
}

// mostAsked bounds the objects whose events are asked for one by one.
const mostAsked = 64

// readEventsByName asks for the events of the job and of its pods where the namespace has more than can be
// listed: a list is in the order of names, and the newest of this job may be behind its end. Pods that are
// not well come first.
func (r *reading) readEventsByName(ctx context.Context, about subjects) {
	have := map[string]bool{}
	for i := range r.out.Events {
		have[r.out.Events[i].Name] = true
	}
	names := []string{r.object.GetName()}
	for _, well := range []bool{false, true} {
		for i := range r.out.Pods {
			p := &r.out.Pods[i]
			if well == (p.Status.Phase == corev1.PodRunning || p.Status.Phase == corev1.PodSucceeded) {
				names = append(names, p.Name)
			}
		}
	}
	take := func(e *corev1.Event) {
		if about.has(e) && !have[e.Name] {
			have[e.Name] = true
			r.out.Events = append(r.out.Events, *e)
		}
	}
	pages := eventPages // of all names together: a job has an event for each of its pods, and the newest are the last of them
	for _, name := range names[:min(len(names), mostAsked)] {
		options := metav1.ListOptions{Limit: eventPage, FieldSelector: fields.OneTermEqualSelector("involvedObject.name", name).String()}
		for more := true; more; more = options.Continue != "" && pages > 0 {
			page, err := r.Kube.CoreV1().Events(r.object.GetNamespace()).List(ctx, options)
			if err != nil {
				r.missing("events of "+name, err)
				return
			}
			for i := range page.Items {
				take(&page.Items[i])
			}
			if options.Continue = page.Continue; options.Continue != "" {
				pages--
			}
		}
		if options.Continue != "" {
			r.missing("events of "+name, fmt.Errorf("there are more than %d; the rest is not known", eventPage))
		}
	}
	if left := len(names) - mostAsked; left > 0 {
		r.missing("events", fmt.Errorf("the namespace has more than %d; those of %d pods were not asked for", eventPage*eventPages, left))
	}
}

// nodesNamespace holds the events about nodes: they have no namespace of their own
// (https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/).
const nodesNamespace = "default"

// readNodeEvents reads what happened to the nodes the pods are on since the job was created. It is
// the only reading outside the job's namespace, and of nodes alone. An account that may not read it loses
// little: the nodes' conditions are read too.
func (r *reading) readNodeEvents(ctx context.Context) {
	nodes := map[string]bool{}
	for i := range r.out.Pods {
		if name := r.out.Pods[i].Spec.NodeName; name != "" {
			nodes[name] = true
		}
	}
	if len(nodes) == 0 {
		return
	}
	since := r.object.GetCreationTimestamp()
	about := func(e *corev1.Event) bool {
		return nodes[e.InvolvedObject.Name] && e.InvolvedObject.Kind == "Node" && !control.When(e).Before(since.Time)
	}
	if all, left, ok := r.Followed.of(nodesNamespace); ok {
		before := len(r.out.Events)
		for _, e := range all {
			if about(e) {
				r.out.Events = append(r.out.Events, *e)
			}
		}
		if left {
			r.missing("events of nodes", fmt.Errorf("namespace %s has more than are held; the oldest are not known", nodesNamespace))
		}
		slices.SortFunc(r.out.Events[before:], func(a, b corev1.Event) int { return strings.Compare(a.Name, b.Name) })
		return
	}
	options := metav1.ListOptions{Limit: eventPage, FieldSelector: "involvedObject.kind=Node"}
	for range eventPages {
		page, err := r.events(ctx, nodesNamespace, options)
		if err != nil {
			if !apierrors.IsForbidden(err) {
				r.missing("events of nodes", err)
			}
			return
		}
		for i := range page.Items {
			e := &page.Items[i]
			if about(e) {
				r.out.Events = append(r.out.Events, *e)
			}
		}
		if options.Continue = page.Continue; options.Continue == "" {
			return
		}
	}
	r.missing("events of nodes", fmt.Errorf("namespace %s has more than %d; the rest is not known", nodesNamespace, eventPage*eventPages))
}

// subjects are whom events may be about.
type subjects struct {
	uids  map[types.UID]string // their names: the API server does not check that an event has both of one object
	names map[[2]string]bool   // kind and name: pods of an earlier attempt have the same
	since metav1.Time          // of the job: an earlier job of the same name is another story
}

func (r *reading) subjects() subjects {
	s := subjects{uids: map[types.UID]string{}, names: map[[2]string]bool{}, since: r.object.GetCreationTimestamp()}
	add := func(kind, name string, uid types.UID) {
		s.uids[uid] = name
		s.names[[2]string{kind, name}] = true
	}
	add(r.kind.API(), r.object.GetName(), r.object.GetUID())
	for i := range r.out.Pods {
		add("Pod", r.out.Pods[i].Name, r.out.Pods[i].UID)
	}
	for _, p := range r.keptPods { // some operators give replaced pods another name
		add("Pod", p.Name, p.UID)
	}
	for uid, u := range r.owners.between {
		add(u.GetKind(), u.GetName(), uid)
	}
	return s
}

// ofGone are reasons of the events that say where a pod was and what took it away: the scheduler, the kubelet, the node controller and those of taints.
var ofGone = []string{"Scheduled", "Killing", "Preempted", "Evicted", "NodeNotReady", "TaintManagerEviction", "DeviceTaintManagerEviction"}

// of are the events that are about the job, in the order in which they come, and of pods that the job's operator says it
// made and that are gone, those of their going: nothing else is left of them.
func (s subjects) of(all []*corev1.Event) (out []corev1.Event) {
	made := map[string]bool{}
	for _, e := range all {
		if name, ok := strings.CutPrefix(e.Message, "Created pod: "); ok && s.has(e) {
			made[name] = true
		}
	}
	for _, e := range all {
		pod := e.InvolvedObject
		if s.has(e) || pod.Kind == "Pod" && slices.Contains(ofGone, e.Reason) && made[pod.Name] && !control.When(e).Before(s.since.Time) {
			out = append(out, *e)
		}
	}
	return out
}

func (s subjects) has(e *corev1.Event) bool {
	if name, known := s.uids[e.InvolvedObject.UID]; known && e.InvolvedObject.UID != "" {
		return name == e.InvolvedObject.Name
	}
	if !s.names[[2]string{e.InvolvedObject.Kind, e.InvolvedObject.Name}] {
		return false
	}
	return !control.When(e).Before(s.since.Time)
}
