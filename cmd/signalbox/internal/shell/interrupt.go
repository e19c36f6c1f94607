package shell

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Stopped is why a context has ended: somebody sent a signal.
type Stopped struct{ Signal os.Signal }

func (s *Stopped) Error() string { return "interrupted" }

// code is what a shell says of a program that a signal ended: 128 and its number
// (https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html, 2.8.2).
func (s *Stopped) code() int {
	if n, ok := s.Signal.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return ExitOurs
}

// lastWord is how long a command has after a signal. What it does may listen to no context: a check in the middle of a
// large job. Serving takes less to end, and Kubernetes waits no longer for it
// (config/manager/deployment.yaml: 20 s, of which 5 go before the signal).
const lastWord = 15 * time.Second

// WithSignals is a context that ends with the first signal. A second one ends the program at
// once, and so does lastWord.
func WithSignals(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	got := make(chan os.Signal, 2)
	signal.Notify(got, os.Interrupt, syscall.SIGTERM)
	go endOn(ctx, cancel, got, os.Exit)
	return ctx, func() { signal.Stop(got); cancel(nil) }
}

// endOn cancels a context with the first signal, and ends the program with the second one or after lastWord.
func endOn(ctx context.Context, cancel context.CancelCauseFunc, got <-chan os.Signal, exit func(int)) {
	var s os.Signal
	select {
	case s = <-got:
		cancel(&Stopped{s})
	case <-ctx.Done():
		return
	}
	select {
	case s = <-got:
	case <-time.After(lastWord):
	}
	exit((&Stopped{s}).code())
}

// Interrupted says whether a command ended because its context did.
func Interrupted(ctx context.Context) (code int, ok bool) {
	s, ok := errors.AsType[*Stopped](context.Cause(ctx))
	if !ok {
		return 0, false
	}
	return s.code(), true
}

// ReadUntil is standard input that a context ends: a person who typed "-f -" by mistake, or
// whose other end of the pipe hangs, wants out. Not safe for concurrent use.
func ReadUntil(ctx context.Context, in io.Reader) io.Reader { return &endable{ctx: ctx, in: in} }

type endable struct {
	ctx  context.Context
	in   io.Reader
	page []byte // what a read that is under way fills; nothing else touches it then
	rest []byte
	err  error

	quiet func() // called once, where nothing came for so long; nil: not called
	after time.Duration
}

// Read implements io.Reader.
func (e *endable) Read(p []byte) (int, error) {
	if len(e.rest) == 0 && e.err == nil {
		e.fill()
	}
	n := copy(p, e.rest)
	if e.rest = e.rest[n:]; n > 0 || len(p) == 0 {
		return n, nil
	}
	return 0, e.err
}

// fill waits for the next bytes, an error or the end of the context. A read that is abandoned
// so goes on: nothing can stop it.
func (e *endable) fill() {
	if e.err = e.ctx.Err(); e.err != nil {
		return
	}
	if e.page == nil {
		e.page = make([]byte, 64<<10)
	}
	type part struct {
		n   int
		err error
	}
	done := make(chan part, 1)
	go func() {
		n, err := e.in.Read(e.page)
		done <- part{n, err}
	}()
	var quiet <-chan time.Time
	if e.quiet != nil {
		t := time.NewTimer(e.after)
		defer t.Stop()
		quiet = t.C
	}
	for {
		select {
		case got := <-done:
			e.rest, e.err, e.quiet = e.page[:got.n], got.err, nil
			return
		case <-quiet:
			e.quiet()
			e.quiet, quiet = nil, nil
		case <-e.ctx.Done():
			e.err = e.ctx.Err()
			return
		}
	}
}

// quietFor is how long a pipe that nobody named may say nothing before whoever waits is told of it: a shell of another program
// has standard input open, and nobody types there.
const quietFor = 2 * time.Second

// SayQuiet tells of standard input where it says nothing for quietFor.
func (sh *Shell) SayQuiet(format string, args ...any) {
	if e, ok := sh.In.(*endable); ok {
		e.after, e.quiet = quietFor, func() { sh.Tell(format, args...) }
	}
}

// Piped says whether standard input is a pipe or a file: what a terminal or /dev/null would hold is not waited for.
func Piped(in io.Reader) bool {
	if bounded, ok := in.(interface{ Len() int }); ok {
		return bounded.Len() > 0
	}
	if e, ok := in.(*endable); ok {
		in = e.in
	}
	file, ok := in.(*os.File)
	if !ok {
		return false
	}
	at, err := file.Stat()
	return err == nil && (at.Mode().IsRegular() || at.Mode()&os.ModeNamedPipe != 0)
}
