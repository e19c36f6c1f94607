package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestALongBuildIsKeptCompany: a short one, of the project's own packages, is silent but for its errors; a long one shows
// what a line means, before its packages are counted, and then how far it is.
func TestALongBuildIsKeptCompany(t *testing.T) {
	t.Chdir("../../..")
	const failed = "# example.com/p100\np100/a.go:3:2: undefined: x\n"
	many := func(n int, line string) string { return strings.Repeat(line+"\n", n) }
	const scene = "\n$ tail -n 5 examples/missing-module/worker-0.log\nTraceback"
	const means = "\n$ signalbox explain --line \"ModuleNotFoundError: No module named 'flash_attn'\"\nmodule-not-found (missing-module): "
	for name, tc := range map[string]struct {
		said string
		want []string // in this order; none: no word but the errors
	}{
		"our own packages, and a few of others": {
			said: many(200, ours+"preflight") + many(long-1, "example.com/p"),
		},
		"modules are downloaded": {
			said: many(long+20, "go: downloading example.com/x v1.2.3") + many(60, "example.com/p"),
			want: []string{scene, means, "\nbuilding signalbox, once: 10 modules downloaded, all packages to build\n", "counted\nbuilding signalbox, once: 19 packages of 1000, about ", "built: "},
		},
		"all modules are there": {
			said: many(60, "example.com/p"),
			want: []string{scene, means, "counted\nbuilding signalbox, once: 10 packages of 1000, about 50s left\n", "built: 27s"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
			b := build{w: &out, now: func() time.Time { now = now.Add(500 * time.Millisecond); return now }, packages: func() int {
				out.WriteString("counted\n")
				return 1000
			}}
			b.watch(strings.NewReader(tc.said + failed))
			got := out.String()
			if len(tc.want) == 0 && got != failed {
				t.Errorf("it says %q; want %q", got, failed)
			}
			for at, want := 0, tc.want; len(want) > 0; want = want[1:] {
				i := strings.Index(got[at:], want[0])
				if i < 0 {
					t.Fatalf("it says\n%s\nwant, after byte %d, %q", got, at, want[0])
				}
				at += i + len(want[0])
			}
		})
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
