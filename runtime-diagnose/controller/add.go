package controller

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/capture"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/collect"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/explain"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/llm"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/prompt"
)

// Add puts the controller into a manager. It runs where the manager leads, or everywhere
// without leader election. Kinds that the cluster lacks are looked for every Options.Discovery
// and work as soon as they are served; kinds that go are forgotten.
func Add(ctx context.Context, m manager.Manager, o Options) error {
	// Built-in kinds travel as protobuf: thousands of pods are read in a third of the time that JSON takes.
	binary := rest.CopyConfig(m.GetConfig())
	binary.ContentType, binary.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf+","+runtime.ContentTypeJSON
	kube, err := kubernetes.NewForConfigAndClient(binary, m.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("set up controller: %w", err)
	}
	objects, err := dynamic.NewForConfigAndClient(m.GetConfig(), m.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("set up controller: %w", err)
	}
	counts, err := newMetrics(o.Metrics)
	if err != nil {
		return fmt.Errorf("set up controller: %w", err)
	}
	writer := Writer{Kube: kube, Dynamic: objects, Mapper: m.GetRESTMapper(), Now: o.Now, Notify: o.Notify, Runbook: o.Runbook}
	now := &served{}
	chain := owners{cache: m.GetCache(), served: now}
	kept := capture.New(capture.Options{
		Kube: kube, Limits: o.Limits, Catalog: o.catalog, Memory: o.CaptureBytes, PerJob: o.EvidenceBytes,
		Gone: chain.gone, Wrote: counts.kept, Log: m.GetLogger().WithName("evidence"), Now: o.Now,
	})
	if err := m.Add(leading{kept.Start}); err != nil {
		return fmt.Errorf("set up controller: %w", err)
	}
	events := collect.Follow(kube)
	if err := m.Add(leading{events.Start}); err != nil {
		return fmt.Errorf("set up controller: %w", err)
	}
	from := &collect.Cluster{
		Followed: events,
		Kube:     kube, Dynamic: objects, Mapper: m.GetRESTMapper(), Snapshot: o.Snapshot, Limits: o.Limits, Shared: &collect.Shared{For: sharedFor(o.Debounce)}, Now: o.Now,
		Suspect: func(text []byte) bool { return collect.Suspicious(o.catalog())(text) },
	}
	if kept != nil {
		from.Kept, from.Text = kept.Set, kept.Text
	}
	r := &Reconciler{Options: o, Cache: m.GetCache(), Served: now, Collect: from.Case, Writer: writer, Keep: kept, Tails: from.Tails, metrics: counts, owners: chain, podLabels: jobLabels(o.Kinds)}
	from.NoPods = func(ctx context.Context, namespace string, s labels.Selector) bool {
		var pods corev1.PodList
		return r.Cache.List(ctx, &pods, r.podsOf(namespace, s)...) == nil && len(pods.Items) == 0
	}
	if _, err := m.GetCache().GetInformer(ctx, &corev1.Pod{}, cache.BlockUntilSynced(false)); err != nil { // pods are asked for as soon as it starts
		return fmt.Errorf("set up controller: %w", err)
	}
	woken := make(chan event.TypedGenericEvent[Request], waitingTasks)
	if o.Model != nil && o.Model != llm.Off {
		r.Tell = newTeller(r, kube, woken)
		if err := m.Add(leading{r.Tell.Start}); err != nil {
			return fmt.Errorf("set up controller: %w", err)
		}
	}
	c, err := controller.NewTyped("diagnosis", m, controller.TypedOptions[Request]{
		Reconciler:              reconcile.TypedReconciler[Request](r),
		MaxConcurrentReconciles: max(1, o.Concurrency),
		// A look that fails reads much before it does, and after an API server was away nobody waits a
		// quarter of an hour for the next: the defaults are 5 ms and 1000 s.
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[Request](firstRetry, lastRetry),
		NewQueue:    newLookQueue,
	})
	if err != nil {
		return fmt.Errorf("set up controller: %w", err)
	}
	w := &watcher{Options: o, controller: c, manager: m, served: now, owners: chain, kept: kept, inFlight: &r.inFlight, memory: &r.memory, gone: r.forgetKind, discovery: kube.Discovery()}
	for _, s := range w.sources(woken, events, r) {
		if err := c.Watch(s); err != nil {
			return fmt.Errorf("set up controller: %w", err)
		}
	}
	if err := m.Add(leading{w.run}); err != nil {
		return fmt.Errorf("set up controller: %w", err)
	}
	if !o.Aegis {
		return nil
	}
	return addAegis(m, w, aegisAnswers{Reconciler: r, objects: objects})
}

