// Command signalbox reviews distributed training jobs before they run and explains why
// they failed: the review of the admission webhook from a shell, and the server itself.
//
// This package holds flags, wiring, rendering and exit codes; it knows no rules. One file
// is one sub-command. Start reading at run.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/policies"
)

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
			sh.tell("this is a bug: %s at %s; report this line and the command at %s", terminal.OneLine(fmt.Sprint(p)), panickedAt(), issues)
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
		_, _ = io.WriteString(sh.err, terminal.Visible(place)+"\n")
	}
	return codeOf(err)
}

// calledAs is the command as the user types it; kubectl runs plugins as kubectl-<name>.
func calledAs(args []string) string {
	if len(args) > 0 && strings.HasPrefix(filepath.Base(args[0]), "kubectl-") {
		return "kubectl signalbox"
	}
	return "signalbox"
}
