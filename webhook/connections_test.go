package webhook

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener without a network, so that its clock can be one that does not wait.
type pipes struct {
	ends chan net.Conn
	done chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case end := <-p.ends:
		return end, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error   { close(p.done); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// The API server opens connections that it comes to use much later, or never: one that is closed meanwhile costs a call.
// A body has to come soon after its head.
func TestAConnectionMaySayNothingForLongerThanTheAPIServerKeepsIt(t *testing.T) {
	const head = "POST /nowhere HTTP/1.1\r\nHost: webhook\r\nContent-Length: 4\r\n\r\n"
	certificate := signed(t, "webhook")
	synctest.Test(t, func(t *testing.T) {
		w := &Webhook{o: Options{Certificates: serving{certificate: certificate}}}
		server := w.server(newConnections(mostConnections))
		p := pipes{make(chan net.Conn), make(chan struct{})}
		go func() { _ = server.Serve(tls.NewListener(p, w.tls())) }()
		dial := func() *tls.Conn {
			ours, theirs := net.Pipe()
			p.ends <- theirs
			conn := tls.Client(ours, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13})
			if err := conn.HandshakeContext(t.Context()); err != nil {
				t.Fatal(err)
			}
			return conn
		}
		conn := dial()
		answers := bufio.NewReader(conn)
		for _, quiet := range []time.Duration{95 * time.Second, 95 * time.Second} {
			time.Sleep(quiet) //nolint:forbidigo // the clock of a bubble
			if _, err := io.WriteString(conn, head+"body"); err != nil {
				t.Fatalf("after %s: %v", quiet, err)
			}
			resp, err := http.ReadResponse(answers, nil)
			if err != nil {
				t.Fatalf("after %s: %v", quiet, err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			if resp.StatusCode != http.StatusNotFound {
				t.Errorf("answered %s", resp.Status)
			}
		}
		begun := time.Now()
		for name, say := range map[string]string{
			"nothing at all":           "",
			"half a head":              head[:20],
			"no body":                  head,
			"no body, and a large one": strings.Replace(head, "4", "9999999", 1),
		} {
			conn := dial()
			if _, err := io.WriteString(conn, say); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			_, _ = io.Copy(io.Discard, conn) // until the server has enough of it
			limit := silence
			if strings.HasPrefix(name, "no body") {
				limit = 2 * patience
			}
			if took := time.Since(begun); took > limit+time.Second {
				t.Errorf("%s: open for %s", name, took)
			}
			begun = time.Now()
			_ = conn.Close()
		}
		_ = server.Close()
		_ = conn.Close()
		synctest.Wait()
	})
}

// end is a connection of somebody.
type end struct {
	net.Conn
	from   string
	closed bool
}

func (e *end) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(e.from), Port: 1} }
func (e *end) Close() error         { e.closed = true; return nil }

// One connection above the bound closes the longest silent one of the client that holds most of them.
func TestSilentConnectionsAreBounded(t *testing.T) {
	const apiServer, stranger = "10.0.0.1", "10.1.2.3"
	c := newConnections(mostConnections)
	ends := make([]*end, mostConnections)
	synctest.Test(t, func(t *testing.T) {
		for i := range ends {
			ends[i] = &end{from: stranger}
			if i < 100 {
				ends[i].from = apiServer
			}
			c.state(ends[i], http.StateNew)
			time.Sleep(time.Millisecond) //nolint:forbidigo // the clock of a bubble
		}
		for i := range 50 {
			c.state(ends[i], http.StateActive)
		}
		for range 20 {
			c.state(&end{from: apiServer}, http.StateNew)
		}
		for i, e := range ends {
			if want := i >= 100 && i < 120; e.closed != want {
				t.Fatalf("connection %d from %s: closed %v", i, e.from, e.closed)
			}
		}
		if len(c.open) != mostConnections {
			t.Errorf("%d are open", len(c.open))
		}
		for _, e := range ends {
			c.state(e, http.StateClosed)
		}
		if len(c.open) != 20 {
			t.Errorf("%d are left of 20", len(c.open))
		}
	})
}

// A stranger who asks something by each of his connections, and goes on for ever, closes none of the API server's, which are silent
// between two calls.
func TestConnectionsThatAskAreBoundedToo(t *testing.T) {
	const apiServer, stranger = "10.0.0.1", "10.1.2.3"
	synctest.Test(t, func(t *testing.T) {
		c := newConnections(mostConnections)
		ends := make([]*end, mostConnections)
		for i := range ends {
			ends[i] = &end{from: stranger}
			if i < 100 {
				ends[i].from = apiServer
			}
			c.state(ends[i], http.StateNew)
			time.Sleep(time.Millisecond) //nolint:forbidigo // the clock of a bubble
		}
		for i, e := range ends {
			if i >= 100 {
				c.state(e, http.StateActive)
				time.Sleep(time.Millisecond) //nolint:forbidigo // the clock of a bubble
			}
		}
		for range 20 {
			one := &end{from: apiServer}
			if c.state(one, http.StateNew); one.closed {
				t.Fatal("a new connection of the API server is closed")
			}
		}
		for i, e := range ends {
			if want := i >= 100 && i < 120; e.closed != want {
				t.Fatalf("connection %d from %s: closed %v", i, e.from, e.closed)
			}
		}
	})
}

// A replica that ends loses no call of a caller that keeps connections, and that is led to another one as soon as he opens a
// new one. Its callers send what can't be sent again, as the API server does.
func TestAReplicaThatEndsLosesNoCall(t *testing.T) {
	certificate := signed(t, "webhook")
	roots := x509.NewCertPool()
	own, err := x509.ParseCertificate(certificate.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	roots.AddCert(own)
	type replica struct {
		w     *Webhook
		end   context.CancelFunc
		ended chan error
	}
	replicas := make([]replica, 2)
	for i := range replicas {
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		r := replica{&Webhook{o: Options{Certificates: serving{certificate: certificate}}, listener: listener}, cancel, make(chan error, 1)}
		open := newConnections(mostConnections)
		server := r.w.server(open)
		go func() { r.ended <- r.w.listen(ctx, server, open) }()
		replicas[i] = r
	}
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13}, MaxIdleConnsPerHost: 25,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			to := replicas[0].w
			if to.stopping.Load() {
				to = replicas[1].w
			}
			return (&net.Dialer{}).DialContext(ctx, network, to.listener.Addr().String())
		},
	}
	defer transport.CloseIdleConnections()
	var calls, done atomic.Int64
	var all sync.WaitGroup
	failed := make(chan error, 100)
	over := make(chan struct{})
	for range 20 {
		all.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://127.0.0.1/nowhere", io.NopCloser(strings.NewReader("body")))
				if err != nil {
					t.Error(err)
					return
				}
				resp, err := transport.RoundTrip(req)
				if err != nil {
					select {
					case failed <- err:
					default:
					}
					continue
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				if calls.Add(1) == 500 {
					replicas[0].end()
				}
				if replicas[0].w.stopping.Load() && done.Add(1) == 2000 {
					close(over)
				}
			}
		})
	}
	all.Wait()
	close(failed)
	said := map[string]int{}
	for err := range failed {
		said[err.Error()]++
	}
	if len(said) > 0 {
		t.Error(fmt.Sprint(said))
	}
	replicas[1].end()
	for i, r := range replicas {
		if err := <-r.ended; err != nil && !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("replica %d: %v", i, err)
		}
	}
}
