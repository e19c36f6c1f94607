package signature_test

import (
	"os"
	"path/filepath"
	"strings"
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

// What was seen often is looked for again a few lines below: the last time it may have ended the program.
func TestWhatWasSeenOftenIsLookedForAgain(t *testing.T) {
	c, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	const oom = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 79.10 GiB total capacity)"
	v := c.NewView()
	for _, s := range c.All() {
		v.Enough(s)
	}
	for line := 1; line <= signature.SaidAbove; line++ {
		if v.Suspects(oom) {
			t.Fatalf("it is looked for %d lines below", line)
		}
	}
	if !v.Suspects(oom) || len(v.MatchNew(oom, evidence.Log)) == 0 {
		t.Errorf("it is not looked for %d lines below", signature.SaidAbove+1)
	}
}

// TestViewOfWhatWasSearched asks views about the same lines, one of which searches them itself.
func TestViewOfWhatWasSearched(t *testing.T) {
	c, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	alone, told := c.NewView(), c.NewView()
	both := func(do func(*signature.View)) { do(alone); do(told) }
	lines, suspects := 0, 0
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimRight(line, "\n")
			if lines++; lines%50 == 0 {
				both(func(v *signature.View) { v.Calm(lines%100 == 0) })
			}
			want, got := alone.Matters(line), told.Found(line, c.Search(nil, line))
			if got != want {
				t.Fatalf("%s: %q: told what stands in it a view says %t, alone %t", name, line, got, want)
			}
			if !want {
				continue
			}
			suspects++
			matches := alone.Match(line)
			if diff := cmp.Diff(matches, told.Match(line), cmp.Comparer(func(a, b *signature.Signature) bool { return a == b })); diff != "" {
				t.Fatalf("%s: %q matches otherwise (-alone +told):\n%s", name, line, diff)
			}
			if suspects%20 == 0 && len(matches) > 0 {
				both(func(v *signature.View) { v.Enough(matches[0].Signature) })
			}
		}
	}
	if suspects < 500 {
		t.Errorf("%d of %d lines are suspect; the fixtures hold more", suspects, lines)
	}
	for _, s := range c.All() {
		if alone.Again(s) != told.Again(s) {
			t.Errorf("%s: %d further lines counted, alone %d", s.ID, told.Again(s), alone.Again(s))
		}
	}
}

func TestMayMatchOfAView(t *testing.T) {
	c, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	gate := signature.NewGate(`(?i)\bexit code\b|died`)
	for name, tc := range map[string]struct {
		asked, text string
		want        bool
	}{
		"the line that was asked about": {"worker DIED", "worker DIED", true},
		"its end":                       {"[rank0]: Exit Code 1", "Exit Code 1", true},
		"only what stands before":       {"died: ok", "ok", false},
		"neither":                       {"worker is alive", "worker is alive", false},
		"another line":                  {"worker is alive", "worker died", true},
		"beyond ASCII":                  {"é Exit Code", "é Exit Code", true},
		"nothing":                       {"died", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			v := c.NewView()
			v.Matters(tc.asked)
			if got := v.MayMatch(gate, tc.text); got != tc.want {
				t.Errorf("MayMatch(%q) = %t, want %t", tc.text, got, tc.want)
			}
		})
	}
}
