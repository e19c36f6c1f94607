package gang

import "github.com/signalbox-dev/signalbox/runtime-diagnose/signature"

// Rules lists what this package finds by comparing members, for reference pages.
func Rules() []*signature.Signature { return []*signature.Signature{Awaited, Desync} }

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
