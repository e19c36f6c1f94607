package bare

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
)

// text reads line by line; what it knows of its place is in pod, container and columns.
type text struct {
	name    string
	now     time.Time
	number  int
	part    Part
	pod     *corev1.Pod // of a describe, open
	status  *corev1.ContainerStatus
	into    string   // "State" or "Last State"
	columns []string // of a kubectl get pods table
	nodes   []string // of a kubectl get nodes table

	about     *thing // what the line speaks of, or the one above it; nil: of all that comes, as a header does
	described *thing // what pod is described as
	namespace string // of the command that printed the text
	column    string // the namespace that a row names
	labels    bool   // the labels of a description go on

	node    *corev1.Node // of a describe, open
	section string       // of its description
}

var (
	getEvent      = regexp.MustCompile(`^\s*(\S+)\s+(Normal|Warning)\s+(\w[\w./-]*)\s+([A-Za-z.]+/\S+)\s+(.*)$`)
	getEventNS    = regexp.MustCompile(`^\s*([a-z0-9-]+)\s+(\d\S*)\s+(Normal|Warning)\s+(\w[\w./-]*)\s+([A-Za-z.]+/\S+)\s+(.*)$`)
	describeEvent = regexp.MustCompile(`^\s*(Normal|Warning)\s+(\w[\w./-]*)\s+((?:<\w+>|\d\w*)(?:\s+\(x\d+(?: over [^)]*)?\))?)\s+(.*)$`)
	// describeEventOld is a row of kubectl describe until 1.8: FirstSeen, LastSeen, Count, From, SubObjectPath, Type, Reason, Message
	// (https://github.com/kubernetes/kubernetes/blob/v1.8.0/pkg/printers/internalversion/describe.go, DescribeEvents).
	describeEventOld = regexp.MustCompile(`^\s*(\d\w*)\s+(\d\w*)\s+(\d+)\s+(\{?\S[^\t]*?)\s+(?:spec\.\S+\s+)?(Normal|Warning)\s+(\w[\w./-]*)\s+(.*)$`)
	// getEventOld is a row of kubectl get events until 1.13: LastSeen, FirstSeen, Count, Name, Kind, Subobject, Type, Reason, Source, Message
	// (https://github.com/kubernetes/kubernetes/blob/v1.13.0/pkg/printers/internalversion/printers.go, printEvent).
	getEventOld   = regexp.MustCompile(`^\s*(\d\w*)\s+(\d\w*)\s+(\d+)\s+([a-z0-9][\w.-]*)\s+([A-Z]\w+)\s+(?:spec\.\S+\s+)?(Normal|Warning)\s+(\w[\w./-]*)\s+([^\s,]+(?:, \S+)?)\s+(.*)$`)
	field         = regexp.MustCompile(`^(\s*)([A-Z][A-Za-z ]*):\s*(.*)$`)
	timesOver     = regexp.MustCompile(`\(x(\d+)`)
	containerName = regexp.MustCompile(`^  ([a-z0-9][a-z0-9-]*):\s*$`)
	inNamespace   = regexp.MustCompile(`\s(?:-n|--namespace)[ =]?([a-z0-9][a-z0-9-]*)(?:\s|$)`)
	labelLine     = regexp.MustCompile(`^(?:Labels:)?\s+([A-Za-z0-9][\w./-]*)=(\S*)$`)
	objectName    = regexp.MustCompile(`(?:^|\s)(?:describe|get)\s+(?:po|pod|pods)[/ ](?:-n \S+ )?([a-z0-9][a-z0-9.-]*)`)
)

func (t *text) line(s string) {
	if command.MatchString(s) {
		t.about, t.namespace = nil, ""
		if m := inNamespace.FindStringSubmatch(s); m != nil {
			t.namespace = m[1]
		}
	}
	if t.readLabel(s) {
		return
	}
	switch {
	case t.readEvent(s), t.readNode(s), t.readNodes(s), t.readTable(s):
		return
	}
	if m := objectName.FindStringSubmatch(s); m != nil {
		t.describe(m[1])
		return
	}
	if t.pod != nil {
		if m := containerName.FindStringSubmatch(s); m != nil {
			t.openContainer(m[1])
			return
		}
	}
	if m := field.FindStringSubmatch(s); m != nil {
		t.readField(s, len(m[1]), m[2], m[3])
	}
}

