package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/attribute"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

// judge sets the verdict, the root and its effects.
func (d *draft) judge(r *Report) {
	if d.queued() {
		r.Verdict, r.Category = Healthy, signature.HealthyCategory
		r.Waiting = strings.TrimRight(r.Waiting, ".") + ": " + d.root.Line
		return
	}
	if d.atRest() {
		if s := d.root; s != nil && !d.State.Stopped() {
			d.remark("Before that: %s.", d.sentence(s))
		}
		r.Verdict, r.Category = Healthy, signature.HealthyCategory
		return
	}
	if d.root != nil {
		root := d.cause(*d.root)
		root.Standing = d.Answer.Confidence.Standing
		if d.onlyNode(d.root) != "" {
			root.Owner, root.Retry = signature.Platform, signature.Helps
		}
		if d.schedulerOf(d.root) != nil && d.neverFits() {
			root.Retry = signature.Useless
		}
		if nodes, _ := d.refusedAgain(d.root); len(nodes) > 1 {
			root.Retry = signature.Useless
		}
		if d.advice != nil {
			root.Owner, root.Retry = cmp.Or(d.advice.owner, root.Owner), cmp.Or(d.advice.retry, root.Retry)
		}
		root.Category = d.Answer.Cause.Category
		r.Root, r.Category, r.Verdict = &root, root.Category, Diagnosed
		if timeline.NamesMissing(d.root.Signature) {
			r.Missing = []string{root.Source.Place()}
		}
		if attribute.SaysLittle(d.root) {
			r.Verdict = Inconclusive
		}
		for _, s := range append(slices.Clone(d.Answer.Effects), d.Answer.Rivals...) {
			effect := d.cause(s)
			effect.Standing = Hypothesis
			r.Effects = append(r.Effects, effect)
		}
		return
	}
	switch {
	case d.Failed || len(d.Answer.Effects) > 0:
		r.Verdict = Inconclusive
	case d.healthy():
		r.Verdict, r.Category = Healthy, signature.HealthyCategory
	case d.Read.BadEnd != nil, d.lacking() != "":
		r.Verdict = Inconclusive
	default:
		r.Verdict = Unknown
	}
}

// atRest is a job that somebody stopped, paused or suspended: that is a state, not a failure. What a queue
// says of why it holds a job is another matter.
func (d *draft) atRest() bool {
	root := d.root
	switch {
	case d.State.Stopped():
		return true
	case !d.suspended():
		return false
	}
	return !d.tookBack() && (root == nil || root.Item.Source.Pod != "" || root.Item.Kind == evidence.Log)
}

// tookBack says that a queue took the job's quota back for what became of its pods: it is queued again, and what kept them from
// running may do so the next time.
func (d *draft) tookBack() bool {
	return slices.ContainsFunc(d.Observations, func(o evidence.Observation) bool { return o.Signature.ID == "queue-evicted" && !o.Over })
}

// suspended says that the job asks for no pods: its operator says so, or the job does, and no operator says
// otherwise. Pods that are still there are on their way out.
func (d *draft) suspended() bool {
	if d.Job == nil || !d.Job.Suspended {
		return d.State.Phase == kinds.Suspended
	}
	switch d.State.Phase {
	case kinds.Suspended, kinds.Created, kinds.Running:
		return true
	default:
		return d.State.Phase == kinds.PhaseUnknown && d.State.Message == ""
	}
}

// queued is a job that a queue holds back: it waits, and nothing is wrong with it. One that asks for more than there ever
// is waits in vain.
func (d *draft) queued() bool {
	root := d.root
	if d.advice != nil && d.advice.retry == signature.Useless {
		return false
	}
	return d.suspended() && root != nil && root.Platform &&
		(root.Signature.ID == "queue-quota" || root.Signature.ID == "kueue-preempted")
}

