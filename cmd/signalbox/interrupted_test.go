package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
)

// waiting is a standard input at which nobody types: it says when somebody begins to wait.
type waiting struct{ began chan struct{} }

func (w waiting) Read([]byte) (int, error) {
	close(w.began)
	select {}
}

func TestASignalEndsACommandThatWaitsForInput(t *testing.T) {
	for _, args := range [][]string{
		{"check", "--offline", "-f", "-"},
		{"check", "--snapshot", "-", "-f", "../../config/samples/pytorchjob.yaml"},
		{"diagnose", "--log", "-"},
		{"diagnose", "--pods", "-"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			in := waiting{make(chan struct{})}
			go func() {
				<-in.began
				cancel(&shell.Stopped{Signal: syscall.SIGINT})
			}()
			var said bytes.Buffer
			sh := &shell.Shell{Name: "signalbox", In: shell.ReadUntil(ctx, in), Out: io.Discard, Err: &said, Now: time.Now}
			if code := run(ctx, sh, args); code != 130 || said.String() != "signalbox: interrupted\n" {
				t.Errorf("exit code %d and %q; want 130 and one line", code, said.String())
			}
		})
	}
}

// Whoever gives diagnose nothing at the end of a pipe that stays open is told what it waits for, once.
func TestAPipeThatSaysNothingIsNamed(t *testing.T) {
	in, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	told := writerFunc(func(p []byte) (int, error) { // the log comes once it was asked for
		_, err := io.WriteString(writer, "OSError: [Errno 28] No space left on device\n")
		return len(p), errors.Join(err, writer.Close())
	})
	var out, said bytes.Buffer
	sh := &shell.Shell{Name: "signalbox", In: shell.ReadUntil(t.Context(), in), Out: &out, Err: io.MultiWriter(&said, told), Now: time.Now}
	if code := run(t.Context(), sh, []string{"diagnose"}); code != shell.ExitFine || !strings.Contains(out.String(), "disk-full") {
		t.Errorf("exit code %d, and\n%s", code, out.String())
	}
	if text := said.String(); !strings.HasPrefix(text, "signalbox: waiting for a log on standard input") || strings.Count(text, "\n") != 1 {
		t.Errorf("it said %q", text)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
