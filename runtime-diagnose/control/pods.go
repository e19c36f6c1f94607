package control

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// Annotations that carry where a pasted text said something. Objects of the API have none.
const (
	OriginFile   = "bare.signalbox.dev/file"
	OriginPrefix = "bare.signalbox.dev/line." // + field; the value is "number:text"
	// OriginAge is on an event of which a table only said how old it was. When the table was printed nobody
	// knows, only that it was before now: the event's time is the latest that it can have been.
	OriginAge = "bare.signalbox.dev/age"
)

// Origin puts the line of a pasted text that said a thing into an item, where there is one.
func Origin(annotations map[string]string, field string, item *evidence.Item) {
	number, text, ok := strings.Cut(annotations[OriginPrefix+field], ":")
	if !ok {
		return
	}
	n, err := strconv.Atoi(number)
	if err != nil {
		return
	}
	item.Source.File, item.Source.Line, item.Text = annotations[OriginFile], n, text
}

func (r *reader) readPod(pod *corev1.Pod) {
	p := Pod{
		Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, Source: r.source(pod), Phase: pod.Status.Phase, Created: pod.CreationTimestamp.Time,
		Placed: pod.Spec.NodeName != "", Deleted: pod.DeletionTimestamp != nil, Program: programOf(pod),
	}
	for _, c := range pod.Status.Conditions {
		r.readCondition(pod, &p, c)
	}
	r.readPodReason(pod, &p)
	for i := range pod.Status.InitContainerStatuses {
		c := &pod.Status.InitContainerStatuses[i]
		r.readContainer(pod, &p, c, partOf(pod, c.Name))
	}
	for i := range pod.Status.ContainerStatuses {
		c, what := &pod.Status.ContainerStatuses[i], helper
		if c.Name == p.Program {
			what = program
		}
		r.readContainer(pod, &p, c, what)
	}
	r.readReadiness(pod, &p)
	r.phase[pod.Name] = p
	r.seen.Pods = append(r.seen.Pods, p)
}

// takenAway are the reasons that a pod has by which the platform took it away; newer ones have a condition as well.
var takenAway = []string{"Evicted", "Preempting", "NodeLost", "NodeShutdown", "Shutdown", "Terminated"}

func (r *reader) readPodReason(pod *corev1.Pod, p *Pod) {
	reason := pod.Status.Reason
	if reason == "" {
		return
	}
	p.Disrupted = p.Disrupted || pod.Status.Phase == corev1.PodFailed && slices.Contains(takenAway, reason)
	found := ruleForReason(reason)
	if found == nil && pod.Status.Phase != corev1.PodFailed {
		return
	}
	text := fmt.Sprintf("pod %s: %s", pod.Name, reason)
	if pod.Status.Message != "" {
		text += ": " + pod.Status.Message
	}
	item := evidence.Item{ID: id("pod", pod.Name, "status"), Kind: evidence.Status, Source: p.Source, Text: text}
	Origin(pod.Annotations, "message", &item)
	if r.match(reason+": "+pod.Status.Message, item, false) || found == nil {
		return
	}
	r.sight(found, item, map[string]string{"reason": reason})
}

func (r *reader) readCondition(pod *corev1.Pod, p *Pod, c corev1.PodCondition) {
	item := evidence.Item{
		ID: id("pod", pod.Name, "status", string(c.Type)), Kind: evidence.Status, At: c.LastTransitionTime.Time, Source: p.Source,
		Text: fmt.Sprintf("pod %s: %s=%s %s: %s", pod.Name, c.Type, c.Status, c.Reason, c.Message),
	}
	switch {
	case c.Type == corev1.PodReady:
		if p.Ready = c.Status == corev1.ConditionTrue; p.Ready {
			p.ReadySince = c.LastTransitionTime.Time
		}
	case c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonSchedulingGated:
		r.sight(ruleGated, item, nil)
	case c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason+c.Message != "": // without, no scheduler has refused anything
		r.unschedulable(pod.Name, c.Message, item)
	case c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue:
		p.Disrupted = true
		if found := ruleForReason(c.Reason); !r.match(c.Reason+": "+c.Message, item, false) && found != nil {
			r.sight(found, item, map[string]string{"reason": c.Reason})
		}
	}
}

