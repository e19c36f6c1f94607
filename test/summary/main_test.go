package main

import (
	"os"
	"strings"
	"testing"
)

func TestWhatFailedStandsAtTheEnd(t *testing.T) {
	report, err := os.ReadFile("testdata/ginkgo.txt")
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(said("TestIntegration", string(report)), "")
	for _, want := range []string{"failed: TestIntegration", "helm: command not found", "bin/signalbox: No such file or directory"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not among what is said:\n%s", want, got)
		}
	}
	if n := strings.Count(got, "\n"); n > 1+2*linesOfFailure {
		t.Errorf("%d lines of two failures; want %d of each at most", n, linesOfFailure)
	}
	if got, want := said("TestPlain", "    fit_test.go:12: 3, want 4\n\n--- FAIL: TestPlain\n"), []string{"failed: TestPlain\n", "      fit_test.go:12: 3, want 4\n", "  --- FAIL: TestPlain\n"}; strings.Join(got, "") != strings.Join(want, "") {
		t.Errorf("got %q, want %q", got, want)
	}
}
