package webhook

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"

	"golang.org/x/sync/semaphore"
)

// arriving bounds what the bodies of one address may weigh until they have come. The API server has sent a body by the
// time that its head is read; a neighbour who announces bodies and sends a byte a second would else hold all room.
type arriving struct {
	most int64

	mu sync.Mutex
	by map[string]*sender // of those that send now
}

type sender struct {
	room *semaphore.Weighted
	n    int // requests that hold or want some of it
}

func newArriving(most int64) *arriving { return &arriving{most: most, by: map[string]*sender{}} }

// take waits until the address of a request may send so much more. come is to be called once it has.
func (a *arriving) take(ctx context.Context, r *http.Request, weight int64) (come func(), err error) {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	a.mu.Lock()
	s := a.by[host]
	if s == nil {
		s = &sender{room: semaphore.NewWeighted(a.most)}
		a.by[host] = s
	}
	s.n++
	a.mu.Unlock()
	leave := func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if s.n--; s.n == 0 {
			delete(a.by, host)
		}
	}
	if err := s.room.Acquire(ctx, weight); err != nil {
		leave()
		return nil, err
	}
	return sync.OnceFunc(func() {
		s.room.Release(weight)
		leave()
	}), nil
}

// body calls come when it has been read, or its reader has had enough of it.
type body struct {
	io.ReadCloser
	come func()
}

func (b body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.come()
	}
	return n, err
}
