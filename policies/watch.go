package policies

import (
	"context"
	"errors"
	"fmt"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox-dev/signalbox/policies/plan"
	"github.com/signalbox-dev/signalbox/preflight"
)

const (
	// mostTime is what one rule may take of one evaluation, however much its caller has. The rules
	// of the library take microseconds.
	mostTime = time.Second
	// mostMemory is by how much the heap may grow, beyond what it may grow between two collections
	// anyway, while one rule is evaluated.
	mostMemory = 256 << 20
	// looks is how often the heap is looked at.
	looks = 2 * time.Millisecond
)

// perRule is mostTime, but in tests that ask for another bound than time's on machines of any speed.
var perRule = mostTime

var (
	errTime   = errors.New("it did not end in the time that policies have")
	errMemory = fmt.Errorf("it took more than %d MiB of memory", mostMemory>>20)
)

// watcher stops the rule that is being evaluated when the heap grows too much. OPA counts no
// memory, and all evaluations share the heap: a rule that is stopped is asked again, alone with those
// that were stopped as well.
type watcher struct {
	limit   uint64
	current atomic.Pointer[context.CancelCauseFunc]
	over    atomic.Bool // the rule at hand has to end
	large   atomic.Bool // because of the heap
	gone    func() bool // forgets the context
	done    chan struct{}
	machine *plan.Machine
}

// alone is held while a rule is asked again.
var alone sync.Mutex

const heapNow, heapLive = "/memory/classes/heap/objects:bytes", "/gc/heap/live:bytes"

func read(name string) uint64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}

// watch begins to look at the heap, and at the end of a context.
func watch(ctx context.Context) *watcher {
	// The collector lets the heap double (GOGC=100) before it collects. What it is now is asked here, which takes a microsecond: a
	// first look of a machine that is busy may come when most of what is too much is there.
	limit := max(2*read(heapLive), read(heapNow)) + mostMemory
	w := &watcher{limit: limit, done: make(chan struct{}), machine: &plan.Machine{}}
	w.gone = context.AfterFunc(ctx, func() { w.over.Store(true) })
	go w.look()
	return w
}

func (w *watcher) stop() {
	w.gone()
	close(w.done)
}

func (w *watcher) look() {
	ticker := time.NewTicker(looks)
	defer ticker.Stop()
	for {
		select {
		case <-w.done:
			return
		case <-ticker.C:
		}
		if read(heapNow) <= w.limit {
			continue
		}
		w.large.Store(true)
		w.over.Store(true)
		if stop := w.current.Load(); stop != nil {
			(*stop)(errMemory)
		}
	}
}

// guard is a context that ends when the heap has grown too much.
func (w *watcher) guard(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancelCause(ctx)
	w.current.Store(&stop)
	return ctx, func() {
		w.current.Store(nil)
		stop(nil)
	}
}

// ask asks a rule until then; lonely: while no other rule is asked so.
func (w *watcher) ask(ctx context.Context, r *rule, until time.Time, input *plan.Value, mode string, lonely bool) ([]preflight.Ruling, error) {
	if lonely {
		alone.Lock()
		defer alone.Unlock()
	}
	w.large.Store(false)
	w.over.Store(false)
	if ctx.Err() != nil { // also: what ended before over was cleared
		return nil, errTime
	}
	rulings, err := r.ask(ctx, w, until, input, mode)
	switch {
	case !errors.Is(err, plan.ErrStopped):
		return rulings, err
	case w.large.Load():
		return nil, errMemory
	default:
		return nil, errTime
	}
}
