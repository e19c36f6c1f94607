package policies

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

// TestPlacesThatAreMaskedAreNamedUpToABound: the 65th is masked, and not named.
func TestPlacesThatAreMaskedAreNamedUpToABound(t *testing.T) {
	before, after := map[string]any{}, map[string]any{}
	for i := range mostMasked + 1 {
		before[fmt.Sprint(i)], after[fmt.Sprint(i)] = "secret", redact.Masked
	}
	var h hiding
	if h.differ(before, after, ""); len(h.places) != mostMasked {
		t.Errorf("%d places; want %d", len(h.places), mostMasked)
	}
}

// TestAShortSecretIsNotLookedForInOtherTexts: one of three bytes stands in too many words.
func TestAShortSecretIsNotLookedForInOtherTexts(t *testing.T) {
	for secret, want := range map[string]string{"abc": "abcdef", "abcd": "[masked]ef"} {
		in := preflight.Input{Job: preflight.JobView{Labels: map[string]string{"password": secret}}}
		_, h, err := maskedInput(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := h.text("abcdef"); got != want || len(h.places) != 1 {
			t.Errorf("%s: %q, places %q; want %q and one place", secret, got, h.places, want)
		}
	}
}

// TestALongLineIsNotShown: one character above the bound there is no caret.
func TestALongLineIsNotShown(t *testing.T) {
	for length, want := range map[int]bool{mostShown: true, mostShown + 1: false} {
		at := &ast.Location{File: "a.rego", Row: 1, Col: 1}
		if got := caret(at, []source{{name: "a.rego", text: []byte(strings.Repeat("x", length))}}); (got != "") != want {
			t.Errorf("a line of %d: %q", length, got)
		}
	}
}

// TestWhatDoublesIsNotEvaluatedPartially: fourteen lines that each use the one before twice are more terms than
// the bound.
func TestWhatDoublesIsNotEvaluatedPartially(t *testing.T) {
	for lines, want := range map[int]bool{4: true, 14: false} {
		var text strings.Builder
		text.WriteString("package a\n\np contains s0 if {\n\ts0 := input.x\n")
		for i := range lines {
			fmt.Fprintf(&text, "\ts%d := [s%d, s%d]\n", i+1, i, i)
		}
		fmt.Fprintf(&text, "\tcount(s%d) > 0\n}\n", lines)
		compiler := ast.NewCompiler()
		if compiler.Compile(map[string]*ast.Module{"a": ast.MustParseModule(text.String())}); compiler.Failed() {
			t.Fatal(compiler.Errors)
		}
		if got := inlines(compiler, ast.MustParseRef("data.a.p")); got != want {
			t.Errorf("%d lines: %v; want %v", lines, got, want)
		}
	}
}

// TestAReplayIsBounded: the 21st decision that is none is counted, and the sixth job not named.
func TestAReplayIsBounded(t *testing.T) {
	broken := func(yield func(Decision, error) bool) {
		for range mostProblems + 1 {
			if !yield(Decision{}, errors.New("no decision")) {
				return
			}
		}
	}
	engine, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	out, err := Replay(t.Context(), engine.InForce(), broken, "")
	if err != nil || len(out.Problems) != mostProblems || out.More != 1 {
		t.Errorf("%d problems and %d more, %v; want %d and 1", len(out.Problems), out.More, err, mostProblems)
	}
	by := map[string]*Refused{}
	for i := range mostRefusedJobs + 1 {
		in := preflight.Input{Job: preflight.JobView{Kind: "Job", Name: fmt.Sprint(i)}}
		out.file(by, &Decision{}, &in, preflight.Ruled{Rulings: []preflight.Ruling{{Policy: "a", Effect: preflight.Deny}}}, nil)
	}
	for _, of := range by {
		if of.Reviews != mostRefusedJobs+1 || len(of.Jobs) != mostRefusedJobs {
			t.Errorf("%d reviews, %d jobs; want %d and %d", of.Reviews, len(of.Jobs), mostRefusedJobs+1, mostRefusedJobs)
		}
	}
}

// TestTheSixthErrorIsCounted: of a compilation, and of tests that fail.
func TestTheSixthErrorIsCounted(t *testing.T) {
	const head = "# METADATA\n# title: a\n# description: A.\n# custom: {remedy: None.}\npackage signalbox.a\n\n"
	var wrong, tests strings.Builder
	tests.WriteString("package signalbox.a_test\n")
	for i := range 6 {
		fmt.Fprintf(&wrong, "deny contains \"x\" if input.job.wrong%d == 1\n\n", i)
		fmt.Fprintf(&tests, "\ntest_%d if 1 == %d\n", i, i+2)
	}
	if _, err := Load(fstest.MapFS{"a.rego": {Data: []byte(head + wrong.String())}}); err == nil || !strings.Contains(err.Error(), "; and 1 more") {
		t.Errorf("six errors of a compilation: %v", err)
	}
	fine := fstest.MapFS{"a.rego": {Data: []byte(head + "deny contains \"x\" if input.job.gpus == 1\n")}, "a_test.rego": {Data: []byte(tests.String())}}
	if err := hold(t.Context(), []fs.FS{fine}); err == nil || !strings.Contains(err.Error(), "; and 1 more") {
		t.Errorf("six tests that fail: %v", err)
	}
}
