package control

import (
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Rules lists what this package can find by structure, for reference pages.
func Rules() []*signature.Signature {
	rules := make([]*signature.Signature, 0, len(reasonRules)+len(exitRules)+2*len(paiRuntimeCodes)+24)
	rules = append(rules, Silent, Podless, Refused, Unlooked, Unqueued, ruleKueueNode, Stuck, Deleted, TooOld, ruleOwn128, AgainAndAgain, CrashLoop, ReplicaLost, ReplicaUnknown, ruleGroupAgain, GangShort, GangUndecided, QueueShut, ruleOOM, ruleChildOOM, ruleNodeNotReady, ruleNodeGone, ruleUnschedulableOther, ruleGated,
		ruleNodeLeaving, ruleNodeUpgrade, ruleDriverUpgrade, ruleMIG, ruleDevicesMissing, ruleDeviceTainted, ruleDeviceCordoned, ruleRounds, ruleQueueEvicted, ruleNotReady, NotReadyButTrains)
	for _, s := range schedulingRules {
		rules = append(rules, s.rule)
	}
	for _, r := range reasonRules {
		if r.rule != ruleNodeNotReady && r.rule != ruleDeviceTainted && r.rule != TooOld && r.rule != ruleGroupAgain {
			rules = append(rules, r.rule)
		}
	}
	for _, table := range [][]exitCode{exitCodes, frameworkCodes, paiControllerCodes} {
		for _, e := range table {
			rules = append(rules, exitRules[e.code])
		}
	}
	for _, p := range paiRuntimeCodes {
		both := paiRules[p.code]
		rules = append(rules, both[1])
		if ExitRule(p.code) == both[0] {
			rules = append(rules, both[0])
		}
	}
	return rules
}

func rule(id, title, category string, depth int, d signature.Domain, retry signature.Retry, proves, doubts, steps string) *signature.Signature {
	return &signature.Signature{
		ID: id, Title: title, Since: "0.1", Category: category, Role: signature.Root, Depth: depth, Domain: d, Retry: retry,
		Proves: proves, DoesNotProve: doubts, Remedy: steps,
	}
}

// explaining is a rule that explains others where both are seen.
func explaining(s *signature.Signature, others ...string) *signature.Signature {
	s.Hides = others
	return s
}

var ruleOOM = rule("container-oom-killed", "the container went over its memory limit", "host-oom-killed", signature.Precise,
	signature.User, signature.Useless,
	"The kernel killed the container's main process because its memory cgroup was full.",
	"That training needs that much: a leak, too many data-loader workers and a full /dev/shm (which counts) look the same.",
	"Raise the memory limit, or use less: fewer data-loader workers, a smaller prefetch, loading weights on one rank at a time.\nIf /dev/shm is a memory-backed emptyDir, what is written there counts against the limit.")

// ruleOwn128 is a code of the runtime, which ends so what never began, of a container that ran.
var ruleOwn128 = rule("exit-128-program", "the program ended with an error of its own", "python-exception-user-code", signature.Symptom,
	signature.User, signature.RetryUnknown,
	"The container ran, and its program ended with 125 or 128: timeout does the one where it fails itself, git the other where it gives up.", "Why. Only its log says that.",
	"Read the end of the container's log.")

// AgainAndAgain says that the attempts before this one failed for the user's own reasons, and nothing shows that
// this one does not.
var AgainAndAgain = rule("retried-again-and-again", "the job failed again and again, and is tried again", "python-exception-user-code", signature.Symptom,
	signature.User, signature.Useless,
	"FrameworkController counts retries after failures of the program's own.", "Why they failed: only the log of an attempt that failed says that.",
	"Read the log of the attempt before this one.\nStop the job if the same failure comes back: set spec.executionType to Stop.")

// CrashLoop is a container that the kubelet says it starts again and again, and of whose ends nothing else was read, as in
// what "kubectl get pods" prints.
var CrashLoop = rule("container-crash-loop", "the container ends again and again", "python-exception-user-code", signature.Symptom,
	signature.User, signature.RetryUnknown,
	"The kubelet started the container, it ended, and the next start waits (CrashLoopBackOff).", "Why it ends, and with which exit code: its log and kubectl describe pod say that.",
	"Read the log of the container that ended (kubectl logs --previous), and its last state (kubectl describe pod).")

// ruleGroupAgain is a group of a LeaderWorkerSet that its operator deletes whenever one of its containers was started again
// (https://github.com/kubernetes-sigs/lws/blob/v0.9.0/pkg/controllers/pod_controller.go, handleRestartPolicy).
var ruleGroupAgain = rule("group-recreated", "it fails again and again, and its whole group is made anew each time", "python-exception-user-code", signature.Symptom,
	signature.User, signature.RetryUnknown,
	"A container of the pod was started again, or the pod was deleted, and the operator deleted the group for it, with all logs.", "Why it fails: its log says that, and it is gone with each group.",
	"Follow the log of the pod from its start: kubectl logs -f keeps what it says before the group is deleted.\nOr set spec.leaderWorkerTemplate.restartPolicy to None for a while: the container is started again in its place, and kubectl logs --previous shows how it ended.")

// ReplicaLost is what an operator's status says of a replica that no pod speaks for any more.
var ReplicaLost = rule("replica-lost", "the operator lost a replica", "python-exception-user-code", signature.Symptom,
	signature.User, signature.RetryUnknown,
	"The job's status says that a replica failed or was started again.", "Why: its pod, and with it its log, is gone.",
	"Create the job again if it does not go on, and keep its pods after their end to see why.")

// ReplicaUnknown is a replica of which its operator does not know how it stands.
var ReplicaUnknown = rule("replica-unknown", "the operator does not know how a replica stands", "node-lost", signature.Symptom,
	signature.Platform, signature.RetryUnknown,
	"The job's status gives a replica the phase Unknown, as a pod has it whose node does not answer.", "That the node is lost: the status may be older than the pod.",
	"Compare the status with the pods and their nodes: kubectl get pods -o wide, kubectl get nodes.\nTell the administrators the node, if it does not answer.")

var ruleChildOOM = rule("container-child-oom-killed", "a process in the container was killed at its memory limit", "host-oom-killed", signature.Precise,
	signature.User, signature.Useless,
	"The kernel killed a process of the container because its memory cgroup was full; the container's first process was not the one, and ended with a code of its own after that.",
	"Which process it was: a data-loader worker or a rank is the usual one.",
	"Raise the memory limit, or use less: fewer data-loader workers, a smaller prefetch, loading weights on one rank at a time.\nIf /dev/shm is a memory-backed emptyDir, what is written there counts against the limit.")

var ruleNodeNotReady = rule("node-not-ready", "the node is not ready", "node-lost", signature.Precise,
	signature.Platform, signature.Helps,
	"The node's kubelet stopped reporting or reports a fault.",
	"That the machine is broken: a network cut or a restart of the kubelet looks the same.",
	"Tell the administrator the node.\nStart the job again on other nodes; it needs a checkpoint to go on from.")

var ruleNodeGone = rule("node-gone", "the node does not exist any more", "node-lost", signature.Precise,
	signature.Platform, signature.Helps,
	"Pods are said to run on a node that the API server does not know.",
	"Who took the node away: an autoscaler, a person, or the provider of the machine. What runs on it may still run, and nobody sees it.",
	"Look who deletes nodes: the events of the namespace default name them.\nStart the job again on other nodes; it needs a checkpoint to go on from.")

var ruleUnschedulableOther = rule("unschedulable", "no node takes the pod", "unschedulable-affinity", signature.General,
	signature.User, signature.RetryUnknown,
	"The scheduler refused every node.", "Which requirement is the one to give up.",
	"Read the scheduler's message; each reason has its count of nodes.")

var ruleGated = rule("scheduling-gated", "the pod is held back by a scheduling gate", "quota-exceeded", signature.General,
	signature.Platform, signature.Helps,
	"Something (usually a queue such as Kueue) holds the pod until it is admitted.", "That it will be admitted.",
	"Look at the queue: its Workload says what it waits for.")

var ruleRounds = rule("ends-and-restarts", "the program ends well and is started again", "argument-or-config-error", signature.General,
	signature.User, signature.Useless,
	"The program ended with 0 again and again, and the pod's restartPolicy is Always: the job can never end.", "That the training was complete each time.",
	"Set restartPolicy to OnFailure or Never.\nIf the program should have trained for longer, read the end of its log.")

// Reasons are the reasons of pods, containers and events by which a rule is found, for reference pages; empty: it
// is found otherwise.
func Reasons(id string) []string {
	for _, r := range reasonRules {
		if r.rule.ID == id {
			return r.reasons
		}
	}
	switch id {
	case ruleOOM.ID:
		return []string{"OOMKilled"}
	case ruleUnschedulableOther.ID:
		return []string{"Unschedulable", "FailedScheduling"}
	}
	return nil
}

// Preempted is a pod whose place the scheduler or the kubelet gave to another one.
var Preempted = rule("pod-preempted", "the pod gave way to one of higher priority", "sigterm-preempted", signature.Precise, signature.Platform, signature.Helps,
	"A pod of higher priority took its place.", "That it will run at once when started again.",
	"Use a higher priority class where that is allowed, or checkpoint often.")

// kueueEvicted begins every reason with which Kueue takes quota back; what follows names the cause
// (https://github.com/kubernetes-sigs/kueue/blob/v0.19.0/apis/kueue/v1beta2/workload_types.go).
const kueueEvicted = "EvictedDueTo"

var ruleQueueEvicted = rule("queue-evicted", "the queue took the job's quota back", "sigterm-preempted", signature.General,
	signature.Platform, signature.RetryUnknown,
	"Kueue evicted the workload; the reason says why.", "That the program failed: the queue stops pods that run well.",
	"Read the reason: PodsReadyTimeout means that not all pods started in time, Deactivated and ...QueueStopped that somebody stopped it.")

// reasonRules are reasons of pods and containers that mean one thing whatever the message.
var reasonRules = []struct {
	reasons []string
	rule    *signature.Signature
}{
	{[]string{"ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull", "RegistryUnavailable", "ImageInspectError", "SignatureValidationFailed"}, rule(
		"image-not-pulled", "the image cannot be pulled", "image-pull", signature.Precise, signature.User, signature.RetryUnknown,
		"The kubelet could not get the image.", "Whether name, rights or the way to the registry are at fault, unless the message says.",
		"Check the image's name and tag, and that imagePullSecrets names a secret with access.\nPull it once from a node if the name is right.")},
	{[]string{"CreateContainerConfigError"}, rule(
		"container-config-error", "the container's configuration names something that is not there", "container-config", signature.Precise, signature.User, signature.Useless,
		"The kubelet could not put together the container's environment: a ConfigMap, Secret or key is missing, or the user is not allowed.", "That it was never there.",
		"Create the object or key that the message names, or correct the reference in the pod template.")},
	{[]string{"CreateContainerError", "RunContainerError", "ContainerCannotRun", "StartError", "PreCreateHookError", "PreStartHookError", "CreatePodSandboxError", "ContainerCannotStart"}, rule(
		"container-not-started", "the runtime could not start the container", "container-config", signature.Precise, signature.User, signature.Useless,
		"The container runtime refused or failed to start the process.", "That the image is wrong: command, working directory, mounts and devices are read at the same moment.",
		"Read the runtime's message: it names the command, path or device.")},
	{[]string{"PostStartHookError", "FailedPostStartHook"}, rule(
		"post-start-hook-failed", "the container's postStart hook failed", "container-config", signature.Precise, signature.User, signature.Useless,
		"The container had started; the kubelet ran its postStart hook, the hook failed, and the kubelet killed the container for it.", "Why the hook failed: what it prints is in no log, and the event often holds no more than its exit.",
		"Run the hook's command by hand in the container, or do its work at the start of the program, where it is logged.")},
	{[]string{"Evicted"}, rule(
		"pod-evicted", "the kubelet evicted the pod", "evicted", signature.Precise, signature.Platform, signature.Helps,
		"The node ran out of a resource, or the pod went over a storage limit.", "That this pod used it up, unless the message says so.",
		"Request what the job really uses (memory, ephemeral-storage): pods over their requests go first.\nWrite checkpoints and caches to a volume, not into the container.")},
	{[]string{"NodeLost", "NodeShutdown", "NodeFailure"}, explaining(rule(
		"pod-node-lost", "the pod was lost with its node", "node-lost", signature.Precise, signature.Platform, signature.Helps,
		"The node went away.", "Why.", "Start the job again; tell the administrator the node."), "taint-evicted")},
	{[]string{"Preempting", "Preempted", "PreemptionByScheduler"}, Preempted},
	{[]string{"DeadlineExceeded"}, rule(
		"deadline-exceeded", "a deadline passed", "sigterm-preempted", signature.Precise, signature.User, signature.Useless,
		"activeDeadlineSeconds was reached.", "That the job hung: it may have waited for nodes until then.",
		"Raise activeDeadlineSeconds, or find out where the time went.")},
	{[]string{"RecreateGroup"}, ruleGroupAgain},
	{[]string{"MaxDurationExceeded"}, TooOld}, // by T9k's Duration Keeper, on what owns the pods
	{[]string{"UnexpectedAdmissionError", "OutOfcpu", "OutOfmemory", "OutOfpods", "NodeAffinity", "NodePorts", "Forbidden", "InvalidNodeInfo", "PodLevelResourcesNotSupported", "EmptyPodSharedPoolError", "SysctlForbidden", "AppArmor", "FailedNodeDeclaredFeaturesCheck"}, rule(
		"kubelet-refused", "the kubelet refused the pod", "admission-denied", signature.Precise, signature.Platform, signature.Helps,
		"The node's kubelet did not accept the pod that the scheduler placed there.", "That the next node refuses it too.",
		"Start the pod again; if the node refuses again, tell the administrator the node and the message.")},
	// pkg/kubelet/cm/topologymanager and cpumanager of https://github.com/kubernetes/kubernetes/tree/v1.37.1
	{[]string{"TopologyAffinityError", "SMTAlignmentError"}, rule(
		"kubelet-cannot-align", "the node cannot give the pod's CPUs and devices as its kubelet aligns them", "admission-denied", signature.Precise, signature.User, signature.RetryUnknown,
		"The kubelet's topology or CPU manager refused the pod that the scheduler placed there: the scheduler counts what is free on a node, and not on which NUMA node or core.", "That no node can give it: another one may have the rest of a NUMA node free.",
		"Ask for what one NUMA node of the machine has, or for whole machines: lscpu and nvidia-smi topo -m on the node say how its CPUs and GPUs lie; CPUs in multiples of the threads of a core.\nElse ask the administrators for nodes with topologyManagerPolicy best-effort, or with a scheduler that knows NUMA nodes.")},
	{[]string{"DeletionByTaintManager", "EvictionByEvictionAPI", "DeletionByPodGC", "TerminationByKubelet"}, rule(
		"pod-disrupted", "the platform removed the pod", "sigterm-preempted", signature.Precise, signature.Platform, signature.Helps,
		"The pod was removed on purpose: a taint, a drain, a shutdown or the garbage collector.", "Which of these, unless the reason says.",
		"Look for maintenance of the node at that time; start the job again.")},
	{[]string{"FailedCreatePodSandBox", "FailedCreatePodContainer"}, rule(
		"sandbox-not-created", "the pod's sandbox cannot be created", "container-config", signature.General, signature.Platform, signature.Helps,
		"The node could not set up the pod's network or sandbox.", "That the pod is at fault.",
		"Tell the administrator the node and the message; it usually is the network plugin.")},
	{[]string{"FailedMount", "FailedAttachVolume", "FailedMapVolume", "FailedMountOnFilesystemMismatch", "VolumeResizeFailed", "FileSystemResizeFailed"}, rule(
		"volume-not-mounted", "a volume cannot be mounted", "mount-failed", signature.Precise, signature.Platform, signature.RetryUnknown,
		"The kubelet could not attach or mount a volume.", "Whether the storage or the name is at fault, unless the message says.",
		"Check that the claim, ConfigMap or Secret exists and that its storage can be reached from this node.")},
	{[]string{"FailedCreate", "FailedCreatePod", "FailedCreateJob"}, rule(
		"pod-not-created", "pods are refused when they are created", "admission-denied", signature.General, signature.User, signature.Useless,
		"The API server refused the pod.", "Which rule, unless the message says.",
		"Read the message: it names the rule, quota or field.")},
	{[]string{"TrainJobResourcesCreationFailed"}, rule(
		"trainjob-resources-refused", "the TrainJob's resources cannot be created", "admission-denied", signature.General, signature.User, signature.Useless,
		"Building or creating the JobSet failed, and the status shows nothing of it.", "That the TrainJob is at fault: its runtime may be.",
		"Read the event's message: it names the field or the rule.")},
	{[]string{"NodeNotReady", "KubeletSetupFailed"}, ruleNodeNotReady},
	{[]string{"NetworkNotReady"}, rule(
		"node-network-not-ready", "the node's pod network is not ready", "node-lost", signature.General, signature.Platform, signature.Helps,
		"The kubelet starts no pods: the network plugin of the node does not answer.", "That it stays so: a node that has just started says the same.",
		"Wait a minute; if it lasts, tell the administrator the node: its network plugin does not run.")},
	// https://github.com/kubernetes/kubernetes/blob/v1.37.1/pkg/controller/resourceclaim/controller.go, syncPod
	{[]string{"FailedResourceClaimCreation"}, rule(
		"device-claim-not-created", "a device claim of the pod cannot be made", "container-config", signature.Precise, signature.User, signature.Useless,
		"The pod names a ResourceClaimTemplate, and no claim could be made from it; the scheduler does not try the pod before.", "That the name is wrong: the template may come later, and a quota may refuse claims.",
		"Create the ResourceClaimTemplate in the job's namespace, or correct its name under spec.resourceClaims of the pod template.\nWhere it is there and the pod waits on, delete the pod: it is made again.")},
	{[]string{"FailedPrepareDynamicResources"}, rule(
		"device-claim-not-prepared", "the node could not prepare the pod's claimed devices", "container-config", signature.General, signature.Platform, signature.Helps,
		"The driver of a resource claim failed on the node.", "That the device is broken: a driver that does not run or a claim of another pod looks the same.",
		"Tell the administrator the node and the message: it names the claim and the driver.")},
	{[]string{"DeletionByDeviceTaintManager", "DeviceTaintManagerEviction"}, ruleDeviceTainted},
	{[]string{"DeviceUnhealthy"}, rule(
		"device-unhealthy", "the node's device plugin reports a broken device", "gpu-hardware-xid", signature.Precise, signature.Hardware, signature.Helps,
		"A device that the pod holds was marked unhealthy.", "What is wrong with it.",
		"Tell the administrator the node; start the job elsewhere.")},
}

func ruleForReason(reason string) *signature.Signature {
	for _, r := range reasonRules {
		if slices.Contains(r.reasons, reason) {
			return r.rule
		}
	}
	if strings.HasPrefix(reason, kueueEvicted) {
		return ruleQueueEvicted
	}
	if len(reason) > 5 && reason[:5] == "OutOf" { // OutOfnvidia.com/gpu and any other resource
		return ruleForReason("OutOfcpu")
	}
	return nil
}
