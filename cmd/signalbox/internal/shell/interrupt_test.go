package shell

import (
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
			got, err := io.ReadAll(ReadUntil(t.Context(), in))
			if err != nil || string(got) != text {
				t.Errorf("%d bytes, error %v; want %d bytes", len(got), err, len(text))
			}
		})
	}
	broken := io.MultiReader(strings.NewReader("some"), iotest.ErrReader(errors.New("unplugged")))
	if got, err := io.ReadAll(ReadUntil(t.Context(), broken)); string(got) != "some" || err == nil || err.Error() != "unplugged" {
		t.Errorf("%q, error %v; want some, unplugged", got, err)
	}
}
