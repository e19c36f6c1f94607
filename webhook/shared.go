package webhook

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// The webhook follows jobs on every replica, the controller on the one that leads. Where both are in one process, each
// change of a job is sent to it, decoded and held once, by the informer of the webhook; the controller's cache looks at that.

// Informer is the informer of the jobs of a kind, for other parts of this process. To run it is to
// want it to run; when that ends, its handlers are told no more, and the informer goes on for the others. A kind that is
// served (no other is asked for) is followed from now on. nil: it is not followed in that version, or not for others.
func (j *Jobs) Informer(of schema.GroupVersionKind) cache.SharedIndexInformer {
	if j.others.Pack == nil {
		return nil
	}
	at := slices.IndexFunc(j.kinds, func(k *kinds.Kind) bool { return slices.Contains(k.GVKs, of) })
	if at < 0 {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.followed[of.GroupKind()] == nil {
		j.follow(j.kinds[at], of)
	}
	f := j.followed[of.GroupKind()]
	if f == nil || f.kind != of {
		return nil
	}
	return &sharedInformer{SharedIndexInformer: f.informer, jobs: j, of: f}
}

// sharedInformer is an informer that another part runs, as a cache sees it that would run it.
type sharedInformer struct {
	cache.SharedIndexInformer
	jobs *Jobs
	of   *followedJobs

	mu      sync.Mutex
	told    []cache.ResourceEventHandlerRegistration
	stopped bool
}

var errStopped = errors.New("the informer has been stopped")

// AddEventHandler implements cache.SharedInformer.
func (i *sharedInformer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandlerWithOptions(h, cache.HandlerOptions{})
}

// AddEventHandlerWithResyncPeriod implements cache.SharedInformer.
func (i *sharedInformer) AddEventHandlerWithResyncPeriod(h cache.ResourceEventHandler, every time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandlerWithOptions(h, cache.HandlerOptions{ResyncPeriod: &every})
}

// AddEventHandlerWithOptions implements cache.SharedInformer.
func (i *sharedInformer) AddEventHandlerWithOptions(h cache.ResourceEventHandler, o cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.stopped {
		return nil, errStopped
	}
	r, err := i.SharedIndexInformer.AddEventHandlerWithOptions(h, o)
	if err == nil {
		i.told = append(i.told, r)
	}
	return r, err
}

// RemoveEventHandler implements cache.SharedInformer.
func (i *sharedInformer) RemoveEventHandler(r cache.ResourceEventHandlerRegistration) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.told = slices.DeleteFunc(i.told, func(t cache.ResourceEventHandlerRegistration) bool { return t == r })
	return i.SharedIndexInformer.RemoveEventHandler(r)
}

// Run implements cache.SharedInformer.
func (i *sharedInformer) Run(stop <-chan struct{}) {
	i.jobs.use(i.of)
	<-stop
	i.end()
}

// RunWithContext implements cache.SharedInformer.
func (i *sharedInformer) RunWithContext(ctx context.Context) { i.Run(ctx.Done()) }

func (i *sharedInformer) end() {
	i.mu.Lock()
	i.stopped = true
	for _, r := range i.told {
		if err := i.SharedIndexInformer.RemoveEventHandler(r); err != nil {
			i.jobs.log.Error(err, "stop telling of jobs")
		}
	}
	i.mu.Unlock()
	i.jobs.mu.Lock()
	defer i.jobs.mu.Unlock()
	i.of.leave()
}

// use says that one more part wants it to run.
func (j *Jobs) use(f *followedJobs) {
	j.mu.Lock()
	defer j.mu.Unlock()
	f.users++
}

// IsStopped implements cache.SharedInformer.
func (i *sharedInformer) IsStopped() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.stopped || i.SharedIndexInformer.IsStopped()
}

// SetTransform implements cache.SharedInformer: what is held is the matter of what runs it.
func (*sharedInformer) SetTransform(cache.TransformFunc) error { return nil }

// SetWatchErrorHandler implements cache.SharedInformer: so is what becomes of errors.
func (*sharedInformer) SetWatchErrorHandler(cache.WatchErrorHandler) error { return nil }

// SetWatchErrorHandlerWithContext implements cache.SharedInformer.
func (*sharedInformer) SetWatchErrorHandlerWithContext(cache.WatchErrorHandlerWithContext) error {
	return nil
}
