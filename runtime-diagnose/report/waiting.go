package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// whySuspended is the operator's message, where it says more than that.
func (d *draft) whySuspended() string {
	message := strings.Trim(d.State.Message, ". ")
	if message == "" || d.State.Phase != kinds.Suspended || strings.EqualFold(message, "suspended") {
		return d.heldBy()
	}
	return " " + message + "." + d.heldBy()
}

// heldBy names the field that holds a job back.
func (d *draft) heldBy() string {
	if d.Job == nil || d.Job.Source == nil {
		return ""
	}
	for _, at := range []job.Path{"spec.suspend", "spec.runPolicy.suspend"} {
		if held, _ := d.Job.Field(at).(bool); held {
			return " " + string(at) + " is true: it starts once that is false, which a queue sets for the jobs that it admits." + d.checked()
		}
	}
	return ""
}

// leaving counts the pods that a suspended job still has.
func (d *draft) leaving() string {
	left, deleted := 0, 0
	for i := range d.Seen.Pods {
		switch p := &d.Seen.Pods[i]; {
		case p.Phase == corev1.PodSucceeded || p.Phase == corev1.PodFailed:
		case p.Deleted:
			left, deleted = left+1, deleted+1
		default:
			left++
		}
	}
	switch {
	case left == 0:
		return ""
	case deleted == left:
		return fmt.Sprintf(" %d pod%s %s still ending.", left, words.S(left), words.Is(left))
	default:
		return fmt.Sprintf(" %d pod%s %s still there, %d of them ending: until they end, they hold what they asked for.", left, words.S(left), words.Is(left), deleted)
	}
}

// waiting says why a job has not started, with numbers.
func (d *draft) waiting() string {
	if d.State.Stopped() {
		return strings.TrimRight("stopped: somebody asked for it. "+d.State.Message, ". ") + "." + d.leaving()
	}
	if d.suspended() {
		return "suspended: it asks for no pods now." + d.whySuspended() + d.leaving()
	}
	if d.State.Phase == kinds.Succeeded || d.State.Phase == kinds.Failed {
		return ""
	}
	var pending, starting, running []control.Pod
	for _, p := range d.Seen.Pods {
		switch {
		case p.Phase == corev1.PodPending && !p.Placed:
			pending = append(pending, p)
		case p.Phase == corev1.PodPending:
			starting = append(starting, p)
		case p.Phase == corev1.PodRunning:
			running = append(running, p)
		}
	}
	if len(pending) == 0 && len(starting) > 0 {
		return d.again() + fmt.Sprintf("%d of %d pod%s %s running; %d %s on %s node and not started%s.",
			len(running), d.podCount(), words.S(d.podCount()), words.IsOf(len(running), d.podCount()), len(starting), words.Is(len(starting)), words.Its(len(starting)), d.pulling(starting)+d.preparing(starting))
	}
	if len(pending) == 0 {
		return d.waitingForPods()
	}
	var b strings.Builder
	b.WriteString(d.again())
	fmt.Fprintf(&b, "%d of %d pod%s %s running, %d %s", len(running), d.podCount(), words.S(d.podCount()), words.IsOf(len(running), d.podCount()), len(pending), "wait"+words.Verb(len(pending)))
	ask := d.askOf(pending[0].Source.Role)
	if ask != "" {
		b.WriteString(" for " + ask)
		if len(pending) > 1 {
			b.WriteString(" each")
		}
	}
	fit, known := d.fit()
	if !known {
		if said := d.schedulerSays(pending); len(said) > 0 {
			b.WriteString(": " + strings.Join(said, "; "))
		}
	}
	if len(starting) > 0 {
		fmt.Fprintf(&b, "; %d %s a node and wait for the rest to start", len(starting), words.Has(len(starting)))
	}
	b.WriteString(d.nominated(pending))
	if known {
		return b.String() + unplaced(fit, len(running)+len(starting), ask) + d.gaveWay()
	}
	return b.String() + "." + d.gaveWay()
}

// mostGaveWay bounds the pods that are named of those that were preempted.
const mostGaveWay = 4

// gaveAway are the pods whose nodes the scheduler took for others, and that do not run again, by name, with the time.
func (d *draft) gaveAway() map[string]time.Time {
	at := map[string]time.Time{}
	for i := range d.Observations {
		o := &d.Observations[i]
		if o.Signature != control.Preempted {
			continue
		}
		for _, item := range append([]evidence.Item{o.Item}, o.Also...) {
			if pod := item.Source.Pod; pod != "" && !d.runs(pod) && !item.At.Before(at[pod]) {
				at[pod] = item.At
			}
		}
	}
	return at
}