// describe opens the description of a pod; what it is of is told by the fields behind its name.
func (t *text) describe(name string) {
	t.flush()
	t.pod = t.newPod(name)
	t.described = &thing{kind: "pod", namespace: t.namespace, name: name, labels: map[string]string{}}
	t.about = t.described
}

// readLabel reads the labels of a description, which stand one below the other.
func (t *text) readLabel(s string) bool {
	m := labelLine.FindStringSubmatch(s)
	t.labels = m != nil && t.described != nil && (t.labels || strings.HasPrefix(s, "Labels:"))
	if t.labels {
		t.described.labels[m[1]] = m[2]
	}
	return t.labels
}

func (t *text) newPod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{control.OriginFile: t.name}}}
}

// flush ends the description of one pod. A pod of which nothing was said is dropped.
func (t *text) flush() {
	if t.pod != nil && (t.pod.Status.Phase != "" || t.pod.Status.Reason != "" || len(t.pod.Status.ContainerStatuses) > 0) {
		t.part.Pods = append(t.part.Pods, *t.pod)
	}
	t.closeNode()
	t.pod, t.status, t.into, t.described = nil, nil, "", nil
}

func (t *text) origin(m map[string]string, key, line string) {
	m[control.OriginFile] = t.name
	m[control.OriginPrefix+key] = fmt.Sprintf("%d:%s", t.number, strings.TrimSpace(line))
}

func (t *text) openContainer(name string) {
	t.pod.Status.ContainerStatuses = append(t.pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: name})
	t.status = &t.pod.Status.ContainerStatuses[len(t.pod.Status.ContainerStatuses)-1]
	t.into = ""
}

// readField reads "Key:   value" of kubectl describe pod.
func (t *text) readField(line string, indent int, key, value string) {
	if indent == 0 && key == "Name" {
		name := strings.TrimSpace(value)
		if t.pod == nil || t.pod.Name != name {
			t.describe(name)
		}
		return
	}
	if t.pod == nil && t.described != nil && t.described.kind != "node" {
		return
	}
	if t.pod == nil && indent == 0 && (key == "Status" || key == "Reason") && value != "" {
		t.pod = t.newPod("")
	}
	if t.pod == nil {
		if (key == "State" || key == "Last State" || key == "Exit Code") && indent > 0 {
			t.pod = t.newPod("")
		} else {
			return
		}
	}
	if indent == 0 {
		t.status = nil
		t.readPodField(line, key, value)
		return
	}
	t.readContainerField(line, key, value)
}

func (t *text) describes(set func(*thing)) {
	if t.described != nil {
		set(t.described)
	}
}

func (t *text) readPodField(line, key, value string) {
	switch key {
	case "Namespace":
		t.pod.Namespace = value
		t.describes(func(d *thing) { d.namespace = value })
	case "Node":
		name, _, _ := strings.Cut(value, "/")
		if name != "" && name != "<none>" {
			t.pod.Spec.NodeName = name
			t.describes(func(d *thing) { d.nodes = append(d.nodes, name) })
		}
	case "Kind":
		t.describes(func(d *thing) { d.kind = strings.ToLower(value) })
		if value != "Pod" { // of a job, whose conditions have a Reason and a State, too
			t.pod = nil
		}
	case "Roles": // of a node alone
		t.describes(func(d *thing) { d.kind, d.namespace = "node", "" })
		t.describeNode(t.pod.Name)
	case "Controlled By":
		t.describes(func(d *thing) { d.owner = value })
	case "Status":
		phase, _, _ := strings.Cut(value, " ")
		if strings.HasPrefix(phase, "Terminating") {
			phase = string(corev1.PodUnknown)
		}
		t.pod.Status.Phase = corev1.PodPhase(phase)
	case "Reason":
		t.pod.Status.Reason = value
		t.origin(t.pod.Annotations, "message", line)
	case "Message":
		t.pod.Status.Message = value
		t.origin(t.pod.Annotations, "message", line)
	}
}

