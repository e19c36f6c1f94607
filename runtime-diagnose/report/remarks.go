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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// counted is how many pods, or Jobs, a status says there are. Those that are neither are not compared:
// a controller that waits for its API server counts late.
type counted struct{ active, succeeded, failed int64 }

func countedIn(status map[string]any) counted {
	count := func(key string) int64 {
		n, _ := control.Number(status[key]) // 0: it does not say
		return n
	}
	return counted{max(count("active"), count("ready")), count("succeeded"), count("failed")}
}

// remarkCounts compares what the controllers that make the pods count with the pods that are there. They look some
// time after the pods change, so only what no delay explains counts: failed pods that are gone, and with
// them what they had to say; pods that ended well and are gone, which are not missing; and pods that are
// counted as active where none is left.
func (d *draft) remarkCounts() {
	if d.podsUnread() {
		return // not looked at
	}
	d.remarkReplicas()
	d.remarkJobs()
	d.remarkReplicatedJobs()
}

// remarkReplicas reads the status in the form of Kubeflow's operators (kubeflow.org/v1 ReplicaStatus:
// active, succeeded, failed).
func (d *draft) remarkReplicas() {
	all, _, _ := unstructured.NestedMap(d.JobSource(), "status", "replicaStatuses")
	for _, role := range slices.Sorted(maps.Keys(all)) {
		status, ok := all[role].(map[string]any)
		if !ok {
			continue
		}
		d.compareCounts("The operator counts", " of role "+role, countedIn(status), d.tally(
			func(p *control.Pod) bool { return strings.EqualFold(p.Source.Role, role) },
			func(s evidence.Source) bool { return strings.EqualFold(s.Role, role) }))
	}
}

// remarkJobs reads the counts of batch Jobs: of the job itself, or of those it is made of (batch/v1
// JobStatus: active, ready, succeeded, failed).
func (d *draft) remarkJobs() {
	if d.Job != nil && isBatchJob(d.Job.Source) { // all pods are its own
		status, _, _ := unstructured.NestedMap(d.Job.Source.Object, "status")
		d.compareCounts("The Job counts", "", countedIn(status), d.tally(
			func(*control.Pod) bool { return true }, func(evidence.Source) bool { return true }))
	}
	for _, u := range d.Objects {
		if !isBatchJob(u) || d.Job != nil && d.Job.Source != nil && u.GetUID() == d.Job.Source.GetUID() {
			continue
		}
		status, _, _ := unstructured.NestedMap(u.Object, "status")
		mine := map[string]bool{}
		for i := range d.Pods {
			if owner := metav1.GetControllerOf(&d.Pods[i]); owner != nil && owner.UID == u.GetUID() {
				mine[d.Pods[i].Name] = true
			}
		}
		d.compareCounts("Job "+u.GetName()+" counts", "", countedIn(status), d.tally(
			func(p *control.Pod) bool { return mine[p.Name] },
			func(s evidence.Source) bool { return strings.HasPrefix(s.Pod, u.GetName()+"-") }))
	}
}

func isBatchJob(u *unstructured.Unstructured) bool {
	return u != nil && u.GetKind() == "Job" && strings.HasPrefix(u.GetAPIVersion(), "batch/")
}

// remarkReplicatedJobs reads the counts of JobSets and of TrainJobs, which copy them: of Jobs, each of
// which has one pod or more. A failed Job has a failed pod, an active one a pod that lives
// (https://github.com/kubernetes-sigs/jobset/blob/v0.10.1/api/jobset/v1alpha2/jobset_types.go, ReplicatedJobStatus).
func (d *draft) remarkReplicatedJobs() {
	list, _, _ := unstructured.NestedSlice(d.JobSource(), "status", "replicatedJobsStatus")
	if list == nil {
		list, _, _ = unstructured.NestedSlice(d.JobSource(), "status", "jobsStatus")
	}
	for _, item := range list {
		status, ok := item.(map[string]any)
		if !ok {
			continue
		}
		role, _ := status["name"].(string)
		says, seen := countedIn(status), d.tally(
			func(p *control.Pod) bool { return p.Source.Role == role },
			func(s evidence.Source) bool { return s.Role == role })
		switch {
		case says.failed > 0 && seen.failed == 0:
			d.remark("%d Job%s of role %s failed by the operator's count; no failed pod of theirs was seen, and what they had to say is gone.",
				says.failed, words.S(int(says.failed)), role)
		case says.active > 0 && seen == counted{}:
			d.remark("The operator counts %d active Job%s of role %s; no pod of theirs exists.", says.active, words.S(int(says.active)), role)
		}
	}
}

