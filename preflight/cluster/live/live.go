// Package live keeps a cluster.Snapshot of a running cluster up to date by informers,
// so that a caller gets one without a call of the API and without waiting. It
// judges nothing, writes nothing and reads no Secrets. Start reading at Live.
//
// Kinds of operators are followed as soon as the API serves them: they may be installed
// later. What may not be listed stays unknown in the snapshot; it stops nothing else.
package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
)

// Clients are the doors to one cluster.
type Clients struct {
	Kube      kubernetes.Interface
	Dynamic   dynamic.Interface
	Discovery discovery.DiscoveryInterface
}

// Connect makes the clients. Built-in kinds travel as protobuf: thousands of pods are
// read that way in a third of the time that JSON takes.
func Connect(config *rest.Config) (Clients, error) {
	binary := rest.CopyConfig(config)
	binary.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	binary.ContentType = "application/vnd.kubernetes.protobuf"
	kube, err := kubernetes.NewForConfig(binary)
	if err != nil {
		return Clients{}, fmt.Errorf("connect to the cluster: %w", err)
	}
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		return Clients{}, fmt.Errorf("connect to the cluster: %w", err)
	}
	return Clients{Kube: kube, Dynamic: dyn, Discovery: kube.Discovery()}, nil
}

// Options tune a Live; zero values are replaced by the defaults named here.
type Options struct {
	Resources []Resource       // besides nodes, pods and namespaces; nil: Resources()
	Settle    time.Duration    // how long changes gather before the next snapshot; 100 ms
	Poll      time.Duration    // how often the API is asked for kinds installed or removed since; 5 s
	Clock     func() time.Time // what a snapshot calls the time it was taken at; time.Now
}

// Live follows one cluster. Make it with New, then Start it once. All other methods are
// safe for concurrent use, before, during and after.
type Live struct {
	clients Clients
	options Options

	current atomic.Pointer[cluster.Snapshot]
	labels  sync.Map      // of namespaces, by name: map[string]string, never nil
	synced  chan struct{} // closed when the first whole snapshot stands
	wake    chan struct{} // something changed

	mu      sync.Mutex // guards all below
	store   cluster.Store
	sources map[schema.GroupResource]*source
	asked   bool // the API has said at least once what it serves
}

// New prepares to follow a cluster; nothing is read before Start.
func New(clients Clients, o Options) *Live {
	if o.Resources == nil {
		o.Resources = Resources()
	}
	o.Settle, o.Poll = cmp.Or(o.Settle, 100*time.Millisecond), cmp.Or(o.Poll, 5*time.Second)
	if o.Clock == nil {
		o.Clock = time.Now
	}
	l := &Live{
		clients: clients, options: o,
		synced: make(chan struct{}), wake: make(chan struct{}, 1),
		sources: map[schema.GroupResource]*source{},
	}
	l.current.Store(unsynced(nil))
	return l
}

// unsynced is the view before the caches hold what is needed.
func unsynced(waits []string) *cluster.Snapshot {
	var b cluster.Builder
	why := "the cluster has not been read yet"
	if len(waits) > 0 {
		why += ": waiting for " + strings.Join(waits, ", ")
	}
	b.Incomplete(why)
	return b.Snapshot(time.Time{})
}

// Snapshot is the cluster as it was a moment ago (Options.Settle and the way of the
// event). It neither calls the API nor builds anything. Until the caches are synced it
// is a snapshot that says so.
func (l *Live) Snapshot() *cluster.Snapshot { return l.current.Load() }

// Namespace is the labels of a namespace; nil where they are not known. They are read-only, as everything in a snapshot.
func (l *Live) Namespace(name string) map[string]string {
	known, _ := l.labels.Load(name)
	labels, _ := known.(map[string]string)
	return labels
}

// Synced says whether everything that is served and may be listed has been read.
func (l *Live) Synced() bool {
	select {
	case <-l.synced:
		return true
	default:
		return false
	}
}

// WaitForSync waits until Synced. Its error names what has not been read yet.
func (l *Live) WaitForSync(ctx context.Context) error {
	select {
	case <-l.synced:
		return nil
	case <-ctx.Done():
		l.mu.Lock()
		defer l.mu.Unlock()
		return fmt.Errorf("read the cluster: waiting for %s: %w", strings.Join(l.waits(), ", "), context.Cause(ctx))
	}
}

// Problems are the resources that cannot be read, and why, in the order of their names.
func (l *Live) Problems() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for _, src := range l.sources {
		if src.problem == nil {
			continue
		}
		why := src.problem.Error()
		if !strings.HasPrefix(why, src.name) {
			why = src.name + ": " + why
		}
		out = append(out, why)
	}
	slices.Sort(out)
	return out
}

// NeedLeaderElection lets every replica follow the cluster, whichever leads.
func (l *Live) NeedLeaderElection() bool { return false }

// Start follows the cluster until the context ends, then stops all it has started. It
// may be called once.
func (l *Live) Start(ctx context.Context) error {
	if l.clients.Kube == nil || l.clients.Dynamic == nil || l.clients.Discovery == nil {
		return errors.New("follow the cluster: a client is missing")
	}
	var running sync.WaitGroup
	defer running.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for _, b := range l.builtin() {
		l.follow(ctx, &running, b)
	}
	running.Go(func() { l.discover(ctx, &running) })
	l.build(ctx)
	return nil
}

// build makes a snapshot whenever something has changed, at most one per Settle.
func (l *Live) build(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
		}
		l.rebuild()
		select {
		case <-ctx.Done():
			return
		case <-time.After(l.options.Settle):
		}
	}
}

// rebuild publishes what the store holds now.
func (l *Live) rebuild() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if waits := l.waits(); len(waits) > 0 {
		if !l.Synced() {
			l.current.Store(unsynced(waits))
			return
		}
	}
	for name, src := range l.sources {
		l.store.SetComplete(name, src.whole())
	}
	l.current.Store(l.store.Snapshot(l.options.Clock(), l.missing()))
	if !l.Synced() {
		close(l.synced)
	}
}

// waits names what has to be read before the first snapshot, in order.
func (l *Live) waits() []string {
	var out []string
	if !l.asked {
		out = append(out, "the list of kinds the API serves")
	}
	for _, src := range l.sources {
		if !src.settled() {
			out = append(out, src.name)
		}
	}
	slices.Sort(out)
	return out
}

// missing is why the numbers of a snapshot must not be trusted.
func (l *Live) missing() string {
	var out []string
	for _, name := range []schema.GroupResource{nodes, pods} {
		if src := l.sources[name]; src != nil && !src.whole() {
			out = append(out, fmt.Sprintf("%s cannot be listed: %v", src.name, cmp.Or(src.problem, errNotRead)))
		}
	}
	return strings.Join(out, "; ")
}

var errNotRead = errors.New("not read yet")

// changed asks for a new snapshot, without waiting for it.
func (l *Live) changed() {
	select {
	case l.wake <- struct{}{}:
	default: // one is on its way
	}
}

// failed records an error of a list or a watch. Whatever may end by itself (a restart of
// the API server) does not count once the resource has been read.
func (s *source) failed(err error) {
	if s.handled() && !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) && !apierrors.IsNotFound(err) {
		return
	}
	if answer, ok := errors.AsType[*apierrors.StatusError](err); ok {
		err = answer // what the API server said, without who asked
	}
	s.problem = err
}
