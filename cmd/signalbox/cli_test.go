package main

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	_ "github.com/signalbox-dev/signalbox/test/golden"
)

// TestMain lets scripts run this very binary, under both of its names.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"signalbox": main, "kubectl-signalbox": main})
}

// TestPromises runs test/cli/*.txtar: one script for each promise of the command line. "code N signalbox …" runs it
// in this process, one at a time: a start of the program costs more than most commands. "exec signalbox …" starts it.
func TestPromises(t *testing.T) {
	const scripts = "../../test/cli"
	here := &inProcess{ctx: t.Context(), env: variablesOf(t, scripts), input: map[*testscript.TestScript]string{}}
	from, err := filepath.Abs(scripts)
	if err != nil {
		t.Fatal(err)
	}
	which := "/*.txtar"
	if testing.Short() {
		which = "/check-*.txtar" // which review several jobs at a time
	}
	files, err := filepath.Glob(from + which)
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts in %s: %v", from, err)
	}
	t.Chdir(t.TempDir()) // brings the folder back, and does not go together with tests beside this one
	testscript.RunT(oneAtATime{t}, testscript.Params{
		Files:               files,
		UpdateScripts:       flag.Lookup("update").Value.String() == "true",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("KUBECONFIG", os.DevNull)
			e.Setenv("TZ", "UTC")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": here.code, "input": here.take},
	})
}

// oneAtATime is a test whose scripts don't run beside each other.
type oneAtATime struct{ *testing.T }

func (oneAtATime) Parallel() {}

func (t oneAtATime) Run(name string, do func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { do(oneAtATime{t}) })
}

func (oneAtATime) Verbose() bool { return testing.Verbose() }

// variablesOf are the names of the environment that scripts begin with or set.
func variablesOf(t *testing.T, dir string) []string {
	t.Helper()
	names := []string{"HOME", "TMPDIR", "KUBECONFIG"}
	files, err := filepath.Glob(dir + "/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts in %s: %v", dir, err)
	}
	set := regexp.MustCompile(`(\w+)=`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if words, ok := strings.CutPrefix(line, "env "); ok {
				for _, m := range set.FindAllStringSubmatch(words, -1) {
					names = append(names, m[1])
				}
			}
		}
	}
	return names
}

// inProcess runs the program in this process, in the folder and environment of a script.
type inProcess struct {
	ctx   context.Context                   //nolint:containedctx // scripts have none to give
	env   []string                          // names of variables
	input map[*testscript.TestScript]string // of the next command
}

// take is the command "input FILE": what the next signalbox reads from standard input.
func (p *inProcess) take(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: input file")
	}
	p.input[ts] = ts.ReadFile(args[0])
}

// code is the command "code N program …": the program must end with just that code.
func (p *inProcess) code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program args…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	switch args[1] {
	case "signalbox", "kubectl-signalbox":
		got = p.run(ts, args[1:])
	default:
		err = ts.Exec(args[1], args[2:]...)
		if ended, ok := errors.AsType[*exec.ExitError](err); ok {
			got = ended.ExitCode()
		} else {
			ts.Check(err)
		}
	}
	if got != want {
		ts.Fatalf("%v: exit code %d, want %d", args[1:], got, want)
	}
}

func (p *inProcess) run(ts *testscript.TestScript, args []string) int {
	ts.Check(os.Chdir(ts.MkAbs(".")))
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // as a new process begins
	for _, name := range p.env {
		old, was := os.LookupEnv(name)
		ts.Check(os.Setenv(name, ts.Getenv(name)))
		defer func() {
			if was {
				_ = os.Setenv(name, old)
			} else {
				_ = os.Unsetenv(name)
			}
		}()
	}
	sh := &shell.Shell{Name: calledAs(args), In: strings.NewReader(p.input[ts]), Out: ts.Stdout(), Err: ts.Stderr(), Now: time.Now}
	delete(p.input, ts)
	return run(p.ctx, sh, args[1:])
}
