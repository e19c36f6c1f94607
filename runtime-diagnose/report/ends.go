package report

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/attribute"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// endedFirst are the pods that ended badly, the first one first; of those whose time is not known the
// order is that of names.
func (d *draft) endedFirst() []*control.Pod {
	var out []*control.Pod
	for i := range d.Seen.Pods {
		if d.Seen.Pods[i].Exit != nil {
			out = append(out, &d.Seen.Pods[i])
		}
	}
	slices.SortStableFunc(out, func(a, b *control.Pod) int {
		if a.Ended.IsZero() != b.Ended.IsZero() {
			return cmp.Compare(b.Ended.Unix(), a.Ended.Unix())
		}
		return a.Ended.Compare(b.Ended)
	})
	return out
}

// mostWays bounds how many ways to end are told.
const mostWays = 3

// howTheyEnded says how the pods ended where none of it can be a cause: being told to stop has one, and
// it was not seen.
func (d *draft) howTheyEnded() string {
	byCode := map[int32][]*control.Pod{}
	for _, p := range d.endedFirst() {
		byCode[p.Exit.Code] = append(byCode[p.Exit.Code], p)
	}
	codes := slices.SortedFunc(maps.Keys(byCode), func(a, b int32) int {
		return cmp.Or(cmp.Compare(len(byCode[b]), len(byCode[a])), cmp.Compare(a, b))
	})
	var b strings.Builder
	for _, code := range codes[:min(len(codes), mostWays)] {
		first := byCode[code][0]
		b.WriteString(" " + first.Name)
		if n := len(byCode[code]) - 1; n > 0 {
			fmt.Fprintf(&b, " and %d more", n)
		}
		fmt.Fprintf(&b, " ended with %s", control.ExitPhrase(code))
		if !first.Ended.IsZero() {
			b.WriteString(", at " + first.Ended.UTC().Format("15:04:05"))
			if len(byCode[code]) > 1 {
				b.WriteString(" and later")
			}
		}
		b.WriteString(".")
	}
	if n := len(codes) - mostWays; n > 0 {
		fmt.Fprintf(&b, " The others ended in %s.", words.Count(n, "more way", "more ways"))
	}
	return b.String()
}

// logToRead is the step that is left where nothing names a cause.
func (d *draft) logToRead() string {
	ended := d.endedFirst()
	if len(ended) == 0 && len(d.Seen.Pods) == 0 {
		return "No pod of the job is left to read: look for its logs where the cluster keeps them, or run it again with its pods kept after the end."
	}
	if len(ended) == 0 {
		return "Read the logs of the job's pods: " + d.kubectl("logs", d.Seen.Pods[0].Name) + "."
	}
	command := d.kubectl("logs", ended[0].Name) + " -c " + words.ShellWord(ended[0].Exit.Container)
	if ended[0].Restarts > 0 {
		command += " --previous"
	}
	return "Read the log of the pod that ended first: " + command + "."
}

// kubectl is a command about a thing of the job's namespace, or about a pod that was read without its job.
func (d *draft) kubectl(verb, name string) string {
	command, namespace := "kubectl "+verb+" "+words.ShellWord(name), ""
	if d.Job != nil {
		namespace = d.Job.Ref.Namespace
	} else if at := slices.IndexFunc(d.Seen.Pods, func(p control.Pod) bool { return p.Name == name }); at >= 0 {
		namespace = d.Seen.Pods[at].Namespace
	}
	if namespace != "" {
		command += " -n " + words.ShellWord(namespace)
	}
	return command
}

func logsHold(n int) string {
	if n == 1 {
		return "the log that was read holds"
	}
	return fmt.Sprintf("the %d logs that were read hold", n)
}

func (d *draft) countWell() int {
	n := 0
	for _, p := range d.Seen.Pods {
		if p.Running() || p.Phase == corev1.PodSucceeded {
			n++
		}
	}
	return n
}

