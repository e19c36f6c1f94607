package shell

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
)

// ExitFine and the others are exit codes. They are promises: scripts branch on them.
const (
	ExitFine     = 0
	ExitFindings = 1  // findings at or above --fail-on, or a denial
	ExitUsage    = 2  // bad usage or unreadable input
	ExitOurs     = 3  // our own failure
	ExitUnknown  = 4  // the answer that was asked for is unknown
	ExitBusy     = 75 // only the cluster is busy now: EX_TEMPFAIL of sysexits.h, "try again later"
)

// Issues is where bugs are reported.
const Issues = "https://github.com/signalbox-dev/signalbox/issues"

// Exit is an error that carries its exit code. Without a cause it is silent: the output
// has said everything.
type Exit struct {
	Code  int
	Cause error
}

func (e *Exit) Error() string {
	if e.Cause == nil {
		return ""
	}
	return e.Cause.Error()
}

func (e *Exit) Unwrap() error { return e.Cause }

// Usagef is an error of the user's, in one line.
func Usagef(format string, args ...any) error { return &Exit{ExitUsage, fmt.Errorf(format, args...)} }

// CodeOf is the exit code of an error; what no command has put a code on is bad usage,
// because only the flag parser returns such errors.
func CodeOf(err error) int {
	if err == nil {
		return ExitFine
	}
	if e, ok := errors.AsType[*Exit](err); ok {
		return e.Code
	}
	return ExitUsage
}

// Own marks errors of a command that have no code as our own failure.
func Own(err error) error {
	var e *Exit
	var unreadable *manifest.Problem
	var refused apierrors.APIStatus
	switch {
	case err == nil, errors.As(err, &e):
		return err
	case errors.As(err, &unreadable):
		return &Exit{ExitUsage, err}
	case errors.As(err, &refused) && (apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)):
		return &Exit{ExitUsage, err} // the caller's rights, not our fault
	case timedOut(err):
		lost, _ := errors.AsType[net.Error](err)
		why := lost.Error()
		if call, ok := errors.AsType[*url.Error](err); ok {
			why = call.Err.Error()
		}
		said := strings.Replace(err.Error(), cutOff, "", 1)
		return &Exit{ExitUnknown, errors.New(strings.Replace(said, lost.Error(), "the cluster does not answer in time: "+why, 1))}
	default:
		return &Exit{ExitOurs, err}
	}
}

// timedOut says that the cluster was asked and did not answer in time, as --request-timeout has it: what was asked is unknown.
func timedOut(err error) bool {
	lost, ok := errors.AsType[net.Error](err)
	return ok && lost.Timeout()
}

// cutOff is what client-go says before the reason where the time ended within an answer
// (https://github.com/kubernetes/client-go/blob/v0.37.2/rest/request.go).
const cutOff = "unexpected error when reading response body. Please retry. Original error: "

// Apart are the faults that an error holds side by side, as of several files: each gets a line of its own.
func Apart(err error) []error {
	if e, ok := err.(*Exit); ok { //nolint:errorlint // only what is on top is taken apart: below, one fault speaks of the others
		return Apart(e.Cause)
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || errors.Join(joined.Unwrap()...).Error() != err.Error() {
		return []error{err} // with words of its own around its faults
	}
	var out []error
	for _, one := range joined.Unwrap() {
		out = append(out, Apart(one)...)
	}
	return out
}

// Message is the error in one line, and empty where the exit code says everything.
func Message(err error) string {
	if err == nil {
		return ""
	}
	var parts []string
	for line := range strings.Lines(err.Error()) {
		if line = terminal.OneLine(line); line != "" {
			parts = append(parts, line)
		}
	}
	return strings.Join(parts, "; ") // of joined errors
}

// PanickedAt is the first place of our own code below a panic: "render_ci.go:42".
func PanickedAt() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		f, more := frames.Next()
		if strings.Contains(f.Function, "signalbox") || strings.HasPrefix(f.Function, "main.") {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return "a place unknown"
		}
	}
}
