package webhook

import (
	"context"
	"sync"
	"time"
)

// Precedence is what reviews have over everything else in the process: somebody waits for a review, and nobody for the second look
// at a job. The zero value is ready; nil gives nobody any.
type Precedence struct {
	mu      sync.Mutex
	running int
	idle    chan struct{} // closed when none runs any more
}

// mostGivenWay is how long the rest waits for reviews at most, each time: reviews that never end stop nothing.
const mostGivenWay = 500 * time.Millisecond

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
func (p *Precedence) GiveWay(ctx context.Context) {
	if p == nil {
		return
	}
	p.mu.Lock()
	running, idle := p.running, p.idle
	p.mu.Unlock()
	if running == 0 {
		return
	}
	most := time.NewTimer(mostGivenWay)
	defer most.Stop()
	select {
	case <-idle:
	case <-most.C:
	case <-ctx.Done():
	}
}
