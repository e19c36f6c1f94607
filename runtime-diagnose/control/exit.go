package control

import (
	"fmt"
	"strconv"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Exit is how a container ended.
type Exit struct {
	Container string
	Code      int32
	Signal    int32
	Reason    string
	Message   string
	Init      bool
}

// exitCode is one row of the table of exit codes.
type exitCode struct {
	code     int32
	id       string
	phrase   string
	category string
	depth    int
	domain   signature.Domain
	retry    signature.Retry
	proves   string
	doubts   string
	steps    string
}

// The rows follow the shells' convention (126, 127, 128+n; POSIX, "Exit Status for
// Commands") and OpenPAI's exit specification; exit_pai.go holds the rest of it.
var exitCodes = []exitCode{
	{1, "exit-1", "the program ended with an error of its own", "python-exception-user-code", signature.Symptom, signature.User, signature.RetryUnknown, "The program itself decided to end with code 1.", "Why. Only its log says that.", "Read the end of the container's log."},
	{2, "exit-2", "wrong use of a command", "argument-or-config-error", signature.Symptom, signature.User, signature.Useless, "A shell or an argument parser ended with code 2, its word for wrong usage.", "Which argument; the log names it.", "Read the usage line in the container's log and correct the command."},
	{125, "exit-125", "the container was not created", "container-config", signature.General, signature.Platform, signature.RetryUnknown, "The container runtime itself failed.", "Whether the image or the node is at fault.", "Read the pod's events."},
	{126, "exit-126", "the command cannot be executed", "container-config", signature.Precise, signature.User, signature.Useless, "The command exists and may not be executed.", "Whether permission or format is at fault.", "Make the file executable, or start it through its interpreter."},
	{127, "exit-127", "the command was not found", "container-config", signature.General, signature.User, signature.Useless, "The shell or the runtime did not find the command.", "That the image is wrong: PATH may be.", "Check the command and PATH in the image."},
	{128, "exit-128", "the container did not start", "container-config", signature.General, signature.User, signature.RetryUnknown, "The runtime could not start the container's process.", "Why; the message of the state says more.", "Read the message of the container's state."},
	{129, "exit-129-sighup", "hung up (SIGHUP)", "sigterm-preempted", signature.Symptom, signature.User, signature.Helps, "The process got SIGHUP.", "Who sent it.", "Run the job detached from the session that started it."},
	{130, "exit-130-sigint", "interrupted (SIGINT)", "sigterm-preempted", signature.Symptom, signature.User, signature.Helps, "The process got SIGINT.", "Who sent it.", "Start the job again if nobody meant to stop it."},
	{131, "exit-131-sigquit", "quit (SIGQUIT)", "sigterm-preempted", signature.Symptom, signature.User, signature.Helps, "The process got SIGQUIT.", "Who sent it.", "Start the job again if nobody meant to stop it."},
	{132, "exit-132-sigill", "illegal instruction (SIGILL)", "segfault", signature.General, signature.User, signature.Useless, "The program has code this CPU does not know, or jumped astray.", "That the CPU is broken.", "Use a build for this CPU's instruction set."},
	{134, "exit-134-sigabrt", "aborted (SIGABRT)", "segfault", signature.Symptom, signature.User, signature.RetryUnknown, "Native code called abort().", "Why: assertions, the NCCL watchdog and C++ exceptions all end so.", "Read the last lines of the log before the abort."},
	{135, "exit-135-sigbus", "bus error (SIGBUS)", "shm-exhausted", signature.Symptom, signature.User, signature.Useless, "The process touched memory that could not be backed.", "That /dev/shm is the place, though it usually is: the default is 64 MiB.", "Mount an emptyDir with medium Memory at /dev/shm, no larger than the memory limit."},
	{136, "exit-136-sigfpe", "arithmetic fault (SIGFPE)", "segfault", signature.General, signature.User, signature.Useless, "Native code divided an integer by zero or overflowed.", "Where.", "Get a core dump or run under a debugger."},
	{137, "exit-137-sigkill", "killed (SIGKILL), without an out-of-memory report", "host-oom-killed", signature.Symptom, signature.Platform, signature.RetryUnknown, "Something sent SIGKILL.", "That memory was short: the runtime reports OOMKilled only for the main process of the container, and a deadline, a drain or a grace period that ran out look the same.", "Compare the memory limit with the peak use.\nLook for an eviction, a drain or a deletion at that time."},
	{138, "exit-138-sigusr1", "told something by SIGUSR1, and ended of it", "sigterm-preempted", signature.Symptom, signature.User, signature.Helps, "The process got SIGUSR1 and has no handler, or ended with 138 itself: operators that restart by exit code (restartPolicy ExitCode) start it again after this one.", "Who sent it: a program that asks for another try and a batch system that warns of a time limit look the same.", "Find out who sends the signal: the program itself, its launcher, or the batch system before a time limit.\nCatch it and write a checkpoint."},
	{139, "exit-139-sigsegv", "segmentation fault (SIGSEGV)", "segfault", signature.Symptom, signature.User, signature.RetryUnknown, "Native code touched memory it does not own.", "Whose code: the framework, an extension or the driver.", "Set PYTHONFAULTHANDLER=1 and read the stack.\nCheck that the packages were built for each other."},
	{141, "exit-141-sigpipe", "wrote to a closed pipe (SIGPIPE)", "python-exception-user-code", signature.Symptom, signature.User, signature.RetryUnknown, "The reader of a pipe went away first.", "Why the reader ended.", "Find out what ended first in the pipeline."},
	{143, "exit-143-sigterm", "told to stop (SIGTERM)", "sigterm-preempted", signature.Symptom, signature.Platform, signature.Helps, "Somebody asked the process to stop.", "Who: the operator after another pod failed, a drain, a preemption, a deadline or a user.", "Find out which pod ended first, or what deleted this one."},
	{152, "exit-152-sigxcpu", "CPU time limit (SIGXCPU)", "sigterm-preempted", signature.General, signature.User, signature.Useless, "A limit on CPU time was reached.", "Who set the limit.", "Raise the limit (ulimit -t)."},
	{153, "exit-153-sigxfsz", "file size limit (SIGXFSZ)", "disk-full", signature.General, signature.User, signature.Useless, "A file grew past a limit.", "Who set the limit.", "Raise the limit (ulimit -f) or write smaller files."},
	{247, "exit-247", "ended with -9: a child was killed", "host-oom-killed", signature.Symptom, signature.Platform, signature.RetryUnknown, "A launcher passed on that its child died of signal 9.", "That memory was short.", "Compare the memory limit with the peak use."},
	{250, "exit-250", "ended with -6: a child aborted", "segfault", signature.Symptom, signature.User, signature.RetryUnknown, "A launcher passed on that its child died of signal 6.", "Why it aborted.", "Read the last lines before the abort."},
	{245, "exit-245", "ended with -11: a child crashed", "segfault", signature.Symptom, signature.User, signature.RetryUnknown, "A launcher passed on that its child died of signal 11.", "Whose code crashed.", "Set PYTHONFAULTHANDLER=1 and read the stack."},
	{255, "exit-255", "ended with -1", "python-exception-user-code", signature.Symptom, signature.User, signature.RetryUnknown, "The program ended with -1; ssh ends so when it cannot connect.", "Why.", "Read the end of the log."},
	{200, "exit-200-transient", "reports a passing failure", "python-exception-user-code", signature.Symptom, signature.User, signature.Helps, "The container says by FrameworkController's convention that trying again helps.", "Why.", "Read the log; the next attempt may pass."},
	{201, "exit-201-conflict", "reports a passing conflict", "python-exception-user-code", signature.Symptom, signature.User, signature.Helps, "The container says by FrameworkController's convention that trying again later helps.", "Why.", "Read the log; the next attempt may pass."},
	{210, "exit-210-permanent", "reports a lasting failure", "python-exception-user-code", signature.Symptom, signature.User, signature.Useless, "The container says by FrameworkController's convention that trying again is useless.", "Why.", "Read the log."},
}

// frameworkCodes are FrameworkController's own codes: what it found out about a task
// before or beside any container (pkg/apis/frameworkcontroller/v1/completion.go).
var frameworkCodes = []exitCode{
	{-100, "fc-configmap-deleted", "somebody deleted the attempt's ConfigMap", "sigterm-preempted", signature.General, signature.Platform, signature.Helps, "The attempt's ConfigMap was deleted from outside.", "Who did it.", "Wait for the next attempt; ask who deletes objects there."},
	{-101, "fc-pod-deleted", "somebody deleted the pod", "sigterm-preempted", signature.General, signature.Platform, signature.Helps, "The pod was deleted from outside.", "Who did it: a drain and a user look the same.", "Wait for the next attempt; look for a drain of the node."},
	{-120, "fc-pod-creation-transient", "the pod cannot be created now", "quota-exceeded", signature.General, signature.User, signature.Helps, "Creating the pod failed for a reason that may pass; a full quota is the usual one.", "That it will pass.", "Compare the job with the namespace's ResourceQuota."},
	{-200, "fc-pod-creation-permanent", "the pod's definition is refused", "container-config", signature.Precise, signature.User, signature.Useless, "The API server refuses the pod as defined.", "Which field, unless the diagnostics say.", "Correct the task's pod."},
	{-210, "fc-stopped", "a user stopped the job", "sigterm-preempted", signature.Precise, signature.User, signature.Useless, "executionType was set to Stop.", "That anything was wrong.", "Start a new job if the stop was not meant."},
	{-220, "fc-attempt-complete", "stopped because the attempt was over", "sigterm-preempted", signature.Symptom, signature.User, signature.Useless, "Another task ended the attempt.", "Anything about this task.", "Look at the task that triggered the end."},
	{-300, "fc-pod-failed-no-container", "the pod failed and no container did", "evicted", signature.General, signature.Platform, signature.Helps, "Kubernetes ended the pod from outside its containers.", "Why; the pod's reason says more.", "Read the pod's reason and message."},
	{-1000, "fc-evicted", "evicted", "evicted", signature.Precise, signature.Platform, signature.Helps, "The node ran out of a resource and evicted the pod.", "That this pod used it up.", "Request what the job uses, so that it is not the first to go."},
	{-1200, "fc-oom-killed", "the container went over its memory limit", "host-oom-killed", signature.Precise, signature.User, signature.Useless, "The container was killed for memory.", "That training needs so much.", "Raise memoryMB of the task role, or use less."},
	{-1201, "fc-container-not-created", "the container was not created", "container-config", signature.General, signature.Platform, signature.RetryUnknown, "The container runtime did not create the container.", "Why; the diagnostics say more.", "Read the diagnostics."},
	{-1203, "fc-command-not-found", "the start command was not found", "container-config", signature.Precise, signature.User, signature.Useless, "The container's command does not exist.", "That the image is wrong: PATH may be.", "Check the command and the image."},
	{-1205, "fc-gpu-not-found", "an allocated GPU is missing on the node", "no-gpu-visible", signature.Precise, signature.Hardware, signature.Helps, "The runtime did not find the device that was allocated.", "That the device is broken.", "Try again; tell the administrator the node."},
	{-1002, "fc-node-short", "the node had less than the scheduler thought", "admission-denied", signature.Precise, signature.Platform, signature.Helps, "The kubelet refused the pod for lack of a resource.", "That the next node lacks it too.", "Try again."},
	{-1003, "fc-preempted", "preempted by a critical pod", "sigterm-preempted", signature.Precise, signature.Platform, signature.Helps, "A critical pod took the place.", "That it will run at once when started again.", "Try again; checkpoint often."},
	{-1001, "fc-node-lost", "the node was lost", "node-lost", signature.Precise, signature.Platform, signature.Helps, "The kubelet of the node was silent for too long.", "Why.", "Try again; tell the administrator the node."},
	{-1004, "fc-deadline", "the pod's deadline passed", "sigterm-preempted", signature.Precise, signature.User, signature.Useless, "activeDeadlineSeconds was reached.", "That the job hung.", "Raise activeDeadlineSeconds or make the job shorter."},
}

var exitRules = func() map[int32]*signature.Signature {
	rules := map[int32]*signature.Signature{}
	for _, table := range [][]exitCode{exitCodes, frameworkCodes, paiControllerCodes} {
		for _, e := range table {
			rules[e.code] = &signature.Signature{
				ID: e.id, Title: e.phrase, Since: "0.1", Category: e.category, Role: signature.Root, Depth: e.depth,
				Domain: e.domain, Retry: e.retry, Proves: e.proves, DoesNotProve: e.doubts, Remedy: e.steps,
			}
		}
	}
	return rules
}()

// ExitRule is what a container's exit code says by itself.
func ExitRule(code int32) *signature.Signature {
	if rule, ok := exitRules[code]; ok {
		return rule
	}
	if rule, ok := paiRules[code]; ok {
		return rule[0]
	}
	name, category, title := "exit-other", "python-exception-user-code", "ended with an unusual code"
	if code > 128 && code < 160 {
		name, category, title = "exit-signal", "segfault", fmt.Sprintf("ended by signal %d", code-128)
	}
	return &signature.Signature{
		ID: name, Title: title, Since: "0.1", Category: category, Role: signature.Root,
		Depth: signature.Symptom, Domain: signature.User, Retry: signature.RetryUnknown,
		Proves: "The container ended with code " + strconv.Itoa(int(code)) + ".", DoesNotProve: "Why. Only its log says that.",
		Remedy: "Read the end of the container's log.",
	}
}

// ExitPhrase is "exit code 137: killed (SIGKILL), without an out-of-memory report".
func ExitPhrase(code int32) string {
	return fmt.Sprintf("exit code %d: %s", code, ExitRule(code).Title)
}
