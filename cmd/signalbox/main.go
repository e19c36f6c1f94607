// Command signalbox reviews distributed training jobs before they run and explains why
// they failed: the review of the admission webhook from a shell, and the server itself.
//
// A folder is a command, root.go the table of them; what commands share is in internal. None of it knows
// a rule: it holds flags, wiring, rendering and exit codes. Start reading at run.
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

	getcmd "github.com/signalbox-dev/signalbox/cmd/signalbox/get"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/review"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

func main() { os.Exit(start()) }

func start() int {
	ctx, stop := shell.WithSignals(context.Background())
	defer stop()
	klog.SetLogger(logr.Discard()) // what client-go logs on its own, the commands say in their words; serve has a log of its own
	sh := &shell.Shell{Name: calledAs(os.Args), In: shell.ReadUntil(ctx, os.Stdin), Out: os.Stdout, Err: os.Stderr, Now: time.Now}
	var args []string
	if len(os.Args) > 1 {
		args = os.Args[1:]
	}
	return run(ctx, sh, args)
}

// mostErrors bounds the errors that are printed: a folder that holds no policies is wrong in each of its files.
const mostErrors = 20

// run runs one command line and answers with its exit code. It never panics.
func run(ctx context.Context, sh *shell.Shell, args []string) (code int) {
	defer func() {
		if p := recover(); p != nil {
			sh.Tell("this is a bug: %s at %s; report this line and the command at %s", terminal.OneLine(fmt.Sprint(p)), shell.PanickedAt(), shell.Issues)
			code = shell.ExitOurs
		}
	}()
	sh.Typed = args
	root := newRoot(sh) //nolint:contextcheck // commands get theirs from ExecuteContext
	root.SetArgs(review.JoinAsk(getcmd.JobsOfKind(args)))
	ran, err := root.ExecuteContextC(ctx)
	if code, ok := shell.Interrupted(ctx); ok && err != nil && ran.Name() != "serve" { // which comes to rest by itself
		sh.Tell("interrupted")
		return code
	}
	apart := shell.Apart(err)
	for _, one := range apart[:min(len(apart), mostErrors)] {
		if line := shell.Message(one); line != "" {
			sh.Tell("%s", line)
		}
	}
	if n := len(apart) - mostErrors; n > 0 {
		sh.Tell("and %s", terminal.Count(n, "more error"))
	}
	for _, place := range policies.Places(err) {
		_, _ = io.WriteString(sh.Err, words.Visible(place)+"\n")
	}
	return shell.CodeOf(err)
}

// calledAs is the command as the user types it; kubectl runs plugins as kubectl-<name>.
func calledAs(args []string) string {
	if len(args) > 0 && strings.HasPrefix(filepath.Base(args[0]), "kubectl-") {
		return "kubectl signalbox"
	}
	return "signalbox"
}
