// Package capture keeps the evidence of containers as soon as they end, because operators delete
// pods within seconds of a failure and the API server then has nothing to show: it reads their
// logs, keeps excerpts of them (package keep), and writes them into a ConfigMap that the job owns.
// A new process, and whoever may read ConfigMaps of the namespace, finds them there.
//
// Containers that ended well are left alone: a cluster has many more of them, and they are no
// evidence. Start reading at Keeper and See.
package capture

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/workqueue"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/collect"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/keep"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/turns"
)

// Options say what is kept. Zero values mean the defaults in parentheses.
type Options struct {
	Kube   kubernetes.Interface
	Limits collect.Limits // of one log that is read
	// Catalog is the one in force: it knows which lines say something; nil: only tracebacks do.
	Catalog func() *signature.Catalog
	Memory  int64         // bytes over all jobs; 0: nothing is kept at all
	PerJob  int           // bytes of the ConfigMap of one job; 0: none is written
	Quiet   time.Duration // written after this long without anything new (2s)
	Latest  time.Duration // and after this long in any case (15s)
	// Gone says that a job is being deleted or gone: nothing is written about it. nil: never.
	Gone func(context.Context, job.Ref) bool
	// Wrote is called after every attempt to write; nil: not called.
	Wrote func(bytes int, err error)
	Log   logr.Logger
	Now   func() time.Time // nil: the system's clock
}

// Job is whose containers end.
type Job struct {
	Kind *kinds.Kind
	Ref  job.Ref
}

// Keeper keeps the evidence of many jobs. It is safe for concurrent use; a nil Keeper keeps
// nothing.
type Keeper struct {
	Options
	turns  chan struct{} // of cutting excerpts
	reads  workqueue.TypedInterface[task]
	writes workqueue.TypedRateLimitingInterface[writing]

	good sync.Mutex // of writing what good runs printed

	mu   sync.Mutex
	jobs map[types.UID]*kept
	// used is what the jobs took at countedAt, texts of it what their texts took since then, and grown what has come since.
	used, texts, grown int64
	countedAt          time.Time
	uids               map[jobName][]types.UID // of those jobs, and of some that are forgotten; each look at a job asks for those of its name
}

type jobName struct{ kind, namespace, name string }

// kept is one job.
type kept struct {
	ref     job.Ref
	set     *keep.Set
	texts   map[keep.Key]text // of those that were read as far as the limits go
	claimed map[keep.Key]bool // is being read
	failed  bool              // a container has ended badly
	loaded  bool              // what an earlier process stored is in the set
	loading sync.Mutex        // held, before Keeper.mu, while that is read
	seen    int               // ends of the last attempt that were asked for
	asked   time.Time         // when the last of them was
	done    chan struct{}     // closed when the next read is done; nil: none is under way
	changed time.Time         // first change that is not written; zero: none
	used    time.Time
}

// writing is a job of which something is to be written.
type writing struct {
	namespace string
	uid       types.UID
}

type task struct {
	job       types.UID
	namespace string
	pod       string
	previous  bool
	shallow   bool // one of many: only its beginning and its end are read
	record    keep.Record
}

// The bounds of reading: logs at the same time, the time of each, how many of one attempt of a job are read
// as far as the limits go, and how much of the others: a thousand of them pass through the API
// server at once. What ends so long after the ends before it is of another attempt.
const (
	parallel    = 16
	oneLog      = 10 * time.Second
	deep        = 64
	nextAttempt = time.Minute
	shallowHead = 8 << 10
	shallowTail = 40 << 10
	shallowMost = 200 // lines
)

// New is a Keeper that Start sets to work; nil where nothing is to be kept.
func New(o Options) *Keeper {
	if o.Memory <= 0 {
		return nil
	}
	if o.Quiet <= 0 {
		o.Quiet = 2 * time.Second
	}
	if o.Latest <= 0 {
		o.Latest = 15 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	// Pods go within seconds of their end: where thousands of one namespace end together, the logs of others must not be read after
	// all of theirs.
	reads := turns.New(func(t task) string { return t.namespace }, nil)
	writes := turns.New(func(w writing) string { return w.namespace }, nil)
	return &Keeper{
		Options: o, jobs: map[types.UID]*kept{}, uids: map[jobName][]types.UID{}, turns: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)),
		reads: workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[task]{Queue: reads}),
		writes: workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.NewTypedItemExponentialFailureRateLimiter[writing](time.Second, time.Minute), workqueue.TypedRateLimitingQueueConfig[writing]{
			DelayingQueue: workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[writing]{
				Queue: workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[writing]{Queue: writes}),
			}),
		}),
	}
}

