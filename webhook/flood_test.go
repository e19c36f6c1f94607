package webhook

import (
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// listening is the server of a webhook on a real port.
func listening(t *testing.T, w *Webhook) (*connections, string) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	open := newConnections(mostConnections)
	server := w.server(open)
	go func() { _ = server.Serve(tls.NewListener(open.counted(listener), w.tls())) }()
	t.Cleanup(func() { _ = server.Close() })
	return open, listener.Addr().String()
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}

// A head of short lines takes sixteen times its bytes as long as it does not end: of two thousand connections, two gigabytes.
func TestHeadsWithoutEndAreBounded(t *testing.T) {
	open, at := listening(t, &Webhook{o: Options{Certificates: serving{certificate: signed(t, "webhook")}}})
	var lines strings.Builder
	for i := 0; lines.Len() < 64<<10; i++ {
		fmt.Fprintf(&lines, "%x:\r\n", i)
	}
	hello := append([]byte{22, 3, 1, 64, 0, 1, 0, 255, 255}, make([]byte, 1<<14-4)...) // a quarter of a ClientHello
	trusting := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13}
	for name, begin := range map[string]func(net.Conn) error{
		"heads": func(c net.Conn) error {
			_, err := tls.Client(c, trusting).Write([]byte("GET / HTTP/1.1\r\nHost: a\r\n" + lines.String()))
			return err
		},
		"handshakes": func(c net.Conn) error {
			_, err := c.Write(hello)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := heapInUse()
			const many = 400
			var flood sync.WaitGroup
			conns := make([]net.Conn, many)
			for i := range conns {
				c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", at)
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				conns[i] = c
			}
			for i := range 8 {
				flood.Go(func() {
					for k := i; k < many; k += 8 {
						_ = begin(conns[k]) // of a connection that was ended for others
					}
				})
			}
			flood.Wait()
			open.mu.Lock()
			held := open.heads
			open.mu.Unlock()
			if held > mostHeads {
				t.Errorf("%d bytes of heads are held; want %d at most", held, mostHeads)
			}
			if grown := int64(heapInUse()) - int64(before); grown > 256<<20 {
				t.Errorf("the heap grew by %d MiB", grown>>20)
			}
			client := &http.Client{Transport: &http.Transport{TLSClientConfig: trusting}, Timeout: 10 * time.Second}
			defer client.CloseIdleConnections()
			resp, err := client.Get("https://" + at + "/")
			if err != nil {
				t.Fatal("a call of somebody else:", err)
			}
			_ = resp.Body.Close()
		})
	}
	open.mu.Lock()
	defer open.mu.Unlock()
	sum := 0
	for _, of := range open.open {
		sum += of.head
	}
	if sum != open.heads {
		t.Errorf("%d bytes are held, and %d are counted", sum, open.heads)
	}
}

// The head that is one too many ends the connection that has most, and what was read to its end counts for nothing.
func TestTheLargestHeadGoes(t *testing.T) {
	c := newConnections(mostConnections)
	ours := func() net.Conn { one, other := net.Pipe(); t.Cleanup(func() { _ = other.Close() }); return one }
	small, large, asked := ours(), ours(), ours()
	for _, conn := range []net.Conn{small, large, asked} {
		c.state(conn, http.StateNew)
	}
	c.came(asked, mostHeads)
	c.state(asked, http.StateActive)
	c.came(asked, mostHeads) // a body
	c.came(small, 1)
	c.came(large, mostHeads-1)
	if c.heads != mostHeads || len(c.open) != 3 {
		t.Fatalf("%d bytes of %d connections; want %d of 3", c.heads, len(c.open), mostHeads)
	}
	c.came(small, 1)
	if c.open[large] != nil || c.open[small] == nil || c.open[asked] == nil || c.heads != 2 {
		t.Errorf("open are %d, with %d bytes; want the small one and the one that asked", len(c.open), c.heads)
	}
}

// A session that began when another CA signed callers is not taken up.
func TestASessionOfAnotherCAIsNotResumed(t *testing.T) {
	server, first, second := signed(t, "webhook"), signed(t, "kube-apiserver"), signed(t, "kube-apiserver")
	file := filepath.Join(t.TempDir(), "ca.crt")
	trust := func(c tls.Certificate) {
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	trust(first)
	_, at := listening(t, &Webhook{o: Options{Certificates: serving{certificate: server}, ClientCAFile: file}})
	sessions := tls.NewLRUClientSessionCache(1)
	call := func() (resumed bool, err error) {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
			InsecureSkipVerify: true, Certificates: []tls.Certificate{first}, ClientSessionCache: sessions, MinVersion: tls.VersionTLS13,
		}}}
		defer client.CloseIdleConnections()
		resp, err := client.Get("https://" + at + "/")
		if err != nil {
			return false, err
		}
		_ = resp.Body.Close()
		return resp.TLS.DidResume, nil
	}
	for _, want := range []bool{false, true} {
		if resumed, err := call(); err != nil || resumed != want {
			t.Fatalf("resumed %v, %v; want %v", resumed, err, want)
		}
	}
	trust(second)
	if _, err := call(); err == nil {
		t.Error("a session goes on whose CA is gone")
	}
}