// tally counts the pods that are there. One that is gone and whose log was kept has been heard, so it
// counts among the failed.
func (d *draft) tally(pod func(*control.Pod) bool, log func(evidence.Source) bool) counted {
	var n counted
	known := map[string]bool{}
	for i := range d.Seen.Pods {
		p := &d.Seen.Pods[i]
		if known[p.Name] = true; !pod(p) {
			continue
		}
		switch p.Phase {
		case corev1.PodFailed:
			n.failed++
		case corev1.PodSucceeded:
			n.succeeded++
		default:
			n.active++
		}
	}
	for _, l := range d.Logs {
		if s := l.Source; s.Pod != "" && !known[s.Pod] && log(s) {
			known[s.Pod] = true
			n.failed++
		}
	}
	return n
}

// compareCounts remarks what a status counts of pods and was not seen.
func (d *draft) compareCounts(who, of string, says, seen counted) {
	if n := says.failed; n > seen.failed {
		d.remark("%s %d failed pod%s%s; %d %s seen, and what the others had to say is gone.",
			who, n, words.S(int(n)), of, seen.failed, words.Was(int(seen.failed)))
	}
	if n := says.succeeded; n > seen.succeeded && d.State.Phase != kinds.Succeeded {
		d.remark("%s %d pod%s%s that ended well; %d of them %s seen, the others are gone.",
			who, n, words.S(int(n)), of, seen.succeeded, words.Was(int(seen.succeeded)))
	}
	if n := says.active; n > 0 && seen.active == 0 && seen.failed == 0 {
		d.remark("%s %d active pod%s%s; none exists.", who, n, words.S(int(n)), of)
	}
}

// oftenRestarted is from when on it is worth saying how often a container was started again.
const oftenRestarted = 3

// remarkRestarts names the container that was started again most often: it goes round and round.
func (d *draft) remarkRestarts() {
	var worst *corev1.ContainerStatus
	var of *corev1.Pod
	many := 0
	for i := range d.Pods {
		p, pod := &d.Pods[i], int32(0)
		for k := range p.Status.ContainerStatuses {
			c := &p.Status.ContainerStatuses[k]
			if c.RestartCount >= oftenRestarted && (worst == nil || c.RestartCount > worst.RestartCount) {
				worst, of = c, p
			}
			pod = max(pod, c.RestartCount)
		}
		if pod >= oftenRestarted {
			many++
		}
	}
	if worst == nil {
		return
	}
	if d.crashLoop(of.Name) != nil { // which is told with it
		return
	}
	text := fmt.Sprintf("The container %s of %s was started again %d times", worst.Name, of.Name, worst.RestartCount)
	if t := worst.LastTerminationState.Terminated; t != nil {
		if lasted := t.FinishedAt.Sub(t.StartedAt.Time); lasted > 0 && !t.StartedAt.IsZero() {
			text += "; the last of its lives that ended took " + words.Short(lasted)
		}
	}
	if many > 1 {
		text += fmt.Sprintf("; %d more pod%s come%s back %d times or more", many-1, words.S(many-1), words.Verb(many-1), oftenRestarted)
	}
	d.remark("%s.", text)
}

// crashLoop is what was seen of a pod that ends again and again, of which nothing says why; nil: it was not.
func (d *draft) crashLoop(pod string) *evidence.Observation {
	for i := range d.Observations {
		if o := &d.Observations[i]; o.Signature == control.CrashLoop && !o.Over && (pod == "" || o.Item.Source.Pod == pod) {
			return o
		}
	}
	return nil
}

// remarkCrashLoop names a pod that ends again and again beside one with a cause: nothing says whether the one made the other end.
func (d *draft) remarkCrashLoop() {
	o := d.crashLoop("")
	if o == nil || d.root == nil || d.root.Signature == control.CrashLoop {
		return
	}
	pod, times, why := o.Item.Source.Pod, "", "of itself"
	if n := o.Facts["restarts"]; n != "" {
		times = " (it was started again " + n + " times)"
	}
	if root := d.root.Item.Source.Pod; root != pod {
		why += ", or because it misses " + cmp.Or(root, "the other")
	} else {
		why += ", or by what is said above"
	}
	d.remark("%s ends again and again%s, and nothing that was read says why: %s. Its log decides: %s.", pod, times, why, d.kubectl("logs", pod)+" --previous")
}

// remarkDebugged names containers that somebody attached to a pod while it ran: they share its memory
// limit and its devices, and their end is not the job's.
func (d *draft) remarkDebugged() {
	for i := range d.Pods {
		p := &d.Pods[i]
		for _, c := range p.Status.EphemeralContainerStatuses {
			how := "is still there"
			if t := c.State.Terminated; t != nil {
				how = "has ended: " + control.ExitPhrase(t.ExitCode)
				if t.ExitCode == 0 {
					how = "has ended well"
				}
			}
			d.remark("Somebody attached the container %s to %s (kubectl debug); it %s.", c.Name, p.Name, how)
		}
	}
}

