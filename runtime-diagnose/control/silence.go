package control

import (
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// SilentAfter is how long an operator may leave a new job alone before that is said. Operators write
// their first condition within a second; one that starts again and waits for its leader's lease takes
// up to 15 s (client-go leaderelection: LeaseDuration of the operators' defaults).
const SilentAfter = 20 * time.Second

// StuckAfter is how long a job may be on its way out before what holds it is said. The kubelet gives a
// pod 30 s to end by default, and the garbage collector needs little more.
const StuckAfter = time.Minute

// Silent is a job on which nothing acts.
var Silent = rule("operator-silent", "nothing acts on the job", "operator-silent", signature.Precise,
	signature.Platform, signature.RetryUnknown,
	"The job stands in the API server, and nothing was made for it.",
	"That the operator is broken: one that starts again, or has many jobs before this one, looks the same for a while.",
	"Tell the administrators that the job's operator does not act; its log says why, where it runs.")

// Podless is a job that its operator has seen and made no pod for.
var Podless = rule("operator-makes-no-pods", "the job's operator makes no pods", "operator-silent", signature.General,
	signature.Platform, signature.RetryUnknown,
	"The operator has written that it knows the job, and no pod was made since; no event says that one was refused.",
	"Why: its log says that.",
	"Tell the administrators that the job's operator makes no pods; its log says why.")

// Refused is a job that its operator does not take as it is written.
var Refused = rule("operator-refuses", "the job's operator does not take the job as it stands", "argument-or-config-error", signature.General,
	signature.User, signature.Useless,
	"The operator looked at the job, made nothing for it, and says why.", "That what it objects to is all: an operator names the first thing that it meets.",
	"Read what the operator says: it names the field, or the object that is in the way.\nA field that cannot be changed any more needs the job to be deleted and created again.")

// UnlookedAfter is how long a pod may wait without a word of its scheduler before that is said. A scheduler that is elected anew takes up
// to 15 s; one with ten thousand pods before this one takes minutes.
const UnlookedAfter = 5 * time.Minute

// Unlooked is a pod of which its scheduler says nothing.
var Unlooked = rule("scheduler-silent", "no scheduler looks at the pod", "operator-silent", signature.General,
	signature.Platform, signature.RetryUnknown,
	"The pod has no node, and its scheduler has written neither a condition nor an event about it.", "That the scheduler does not run: one of another name does not look at the pod either, and one with many pods before it comes late.",
	"Look whether the scheduler that spec.schedulerName of the pod names runs, and read its log: kubectl get pods -A shows its pods.\nWhere the cluster has no scheduler of that name, correct schedulerName in the job.")

// NoKueue is how evidence.Bundle.Absent says that the cluster's API has no Workloads of Kueue.
const NoKueue = "Workload of kueue.x-k8s.io"

// Unqueued is a suspended job of a queue of Kueue in a cluster without Kueue.
var Unqueued = rule("queue-system-missing", "nothing will ever start the job: it waits for Kueue, which the cluster does not have", "operator-silent", signature.Precise,
	signature.User, signature.Useless,
	"Kueue resumes the suspended jobs of its queues, and the cluster's API has no Workload, by which Kueue holds jobs.",
	"That another controller does not resume it: none is known by the label.",
	"Set spec.suspend to false, and leave out the label kueue.x-k8s.io/queue-name, which has no effect here.\nOr send the job to the cluster that has Kueue.")

// Stuck is a job that is being deleted and does not go.
var Stuck = rule("finalizer-stuck", "the job is being deleted and does not go", "operator-silent", signature.Precise,
	signature.Platform, signature.Useless,
	"The API server keeps the object until every finalizer is taken off, which is the work of whoever put it on.",
	"That taking the finalizer off by hand is safe: what its owner has to clean up stays behind.",
	"Look whether the owner of the finalizer runs.\nTake it off by hand (kubectl patch) only where its owner is gone for good.")

// Deleted is a pod that somebody deleted while it ran.
var Deleted = rule("pod-deleted", "the pod was deleted while it ran", "sigterm-preempted", signature.General,
	signature.User, signature.Helps,
	"The pod was deleted while its program ran and the job had not ended; neither an eviction nor an event of its operator speaks of it.",
	"Who did it: that stands in the audit log of the API server, where one is kept.",
	"Ask who deletes pods in this namespace: a person with kubectl, a clean-up job, an autoscaler.\nStart the job again from its last checkpoint.")