// nodesMayDiffer are causes that a node can bring about which differs from the others: its
// driver, its disks, its mounts, its network, an image it pulled earlier under the same tag.
// Memory, data and the program's own exceptions are not among them: there the log says otherwise.
var nodesMayDiffer = []string{
	"cuda-driver-mismatch", "no-gpu-visible", "nccl-init-network", "nccl-version-mismatch", "network-dns", "missing-module",
	"import-version-conflict", "file-not-found", "permission-denied", "disk-full", "storage-io", "image-pull", "mount-failed", "shm-exhausted",
}

// onlyNode is the node on which every pod ran that says what the root says, where they are
// two or more, all of that node that failed by themselves, and other nodes ran the same job
// without it: then the node is the difference. Empty otherwise.
func (d *draft) onlyNode(s *evidence.Observation) string {
	node := s.Item.Source.Node
	if node == "" || !slices.Contains(nodesMayDiffer, s.Signature.Category) {
		return ""
	}
	says := map[string]bool{}
	for _, item := range append([]evidence.Item{s.Item}, s.Also...) {
		if item.Source.Pod == "" || item.Source.Node != node {
			return ""
		}
		says[item.Source.Pod] = true
	}
	for i := range d.Groups {
		for source := range d.Groups[i].Sources {
			if d.Groups[i].says(s, says) && source.Node != node {
				return ""
			}
		}
	}
	elsewhere := false
	for _, m := range d.Members {
		if m.Source.Node == node && !says[m.Place] && d.Marks.States[m.Place].Own {
			return ""
		}
		elsewhere = elsewhere || m.Source.Node != "" && m.Source.Node != node
	}
	if len(says) < 2 || !elsewhere {
		return ""
	}
	return node
}

// healthy needs evidence: the operator's or the pods' word and no log that says otherwise,
// or a log that shows training.
func (d *draft) healthy() bool {
	if d.suspended() {
		return true
	}
	switch d.State.Phase {
	case kinds.Succeeded:
		return !d.unverifiedSuccess()
	case kinds.Suspended:
		return true
	case kinds.Running:
		return d.allRunning() && !d.wordless()
	case kinds.PhaseUnknown:
		if d.State.Message != "" {
			return false // the operator says itself that it does not know
		}
	default:
		return false
	}
	if d.Job != nil {
		return d.allRunning()
	}
	if len(d.Seen.Pods) > 0 {
		return d.podsWell()
	}
	return d.Read.Broken == "" && !d.Unread && (d.Read.Ended > 0 || d.Read.Advance > 0 || d.Read.Done > 0 || d.scheduledWell())
}

// wordlessFor is how long a program may run before its silence says that it may do nothing.
const wordlessFor = 30 * time.Minute

// wordless says that every member of a gang runs for so long, and none has printed a byte: members that wait for each other without
// a word look so, and nothing shows that they do not.
func (d *draft) wordless() bool {
	if len(d.Logs) < 2 || d.Read.BytesRead > 0 || d.Unread || len(d.Read.Missing) > 0 || len(d.Pods) != len(d.Logs) {
		return false
	}
	for i := range d.Pods {
		if since := d.Pods[i].Status.StartTime; since == nil || d.Now.Sub(since.Time) < wordlessFor {
			return false
		}
	}
	return true
}

// unverifiedSuccess is a success that only the launcher's exit code claims: the launcher
// of a ColossalAIJob ends with 0 even when training failed, and so does that of T9k's MPIJob
// (t9k ColossalAIJob manual, "launcher"; MPIJob manual, "status").
func (d *draft) unverifiedSuccess() bool {
	if d.Job == nil || d.Job.Ref.Kind != control.ColossalAI && (d.Job.Ref.Kind != "MPIJob" || !strings.HasPrefix(d.Job.Ref.APIVersion, control.T9kGroup)) {
		return false
	}
	return d.Read.Pods == 0
}

func (d *draft) allRunning() bool {
	if len(d.Seen.Pods) == 0 {
		return false
	}
	if due, _ := d.due(); d.present() < due && d.State.Reason != kinds.GroupsUpdating {
		return false
	}
	return d.podsWell()
}