// mostRemarks bounds what is remarked: a job of many Jobs may differ in each. One more counts the others.
const mostRemarks = 8

func (d *draft) remark(format string, args ...any) {
	if len(d.remarks) >= mostRemarks {
		d.leftOut++
		return
	}
	d.remarks = append(d.remarks, fmt.Sprintf(format, args...))
}

// remarkSituation says what a job's own settings and its operator's counts mean for what is seen of it.
func (d *draft) remarkSituation() {
	source := d.JobSource()
	if source == nil {
		return
	}
	if d.State.ByPolicy() && d.root != nil {
		d.remark("Who ended the job: %s.", d.State.Message)
	}
	if on, _, _ := unstructured.NestedBool(source, "spec", "runMode", "debug", "enabled"); on && !d.Job.Suspended {
		d.remark("The job is in debug mode: its pods run and train nothing%s.", d.devicesHeld())
	}
	if on, _, _ := unstructured.NestedBool(source, "spec", "runPolicy", "cleanUpWorkers"); on && (d.Failed || d.State.Phase == kinds.Succeeded && d.unverifiedSuccess()) {
		d.remark("cleanUpWorkers is on: the workers and their logs go when the job ends; only the launcher's stay.")
	}
	if failed, _, _ := unstructured.NestedFieldNoCopy(source, "status", "failed"); d.State.Phase == kinds.Succeeded && strings.HasPrefix(d.Job.Ref.APIVersion, "batch.volcano.sh/") {
		if n, _ := control.Number(failed); n > 0 { // minSuccess and minAvailable let it end without them
			d.remark("It is complete though %d pod%s failed: its minSuccess, or minAvailable, asks for no more than ended well.", n, words.S(int(n)))
		}
	}
	if d.State.Reason == kinds.GroupsUpdating {
		d.remark("Its operator rolls out another template: of its groups one after the other is deleted and made anew.")
	}
	d.remarkAggregate(source)
	d.remarkTaskRestarts(source)
	d.remarkNextAttempt(source)
	d.remarkWaitsForLostPod(source)
}

// devicesHeld is " and holds 8 GPUs", where the job asks for any.
func (d *draft) devicesHeld() string {
	if n := d.Job.GPUs(); n > 0 {
		return fmt.Sprintf(", and hold %d GPU%s", n, words.S(int(n)))
	}
	return ""
}

// remarkTaskRestarts says how often the operator of a T9k job started its replicas again (t9k manuals,
// status.tasks); what it means for workers that cannot rejoin is found in control.
func (d *draft) remarkTaskRestarts(source map[string]any) {
	tasks, _, _ := unstructured.NestedSlice(source, "status", "tasks")
	if d.Job == nil || !strings.HasPrefix(d.Job.Ref.APIVersion, control.T9kGroup) {
		return
	}
	for _, t := range tasks {
		task, _ := t.(map[string]any)
		role, _ := task["type"].(string)
		n, _ := control.Number(task["restartCount"])
		if n > 0 && (d.Job.Ref.Kind != control.ColossalAI || role != "worker" || d.State.Phase != kinds.Running) {
			d.remark("The operator started pods of role %s again %s.", role, words.Count(int(n), "time", "times"))
		}
	}
	d.remarkBackoff(source)
}

// t9kBackoff is how many restarts all replicas of a T9k job share where it does not say
// (https://github.com/t9k/user-manuals/blob/fbf6b3cd/src/modules/jobs/pytorchtrainingjob.md).
const t9kBackoff = 3

// remarkBackoff says that a T9k job that failed has no restarts left, where its operator counts them.
func (d *draft) remarkBackoff(source map[string]any) {
	status, _, _ := unstructured.NestedMap(source, "status")
	used, counted := control.Number(status["backoffCount"])
	policy, _, _ := unstructured.NestedMap(source, "spec", "runPolicy")
	most, written := control.Number(policy["backoffLimit"])
	if !written {
		most = t9kBackoff
	}
	if counted && used >= most && d.State.Phase == kinds.Failed {
		d.remark("Its replicas have used %d of the %s that they share (backoffLimit): none is started again.", used, words.Count(int(most), "restart", "restarts"))
	}
}

// remarkAggregate compares the counts of a T9k job with the pods that are there
// (t9k ColossalAIJob manual, status.aggregate).
func (d *draft) remarkAggregate(source map[string]any) {
	counts, _, _ := unstructured.NestedMap(source, "status", "aggregate")
	var parts []string
	alive := int64(0)
	for _, key := range []string{"creating", "pending", "running", "succeeded", "failed", "unknown", "deleted"} {
		if n, _ := control.Number(counts[key]); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, key))
			if key == "creating" || key == "pending" || key == "running" || key == "unknown" {
				alive += n
			}
		}
	}
	if alive > 0 && len(d.Seen.Pods) == 0 && !d.podsUnread() {
		d.remark("The operator's aggregate counts %s; no pod of the job exists.", strings.Join(parts, ", "))
	}
}

