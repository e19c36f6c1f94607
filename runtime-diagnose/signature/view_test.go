package signature_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

func TestView(t *testing.T) {
	c, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	const oom = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 79.10 GiB total capacity)"
	const both = oom + " after ECC: uncorrectable NVLink error detected during the execution"
	const step = "step 100 | loss: 2.31 | grad_norm: 0.7"
	e := c.NewView()
	if !e.Suspects(oom) || !e.Suspects(step) {
		t.Error("a new view does not look for what the catalog knows")
	}
	e.Calm(true)
	if e.Suspects(step) || !e.Suspects(oom) {
		t.Error("a calm view looks for steps, or for no errors")
	}
	e.Calm(false)
	if !e.Suspects(step) {
		t.Error("a view that is calm no more looks for no steps")
	}
	for _, s := range c.All() { // all that list a literal of the line have to be full
		if s.ID != "nvlink-cuda" {
			e.Enough(s)
		}
	}
	for range 5 {
		if e.Suspects(oom) {
			t.Fatal("what was seen often enough is still a reason to look")
		}
	}
	if got := e.Again(c.ByID("gpu-oom-torch")); got != 5 {
		t.Errorf("%d further lines counted, want 5", got)
	}
	if !e.Suspects(both) {
		t.Error("a line that also says something new is not looked at")
	}
	var all, fresh []string
	for _, m := range e.Match(both, evidence.Log) {
		all = append(all, m.Signature.ID)
	}
	for _, m := range e.MatchNew(both, evidence.Log) {
		fresh = append(fresh, m.Signature.ID)
	}
	if diff := cmp.Diff([]string{"gpu-oom-torch", "nvlink-cuda", "python-exception"}, all); diff != "" {
		t.Errorf("all that the line says (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"nvlink-cuda"}, fresh); diff != "" {
		t.Errorf("what is new in it (-want +got):\n%s", diff)
	}
}