func (r *reader) readContainer(pod *corev1.Pod, p *Pod, c *corev1.ContainerStatus, what part) {
	before := len(r.seen.Sightings)
	exit, at, waiting := p.Exit, p.Ended, p.Waiting
	p.Restarts += c.RestartCount
	r.readDevices(pod, p, c)
	if w := c.State.Waiting; w != nil && w.Reason != "" {
		r.readWaiting(pod, p, c, w)
	}
	if run := c.State.Running; run != nil && what == program {
		p.Began = run.StartedAt.Time
	}
	if t := c.State.Terminated; t != nil {
		if what == program {
			p.Began, p.Stopped = t.StartedAt.Time, t.FinishedAt.Time
		}
		r.readEnd(pod, p, c, t, what == initial, 0)
		if t.ExitCode == 0 && !r.NoRejoin {
			p.say(c.Name, 0, EndedWell)
		}
	}
	if t := c.LastTerminationState.Terminated; t != nil {
		r.readRounds(pod, p, c, t)
		first, exit, at := len(r.seen.Sightings), p.Exit, p.Ended
		r.readEnd(pod, p, c, t, what == initial, 1)
		if r.recovered(c, what) {
			p.Exit, p.Ended = exit, at
			p.say(c.Name, 1, Past)
			r.over(first)
		}
	}
	if beside(pod, c, what, stateOf(pod, p.Program)) {
		r.noteBeside(pod, c, what)
		p.Exit, p.Ended, p.Waiting = exit, at, waiting
		p.say(c.Name, 0, Past)
		p.say(c.Name, 1, Past)
		r.over(before)
	}
}

// over ends what was seen from a place in the list on.
func (r *reader) over(from int) {
	for i := range r.seen.Sightings[from:] {
		r.seen.Sightings[from+i].Over = true
	}
}

// say sets the platform's word on a life of a container.
func (p *Pod) say(container string, attempt int, w Word) {
	if p.words == nil {
		p.words = map[string][2]Word{}
	}
	all := p.words[container]
	all[attempt] = w
	p.words[container] = all
}

// readRounds finds a program that ends well and is started again for ever: a job whose pods always restart
// does not end. A second container may do so on purpose.
func (r *reader) readRounds(pod *corev1.Pod, p *Pod, c *corev1.ContainerStatus, t *corev1.ContainerStateTerminated) {
	first := len(pod.Spec.Containers) > 0 && pod.Spec.Containers[0].Name == c.Name
	if t.ExitCode != 0 || t.Reason == "OOMKilled" || c.RestartCount < manyRestarts || pod.Spec.RestartPolicy != corev1.RestartPolicyAlways || !first {
		return
	}
	source := p.Source
	source.Container = c.Name
	r.sight(ruleRounds, evidence.Item{
		ID: id("pod", pod.Name, c.Name, "exit-before"), Kind: evidence.Exit, At: t.FinishedAt.Time, Source: source,
		Text: fmt.Sprintf("container %s ended: exit code 0; it was started again %d times, and restartPolicy is Always", c.Name, c.RestartCount),
	}, map[string]string{"restarts": strconv.Itoa(int(c.RestartCount))})
}

func (r *reader) readWaiting(pod *corev1.Pod, p *Pod, c *corev1.ContainerStatus, w *corev1.ContainerStateWaiting) {
	switch w.Reason {
	case "ContainerCreating", "PodInitializing":
		return
	}
	p.Waiting = w.Reason
	source := p.Source
	source.Container = c.Name
	item := evidence.Item{
		ID: id("pod", pod.Name, c.Name, "waiting"), Kind: evidence.Status, Source: source,
		Text: strings.TrimSuffix(fmt.Sprintf("container %s waits: %s: %s", c.Name, w.Reason, w.Message), ": "),
	}
	Origin(pod.Annotations, c.Name+".waiting", &item)
	if w.Reason == "CrashLoopBackOff" && c.LastTerminationState.Terminated == nil && c.State.Terminated == nil {
		facts := map[string]string{}
		if c.RestartCount > 0 {
			facts["restarts"] = strconv.Itoa(int(c.RestartCount))
		}
		r.sight(CrashLoop, item, facts)
		return
	}
	found := ruleForReason(w.Reason)
	if r.match(w.Reason+": "+w.Message, item, false) || found == nil {
		return
	}
	facts := map[string]string{"reason": w.Reason}
	if c.Image != "" {
		facts["image"] = c.Image
	}
	r.sight(found, item, facts)
}

