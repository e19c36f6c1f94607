package control

import (
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// The rest of OpenPAI's exit specification, so that every code of it has a meaning
// (https://github.com/microsoft/pai/blob/a95d9420/src/k8s-job-exit-spec/config/k8s-job-exit-spec.yaml).

// paiControllerCodes are what FrameworkController and Kubernetes found out, by OpenPAI's numbers.
var paiControllerCodes = []exitCode{
	{-110, "fc-configmap-cache-timeout", "the attempt's ConfigMap was never seen", "network-dns", signature.General, signature.Platform, signature.Helps, "FrameworkController created the attempt's ConfigMap and did not see it in time.", "Whether the API server was down or slow.", "Wait for the next attempt; tell the administrator if it comes again."},
	{-111, "fc-pod-cache-timeout", "the pod was never seen after its creation", "network-dns", signature.General, signature.Platform, signature.Helps, "FrameworkController created the pod and did not see it in time.", "Whether the API server was down or slow.", "Wait for the next attempt; tell the administrator if it comes again."},
	{-230, "fc-task-deleted", "the task was removed by a scale-down", "sigterm-preempted", signature.Precise, signature.User, signature.Useless, "taskNumber was lowered.", "That anything was wrong.", "Raise taskNumber if the task was still wanted."},
	{-310, "fc-pod-creation-unknown", "the pod cannot be created", "container-config", signature.General, signature.User, signature.RetryUnknown, "The API server refused the pod for a reason that FrameworkController does not know.", "Which; the diagnostics say more. A priority class that was deleted is one.", "Read the diagnostics of the task."},
	{-1005, "fc-admission-forbidden", "the kubelet forbids the pod", "admission-denied", signature.Precise, signature.User, signature.Useless, "The kubelet refused to run the pod as it is defined.", "Which field; the pod's message says more.", "Read the pod's message; drop what the node forbids, such as privileged containers."},
	{-1006, "fc-admission-error", "the kubelet could not admit the pod", "admission-denied", signature.Precise, signature.Platform, signature.Helps, "The kubelet met an error of its own while it admitted the pod; a device plugin is the usual one.", "That the next node has it too.", "Try again; tell the administrator the node."},
	{-1100, "fc-framework-creation", "the job is stored and cannot be created", "argument-or-config-error", signature.Precise, signature.User, signature.Useless, "The API server refuses the Framework; one that is too large is the usual reason.", "Which part is too large.", "Make the job's configuration smaller."},
	{-1202, "fc-command-not-permitted", "the start command may not be executed", "container-config", signature.Precise, signature.User, signature.Useless, "The container's command exists and may not be executed.", "Whether permission or format is at fault.", "Make the file executable, or start it through its interpreter."},
	{-1204, "fc-container-not-started", "the container could not be started", "container-config", signature.General, signature.Platform, signature.RetryUnknown, "The container runtime could not start the container.", "Why; the diagnostics say more.", "Read the diagnostics of the task."},
	{-1300, "fc-init-oom-killed", "an init container went over its memory limit", "host-oom-killed", signature.Precise, signature.Platform, signature.Helps, "The container that prepares the task was killed for memory.", "That the task needs more.", "Try again; tell the administrator."},
	{-8000, "fc-negative-undefined", "an undefined negative code", "python-exception-user-code", signature.Symptom, signature.Platform, signature.RetryUnknown, "A part of OpenPAI ended with a code that it does not define.", "Anything else.", "Read the diagnostics of the task."},
}

// paiRuntimeCodes are what OpenPAI's runtime reads out of the user's log and hands on as the
// container's exit code. Any program may end with these numbers, so alone they are a hint: only
// where OpenPAI itself says what it means do they name a cause.
var paiRuntimeCodes = []paiCode{
	{128, ofGPUInfo, "a GPU of the task has double-bit ECC errors", "ecc-error", signature.Hardware, signature.Helps, "Try again on another node; tell the administrator the node."},
	{220, "UserCommandExitWithError", "the command does not exist or is wrong", "container-config", signature.User, signature.Useless, "Check the command and PATH in the image."},
	{221, "ContainerTensorflowOOMKilled", "TensorFlow ran out of device memory", "gpu-oom", signature.User, signature.Useless, "Lower the batch size or the model's size."},
	{222, "ContainerMPISegvFault", "an MPI process touched memory it does not own", "segfault", signature.User, signature.RetryUnknown, "Read the stack in the log."},
	{223, "ContainerCudaUncorrectableECCError", "uncorrectable ECC errors on the GPU", "ecc-error", signature.Hardware, signature.Helps, "Try again on another node; tell the administrator the node."},
	{224, "ContainerCudaVersionMismatch", "the CUDA runtime is newer than the driver allows", "cuda-driver-mismatch", signature.User, signature.Useless, "Use an image for the driver of the nodes, or ask for a newer driver."},
	{225, "ContainerCudaDnnVersionMismatch", "the framework needs a newer cuDNN", "import-version-conflict", signature.User, signature.Useless, "Use an image with the cuDNN that the framework was built for."},
	{226, "ContainerCudaOOMKilled", "the GPU's memory is exhausted", "gpu-oom", signature.User, signature.Useless, "Lower the batch size or the model's size."},
	{228, "ContainerIncorrectParameterError", "a wrong option or argument", "argument-or-config-error", signature.User, signature.Useless, "Correct the option that the log names."},
	{229, "ContainerIncorrectDataModelError", "data or a model is missing or cannot be read", "dataset-error", signature.User, signature.Useless, "Correct the path or the file that the log names."},
	{230, "ContainerInvalidSavePath", "the path of a checkpoint is wrong", "checkpoint-corrupt-or-mismatch", signature.User, signature.Useless, "Correct the path that the log names."},
	{231, "ContainerSyntaxError", "the program does not parse, or uses a name that does not exist", "python-exception-user-code", signature.User, signature.Useless, "Correct the line that the traceback names."},
	{232, "ContainerImportError", "a module is missing", "missing-module", signature.User, signature.Useless, "Install the module in the image."},
	{233, "ContainerIndexOutOfRange", "an index is out of range", "python-exception-user-code", signature.User, signature.Useless, "Correct the line that the traceback names."},
	{234, "ContainerSigvFault", "a segmentation fault", "segfault", signature.User, signature.RetryUnknown, "Set PYTHONFAULTHANDLER=1 and read the stack."},
	{235, "ContainerEngineCoreDump", "native code aborted and dumped core", "segfault", signature.User, signature.RetryUnknown, "Read the last lines before the abort."},
	{249, "PAIRuntimeSSHBarrierTimeout", "the other tasks could not be reached by SSH in time", "rendezvous-timeout", signature.User, signature.Useless, "Enable SSH in every task role that the barrier names."},
	{250, "FrameworkBarrierTransientFailed", "the barrier before the start failed for now", "rendezvous-timeout", signature.Platform, signature.Helps, "Wait for the next attempt."},
	{251, "JobGangAllocationTimeout", "not all tasks got their resources in time", "unschedulable-gpu", signature.User, signature.Helps, "Ask for fewer or smaller tasks, or for more of the virtual cluster."},
	{252, "FrameworkBarrierPermanentFailed", "the barrier before the start failed for good", "rendezvous-timeout", signature.Platform, signature.Useless, "Tell the administrator."},
	{253, "ContainerPortConflict", "ports of the task are taken on the node", "port-in-use", signature.User, signature.Helps, "Ask for fewer ports; try again."},
	{254, "ContainerImageNotExists", "the image does not exist or needs a login", "image-pull", signature.User, signature.Useless, "Correct the image's name or its credentials."},
	{255, "PAIRuntimeUnknownFailed", "the user's command failed and nothing in its log is known", "python-exception-user-code", signature.User, signature.RetryUnknown, "Read the end of the log."},
	{256, "PAIRuntimeExitAbnormally", "OpenPAI's runtime ended with a code it does not define", "python-exception-user-code", signature.Platform, signature.RetryUnknown, "Tell the administrator."},
}

// paiCode is one row of what the runtime reads.
type paiCode struct {
	code     int32
	phrase   string // OpenPAI's own
	title    string
	category string
	domain   signature.Domain
	retry    signature.Retry
	steps    string
}

// ofGPUInfo is the one code that the runtime makes of the state of the GPUs, and of no line.
const ofGPUInfo = "ContainerMayFailDueToGpuDeviceEccError"

// paiMark opens what OpenPAI's runtime writes into the termination message.
const paiMark = "[PAI_RUNTIME_ERROR_START]"

// paiRule is a row as a rule; sure says that OpenPAI itself names it.
func (p paiCode) rule(sure bool) *signature.Signature {
	s := &signature.Signature{
		ID: "pai-" + strings.ToLower(p.phrase), Title: p.title, Since: "0.1", Category: p.category, Role: signature.Root, Domain: p.domain, Retry: p.retry,
		Proves: "OpenPAI's runtime found in the log: " + p.title + ".", DoesNotProve: "Which line said so: read the log.", Remedy: p.steps,
	}
	if p.phrase == ofGPUInfo {
		s.Proves, s.DoesNotProve = "OpenPAI's runtime saw double-bit ECC errors on a GPU of the task when the program ended.", "That the program ended of them."
	}
	if p.phrase == "PAIRuntimeUnknownFailed" || p.phrase == "PAIRuntimeExitAbnormally" {
		s.Depth, s.Proves, s.DoesNotProve = signature.Symptom, "OpenPAI's runtime knows no line of the log.", "Why it failed: only the log says that."
	}
	if !sure {
		s.ID, s.Title, s.Depth = s.ID+"-by-number", "a code by which OpenPAI's runtime means: "+p.title, signature.Symptom
		s.Proves, s.DoesNotProve = "The container ended with a code that OpenPAI's runtime gives where "+p.title+".", "That OpenPAI's runtime was there: any program may end with this number."
	}
	return s
}

var paiRules = func() map[int32][2]*signature.Signature { // by number alone, and sure
	rules := map[int32][2]*signature.Signature{}
	for _, p := range paiRuntimeCodes {
		rules[p.code] = [2]*signature.Signature{p.rule(false), p.rule(true)}
	}
	return rules
}()

// FromLog says that a rule is a code that OpenPAI's runtime made from a line of the container's log: that
// line says more.
func FromLog(s *signature.Signature) bool {
	for code, both := range paiRules {
		if both[1] == s && code != 128 {
			return true
		}
	}
	return false
}

// TaskExitRule is what the completion of a task of a Framework says: phrase and diagnostics are
// OpenPAI's word where it is the one that wrote them.
func TaskExitRule(code int32, phrase, diagnostics string) *signature.Signature {
	for _, p := range paiRuntimeCodes {
		if p.code == code && (p.phrase == phrase || strings.Contains(diagnostics, paiMark)) {
			return paiRules[code][1]
		}
	}
	return ExitRule(code)
}
