package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	_ "github.com/signalbox-dev/signalbox/test/golden" // owns -update
)

// TestMain lets scripts run this very binary, under both of its names.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"signalbox": main, "kubectl-signalbox": main})
}

// TestPromises runs test/cli/*.txtar: one script for each promise of the command line.
func TestPromises(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "../../test/cli",
		UpdateScripts:       flag.Lookup("update").Value.String() == "true",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("KUBECONFIG", os.DevNull)
			e.Setenv("TZ", "UTC")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": exitCode},
	})
}

// exitCode is the command "code N program …": the program must end with just that code.
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program args…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		got = ended.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("%v: exit code %d, want %d", args[1:], got, want)
	}
}
