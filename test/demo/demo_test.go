//go:build integration

package main

import (
	"os"
	"strings"
	"testing"
)

// Every scene shows what it says on a real control plane.
func TestDemo(t *testing.T) {
	t.Chdir("../..")
	var out strings.Builder
	if err := run(t.Context(), &out, true); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if _, err := os.Stat("bin/signalbox"); err != nil {
		t.Fatal(err)
	}
}
