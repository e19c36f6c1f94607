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
	"testing/iotest"
	"testing/synctest"
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
	sh := &shell{name: "signalbox", in: readUntil(t.Context(), in), out: &out, err: io.MultiWriter(&said, told), now: time.Now}
	if code := run(t.Context(), sh, []string{"diagnose"}); code != exitFine || !strings.Contains(out.String(), "disk-full") {
		t.Errorf("exit code %d, and\n%s", code, out.String())
	}
	if text := said.String(); !strings.HasPrefix(text, "signalbox: waiting for a log on standard input") || strings.Count(text, "\n") != 1 {
		t.Errorf("it said %q", text)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// What a command does may listen to no context.
func TestASignalEndsACommandThatDoesNotListen(t *testing.T) {
	for name, tc := range map[string]struct {
		signals []os.Signal
		code    int
		after   time.Duration
	}{
		"one":  {[]os.Signal{syscall.SIGTERM}, 143, lastWord},
		"two":  {[]os.Signal{syscall.SIGTERM, syscall.SIGINT}, 130, 0},
		"none": {nil, 0, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				got, exit, begun := make(chan os.Signal, 2), make(chan int, 1), time.Now()
				for _, s := range tc.signals {
					got <- s
				}
				go endOn(ctx, cancel, got, func(code int) { exit <- code })
				code := 0
				select {
				case code = <-exit:
				case <-time.After(time.Minute):
				}
				if after := time.Since(begun); code != tc.code || after != tc.after {
					t.Errorf("exit code %d after %s; want %d after %s", code, after, tc.code, tc.after)
				}
			})
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
