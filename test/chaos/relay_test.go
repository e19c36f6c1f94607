//go:build chaos

package chaos

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// relay passes connections on to one of several addresses, each in its turn, as a Service does; it can cut them, and
// hold what they carry.
type relay struct {
	socket net.Listener
	to     func() []string
	turn   atomic.Uint64
	shut   atomic.Bool // what comes is closed at once

	mu    sync.Mutex
	open  map[net.Conn]bool
	still chan struct{} // closed: bytes pass
}

func listen(to func() []string) *relay {
	GinkgoHelper()
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	r := &relay{socket: socket, to: to, open: map[net.Conn]bool{}, still: make(chan struct{})}
	r.thaw()
	DeferCleanup(socket.Close)
	go func() {
		for {
			c, err := socket.Accept()
			if err != nil {
				return
			}
			go r.pass(c)
		}
	}()
	return r
}

func (r *relay) address() string { return r.socket.Addr().String() }

// cut closes all connections, and those that come until mend.
func (r *relay) cut() {
	r.shut.Store(true)
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.open {
		_ = c.Close()
	}
}

func (r *relay) mend() { r.shut.Store(false) }

// freeze lets no byte pass until thaw; connections stay, and neither side is told.
func (r *relay) freeze() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.still = make(chan struct{})
}

func (r *relay) thaw() {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.still)
}

// held writes once the relay lets bytes pass.
type held struct {
	to net.Conn
	r  *relay
}

func (h held) Write(b []byte) (int, error) {
	h.r.mu.Lock()
	still := h.r.still
	h.r.mu.Unlock()
	<-still
	return h.to.Write(b)
}

func (r *relay) pass(from net.Conn) {
	defer from.Close()
	to := r.dial()
	if to == nil {
		return
	}
	defer to.Close()
	r.note(from, to)
	defer r.forget(from, to)
	ended := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
		go func() {
			_, _ = io.Copy(held{way[0], r}, way[1])
			ended <- struct{}{}
		}()
	}
	<-ended
}

func (r *relay) dial() net.Conn {
	if r.shut.Load() {
		return nil
	}
	to := r.to()
	for range to {
		c, err := net.DialTimeout("tcp", to[r.turn.Add(1)%uint64(len(to))], time.Second)
		if err == nil {
			return c
		}
	}
	return nil
}

func (r *relay) note(all ...net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range all {
		r.open[c] = true
	}
}

func (r *relay) forget(all ...net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range all {
		delete(r.open, c)
	}
}