// Start reads and writes until ctx ends; what is not written yet is written then.
func (k *Keeper) Start(ctx context.Context) error {
	if k == nil {
		return nil
	}
	var g sync.WaitGroup
	for range parallel {
		g.Go(func() {
			for k.readNext(ctx) {
			}
		})
	}
	g.Go(func() {
		for k.writeNext(ctx) {
		}
	})
	<-ctx.Done()
	k.reads.ShutDown()
	k.writes.ShutDown()
	g.Wait()
	k.flush(context.WithoutCancel(ctx))
	return nil
}

// See keeps how the pod is and asks for the logs of its containers that ended badly. It returns
// at once.
func (k *Keeper) See(j Job, p *corev1.Pod) {
	if k == nil || j.Ref.UID == "" {
		return
	}
	ends := k.ends(j, p)
	if len(ends) == 0 && p.Status.Phase != corev1.PodFailed {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	one := k.of(j.Ref)
	if one.set.AddPod(p) {
		k.grow(aPod)
		k.change(one)
	}
	if now := k.Now(); len(ends) > 0 && now.Sub(one.asked) > nextAttempt {
		one.seen = 0
	}
	for _, t := range ends {
		if one.claimed[t.record.Key] || one.set.Has(t.record.Key) {
			continue
		}
		one.claimed[t.record.Key] = true
		if one.done == nil {
			one.done = make(chan struct{})
		}
		t.shallow = one.seen >= deep
		one.seen, one.asked = one.seen+1, k.Now()
		k.reads.Add(t)
	}
}

// ends are the ends of a pod's containers that are worth keeping.
func (k *Keeper) ends(j Job, p *corev1.Pod) []task {
	var out []task
	add := func(c *corev1.ContainerStatus, t *corev1.ContainerStateTerminated, restart int32, previous bool) {
		r := keep.Record{Key: keep.Key{Pod: p.UID, Container: c.Name, Restart: restart}, Source: collect.SourceOf(j.Kind.Place, p, c.Name)}
		if t != nil {
			r.Ended, r.Code = t.FinishedAt.Time, t.ExitCode
		}
		out = append(out, task{job: types.UID(j.Ref.UID), namespace: p.Namespace, pod: p.Name, previous: previous, record: r})
	}
	leaving := p.DeletionTimestamp != nil && k.failed(j.Ref)
	for _, statuses := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for i := range statuses {
			c := &statuses[i]
			if t := c.LastTerminationState.Terminated; worth(j.Kind, t) {
				add(c, t, c.RestartCount-1, true)
			}
			if t := c.State.Terminated; worth(j.Kind, t) {
				add(c, t, c.RestartCount, false)
			}
			if c.State.Running != nil && leaving {
				add(c, nil, c.RestartCount, false)
			}
		}
	}
	return out
}

// endsWell are the kinds whose launcher ends with 0 even where training failed
// (t9k ColossalAIJob manual, "launcher"; MPIJob manual, "status"): its end is evidence whatever its code.
var endsWell = []string{"ColossalAIJob", "MPIJob.batch.tensorstack.dev"}

func worth(k *kinds.Kind, t *corev1.ContainerStateTerminated) bool {
	return t != nil && (t.ExitCode != 0 || t.Reason == "OOMKilled" || slices.Contains(endsWell, k.Name))
}

// failed says that a container of the job has ended badly: pods that are deleted after that
// while they run tell what the others saw.
func (k *Keeper) failed(ref job.Ref) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	one := k.jobs[types.UID(ref.UID)]
	return one != nil && (one.failed || len(one.claimed) > 0)
}

// What is counted of a pod and of an end beside its text, until it is counted as it is.
const (
	aPod  = 4 << 10
	anEnd = 1 << 10
)

// of is the entry of a job; the lock is held.
func (k *Keeper) of(ref job.Ref) *kept {
	uid := types.UID(ref.UID)
	one := k.jobs[uid]
	if one == nil {
		one = &kept{ref: ref, set: keep.NewSet(), claimed: map[keep.Key]bool{}, loaded: k.PerJob <= 0}
		k.jobs[uid] = one
		if name := (jobName{ref.Kind, ref.Namespace, ref.Name}); !slices.Contains(k.uids[name], uid) {
			k.uids[name] = append(k.uids[name], uid)
		}
	}
	one.used = k.Now()
	return one
}

// change notes that something is to be written; the lock is held.
func (k *Keeper) change(one *kept) {
	if one.changed.IsZero() {
		one.changed = k.Now()
	}
	if k.PerJob > 0 {
		k.writes.AddAfter(writing{one.ref.Namespace, types.UID(one.ref.UID)}, k.Quiet)
	}
}