// due is how many pods the job has to have now. A role that starts when another one has completed has none
// before; later says so.
func (d *draft) due() (n int, later string) {
	if d.Job == nil {
		return 0, ""
	}
	for i := range d.Job.Roles {
		r := &d.Job.Roles[i]
		if first := d.goesBefore(r); first != "" {
			later += fmt.Sprintf("; %d pod%s of %s start%s when %s has completed", r.Replicas.Min, words.S(r.Replicas.Min), r.Name, words.Verb(r.Replicas.Min), first)
			continue
		}
		n = saturate.Add(n, r.Replicas.Min)
	}
	return n, later
}

// lacking says which roles of a job that its operator calls running have fewer pods than they declare; empty: none,
// or it may be that pods were not read or are just being made.
func (d *draft) lacking() string {
	since, err := time.Parse(time.RFC3339, d.State.Since)
	due, _ := d.due()
	switch {
	case d.State.Phase != kinds.Running || d.State.Reason == kinds.GroupsUpdating || d.Job == nil || len(d.Seen.Pods) == 0 || d.present() >= due:
		return ""
	case d.podsUnread(), d.Job.Ref.Kind == "Framework", someEnded(d.JobSource()["status"]): // pods that ended may be gone
		return ""
	case err != nil || d.Now.Sub(since) < control.SilentAfter:
		return ""
	}
	there := map[string]int{}
	for i := range d.Seen.Pods {
		if p := &d.Seen.Pods[i]; !p.Past {
			there[p.Source.Role]++
		}
	}
	var parts []string
	for i := range d.Job.Roles {
		if r := &d.Job.Roles[i]; there[r.Name] < r.Replicas.Min && d.goesBefore(r) == "" {
			parts = append(parts, fmt.Sprintf("%s has %d of %d", r.Name, there[r.Name], r.Replicas.Min))
		}
	}
	return strings.Join(parts, ", ")
}

// someEnded says that a status counts pods, or Jobs, that ended well.
func someEnded(status any) bool {
	switch v := status.(type) {
	case map[string]any:
		if n, _ := control.Number(v["succeeded"]); n > 0 {
			return true
		}
		for _, inner := range v {
			if someEnded(inner) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, someEnded)
	}
	return false
}

// podsUnread says that the pods of the job could not be listed.
func (d *draft) podsUnread() bool {
	return slices.ContainsFunc(d.Missing, func(m string) bool { return strings.HasPrefix(m, "pods:") })
}

// goesBefore is a role that has not completed yet and that another one starts after; empty: none keeps it.
func (d *draft) goesBefore(r *job.Role) string {
	first := ""
	for i := range d.Seen.Pods {
		switch p := &d.Seen.Pods[i]; {
		case p.Past:
		case p.Source.Role == r.Name:
			return ""
		case p.Phase != corev1.PodSucceeded && slices.Contains(r.After, p.Source.Role):
			first = p.Source.Role
		}
	}
	return first
}

// present counts the pods that have a place in the job now.
func (d *draft) present() int {
	n := 0
	for i := range d.Seen.Pods {
		if !d.Seen.Pods[i].Past {
			n++
		}
	}
	return n
}

func (d *draft) podsWell() bool {
	for _, p := range d.Seen.Pods {
		if !p.Past && !p.Running() && p.Phase != corev1.PodSucceeded && (!d.Seen.Enough || p.Placed) {
			return false
		}
	}
	return true
}

// scheduledWell is a story told by events alone that goes on: what failed is over.
func (d *draft) scheduledWell() bool {
	return len(d.Events) > 0 && slices.ContainsFunc(d.Events, func(e corev1.Event) bool {
		return e.Reason == "Scheduled" || e.Reason == "Started" || e.Reason == "Pulled" || e.Reason == "Completed"
	})
}
