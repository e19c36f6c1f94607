package control

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Word is the platform's last word on one life of a container. It outranks what a log says of an
// earlier moment.
type Word int

// The words, the weakest first.
const (
	Open      Word = iota // it runs, waits or has failed: what it says counts
	EndedWell             // it ended with 0: what it said before was survived, but for what exit codes do not show
	Past                  // another life or another pod took its place, or its end does not count
)

// part is what a container is to its pod.
type part int

const (
	program part = iota
	helper       // runs beside the program: a log shipper, a proxy
	sidecar      // an init container that stays (restartPolicy Always, KEP-753): its exit code does not count
	initial
)

// defaultContainer is the annotation that names the program's container; those who inject others
// set it (https://kubernetes.io/docs/reference/labels-annotations-taints/#kubectl-kubernetes-io-default-container).
const defaultContainer = "kubectl.kubernetes.io/default-container"

// programOf is the name of the container that the pod is there for: the one that is declared to be, the
// one that asks for devices, the first one.
func programOf(pod *corev1.Pod) string {
	all := pod.Spec.Containers
	if name := pod.Annotations[defaultContainer]; slices.ContainsFunc(all, func(c corev1.Container) bool { return c.Name == name }) {
		return name
	}
	for i := range all {
		for name := range all[i].Resources.Limits {
			if isDevice(string(name)) {
				return all[i].Name
			}
		}
	}
	switch {
	case len(all) > 0:
		return all[0].Name
	case len(pod.Status.ContainerStatuses) > 0:
		return pod.Status.ContainerStatuses[0].Name
	}
	return ""
}

// partOf is what an init container is.
func partOf(pod *corev1.Pod, name string) part {
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		if c.Name == name && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			return sidecar
		}
	}
	return initial
}

// stateOf is how the container that the pod is there for stands.
func stateOf(pod *corev1.Pod, name string) corev1.ContainerState {
	for i := range pod.Status.ContainerStatuses {
		if c := &pod.Status.ContainerStatuses[i]; c.Name == name {
			return c.State
		}
	}
	return corev1.ContainerState{}
}

// beside says that a container's trouble is not the pod's. A sidecar can only keep the program from
// starting; a second container fails the pod where the program did not.
func beside(pod *corev1.Pod, c *corev1.ContainerStatus, what part, main corev1.ContainerState) bool {
	switch what {
	case program, initial:
		return false
	case sidecar:
		return main.Running != nil || main.Terminated != nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	case helper:
		switch t := c.State.Terminated; {
		case main.Running != nil:
			return pod.Status.Phase != corev1.PodFailed
		case main.Terminated == nil:
			return false
		case main.Terminated.ExitCode == 0: // the pod ends with its last container, and not while one waits
			return pod.Status.Phase != corev1.PodFailed && c.State.Waiting == nil
		default:
			return t == nil || t.FinishedAt.After(main.Terminated.FinishedAt.Time)
		}
	}
	return false
}

// Calm is how long a container that was started again many times must have run since to be taken for
// recovered: one that crashes every few minutes is not well in between. The kubelet waits up to five
// minutes between restarts (kubernetes.io/docs, container restart policy).
const Calm = 10 * time.Minute

// PeersWait is how long the others may take to notice that a member is gone, and the job to fail of it: a member that was
// started again is alive, and those it was connected to have lost it. A collective of NCCL waits ten minutes
// (https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.init_process_group, timeout).
const PeersWait = 10 * time.Minute

// manyRestarts is from when on a container that runs again is not at once taken for recovered.
const manyRestarts = 3

// recovered says that the life of a container that ended badly is made good by the one after it.
func (r *reader) recovered(c *corev1.ContainerStatus, what part) bool {
	if r.NoRejoin && what != initial && what != sidecar {
		return false
	}
	if t := c.State.Terminated; t != nil {
		return t.ExitCode == 0
	}
	run := c.State.Running
	if run == nil || !c.Ready {
		return false
	}
	since := run.StartedAt.Time
	if t := c.LastTerminationState.Terminated; t != nil {
		if t.FinishedAt.After(since) {
			since = t.FinishedAt.Time
		}
		if late := r.FailedAt.Sub(t.FinishedAt.Time); what == program && !r.FailedAt.IsZero() && late >= 0 && late <= PeersWait {
			return false
		}
	}
	return c.RestartCount < manyRestarts || !since.IsZero() && r.Now.Sub(since) >= Calm
}

// replace finds failed pods whose place another one took that runs or has ended well: what they
// suffered is over. Where the platform took a pod away, it is as soon as the next one has begun: how that one fails is
// another matter. A place is a role's index; pods without one are alike, and as many as are wanted
// have to be well.
func (r *reader) replace() {
	type place struct {
		role  string
		index int
	}
	well := map[place]time.Time{}  // when the newest pod in a place was made that is well
	begun := map[place]time.Time{} // when the newest pod in a place was made that has begun its work, whatever came of it
	alike := 0
	for i := range r.seen.Pods {
		p := &r.seen.Pods[i]
		if at := (place{p.Source.Role, p.Source.Rank}); p.Created.After(begun[at]) && (p.Running() || p.Exit != nil && !p.Exit.Init || p.Phase == corev1.PodSucceeded) {
			begun[at] = p.Created
		}
		if p.Phase != corev1.PodSucceeded && (!p.Running() || !p.Ready || p.Exit != nil) || p.Deleted {
			continue
		}
		if p.Source.Rank < 0 {
			alike++
			continue
		}
		at := place{p.Source.Role, p.Source.Rank}
		if made := well[at]; p.Created.After(made) || made.IsZero() {
			well[at] = p.Created
		}
	}
	for i := range r.seen.Pods {
		p := &r.seen.Pods[i]
		if p.Phase != corev1.PodFailed && !r.updated(p) {
			continue
		}
		made, ok := well[place{p.Source.Role, p.Source.Rank}]
		switch {
		case r.Complete, r.tidiedAway(p), r.updated(p):
		case p.Disrupted && p.Source.Rank >= 0 && begun[place{p.Source.Role, p.Source.Rank}].After(p.Created):
		case p.Source.Rank < 0 && r.Wanted > 0 && alike >= r.Wanted:
		case p.Source.Rank >= 0 && ok && made.After(p.Created):
		default:
			continue
		}
		p.Past, p.Exit, p.Ended = true, nil, time.Time{}
		r.phase[p.Name] = *p
	}
}

