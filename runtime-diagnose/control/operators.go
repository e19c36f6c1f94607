package control

import "github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"

// ColossalAI is the kind whose restarted workers do not rejoin, and whose launcher ends with
// 0 whatever happened (t9k ColossalAIJob manual).
const ColossalAI = "ColossalAIJob"

// T9kGroup begins the apiVersion of TensorStack's jobs.
const T9kGroup = "batch.tensorstack.dev/"

// NoRejoin says that restarted members of the job do not take part again.
func NoRejoin(b *evidence.Bundle) bool { return b.Job != nil && b.Job.Ref.Kind == ColossalAI }

// Number reads an integer of a decoded object, in either form decoders give.
func Number(v any) (int64, bool) {
	switch n := v.(type) {
	case int64:
		return n, true
	case float64:
		return int64(n), true
	default:
		return 0, false
	}
}
