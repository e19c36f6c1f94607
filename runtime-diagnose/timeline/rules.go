package timeline

import (
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Rules lists what this package finds by comparing members, for reference pages.
func Rules() []*signature.Signature {
	return []*signature.Signature{Awaited, Desync, Vanished, LeftEarly, Silent, OtherSteps, Elsewhere, Behind}
}

// NamesMissing says that a rule is about the member that the others waited for, or lost.
func NamesMissing(s *signature.Signature) bool {
	return s == Awaited || s == Vanished || s == LeftEarly || s == Silent || s == OtherSteps || s == Elsewhere
}

// Awaited is a rank that the others waited for. It names where to look, not why.
var Awaited = &signature.Signature{
	ID: "collective-awaited", Title: "the others waited for this rank in a collective", Since: "0.1", Category: "nccl-timeout",
	Role: signature.Cascade, Depth: signature.Symptom, Domain: signature.Nobody, Retry: signature.RetryUnknown,
	Proves:       "{{.waiting|Other}} ranks wait in collective #{{.seq}} {{.op}}; this one {{.why|never joined it}}.",
	DoesNotProve: "Why it did not come: a data loader or a write that hangs, a call that hangs itself, a device that stalls and code that only some ranks run look the same.",
	Remedy:       "Look at what this rank did at that time: its last lines, its node's kernel log, its stack (py-spy dump --pid) if it still lives.\nRun with TORCH_NCCL_TRACE_BUFFER_SIZE set: the flight recorder names the line of code that each rank waits in.",
}

// Desync is a rank that runs another collective than the others.
var Desync = &signature.Signature{
	ID: "collective-desync", Title: "ranks run different collectives at the same number", Since: "0.1", Category: "nccl-timeout",
	Role: signature.Root, Depth: signature.General, Domain: signature.User, Retry: signature.Useless,
	Proves:       "The ranks do not run the same program there: {{.why|they differ}}.",
	DoesNotProve: "Which rank is right.",
	Remedy:       "Look for code that only some ranks run: evaluation, saving, an early stop, a last batch that some do not have, parameters without gradient.\nRun with TORCH_DISTRIBUTED_DEBUG=DETAIL: it names the first collective that differs.",
}

// Vanished is the one member that says nothing where all others say that a peer was gone.
var Vanished = &signature.Signature{
	ID: "member-vanished", Title: "it stopped without a word, and the others lost a peer", Since: "0.2", Category: "host-oom-killed",
	Role: signature.Cascade, Depth: signature.Symptom, Domain: signature.Nobody, Retry: signature.RetryUnknown,
	Proves:       "{{.loud|All other}} others complain alike, as of a peer that was gone ({{.says|connections closed}}); this one does not, and its log stops here.",
	DoesNotProve: "What ended it: a process that says nothing was killed from outside, for memory most often, or crashed, or called exit. Its exit code tells them apart.",
	Remedy:       "Look at how its container ended: kubectl get pod -o yaml, state.terminated (137: killed, OOMKilled: for memory; 139: a crash; 143: told to stop).\nWithout a cluster: dmesg -T on its machine names a process that the kernel killed for memory.",
}

// LeftEarly is a member that ended well while the others still needed it.
var LeftEarly = &signature.Signature{
	ID: "member-left-early", Title: "it ended with 0 while the others still waited for it", Since: "0.2", Category: "nccl-timeout",
	Role: signature.Cascade, Depth: signature.Symptom, Domain: signature.User, Retry: signature.Useless,
	Proves:       "{{.loud|All other}} others say that a peer was gone ({{.says|connections closed}}); this one does not complain, and ended with 0.",
	DoesNotProve: "Why it had nothing more to do: a shorter share of the data, an early stop that the others did not agree to, another number of steps.",
	Remedy:       "Give all ranks the same number of steps (drop_last, DistributedSampler, Join), and let them agree on an early stop.",
}

// OtherSteps is the one member that counts to another number of steps than the others, where a collective broke.
var OtherSteps = &signature.Signature{
	ID: "member-counts-otherwise", Title: "it counts to another number of steps than the others", Since: "0.2", Category: "nccl-timeout",
	Role: signature.Cascade, Depth: signature.Symptom, Domain: signature.User, Retry: signature.Useless,
	Proves:       "It counts to {{.steps|another number}} steps, and all others to the same other number.",
	DoesNotProve: "That it reached the end of its own: members that print a share of their data count differently and are well.",
	Remedy:       "Give all ranks the same number of steps (drop_last, DistributedSampler, Join) and the same settings.",
}

// Elsewhere is the one member that waits in another call than all others.
var Elsewhere = &signature.Signature{
	ID: "member-elsewhere", Title: "all wait for each other, and it alone waits in another call", Since: "0.3", Category: "nccl-timeout",
	Role: signature.Cascade, Depth: signature.Symptom, Domain: signature.User, Retry: signature.Useless,
	Proves:       "Every member waited until time was up: {{.loud|all other}} others in one call ({{.there|theirs}}), this one in another ({{.here|its own}}).",
	DoesNotProve: "Which of the two calls is right.",
	Remedy:       "Look for code that only some ranks run: evaluation, saving, an early stop, a part of the data that is empty on one.\nRun with TORCH_DISTRIBUTED_DEBUG=DETAIL: it names the first collective that differs.",
}

// Silent is the one member that does not complain where all others waited in vain.
var Silent = &signature.Signature{
	ID: "member-silent", Title: "the others waited in vain, and it alone does not say so", Since: "0.2", Category: "nccl-timeout",
	Role: signature.Cascade, Depth: signature.Symptom, Domain: signature.Nobody, Retry: signature.RetryUnknown,
	Proves:       "{{.loud|All other}} others waited until time was up ({{.says|a timeout}}); this one prints nothing of it: it is what they waited for.",
	DoesNotProve: "Why it did not come: a data loader or a write that hangs, a call that hangs itself and code that only some ranks run look the same.",
	Remedy:       "Look at what this rank did at that time: its last lines, its stack (py-spy dump --pid) if it still lives.",
}

// Behind is the one member whose steps end far before those of all others.
var Behind = &signature.Signature{
	ID: "member-behind", Title: "its steps end where the others go on", Since: "0.2", Category: "hang-no-progress",
	Role: signature.Root, Depth: signature.Symptom, Domain: signature.Nobody, Retry: signature.RetryUnknown,
	Proves:       "Its log ends with step {{.step}}; those of the {{.others}} others go on to {{.reached}} and further.",
	DoesNotProve: "What stopped it, or whether it only stopped printing: a process that was killed and a log that was cut look the same.",
	Remedy:       "Look at how its process ended: its exit code, dmesg -T on its machine.\nSee whether its log was copied whole.",
}

// Waits says that a complaint is about a member that did not come, not about one that was gone.
func Waits(s *evidence.Observation) bool {
	return strings.Contains(s.Signature.ID, "timeout") || strings.Contains(s.Signature.ID, "watchdog") || s.Signature.Category == "hang-no-progress"
}