// readNext reads one log; false: there will be no more.
func (k *Keeper) readNext(ctx context.Context) bool {
	t, shutdown := k.reads.Get()
	if shutdown {
		return false
	}
	defer k.reads.Done(t)
	err := k.load(ctx, t.job)
	if err != nil {
		k.Log.Info("kept evidence cannot be read", "job", t.job, "error", err.Error())
	}
	var read []byte
	final, packed := true, keep.Packed{}
	if has := k.has(t); !has {
		if read, final = k.read(ctx, t); final {
			packed = k.excerpt(t, read)
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	one := k.jobs[t.job]
	if one == nil {
		return true // forgotten meanwhile
	}
	if delete(one.claimed, t.record.Key); final {
		one.failed = true
		if !one.set.Has(t.record.Key) {
			one.set.AddPacked(packed)
			k.grow(anEnd + 2*int64(len(read))) // its excerpt, and the text itself
			k.hold(one, t, read)
			k.change(one)
		}
	}
	if one.done != nil { // else the job was forgotten and seen again meanwhile
		close(one.done)
		one.done = nil
	}
	if len(one.claimed) > 0 {
		one.done = make(chan struct{})
		return true
	}
	k.forgetOldest()
	return true
}

func (k *Keeper) has(t task) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	one := k.jobs[t.job]
	return one == nil || one.set.Has(t.record.Key)
}

// read reads one log. What is gone is gone, and the record says only how it ended; what cannot be
// read now is not final: the next look at the pod asks again.
func (k *Keeper) read(ctx context.Context, t task) (text []byte, final bool) {
	if ctx.Err() != nil {
		return nil, false
	}
	one, cancel := context.WithTimeout(context.WithoutCancel(ctx), oneLog)
	defer cancel()
	limits := k.Limits
	if t.shallow {
		limits.HeadBytes, limits.TailBytes, limits.TailLines = shallowHead, shallowTail, shallowMost
	}
	text, err := collect.ReadLog(one, k.Kube, collect.LogRef{Namespace: t.namespace, Pod: t.pod, Container: t.record.Container, Previous: t.previous}, limits)
	if err != nil && len(text) == 0 {
		k.Log.V(1).Info("log cannot be read", "namespace", t.namespace, "pod", t.pod, "container", t.record.Container, "error", err.Error())
		return nil, apierrors.IsNotFound(err) || apierrors.IsBadRequest(err)
	}
	return text, true
}

// excerpt is what is kept of a log.
func (k *Keeper) excerpt(t task, text []byte) keep.Packed {
	// A gang fails at once, and its diagnosis needs the processor too.
	k.turns <- struct{}{}
	defer func() { <-k.turns }()
	var catalog *signature.Catalog
	if k.Catalog != nil {
		catalog = k.Catalog()
	}
	e := keep.Excerpt{}
	if len(text) > 0 {
		e, _ = keep.Take(bytes.NewReader(text), catalog, keep.Budget) // memory does not fail
	}
	return keep.Pack(t.record, e)
}

// load merges what an earlier process stored, once for each job.
func (k *Keeper) load(ctx context.Context, uid types.UID) error {
	k.mu.Lock()
	one := k.jobs[uid]
	k.mu.Unlock()
	if one == nil {
		return nil
	}
	one.loading.Lock()
	defer one.loading.Unlock()
	k.mu.Lock()
	ref, loaded := one.ref, one.loaded
	k.mu.Unlock()
	if loaded {
		return nil
	}
	stored, err := collect.Stored(ctx, k.Kube, ref)
	if err != nil && !errors.Is(err, keep.ErrForm) {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if one := k.jobs[uid]; one != nil && !one.loaded {
		one.loaded = true
		if stored != nil {
			one.set.Merge(stored)
			k.grow(stored.Bytes())
		}
	}
	return err
}

// ForgetKind drops all jobs of a kind.
func (k *Keeper) ForgetKind(kind string) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for uid, one := range k.jobs {
		if one.ref.Kind == kind {
			delete(k.jobs, uid)
		}
	}
	maps.DeleteFunc(k.uids, func(of jobName, _ []types.UID) bool { return of.kind == kind })
}

// Forget drops the jobs of a name except the one that is there now; "" is none.
func (k *Keeper) Forget(kind, namespace, name string, except types.UID) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	of := jobName{kind, namespace, name}
	if known := k.uids[of]; len(known) == 0 || len(known) == 1 && known[0] == except {
		return
	}
	for _, uid := range k.uids[of] {
		if uid != except {
			delete(k.jobs, uid)
		}
	}
	delete(k.uids, of)
	if k.jobs[except] != nil {
		k.uids[of] = []types.UID{except}
	}
}