// newTeller makes what has a model explain diagnoses. A job of which the model has answered is looked at again: woken.
func newTeller(r *Reconciler, kube kubernetes.Interface, woken chan<- event.TypedGenericEvent[Request]) *explainWorker {
	o := r.Options
	e := explain.Explainer{Client: o.Model, Sources: o.Prompts.Sources(kube), MaxTokens: o.MaxTokens, PromptBytes: o.PromptBytes, PromptTokens: o.PromptTokens, Language: o.Language, Pseudonyms: o.Pseudonyms, Answers: explain.NewAnswers(), Name: o.ModelName, Budget: o.ModelBudget}
	out := newExplainWorker(e, o.Attempts, r.Writer, r.metrics, &r.memory, func(ctx context.Context, key Request) {
		select {
		case woken <- event.TypedGenericEvent[Request]{Object: key}:
		case <-ctx.Done():
		}
	})
	out.longest = o.ModelLongest
	out.accounts = &accounts{kube: kube, namespace: o.Prompts.Namespace, explain: e, metrics: r.metrics}
	return out
}

// sources are what a look at a job begins with, but for the jobs themselves, whose kinds come and go: pods, answers of the model,
// events, and nodes where there is a snapshot.
func (w *watcher) sources(woken chan event.TypedGenericEvent[Request], events *collect.Followed, r *Reconciler) []source.TypedSource[Request] {
	return []source.TypedSource[Request]{
		source.TypedKind(w.manager.GetCache(), &corev1.Pod{}, w.podHandler()),
		source.TypedChannel(woken, wakeHandler()),
		source.TypedFunc[Request](func(_ context.Context, q queue) error {
			var names []string
			for _, k := range w.Kinds {
				names = append(names, k.Name)
			}
			events.Tell(func(e *corev1.Event) { r.memory.onEvent(e, names, q.AddAfter) })
			return nil
		}),
		source.TypedFunc[Request](func(ctx context.Context, q queue) error {
			if w.Snapshot != nil {
				go r.nodes.follow(ctx, w.Snapshot, r.Cache, w.now, func(p *corev1.Pod, wait time.Duration) {
					for _, key := range w.jobsOf(p) {
						q.AddAfter(key, wait)
					}
				})
			}
			return nil
		}),
	}
}

// A look that fails is repeated after firstRetry, and then after twice the time, up to lastRetry.
const (
	firstRetry = 250 * time.Millisecond
	lastRetry  = time.Minute
)

// sharedFor is how long diagnoses share answers of the API: no longer than changes wait to be looked at, so that what was
// there when a job changed is in the answer. Where they do not wait, nothing is shared.
func sharedFor(debounce time.Duration) time.Duration {
	if debounce <= 0 {
		return -1
	}
	return min(debounce, time.Second)
}

// leading runs only where the manager leads.
type leading struct{ run func(context.Context) error }

func (l leading) Start(ctx context.Context) error { return l.run(ctx) }
func (leading) NeedLeaderElection() bool          { return true }

