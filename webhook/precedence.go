package webhook

import (
	"context"
	"sync"
	"time"
)

// Precedence is what reviews have over everything else in the process: a caller waits for a review, and none for the second look
// at a job. The zero value is ready; nil gives none.
type Precedence struct {
	mu      sync.Mutex
	running int
	idle    chan struct{} // closed when none runs any more
}

const (
	// mostGivenWay is how long the look at a job waits for reviews at most: reviews that never end stop nothing.
	mostGivenWay = 500 * time.Millisecond
	// lateGivesWay is as long for the review of a job that was admitted without one: a thousand of them are due within a minute.
	lateGivesWay = 20 * time.Millisecond
)

// begin counts a review until the returned function is called.
func (p *Precedence) begin() (end func()) {
	if p == nil {
		return func() {}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running++; p.running == 1 {
		p.idle = make(chan struct{})
	}
	return p.end
}

func (p *Precedence) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running--; p.running == 0 {
		close(p.idle)
	}
}

// GiveWay waits while reviews run.
func (p *Precedence) GiveWay(ctx context.Context) { p.giveWay(ctx, mostGivenWay) }

func (p *Precedence) giveWay(ctx context.Context, limit time.Duration) {
	if p == nil {
		return
	}
	p.mu.Lock()
	running, idle := p.running, p.idle
	p.mu.Unlock()
	if running == 0 {
		return
	}
	most := time.NewTimer(limit)
	defer most.Stop()
	select {
	case <-idle:
	case <-most.C:
	case <-ctx.Done():
	}
}