// tidiedAway says that a signal ended a pod after the job had ended well: its operator stops what is left, and what it leaves
// running the platform takes away.
func (r *reader) tidiedAway(p *Pod) bool {
	return !r.DoneAt.IsZero() && p.toldToStop() && !p.Ended.Before(r.DoneAt)
}

// updated says that an operator that rolls out another template deleted a pod, which ended as it was told to.
func (r *reader) updated(p *Pod) bool { return r.Updating && p.Deleted && p.toldToStop() }

// toldToStop says that a container ended with the code of a signal by which the kubelet ends what is to go.
func (p *Pod) toldToStop() bool {
	return p.Exit != nil && (p.Exit.Code == 143 || p.Exit.Code == 137) && p.Exit.Reason != "OOMKilled"
}

// bury ends what was seen of pods whose place another one took.
func (r *reader) bury() {
	for i := range r.seen.Sightings {
		s := &r.seen.Sightings[i]
		if p, ok := r.phase[s.Item.Source.Pod]; ok && p.Past {
			s.Over = true
		}
	}
	r.seen.Scheduling = slices.DeleteFunc(r.seen.Scheduling, func(u Unschedulable) bool { return r.phase[u.Pod].Past })
}

// former says that an event is about an earlier pod of a name: operators give a pod that they make
// again the name of the one before.
func (r *reader) former(e *corev1.Event) bool {
	p, ok := r.phase[e.InvolvedObject.Name]
	return ok && e.InvolvedObject.Kind == "Pod" && e.InvolvedObject.UID != "" && p.UID != "" && e.InvolvedObject.UID != p.UID
}

// remain are reasons whose end a ready pod does not show: what they announce is still to come.
var remain = []string{"Preempting", "Preempted", "TaintManagerEviction", "DeviceTaintManagerEviction", "DeviceUnhealthy", "Evicted", "Evict", "Disrupted", "ScaleDown"}

// outlivedBy says that a pod is well after an event about it.
func (p *Pod) outlivedBy(e *corev1.Event) bool {
	switch {
	case p.Phase == corev1.PodSucceeded:
		return true
	case !p.Stopped.IsZero() && p.Began.After(when(*e)) && !when(*e).IsZero() && !slices.Contains(remain, e.Reason):
		return true // the life that failed began after it
	case !p.Running() || !p.Ready || p.Exit != nil || p.Deleted:
		return false
	}
	return !p.ReadySince.IsZero() && p.ReadySince.After(when(*e)) && !slices.Contains(remain, e.Reason)
}

// note remarks on what is no failure of the pod.
func (r *reader) note(format string, args ...any) {
	if len(r.seen.Notes) == mostNotes {
		r.unsaid++
		return
	}
	r.seen.Notes = append(r.seen.Notes, fmt.Sprintf(format, args...))
}

// mostNotes bounds the notes: a thousand pods may have the same sidecar. One more counts the others.
const mostNotes = 3

// noteBeside says what a container beside the program suffers. One that the kubelet ended with its pod
// is not worth a word.
func (r *reader) noteBeside(pod *corev1.Pod, c *corev1.ContainerStatus, what part) {
	if pod.Status.Phase != corev1.PodRunning && pod.Status.Phase != corev1.PodPending {
		return
	}
	how := ""
	main := stateOf(pod, programOf(pod)).Terminated
	switch {
	case what == helper && main != nil && c.State.Running != nil && r.Now.Sub(main.FinishedAt.Time) >= StartsWithin:
		r.note("The program of %s has ended, and its container %s runs on: the pod does not end before it does.", pod.Name, c.Name)
		return
	case c.State.Waiting != nil:
		how = "waits: " + c.State.Waiting.Reason
	case c.State.Terminated != nil && c.State.Terminated.ExitCode != 0:
		how = "has ended: " + ExitPhrase(c.State.Terminated.ExitCode)
	case c.RestartCount >= manyRestarts:
		how = fmt.Sprintf("was started again %d times", c.RestartCount)
	default:
		return
	}
	kind := "second container"
	if what == sidecar {
		kind = "sidecar"
	}
	r.note("The %s %s of %s %s; the program runs in another container, and goes on.", kind, c.Name, pod.Name, how)
}

// Word is the platform's last word on one life of a container of the pod; 0 is the present one.
func (p *Pod) Word(container string, attempt int) Word {
	if p.Past {
		return Past
	}
	if container == "" {
		container = p.Program
	}
	w := p.words[container]
	if attempt > 0 {
		return w[1]
	}
	return w[0]
}