// logCommand shows the log of a container.
func (d *draft) logCommand(s evidence.Source) string {
	command := d.kubectl("logs", s.Pod)
	if s.Container != "" {
		command += " -c " + words.ShellWord(s.Container)
	}
	if s.Attempt > 0 {
		command += " --previous"
	}
	return command
}

// stepsFor are what to do about the root: where reading is all that is left, the command for it, and what
// was read already.
func (d *draft) stepsFor(root *evidence.Observation) []string {
	steps := root.Signature.Steps()
	switch other := d.lacksOther(root); {
	case d.advice != nil && len(d.advice.steps) > 0:
		return d.beyond(root, d.onNode(root, slices.Clone(d.advice.steps)))
	case other != "":
		steps = append([]string{"Lowering the devices alone will not help: nodes lack " + other + " as well; kubectl describe node says what takes it."}, steps...)
	}
	if d.offered(root) {
		steps = slices.DeleteFunc(steps, func(step string) bool { return strings.HasPrefix(step, offersNone) })
	}
	if d.neverFits() {
		for i := range steps {
			steps[i] = waits.ReplaceAllString(steps[i], "")
		}
		steps = slices.DeleteFunc(steps, func(step string) bool { return step == "" })
	}
	s, reads := root.Item.Source, false
	steps = d.onNode(root, steps)
	for i, step := range steps {
		reads = reads || readTheLog.MatchString(step)
		if !readTheLog.MatchString(step) || s.Pod == "" {
			continue
		}
		switch {
		case len(d.End.Lines) > 0:
			steps[i] = "Read what stands above the end of the log: " + d.logCommand(s) + " --tail=200."
		case d.hasPod(s.Pod):
			steps[i] = "Read the end of the container's log: " + d.logCommand(s) + " --tail=200."
		default:
			steps[i] = "The pod is gone: look for the end of its log where the cluster keeps logs."
		}
	}
	if !reads && attribute.BareExit(root) && len(d.End.Lines) == 0 && len(d.Logs) == 0 {
		steps = append([]string{d.logToRead()}, steps...)
	}
	return d.beyond(root, steps)
}

// onNode fills in the node where it is known: a command is copied.
func (d *draft) onNode(root *evidence.Observation, steps []string) []string {
	node := d.nodeOf(root.Item.Source)
	if node == "" && root.Signature.Domain == signature.Hardware { // others may speak of a peer's host
		node = hostIn(root.Item.Text)
	}
	if node == "" {
		return steps
	}
	for i, step := range steps {
		step = strings.ReplaceAll(step, "kubectl cordon NODE", "kubectl cordon "+words.ShellWord(node))
		steps[i] = onTheNode.ReplaceAllString(step, "${1}node "+strings.ReplaceAll(node, "$", "$$"))
	}
	return steps
}

// lacksOther is what nodes lack beside the devices that a pod asks for; empty: nothing that is known. Where fewer nodes
// lack it than devices, some lack devices alone.
func (d *draft) lacksOther(root *evidence.Observation) string {
	var other []string
	for name := range root.Facts {
		what, ok := strings.CutPrefix(name, lacking)
		n, _ := strconv.Atoi(root.Facts[name])
		if devices, _ := strconv.Atoi(root.Facts[lacking+root.Facts["resource"]]); ok && what != root.Facts["resource"] && n >= devices {
			other = append(other, what)
		}
	}
	slices.Sort(other)
	if root.Facts["resource"] == "" || len(other) == 0 {
		return ""
	}
	return strings.Join(other, " and ")
}

// onTheNode is a step, or the part of one, that is done to the node.
var onTheNode = regexp.MustCompile(`\b((?i:drain|tell the administrators?) )the node\b`)

