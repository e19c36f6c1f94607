package main

import (
	"bytes"
	"context"
	"testing"
)

func TestAfterAnInterruptNothingIsMissed(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	var out bytes.Buffer
	s := &stage{out: &out}
	s.expect(ctx, "kubectl get pods", "one Running", "Running", "Pending")
	if s.seen != 1 || len(s.missed) != 1 {
		t.Fatalf("before: %d seen, %d missed; want 1 and 1", s.seen, len(s.missed))
	}
	interrupt()
	out.Reset()
	s.expect(ctx, "kubectl get pods", "signal: killed", "Pending")
	if len(s.missed) != 1 || out.Len() > 0 {
		t.Errorf("after the interrupt: %d missed, printed %q; want 1 and nothing", len(s.missed), out.String())
	}
}
