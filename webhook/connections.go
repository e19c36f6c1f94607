package webhook

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// silence is how long a connection may say nothing before it is closed: longer than the API server keeps
	// one that it has no use for, 90 s (https://pkg.go.dev/net/http#Transport, IdleConnTimeout of the default
	// transport). The side that closes first loses no call; a connection that is closed while a call is being
	// written to it is a call that failed. That holds for a connection that never carried a call, too: the
	// API server opens one more than it needs whenever another becomes free meanwhile, and the
	// first use of one is never tried again (net/http, persistConn.shouldRetryRequest).
	silence = 2 * time.Minute
	// mostConnections is how many may be open. The API server runs 600 requests at once as it is delivered
	// (--max-requests-inflight and --max-mutating-requests-inflight); one costs us some 40 KB.
	mostConnections = 2048
	// mostHeads is how many bytes of handshakes and of heads that have not ended are held, of all connections. A head of short
	// lines takes sixteen times its bytes (TestHeadsWithoutEndAreBounded); that of an API server and its handshake have two
	// kilobytes.
	mostHeads = 4096 * mostConnections
	// lull is how long no call has come when a webhook that ends stops to wait for more, and drain
	// how long it waits at most.
	lull  = 300 * time.Millisecond
	drain = 3 * time.Second
)

// connections knows which connections are open, and which of them say nothing.
type connections struct {
	most int

	mu       sync.Mutex
	open     map[net.Conn]*connection
	heads    int // the sum over all connections
	lastCall time.Time
}

type connection struct {
	from  string    // the address without its port
	quiet bool      // nothing is asked
	since time.Time // it is quiet, or something is asked
	head  int       // bytes that came while nothing was asked
}

func newConnections(most int) *connections {
	return &connections{most: most, open: map[net.Conn]*connection{}}
}

// state follows a connection; it is a http.Server's ConnState. One too many closes one of the address that has most, the one that
// has been quiet for longest: a client that opens thousands and says nothing, or a byte a minute, closes its own. So does
// one that asks something by each of them and sends no body: where none is quiet, the one that has asked for longest goes.
func (c *connections) state(conn net.Conn, to http.ConnState) {
	conn = plain(conn)
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if of := c.open[conn]; of != nil { // what came was read to its end, or to no end
		c.heads -= of.head
		of.head = 0
	}
	switch to {
	case http.StateNew:
		c.open[conn] = &connection{from: addressOf(conn.RemoteAddr().String()), quiet: true, since: now}
		if len(c.open) > c.most {
			c.closeOne()
		}
	case http.StateActive:
		c.lastCall = now
		if of := c.open[conn]; of != nil {
			of.quiet, of.since = false, now
		}
	case http.StateIdle:
		if of := c.open[conn]; of != nil {
			of.quiet, of.since = true, now
		}
	case http.StateClosed, http.StateHijacked:
		delete(c.open, conn)
	}
}

func (c *connections) closeOne() {
	has := map[string]int{}
	for _, of := range c.open {
		has[of.from]++
	}
	var chosen net.Conn
	for conn, of := range c.open {
		if chosen == nil || of.before(c.open[chosen], has) {
			chosen = conn
		}
	}
	c.close(chosen)
}

func (c *connections) close(conn net.Conn) {
	c.heads -= c.open[conn].head
	delete(c.open, conn)
	_ = conn.Close() // without a farewell, which may have to wait
}

// before says which of two is closed first, by how many connections addresses have.
func (c *connection) before(other *connection, has map[string]int) bool {
	switch {
	case has[c.from] != has[other.from]:
		return has[c.from] > has[other.from]
	case c.quiet != other.quiet:
		return c.quiet
	default:
		return c.since.Before(other.since)
	}
}

// hangUp closes what is quiet. A server that ends closes only those that carried a call before, and waits
// five seconds for the others (net/http, Server.Shutdown).
func (c *connections) hangUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn, of := range c.open {
		if of.quiet {
			_ = conn.Close()
		}
	}
}

// plain is a connection without what encrypts it.
func plain(conn net.Conn) net.Conn {
	if over, ok := conn.(*tls.Conn); ok {
		return over.NetConn()
	}
	return conn
}

// counted is a listener whose connections count what comes.
func (c *connections) counted(l net.Listener) net.Listener { return countedListener{l, c} }

type countedListener struct {
	net.Listener

	by *connections
}

func (l countedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &countedConn{conn, l.by}, nil
}

type countedConn struct {
	net.Conn

	by *connections
}

func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.by.came(c, n)
	return n, err
}

// came counts bytes of a head. Where all of them are too many, the connection ends that has most.
func (c *connections) came(conn net.Conn, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.open[conn]
	if of == nil || !of.quiet {
		return
	}
	of.head += n
	c.heads += n
	for c.heads > mostHeads {
		largest := conn
		for other, o := range c.open {
			if o.head > c.open[largest].head {
				largest = other
			}
		}
		c.close(largest)
		if largest == conn {
			return
		}
	}
}

// drained returns when no call has come for a while, or when too long has been waited for that. Meanwhile each answer
// tells its caller to come by another connection (closing), which leads to another replica.
func (c *connections) drained(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, drain)
	defer cancel()
	tick := time.NewTicker(lull / 3)
	defer tick.Stop()
	begun := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			c.mu.Lock()
			last := c.lastCall
			c.mu.Unlock()
			if now.Sub(last) >= lull && now.Sub(begun) >= lull {
				return
			}
		}
	}
}

// closing tells callers of a webhook that ends not to use their connection again.
func (w *Webhook) closing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if w.stopping.Load() {
			rw.Header().Set("Connection", "close")
		}
		next.ServeHTTP(rw, r)
	})
}