func (r *reader) readEnd(pod *corev1.Pod, p *Pod, c *corev1.ContainerStatus, t *corev1.ContainerStateTerminated, init bool, attempt int) {
	if t.ExitCode == 0 {
		if t.Reason == "OOMKilled" {
			r.note("The container %s of %s ended with 0, and its reason is OOMKilled: a process in it was killed at the memory limit, and the program went on without it.", c.Name, pod.Name)
		}
		return
	}
	exit := &Exit{Container: c.Name, Code: t.ExitCode, Signal: t.Signal, Reason: t.Reason, Message: t.Message, Init: init}
	if p.Exit == nil || t.FinishedAt.Time.Before(p.Ended) {
		p.Exit, p.Ended = exit, t.FinishedAt.Time
	}
	source := p.Source
	source.Container, source.Attempt = c.Name, attempt
	text := fmt.Sprintf("container %s ended: exit code %d", c.Name, t.ExitCode)
	if t.Reason != "" && t.Reason != "Error" {
		text += ", reason " + t.Reason
	}
	field, name := ".state", "exit"
	if attempt > 0 {
		field, name = ".last", "exit-before"
	}
	item := evidence.Item{ID: id("pod", pod.Name, c.Name, name), Kind: evidence.Exit, At: t.FinishedAt.Time, Source: source, Text: text}
	Origin(pod.Annotations, c.Name+field, &item)
	facts := map[string]string{"exitCode": strconv.Itoa(int(t.ExitCode))}
	if t.Reason != "" {
		facts["reason"] = t.Reason
	}
	if t.Message != "" {
		said := item
		said.ID, said.Text = id("pod", pod.Name, c.Name, "message"), lastLine(t.Message)
		r.readMessage(t.Message, said)
	}
	found := TaskExitRule(t.ExitCode, "", t.Message)
	switch {
	case t.Reason == "OOMKilled":
		found = ruleOOM
		if t.ExitCode != 137 {
			found = ruleChildOOM
		}
		if limit := memoryLimit(pod, c.Name); limit != "" {
			facts["memoryLimit"] = limit
		}
	case ranFirst(t):
		found = ruleOwn128
	case t.ExitCode == 1 || t.ExitCode == 0 || t.Reason == "Error" || t.Reason == "ContainerStatusUnknown":
	default:
		if byReason := ruleForReason(t.Reason); byReason != nil {
			found = byReason
		}
	}
	r.sight(found, item, facts)
	r.seen.Sightings[len(r.seen.Sightings)-1].FromLog = FromLog(found)
}

// ranFirst says whether a container ended with a code that the runtime gives to what never began, and had run.
func ranFirst(t *corev1.ContainerStateTerminated) bool {
	return (t.ExitCode == 125 || t.ExitCode == 128) && t.FinishedAt.Sub(t.StartedAt.Time) >= lived
}

// lived is how long a container has to have run to have started: the runtime gives up at once.
const lived = 2 * time.Second

// matchLines looks for known failures line by line, and says whether one can be a cause.
func (r *reader) matchLines(message string, item evidence.Item) (root bool) {
	for line := range strings.Lines(message) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		said := item
		said.Kind, said.Text = evidence.Log, line
		root = r.match(line, said, false) || root
	}
	return root
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

func memoryLimit(pod *corev1.Pod, container string) string {
	for _, c := range pod.Spec.Containers {
		if c.Name == container {
			if q, ok := c.Resources.Limits[corev1.ResourceMemory]; ok {
				return q.String()
			}
		}
	}
	return ""
}
