package webhook

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// from is a connection that says where it comes from.
type from struct {
	net.Conn
	address string
}

func (f from) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(f.address), Port: 1} }

// TestPlainPortsAreForEverybody: a stranger who asks for metrics all the time, takes no answer, sends no end of a request, or says
// nothing on thousands of connections keeps nobody else from an answer.
func TestPlainPortsAreForEverybody(t *testing.T) {
	const stranger, prometheus = "10.1.2.3", "10.0.0.1"
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int32
		server := Plain(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			_, _ = io.WriteString(w, strings.Repeat("metric 1\n", 10_000)) // who asks may not take it
		}))
		p := pipes{make(chan net.Conn), make(chan struct{})}
		go func() { _ = server.Serve(p) }()
		dial := func(address string) net.Conn {
			ours, theirs := net.Pipe()
			p.ends <- from{theirs, address}
			time.Sleep(time.Millisecond) //nolint:forbidigo // the clock of a bubble
			return ours
		}
		closed := func(conn net.Conn) bool {
			_ = conn.SetReadDeadline(time.Now().Add(time.Millisecond))
			_, err := conn.Read(make([]byte, 1))
			return err == io.EOF //nolint:errorlint // a pipe's
		}
		ask := func(what string) {
			t.Helper()
			begun := time.Now()
			conn := dial(prometheus)
			defer conn.Close()
			go func() { _, _ = io.WriteString(conn, "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n") }()
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if text, err := io.ReadAll(resp.Body); err != nil || len(text) < 10_000 {
				t.Errorf("%s: %d bytes: %v", what, len(text), err)
			}
			if took := time.Since(begun); took > time.Second {
				t.Errorf("%s: answered after %s", what, took)
			}
		}
		var all []net.Conn
		for range plainConnections + 50 {
			all = append(all, dial(stranger))
		}
		ask("silent connections")
		for i, conn := range all {
			if is := closed(conn); is != (i < 51) {
				t.Errorf("silent connection %d: closed %v", i, is)
			}
		}
		for _, conn := range all[51:] {
			go func() { _, _ = io.WriteString(conn, "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n") }() // and reads nothing
		}
		synctest.Wait()
		if n := running.Load(); n != plainRequests/2 {
			t.Errorf("%d requests of one address are answered at the same time; want %d", n, plainRequests/2)
		}
		ask("answers that nobody takes")
		time.Sleep(plainAnswer) //nolint:forbidigo // the clock of a bubble
		synctest.Wait()
		if n := running.Load(); n > plainRequests/2 {
			t.Errorf("%d requests are still answered", n)
		}
		if n := most.Load(); n > plainRequests {
			t.Errorf("%d requests were answered at the same time; want %d at most", n, plainRequests)
		}
		for _, conn := range all {
			_ = conn.Close()
		}
		for what, say := range map[string]string{
			"half a head": "GET /metrics HT", "a body that does not come": "GET /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n", "nothing at all": "",
		} {
			begun, conn := time.Now(), dial(stranger)
			go func() { _, _ = io.WriteString(conn, say) }()
			_, _ = io.Copy(io.Discard, conn)
			if took := time.Since(begun); took > silence {
				t.Errorf("%s: open for %s", what, took)
			}
		}
		conn := dial(stranger)
		reader := bufio.NewReader(conn)
		go func() {
			_, _ = fmt.Fprintf(conn, "GET /metrics HTTP/1.1\r\nHost: a\r\nX: %s\r\n\r\n", strings.Repeat("x", 1<<15))
		}()
		if resp, err := http.ReadResponse(reader, nil); err != nil || resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("a head of 32 KB: %v, %v", resp, err)
		}
		_ = conn.Close()
		_ = server.Close()
		time.Sleep(time.Second) //nolint:forbidigo // the clock of a bubble; a server lingers
		synctest.Wait()
	})
}
