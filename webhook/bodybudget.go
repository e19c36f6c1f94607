package webhook

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
)

// bodyBudget bounds what the bodies of one address may weigh until they have come. The API server has sent a body by the
// time that its head is read; a neighbour who announces bodies and sends a byte a second would else hold all of the budget.
type bodyBudget struct {
	most int64

	mu sync.Mutex
	by map[string]*sender // of those that send now
}

type sender struct {
	budget *budget
	n      int // requests that hold or want some of it
}

func newBodyBudget(most int64) *bodyBudget { return &bodyBudget{most: most, by: map[string]*sender{}} }

// addressOf is an address without its port.
func addressOf(remote string) string {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return remote
	}
	return host
}

// acquire waits until the address of a request may send so much more. come is to be called once it has.
func (a *bodyBudget) acquire(ctx context.Context, r *http.Request, author string, weight int64) (come func(), err error) {
	host := addressOf(r.RemoteAddr)
	a.mu.Lock()
	s := a.by[host]
	if s == nil {
		s = &sender{budget: newBudget(a.most)}
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
	if err := s.budget.acquire(ctx, author, weight); err != nil {
		leave()
		return nil, err
	}
	return sync.OnceFunc(func() {
		s.budget.release(author, weight)
		leave()
	}), nil
}

// body calls come when all of it has been read, or its reader has had enough of it.
type body struct {
	io.ReadCloser
	left int64 // below zero: it is not known how long it is
	come func()
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	if err != nil || b.left == 0 {
		b.come()
	}
	return n, err
}
