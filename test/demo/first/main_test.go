package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestALongBuildIsKeptCompany: a short one is silent but for its errors; a long one shows what a line means, and how far it is.
func TestALongBuildIsKeptCompany(t *testing.T) {
	t.Chdir("../../..")
	const failed = "# example.com/p100\np100/a.go:3:2: undefined: x\n"
	for _, built := range []int{long - 1, long} {
		var said strings.Builder
		said.WriteString("go: downloading example.com/x v1.2.3\n")
		for i := range built {
			fmt.Fprintf(&said, "example.com/p%d\n", i)
		}
		said.WriteString(failed)
		var out bytes.Buffer
		b := build{w: &out, begun: time.Now(), packages: func() int { return 1000 }}
		b.watch(strings.NewReader(said.String()))
		got := out.String()
		if built < long {
			if got != failed {
				t.Errorf("a short build says %q; want %q", got, failed)
			}
			continue
		}
		at := 0
		for _, want := range []string{
			"\n$ tail -n 5 examples/missing-module/worker-0.log\nTraceback", "\n$ signalbox explain --line \"ModuleNotFoundError: No module named 'flash_attn'\"\nmodule-not-found (missing-module): ",
			"\nbuilding signalbox, once: 100 packages of 1000, about ", failed, "signalbox is built: ",
		} {
			i := strings.Index(got[at:], want)
			if i < 0 {
				t.Fatalf("a long build says\n%s\nwant, after byte %d, %q", got, at, want)
			}
			at += i + len(want)
		}
	}
}

// TestABuildThatFails leaves with the compiler's word.
func TestABuildThatFails(t *testing.T) {
	t.Chdir("../../..")
	var out bytes.Buffer
	if err := run(&out, []string{"go", "build", "./no/such/package"}); err == nil || !strings.Contains(out.String(), "no/such/package") {
		t.Errorf("%v, and it says %q", err, out.String())
	}
	if err := run(&out, []string{"go", "test"}); err == nil || !strings.HasPrefix(err.Error(), "usage: ") {
		t.Errorf("no build: %v", err)
	}
}