func (t *text) readContainerField(line, key, value string) {
	if t.status == nil {
		if key != "State" && key != "Last State" && key != "Reason" && key != "Exit Code" {
			return
		}
		t.openContainer("")
	}
	switch key {
	case "State", "Last State":
		t.into = key
		t.openState(value)
	case "Reason":
		t.setReason(value, line)
	case "Message":
		if w := t.status.State.Waiting; w != nil && t.into == "State" {
			w.Message = value
		} else if e := t.ended(); e != nil {
			e.Message = value
		}
	case "Exit Code":
		if code, err := strconv.ParseInt(strings.TrimSpace(value), 10, 32); err == nil {
			if e := t.endedOrNew(); e != nil {
				e.ExitCode = int32(code)
				t.originOnce(line)
			}
		}
	case "Finished":
		if at, err := time.Parse(time.RFC1123Z, value); err == nil && t.ended() != nil {
			t.ended().FinishedAt.Time = at
		}
	case "Restart Count":
		if n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 32); err == nil {
			t.status.RestartCount = int32(n)
		}
	case "Image":
		t.status.Image = value
	}
}

func (t *text) openState(value string) {
	switch {
	case t.into == "State" && value == "Waiting":
		t.status.State.Waiting = &corev1.ContainerStateWaiting{}
	case t.into == "State" && value == "Running":
		t.status.State.Running = &corev1.ContainerStateRunning{}
	case value == "Terminated":
		t.endedOrNew()
	}
}

func (t *text) setReason(value, line string) {
	if w := t.status.State.Waiting; w != nil && t.into == "State" {
		w.Reason = value
		t.origin(t.pod.Annotations, t.status.Name+".waiting", line)
		return
	}
	if t.into == "" && isWaiting(value) { // an excerpt without its "State:" line
		t.status.State.Waiting = &corev1.ContainerStateWaiting{Reason: value}
		t.origin(t.pod.Annotations, t.status.Name+".waiting", line)
		return
	}
	e := t.endedOrNew()
	if value == "OOMKilled" || e.Reason == "" {
		e.Reason = value
		t.origin(t.pod.Annotations, t.status.Name+t.endField(), line)
	}
}

func isWaiting(reason string) bool {
	return strings.HasSuffix(reason, "BackOff") || strings.HasPrefix(reason, "ErrImage") || strings.HasPrefix(reason, "Create")
}

func (t *text) endField() string {
	if t.into == "Last State" {
		return ".last"
	}
	return ".state"
}

func (t *text) originOnce(line string) {
	key := t.status.Name + t.endField()
	if _, ok := t.pod.Annotations[control.OriginPrefix+key]; !ok {
		t.origin(t.pod.Annotations, key, line)
	}
}

func (t *text) ended() *corev1.ContainerStateTerminated {
	if t.into == "Last State" {
		return t.status.LastTerminationState.Terminated
	}
	return t.status.State.Terminated
}

func (t *text) endedOrNew() *corev1.ContainerStateTerminated {
	if t.ended() == nil {
		end := &corev1.ContainerStateTerminated{}
		if t.into == "Last State" {
			t.status.LastTerminationState.Terminated = end
		} else {
			t.status.State.Terminated = end
		}
	}
	return t.ended()
}

// readEvent reads one row of "kubectl get events" or of the Events table of a describe.
func (t *text) readEvent(s string) bool {
	if m := getEvent.FindStringSubmatch(s); m != nil {
		t.addEvent(s, m[1], m[2], m[3], m[4], m[5])
		return true
	}
	if m := getEventNS.FindStringSubmatch(s); m != nil {
		t.column = m[1]
		t.addEvent(s, m[2], m[3], m[4], m[5], m[6])
		t.column = ""
		return true
	}
	if m := getEventOld.FindStringSubmatch(s); m != nil {
		t.addEvent(s, m[1]+" (x"+m[3]+")", m[6], m[7], m[5]+"/"+strings.SplitN(m[4], ".", 2)[0], m[9])
		t.part.Events[len(t.part.Events)-1].Source.Component = m[8]
		return true
	}
	if m := describeEventOld.FindStringSubmatch(s); m != nil {
		object := t.ofEvents()
		t.addEvent(s, m[2]+" (x"+m[3]+")", m[5], m[6], object, m[7])
		t.part.Events[len(t.part.Events)-1].Source.Component = strings.Trim(m[4], "{}")
		return true
	}
	if m := describeEvent.FindStringSubmatch(s); m != nil {
		from, message, ok := cutColumn(m[4])
		if !ok {
			from, message = "", m[4]
		}
		object := t.ofEvents()
		t.addEvent(s, m[3], m[1], m[2], object, message)
		t.part.Events[len(t.part.Events)-1].Source.Component = from
		return true
	}
	return false
}