// mostTakers bounds those that are named for whom pods were preempted.
const mostTakers = 2

// takers are those for whom pods were preempted: their jobs where the evidence holds their pods. Where it does not, the
// second result is how to find the first of them.
func (d *draft) takers(at map[string]time.Time) (who, find string) {
	var names []string
	unknown := 0
	for _, by := range control.Preemptors(d.Events, func(pod string) bool { _, ok := at[pod]; return ok }) {
		switch name := d.taker(by); {
		case name != "":
			names = append(names, name)
		case by.UID != "":
			unknown++
			find = cmp.Or(find, fmt.Sprintf("See who got the node: kubectl get pods -A --field-selector spec.nodeName=%s -o custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name,PRIORITY:.spec.priority,UID:.metadata.uid; its UID is %s.", words.ShellWord(by.Node), by.UID))
		default:
			names = append(names, "pod "+by.Namespace+"/"+by.Name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if n := len(names) - mostTakers; n > 0 {
		names = append(names[:mostTakers], fmt.Sprintf("%d more", n))
	}
	if unknown > 0 && len(names) == 0 {
		return "", find
	}
	return strings.Join(names, " and "), find
}

// taker is the job of a pod that got the node of another one, with its priority; empty: the evidence has no such pod.
func (d *draft) taker(by control.Preemptor) string {
	for _, u := range d.Objects {
		if u == nil || u.GetKind() != "Pod" || u.GetAPIVersion() != "v1" || !by.Is(u.GetUID(), u.GetNamespace(), u.GetName()) {
			continue
		}
		name := "pod " + u.GetNamespace() + "/" + u.GetName()
		if owner := metav1.GetControllerOf(u); owner != nil {
			name = owner.Kind + " " + u.GetNamespace() + "/" + owner.Name
		}
		spec, _ := u.Object["spec"].(map[string]any)
		class, _ := spec["priorityClassName"].(string)
		switch n, ok := control.Number(spec["priority"]); {
		case ok && class != "":
			name += fmt.Sprintf(" (priority %d, class %s)", n, class)
		case ok:
			name += fmt.Sprintf(" (priority %d)", n)
		}
		return name
	}
	return ""
}

// tookItself says that it was the job's own pods for whom pods of it were preempted, a Master for whom a Worker made room, say:
// then there is too little for the job, and no priority helps.
func (d *draft) tookItself(at map[string]time.Time) bool {
	all := control.Preemptors(d.Events, func(pod string) bool { _, ok := at[pod]; return ok })
	return len(all) > 0 && d.Job != nil && !slices.ContainsFunc(all, func(by control.Preemptor) bool {
		return !slices.ContainsFunc(d.Seen.Pods, func(p control.Pod) bool { return by.Is(p.UID, d.Job.Ref.Namespace, p.Name) })
	})
}

// preemptedAdvice is what to say and do where a pod waits whose place another one took: that nodes are short is not the
// whole story. Nil: it did not run before, or nothing says why it does not any more.
func (d *draft) preemptedAdvice() *advice {
	if d.schedulerOf(d.root) == nil {
		return nil
	}
	at := d.gaveAway()
	if _, ok := at[d.root.Item.Source.Pod]; !ok || d.tookItself(at) {
		return nil
	}
	who, find := d.takers(at)
	a := &advice{
		says:  "preempted by " + cmp.Or(who, "a pod of higher priority") + ", and without a node since",
		owner: signature.Platform, retry: signature.Useless,
		steps: []string{
			"Wait: the pods start by themselves when a node is free again, from the last checkpoint where the program writes some.",
			"Use a higher priority class where that is allowed.",
		},
	}
	if find != "" {
		a.steps = append([]string{find}, a.steps...)
	}
	return a
}

// gaveWay names the pods of a job that waits whose nodes the scheduler took for others: why a job that ran waits again.
func (d *draft) gaveWay() string {
	at := d.gaveAway()
	if len(at) == 0 || len(at) == 1 && d.root != nil && d.root.Signature == control.Preempted { // the error names it
		return ""
	}
	names := slices.SortedFunc(maps.Keys(at), func(a, b string) int {
		return cmp.Or(at[b].Compare(at[a]), strings.Compare(a, b))
	})
	when := ""
	if last := at[names[0]]; !last.IsZero() {
		when = " at " + last.UTC().Format("2006-01-02 15:04") + " UTC"
		if len(names) > 1 {
			when = ", the last" + when
		}
	}
	more := ""
	if n := len(names) - mostGaveWay; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	who, _ := d.takers(at)
	if d.tookItself(at) {
		who = "other pods of the job"
	}
	return fmt.Sprintf(" %d pod%s gave way to %s%s: %s%s.",
		len(names), words.S(len(names)), cmp.Or(who, "others of higher priority"), when, strings.Join(names[:min(len(names), mostGaveWay)], ", "), more)
}

// lastGaveWay is the last Event by which a pod that does not run again gave way, where that is not the cause itself, which is
// cited anyway: the answer tells of it. nil: there is none.
func (d *draft) lastGaveWay() (last *evidence.Item) {
	if d.root == nil || d.root.Signature == control.Preempted {
		return nil
	}
	for i := range d.Observations {
		o := &d.Observations[i]
		if o.Signature != control.Preempted {
			continue
		}
		for _, item := range append([]evidence.Item{o.Item}, o.Also...) {
			if item.Text != "" && item.Source.Pod != "" && !d.runs(item.Source.Pod) && (last == nil || item.At.After(last.At)) {
				last = &item
			}
		}
	}
	return last
}

// runs says that a pod of a name runs now.
func (d *draft) runs(name string) bool {
	return slices.ContainsFunc(d.Seen.Pods, func(p control.Pod) bool { return p.Name == name && p.Running() })
}

func (d *draft) podCount() int {
	if d.Job == nil {
		return len(d.Seen.Pods)
	}
	return max(len(d.Seen.Pods), d.Job.MaxPods())
}

// waitingForPods covers jobs whose pods are not all there.
func (d *draft) waitingForPods() string {
	want, _ := d.due()
	if d.present() >= want {
		return ""
	}
	text := fmt.Sprintf("%d of %d pod%s exist%s.", d.present(), want, words.S(want), words.Verb(want))
	text = d.again() + text
	if len(d.Seen.Transient) > 0 {
		return text + " " + d.Seen.Transient[0] + "."
	}
	if d.root != nil && d.root.Item.Kind != evidence.Log {
		return text + " " + strings.TrimRight(d.root.Line, ".") + "."
	}
	if fit, ok := d.fit(); ok && len(d.Seen.Pods) == 0 {
		return strings.TrimSuffix(text, ".") + "; " + fit.String() + "."
	}
	return text
}

// again begins what is said of a job that waits not for the first time: it resumes, or starts again.
func (d *draft) again() string {
	if d.State.Phase != kinds.Created || !strings.HasPrefix(d.State.Message, "it ") {
		return ""
	}
	return strings.TrimRight(d.State.Message, ".") + ": "
}

// askOf is what one pod of a role asks for: its devices, else its CPU and memory.
func (d *draft) askOf(role string) string {
	if d.Job == nil {
		return ""
	}
	found := d.Job.Role(role)
	if found == nil && len(d.Job.Roles) > 0 {
		found = &d.Job.Roles[0]
	}
	if found == nil {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(found.Pod.Requests)) {
		if n := found.Pod.Requests[name]; n > 0 && strings.Contains(string(name), "/") {
			return fmt.Sprintf("%d %s", n, name)
		}
	}
	return ""
}

// schedulerSays is one sentence per different message of the scheduler.
func (d *draft) schedulerSays(pending []control.Pod) []string {
	var out []string
	waits := map[string]bool{}
	for i := range pending {
		waits[pending[i].Name] = true
	}
	for _, u := range d.Seen.Scheduling {
		if len(out) == 2 {
			break
		}
		if s := u.Sentence(); waits[u.Pod] && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// unsaid is a text about what waits without the reasons that an error has said: of the same nodes one breakdown is enough.
func (d *draft) unsaid(waiting, said string) string {
	head, why, ok := strings.Cut(strings.TrimSuffix(waiting, "."), ": ")
	if !ok {
		return waiting
	}
	ours := "" // of the nodes that the scheduler's words break down
	if answer, known := d.fit(); known && strings.Contains(said, "nodes takes it (") {
		ours = answer.Rejected.String()
	}
	why = strings.Replace(why, " ("+ours+")", "", 1) // "no node may take them (11 nodes not selected)"
	parts := slices.DeleteFunc(strings.Split(why, "; "), func(part string) bool { return part == ours || strings.Contains(said, part) })
	if len(parts) == 0 {
		return head + "."
	}
	return head + ": " + strings.Join(parts, "; ") + "."
}
