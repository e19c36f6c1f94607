package serve

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
)

// A manager that ends, because its lease is lost or the API server is away, is started again.
func TestWhatEndsIsStartedAgain(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	runs := 0
	again(ctx, logr.Discard(), time.Nanosecond, func(context.Context) error {
		if runs++; runs == 4 {
			cancel()
		}
		return errors.New("leader election lost")
	})
	if runs != 4 {
		t.Errorf("it ran %d times; want 4", runs)
	}
}

func TestMemoryIsBoundedBelowTheLimit(t *testing.T) {
	file := func(text string) string {
		name := filepath.Join(t.TempDir(), "memory.max")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	cases := map[string]struct {
		said, file string
		want       int64
	}{
		"the Deployment says it":       {"2147483640", file("1000\n"), 1932735276},
		"only the control group knows": {"", file("1000\n"), 900},
		"there is no limit":            {"", file("max\n"), 0},
		"nobody knows":                 {"", filepath.Join(t.TempDir(), "none"), 0},
		"nonsense is said":             {"2Gi", file("1000"), 900},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got, _ := memoryOf(tc.said, tc.file); got != tc.want {
				t.Errorf("%d; want %d", got, tc.want)
			}
		})
	}
}

// TestStrangersTakeNoPortThatIsPlain: who opens more connections than the port for probes has closes his own.
func TestStrangersTakeNoPortThatIsPlain(t *testing.T) {
	free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	group, ctx := errgroup.WithContext(ctx)
	if err := listen(ctx, group, "health", address, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w) })); err != nil {
		t.Fatal(err)
	}
	first, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	answers := bufio.NewReader(first)
	if _, err := io.WriteString(first, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if resp, err := http.ReadResponse(answers, nil); err != nil {
		t.Fatal(err)
	} else if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	gone := make(chan error, 1)
	go func() {
		_ = first.SetReadDeadline(time.Now().Add(time.Minute))
		_, err := answers.ReadByte()
		gone <- err
	}()
	// It is quiet from when the server has noted so, which may be after the client has read the answer: others that come before that are older.
	for n := 0; len(gone) == 0 && n < 1000; n++ {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	if err := <-gone; err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the connection that says nothing for longest is not closed: %v", err)
	}
	if resp, err := http.Get("http://" + address); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("a probe is answered %v, %v", resp, err)
	} else {
		_ = resp.Body.Close()
	}
	stop()
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}