// ofEvents is the object that the Events table of a describe is of; empty: none is described.
func (t *text) ofEvents() string {
	switch {
	case t.node != nil:
		return "Node/" + t.node.Name
	case t.pod != nil:
		return "pod/" + t.pod.Name
	case t.described != nil:
		return t.described.kind + "/" + t.described.name
	}
	return ""
}

// cutColumn splits the "From" column off, which is one word, or "kubelet, gpu-7" (kubectl until 1.18).
func cutColumn(s string) (from, message string, ok bool) {
	i := strings.IndexAny(s, " \t")
	if i < 0 {
		return "", "", false
	}
	if rest := strings.TrimLeft(s[i:], " "); strings.HasSuffix(s[:i], ",") {
		host, after, _ := strings.Cut(rest, " ")
		return s[:i] + " " + host, strings.TrimSpace(after), after != ""
	}
	return s[:i], strings.TrimSpace(s[i:]), true
}

func (t *text) addEvent(line, age, kind, reason, object, message string) {
	e := corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{}},
		Type:       kind, Reason: reason, Message: strings.TrimSpace(message), Count: 1,
	}
	what, name, _ := strings.Cut(object, "/")
	e.InvolvedObject = corev1.ObjectReference{Kind: kindOf(what), Name: name}
	t.origin(e.Annotations, "event", line)
	if m := timesOver.FindStringSubmatch(age); m != nil {
		if n, err := strconv.ParseInt(m[1], 10, 32); err == nil {
			e.Count = int32(n)
		}
	}
	word, _, _ := strings.Cut(age, " ")
	if d, ok := parseAge(word); ok && !t.now.IsZero() {
		e.LastTimestamp.Time = t.now.Add(-d)
		e.Annotations[control.OriginAge] = word
	}
	if name != "" && (t.pod == nil || name != t.pod.Name) {
		t.about = &thing{kind: strings.ToLower(e.InvolvedObject.Kind), namespace: cmp.Or(t.column, t.namespace), name: name}
	} else if t.described != nil {
		t.about = t.described
	}
	if t.about != nil {
		t.about.readAssigned(e.Message)
	}
	t.readExit(line, e.Reason, e.Message)
	t.part.Events = append(t.part.Events, e)
	t.part.Understood = append(t.part.Understood, t.number)
}

// exited is the event by which training-operator tells how a pod ended
// (https://github.com/kubeflow/training-operator/blob/v1.9.3/pkg/controller.v1/common/pod.go, reconcilePod).
var exited = regexp.MustCompile(`^Pod: ([a-z0-9-]+)\.([a-z0-9][a-z0-9.-]*) exited with code (\d{1,3})$`)

// readExit takes a pod that its operator says to have failed for one that was seen.
func (t *text) readExit(line, reason, message string) {
	m := exited.FindStringSubmatch(message)
	if reason != "ExitedWithCode" || m == nil || slices.ContainsFunc(t.part.Pods, func(p corev1.Pod) bool { return p.Name == m[2] }) {
		return
	}
	code, err := strconv.ParseInt(m[3], 10, 32)
	if err != nil || code == 0 {
		return
	}
	pod := t.newPod(m[2])
	pod.Namespace, pod.Status.Phase = m[1], corev1.PodFailed
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: int32(code)}}}}
	t.origin(pod.Annotations, ".state", line)
	t.part.Pods = append(t.part.Pods, *pod)
}

func kindOf(what string) string {
	if strings.EqualFold(what, "pod") || strings.EqualFold(what, "pods") || strings.EqualFold(what, "po") {
		return "Pod"
	}
	return what
}

// parseAge reads the ages that kubectl prints: 5s, 3m10s, 2d21h.
func parseAge(s string) (time.Duration, bool) {
	var sum time.Duration
	units := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'y': 365 * 24 * time.Hour}
	n, digits := time.Duration(0), 0
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9' && digits < 6:
			n, digits = n*10+time.Duration(c-'0'), digits+1
		case units[c] > 0 && digits > 0:
			sum += n * units[c]
			n, digits = 0, 0
		default:
			return 0, false
		}
	}
	return sum, len(s) > 0 && digits == 0
}
