// Command signalbox reviews distributed training jobs before they run and explains why
// they failed: the review of the admission webhook from a shell, and the server itself.
//
// This package holds flags, wiring, rendering and exit codes; it knows no rules. One file
// is one sub-command. Start reading at run.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/signalbox-dev/signalbox/policies"
)

// version is set by the linker: -X main.version=v1.2.3.
var version = ""

// The exit codes are promises: scripts branch on them.
const (
	exitFine     = 0
	exitFindings = 1  // findings at or above --fail-on, or a denial
	exitUsage    = 2  // bad usage or unreadable input
	exitOurs     = 3  // our own failure
	exitUnknown  = 4  // the answer that was asked for is unknown
	exitBusy     = 75 // only the cluster is busy now: EX_TEMPFAIL of sysexits.h, "try again later"
)

// shell is what a command may touch of the world around it.
type shell struct {
	name     string // how we were called: signalbox, or kubectl signalbox
	in       io.Reader
	out, err io.Writer
	now      func() time.Time
	typed    []string      // the arguments of this command line
	patience time.Duration // with a model; 0: patience
}

// tell writes one line to stderr. That nobody may be listening there changes nothing.
func (sh *shell) tell(format string, args ...any) {
	_, _ = io.WriteString(sh.err, "signalbox: "+visibleLine(fmt.Sprintf(format, args...))+"\n")
}

// notes tells what is of note, a line each.
func (sh *shell) notes(all []string) {
	for _, n := range all {
		sh.tell("note: %s", oneLine(n))
	}
}

func main() { os.Exit(start()) }

func start() int {
	ctx, stop := withSignals(context.Background())
	defer stop()
	klog.SetLogger(logr.Discard()) // what client-go logs on its own, the commands say in their words; serve has a log of its own
	sh := &shell{name: calledAs(os.Args), in: readUntil(ctx, os.Stdin), out: os.Stdout, err: os.Stderr, now: time.Now}
	var args []string
	if len(os.Args) > 1 {
		args = os.Args[1:]
	}
	return run(ctx, sh, args)
}

// run runs one command line and answers with its exit code. It never panics.
func run(ctx context.Context, sh *shell, args []string) (code int) {
	defer func() {
		if p := recover(); p != nil {
			sh.tell("this is a bug: %s at %s; report this line and the command at %s", oneLine(fmt.Sprint(p)), panickedAt(), issues)
			code = exitOurs
		}
	}()
	sh.typed = args
	root := newRoot(sh) //nolint:contextcheck // commands get theirs from ExecuteContext
	root.SetArgs(joinAsk(jobsOfKind(args)))
	ran, err := root.ExecuteContextC(ctx)
	if code, ok := interrupted(ctx); ok && err != nil && ran.Name() != "serve" { // which comes to rest by itself
		sh.tell("interrupted")
		return code
	}
	for _, one := range apart(err) {
		if line := message(one); line != "" {
			sh.tell("%s", line)
		}
	}
	for _, place := range policies.Places(err) {
		_, _ = io.WriteString(sh.err, visible(place)+"\n")
	}
	return codeOf(err)
}

const issues = "https://github.com/signalbox-dev/signalbox/issues"

// calledAs is the command as the user types it; kubectl runs plugins as kubectl-<name>.
func calledAs(args []string) string {
	if len(args) > 0 && strings.HasPrefix(filepath.Base(args[0]), "kubectl-") {
		return "kubectl signalbox"
	}
	return "signalbox"
}

// exit is an error that carries its exit code. Without a cause it is silent: the output
// has said everything.
type exit struct {
	code  int
	cause error
}

func (e *exit) Error() string {
	if e.cause == nil {
		return ""
	}
	return e.cause.Error()
}

func (e *exit) Unwrap() error { return e.cause }

// usagef is an error of the user's, in one line.
func usagef(format string, args ...any) error { return &exit{exitUsage, fmt.Errorf(format, args...)} }

// codeOf is the exit code of an error; what no command has put a code on is bad usage,
// because only the flag parser returns such errors.
func codeOf(err error) int {
	if err == nil {
		return exitFine
	}
	if e, ok := errors.AsType[*exit](err); ok {
		return e.code
	}
	return exitUsage
}