// nodeOf is the node of a source: that of its pod, where the log does not name it, or that on which the scheduler put
// the pod; empty: nothing that was read names one.
func (d *draft) nodeOf(s evidence.Source) string {
	if s.Node != "" || s.Pod == "" {
		return s.Node
	}
	for i := range d.Seen.Pods {
		if p := &d.Seen.Pods[i]; p.Name == s.Pod && p.Source.Node != "" {
			return p.Source.Node
		}
	}
	node := ""
	var at time.Time
	for i := range d.Events { // the last of them: a pod of the same name may have been elsewhere before
		e := &d.Events[i]
		if e.Reason != "Scheduled" || e.InvolvedObject.Name != s.Pod {
			continue
		}
		if m := assigned.FindStringSubmatch(e.Message); m != nil && (node == "" || !control.When(e).Before(at)) {
			node, at = m[1], control.When(e)
		}
	}
	return node
}

// hostIn is the host by which a line says what it is about; empty: it does not. The kernel's lines have it between the time
// and the tag, as syslog writes them (RFC 3164, section 4.1; journalctl -o short and short-iso write the same), and structured
// logs in a field of their own.
func hostIn(line string) string {
	if m := loggedOn.FindStringSubmatch(line); m != nil {
		return cmp.Or(m[1:]...)
	}
	return ""
}

var loggedOn = regexp.MustCompile(`^(?:<\d+>)?(?:[A-Z][a-z]{2} [ \d]\d [\d:]{8}|\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?) ([a-zA-Z\d][\w.-]*) kernel(?:\[\d+\])?: ` +
	`|(?:^|[\s,{(\[])(?:node|host|hostname|node_?name|nodeName)="?([a-zA-Z][\w-]*(?:\.[\w-]+)*)` +
	`|"(?:node|host|hostname|node_?name|nodeName)"\s?:\s?"([a-zA-Z][\w-]*(?:\.[\w-]+)*)"`)

// assigned is the scheduler's word of where it put a pod
// (https://github.com/kubernetes/kubernetes/blob/v1.37.0/pkg/scheduler/schedule_one.go, "Successfully assigned").
var assigned = regexp.MustCompile(`^Successfully assigned \S+ to (\S+)$`)

// offersNone begins the step for a cluster of which it is not known whether it has the resource.
const offersNone = "If no node offers the resource at all"

// offered says that nodes which the pods may use are known to have the resource that is short.
func (d *draft) offered(root *evidence.Observation) bool {
	answer, ok := d.fit()
	return d.schedulerOf(root) != nil && ok && slices.ContainsFunc(answer.Shortfall, func(s fit.Shortfall) bool {
		return string(s.Resource) == root.Facts["resource"] && s.LargestFree > 0
	})
}

// noneOffers is what to say and do where every node was seen and none has the resource that the scheduler finds short. Nil: one
// has, or not all were seen. Nodes with devices may be none until an autoscaler adds them.
func (d *draft) noneOffers() *advice {
	name := d.root.Facts["resource"]
	if d.schedulerOf(d.root) == nil || name == "" || strings.Contains(name, "/") || len(d.Nodes) == 0 || strconv.Itoa(len(d.Nodes)) != d.root.Facts["nodes"] {
		return nil
	}
	for i := range d.Nodes {
		if q := d.Nodes[i].Status.Allocatable[corev1.ResourceName(name)]; !q.IsZero() {
			return nil
		}
	}
	return &advice{
		says: "no node has " + name, owner: signature.User, retry: signature.Useless, shown: true,
		steps: []string{"Leave " + name + " out of the pod template, or correct its name: no waiting helps.", "Where the nodes should have it, tell the administrators: it is set up on none."},
	}
}

// waits is the part of a step that is to wait for others to end.
var waits = regexp.MustCompile(`,? or wait for running jobs to end|^Else wait for running jobs to end\.$`)

// neverFits says that what the job asks for is more than its nodes have when they are idle: no waiting helps.
func (d *draft) neverFits() bool {
	if d.Cluster == nil {
		return false
	}
	answer, ok := d.fit()
	return ok && answer.Verdict == fit.TooBig
}

// readTheLog is a step that sends people to a log.
var readTheLog = regexp.MustCompile(`(?i)^read (?:the end of )?the (?:container's )?log\b`)

func (d *draft) hasPod(name string) bool {
	return slices.ContainsFunc(d.Seen.Pods, func(p control.Pod) bool { return p.Name == name })
}
