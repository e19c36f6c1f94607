package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"
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
				cancel(&stopped{syscall.SIGINT})
			}()
			var said bytes.Buffer
			sh := &shell{name: "signalbox", in: readUntil(ctx, in), out: io.Discard, err: &said, now: time.Now}
			if code := run(ctx, sh, args); code != 130 || said.String() != "signalbox: interrupted\n" {
				t.Errorf("exit code %d and %q; want 130 and one line", code, said.String())
			}
		})
	}
}

func TestReadUntilHandsOnWhatItReads(t *testing.T) {
	text := strings.Repeat("0123456789abcdef", 10_000)
	for name, in := range map[string]io.Reader{
		"large reads":       strings.NewReader(text),
		"small reads":       iotest.HalfReader(strings.NewReader(text)),
		"data with the end": iotest.DataErrReader(strings.NewReader(text)),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := io.ReadAll(readUntil(t.Context(), in))
			if err != nil || string(got) != text {
				t.Errorf("%d bytes, error %v; want %d bytes", len(got), err, len(text))
			}
		})
	}
	broken := io.MultiReader(strings.NewReader("some"), iotest.ErrReader(errors.New("unplugged")))
	if got, err := io.ReadAll(readUntil(t.Context(), broken)); string(got) != "some" || err == nil || err.Error() != "unplugged" {
		t.Errorf("%q, error %v; want some, unplugged", got, err)
	}
}
