package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Part is a set of programs beside etcd and kube-apiserver, which always run.
type Part uint

// The parts one can ask for.
const (
	Scheduler         Part = 1 << iota // kube-scheduler
	ControllerManager                  // kube-controller-manager; without it this package makes the ServiceAccounts pods need
	Kwok                               // nodes that are Ready, pods that run, fail and have logs
	TrainingOperator                   // Kubeflow training operator: PyTorchJob, TFJob, MPIJob, …
	JobSet                             // JobSet controller
	Trainer                            // Kubeflow Trainer v2: TrainJob; brings JobSet along
	CertManager                        // cert-manager's issuing loop and CA injector
	LeaderWorkerSet                    // LeaderWorkerSet controller
	MPIOperator                        // Kubeflow MPI operator: MPIJob v2beta1; its CRD has the name of TrainingOperator's
	KubeRay                            // KubeRay: RayCluster, RayJob
	Kueue                              // Kueue: queues and quotas for Jobs, MPIJobs of v2beta1, JobSets and RayJobs
)

// Machinery is what a cluster needs so that a pod is scheduled and runs.
const Machinery = Scheduler | ControllerManager | Kwok

// Everything is every part that the demo starts.
const Everything = Machinery | TrainingOperator | JobSet | Trainer | CertManager

// Options say what to start. The zero value is a bare API server.
type Options struct {
	Parts      Part
	Dir        string              // where everything lies, left alone by Stop; empty: a temporary folder, removed unless something failed
	KwokConfig []string            // more files for kwok: stages and ClusterLogs of a test's own
	ExtraArgs  map[string][]string // more arguments by program name, e.g. "kube-apiserver"
	ExtraEnv   map[string][]string // environment by program name, as NAME=value
	Progress   io.Writer           // one line per part that is ready; nil: silent
	Patience   time.Duration       // how long one part may take to become ready; zero: 90 s
}

// Cluster is a running control plane.
type Cluster struct {
	options Options
	dir     string
	bin     string
	pki     *pki
	users   []user

	server    string // https://127.0.0.1:port
	etcd      string // the same of etcd
	kwokPort  int
	config    *rest.Config
	clientset kubernetes.Interface

	spawner *spawner
	cancel  context.CancelFunc
	once    sync.Once // stopping
	stopErr error
	done    chan struct{} // closed when the cluster has stopped or a part ended by itself
	ended   sync.Once     // closing done

	followers sync.WaitGroup // goroutines that Stop waits for

	mu        sync.Mutex
	stopping  bool
	keep      bool
	failure   error
	processes []*process
}

// Start returns when every part is ready: it has answered, not merely been started. The cluster lives until
// Stop or the end of ctx. On failure nothing runs any more, the folder with the logs stays, and the error
// holds the last lines of the log that matters.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	if o.Parts&Trainer != 0 {
		o.Parts |= JobSet
	}
	if o.Patience == 0 {
		o.Patience = 90 * time.Second
	}
	c := &Cluster{options: o, done: make(chan struct{})}
	if err := c.prepare(); err != nil {
		return nil, fmt.Errorf("start cluster: %w", err)
	}
	c.spawner = newSpawner()
	life, cancel := context.WithCancel(ctx)
	c.cancel = cancel
	context.AfterFunc(life, func() { _ = c.Stop() })

	if err := c.bringUp(life); err != nil {
		if ctx.Err() == nil {
			c.Keep()
			err = fmt.Errorf("%w\nlogs are kept in %s", err, c.LogDir())
		}
		return nil, errors.Join(fmt.Errorf("start cluster: %w", err), c.Stop())
	}
	return c, nil
}

// prepare makes the folder, the keys and the tokens; nothing runs yet.
func (c *Cluster) prepare() error {
	var err error
	if c.bin, err = programs(c.options.Parts); err != nil {
		return err
	}
	if c.dir = c.options.Dir; c.dir == "" {
		if c.dir, err = os.MkdirTemp("", "signalbox-cluster-"); err != nil {
			return err
		}
	} else if c.dir, err = filepath.Abs(c.dir); err != nil {
		return err
	}
	for _, sub := range []string{"logs", "pki", "kubeconfig", "podlogs", "kwok", "tmp"} {
		if err := os.MkdirAll(filepath.Join(c.dir, sub), 0o700); err != nil {
			return err
		}
	}
	if c.pki, err = newPKI(c.path("pki")); err != nil {
		return err
	}
	c.users, err = writeTokens(c.path("pki", "tokens.csv"))
	return err
}

func (c *Cluster) bringUp(ctx context.Context) error {
	begun := time.Now()
	if err := c.startAPI(ctx); err != nil {
		return err
	}
	g, gctx := errgroup.WithContext(ctx)
	for _, p := range []struct {
		part  Part
		start func(context.Context) error
	}{
		{Scheduler, c.startScheduler},
		{ControllerManager, c.startControllerManager},
		{Kwok, c.startKwok},
	} {
		if c.has(p.part) {
			g.Go(func() error { return p.start(gctx) })
		}
	}
	for _, o := range operators {
		if c.has(o.part) {
			g.Go(func() error { return c.startOperator(gctx, o) })
		}
	}
	g.Go(func() error { return c.ensureServiceAccount(gctx, "default") })
	if err := g.Wait(); err != nil {
		return err
	}
	if c.has(Kwok) {
		c.followers.Go(func() { c.followLogAnnotations(ctx) })
	}
	c.progressf("cluster is ready after %s", time.Since(begun).Round(100*time.Millisecond))
	return nil
}

// Stop ends every process, in the reverse order of their start, and removes the folder unless something
// failed, [Cluster.Keep] was called or the caller chose the folder. It may be called more than once; every
// call returns when nothing runs any more.
func (c *Cluster) Stop() error {
	c.once.Do(func() {
		c.mu.Lock()
		c.stopping = true
		processes := c.processes
		c.mu.Unlock()
		c.cancel()
		for _, p := range slices.Backward(processes) {
			p.kill()
		}
		c.followers.Wait()
		c.spawner.close()
		c.ended.Do(func() { close(c.done) })
		c.mu.Lock()
		defer c.mu.Unlock()
		c.stopErr = c.failure
		if c.failure == nil && !c.keep && c.options.Dir == "" {
			c.stopErr = os.RemoveAll(c.dir)
		}
	})
	return c.stopErr
}

// Keep makes Stop leave the folder behind: a test that failed wants the logs.
func (c *Cluster) Keep() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep = true
}

// Done is closed when the cluster has stopped, or when one of its parts ended by itself; then Err says which.
func (c *Cluster) Done() <-chan struct{} { return c.done }

// Err names the part that ended by itself, its log file and the last lines of it; nil when none did.
func (c *Cluster) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failure
}

// Dir is the folder everything lies in.
func (c *Cluster) Dir() string { return c.dir }

// LogDir holds one log file per program.
func (c *Cluster) LogDir() string { return c.path("logs") }

func (c *Cluster) has(p Part) bool { return c.options.Parts&p != 0 }

func (c *Cluster) path(elem ...string) string {
	return filepath.Join(append([]string{c.dir}, elem...)...)
}

func (c *Cluster) progressf(format string, args ...any) {
	if c.options.Progress == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(c.options.Progress, format+"\n", args...)
}