// remarkNextAttempt says when a Framework that waits between two attempts begins the next
// (frameworkcontroller v0.8.0 pkg/apis/frameworkcontroller/v1/types.go, RetryPolicyStatus.RetryDelaySec).
func (d *draft) remarkNextAttempt(source map[string]any) {
	if d.Job.Ref.Kind != "Framework" {
		return
	}
	state, _, _ := unstructured.NestedString(source, "status", "state")
	policy, _, _ := unstructured.NestedMap(source, "status", "retryPolicyStatus")
	delay, written := control.Number(policy["retryDelaySec"])
	at, err := time.Parse(time.RFC3339, d.State.Since)
	switch {
	case state != "AttemptCompleted" || !written:
	case err != nil:
		d.remark("It waits %d s before the next attempt.", delay)
	default:
		d.remark("It waits %d s between attempts: the next attempt begins at %s.", delay, at.Add(time.Duration(delay)*time.Second).UTC().Format("15:04:05"))
	}
}

// remarkWaitsForLostPod says that a Framework has no next attempt while a pod on a lost node is there: without
// podGracefulDeletionTimeoutSec its controller deletes none by force
// (frameworkcontroller d6e70787 pkg/apis/frameworkcontroller/v1/types.go, PodGracefulDeletionTimeoutSec).
func (d *draft) remarkWaitsForLostPod(source map[string]any) {
	if d.Job.Ref.Kind != "Framework" || d.root == nil || d.root.Signature.ID != "node-not-ready" {
		return
	}
	roles, _, _ := unstructured.NestedSlice(source, "spec", "taskRoles")
	for i := range d.Seen.Pods {
		p := &d.Seen.Pods[i]
		if !p.Deleted || p.Source.Node != d.root.Item.Source.Node {
			continue
		}
		for _, r := range roles {
			role, _ := r.(map[string]any)
			_, bounded, _ := unstructured.NestedFieldNoCopy(role, "task", "podGracefulDeletionTimeoutSec")
			if role["name"] == p.Source.Role && !bounded {
				d.remark("Its controller waits for the end of pod %s before it tries again, which the lost node does not report, as task role %s has no podGracefulDeletionTimeoutSec: it goes on when the node is back, or when the node or the pod is deleted by force.", p.Name, p.Source.Role)
				return
			}
		}
	}
}

// remarkHalfStarted says what a gang holds that cannot begin.
func (d *draft) remarkHalfStarted() {
	if d.HalfStarted == 0 || d.Seen.Enough {
		return
	}
	waits, runs := 0, 0
	held := int64(0)
	var since time.Time
	for _, p := range d.Seen.Pods {
		switch {
		case p.Phase == corev1.PodPending && !p.Placed:
			waits++
		case p.Phase == corev1.PodRunning:
			runs++
			held += d.devicesOf(p.Source.Role)
		}
	}
	for _, m := range d.Members {
		if m.Running && m.Started.After(since) {
			since = m.Started
		}
	}
	if waits == 0 || runs == 0 || held == 0 || since.IsZero() || d.Now.Sub(since) < d.HalfStarted {
		return
	}
	d.remarks = append(d.remarks, fmt.Sprintf("%d pod%s hold%s %d device%s since %s (%s) and cannot begin: %d other%s %s no node.",
		runs, words.S(runs), words.Verb(runs), held, words.S(int(held)), since.UTC().Format("15:04"), words.Short(d.Now.Sub(since)), waits, words.S(waits), words.Has(waits)))
}

// devicesOf is how many devices one pod of a role asks for.
func (d *draft) devicesOf(role string) int64 {
	if d.Job == nil {
		return 0
	}
	found := d.Job.Role(role)
	if found == nil && len(d.Job.Roles) > 0 {
		found = &d.Job.Roles[0]
	}
	if found == nil {
		return 0
	}
	var n int64
	for name, amount := range found.Pod.Requests {
		if strings.Contains(string(name), "/") && !strings.HasPrefix(string(name), "rdma/") {
			n += amount
		}
	}
	return n
}

// remarkUnused says that a pod holds devices and its program says that it uses none.
func (d *draft) remarkUnused() {
	for _, e := range d.Read.Idle {
		if held := d.devicesOf(e.Source.Role); held > 0 {
			d.remarks = append(d.remarks, fmt.Sprintf("%s holds %s, and its program says that it uses none: %s [%s]", e.Source.Who(), words.Count(int(held), "device", "devices"), cut(strings.TrimSpace(e.Lines[0].Text)), e.Item(0).ID))
			return // one says it for all: they run the same program
		}
	}
}