// Sources are the ConfigMap before the folder; without a cluster, nil, the folder alone. The ConfigMap is read anew for each question, so
// that a new prompt works at once and nothing has to watch ConfigMaps.
func (p Prompts) Sources(kube kubernetes.Interface) []prompt.Source {
	var out []prompt.Source
	if p.ConfigMap != "" && kube != nil {
		out = append(out, func(ctx context.Context, key string) (string, bool, error) {
			cm, err := kube.CoreV1().ConfigMaps(p.Namespace).Get(ctx, p.ConfigMap, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return "", false, nil
			}
			if err != nil {
				return "", false, fmt.Errorf("read prompts: %w", err)
			}
			text, ok := cm.Data[key]
			return text, ok, nil
		})
	}
	if p.Dir != "" {
		out = append(out, prompt.Dir(p.Dir))
	}
	return out
}

// watcher starts and forgets the watches of kinds as the cluster gets and loses them.
type watcher struct {
	Options
	controller controller.TypedController[Request]
	manager    manager.Manager
	served     *served
	owners     owners
	kept       *capture.Keeper
	inFlight   *inFlight
	memory     *memory
	gone       func(kind string) // told when a kind is
	discovery  discovery.DiscoveryInterface
	missed     map[string]int // how often in a row a watched kind was not there
}

func (w *watcher) run(ctx context.Context) error {
	every := max(w.Discovery, time.Second)
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		w.discover(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// discover asks once per group and version which of our kinds are there.
func (w *watcher) discover(ctx context.Context) {
	have := map[string]map[string]bool{} // group/version → resource; nil: unknown
	for _, k := range w.Kinds {
		watched, isWatched := w.served.watched(k.Name)
		found, unknown := false, false
		for _, gvk := range k.GVKs {
			gv := gvk.GroupVersion().String()
			if _, asked := have[gv]; !asked {
				have[gv] = w.resources(gv)
			}
			if have[gv] == nil {
				unknown = true
				continue
			}
			if !have[gv][k.Resource] {
				continue
			}
			found = true
			if !isWatched {
				w.watch(ctx, k, gvk)
			}
			break
		}
		w.notice(ctx, k, watched, isWatched && !found && !unknown)
	}
}

// goneAfter is how often in a row a kind must be missing before it is gone: an API server that starts
// may not serve yet what it will, and with the kind everything goes that is known of its jobs.
const goneAfter = 3

// notice counts how often a watched kind was missing, and stops watching it when it is gone.
func (w *watcher) notice(ctx context.Context, k *kinds.Kind, watched schema.GroupVersionKind, missing bool) {
	if !missing {
		delete(w.missed, k.Name)
		return
	}
	if w.missed == nil {
		w.missed = map[string]int{}
	}
	if w.missed[k.Name]++; w.missed[k.Name] < goneAfter {
		return
	}
	delete(w.missed, k.Name)
	w.manager.GetLogger().Info("kind is gone", "kind", k.Name)
	w.served.remove(k.Name)
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(watched)
	if err := w.manager.GetCache().RemoveInformer(ctx, u); err != nil {
		w.manager.GetLogger().Error(err, "stop watching", "kind", k.Name)
	}
	if w.gone != nil {
		w.gone(k.Name)
	}
}

// resources are the names a group and version serves: empty where it is not there, nil where
// the API server did not answer.
func (w *watcher) resources(groupVersion string) map[string]bool {
	list, err := w.discovery.ServerResourcesForGroupVersion(groupVersion)
	if apierrors.IsNotFound(err) {
		return map[string]bool{}
	}
	if err != nil {
		w.manager.GetLogger().V(1).Info("ask for kinds", "group", groupVersion, "error", err.Error())
		return nil
	}
	out := map[string]bool{}
	for i := range list.APIResources {
		out[list.APIResources[i].Name] = true
	}
	return out
}

// wakeHandler looks again at a job whose story has come.
func wakeHandler() handler.TypedEventHandler[Request, Request] {
	return handler.TypedFuncs[Request, Request]{
		GenericFunc: func(_ context.Context, e event.TypedGenericEvent[Request], q workqueue.TypedRateLimitingInterface[Request]) {
			q.Add(e.Object)
		},
	}
}
