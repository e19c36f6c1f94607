package webhook

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// Jobs are the jobs that are stored, as informers hold them: of all their UID and a fingerprint of what
// is reviewed of them, of kinds that can be scaled with their spec. It implements Stored. Make it with NewJobs.
type Jobs struct {
	client    dynamic.Interface
	discovery discovery.DiscoveryInterface
	kinds     []*kinds.Kind
	poll      time.Duration
	log       logr.Logger
	runs      runs

	mu       sync.Mutex
	followed map[schema.GroupKind]*followedJobs
	asked    bool // the API has said at least once what it serves
}

type followedJobs struct {
	kind     schema.GroupVersionKind
	resource string
	informer cache.SharedIndexInformer
	stop     context.CancelFunc
}

// NewJobs prepares to follow the jobs of kinds; nothing is read before Start.
func NewJobs(client dynamic.Interface, api discovery.DiscoveryInterface, of []*kinds.Kind, log logr.Logger) *Jobs {
	return &Jobs{client: client, discovery: api, kinds: of, poll: 30 * time.Second, log: log, followed: map[schema.GroupKind]*followedJobs{}}
}

// Job implements Stored.
func (j *Jobs) Job(kind schema.GroupKind, namespace, name string) *unstructured.Unstructured {
	j.mu.Lock()
	f := j.followed[kind]
	j.mu.Unlock()
	if f == nil {
		return nil
	}
	object, _, err := f.informer.GetStore().GetByKey(namespace + "/" + name)
	held, ok := object.(*heldJob)
	if err != nil || !ok {
		return nil
	}
	u := &unstructured.Unstructured{Object: map[string]any{}}
	if len(held.text) > 0 && json.Unmarshal(held.text, &u.Object) != nil {
		return nil
	}
	u.SetGroupVersionKind(f.kind)
	u.SetNamespace(namespace)
	u.SetName(name)
	u.SetUID(held.id)
	u.SetResourceVersion(held.version)
	return u
}

// Start follows the jobs until the context is done. Kinds may be installed and removed meanwhile.
func (j *Jobs) Start(ctx context.Context) error {
	var running sync.WaitGroup
	defer running.Wait()
	tick := time.NewTicker(j.poll)
	defer tick.Stop()
	for {
		j.discover(ctx, &running)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// discover starts and stops informers as the API begins and ceases to serve kinds.
func (j *Jobs) discover(ctx context.Context, running *sync.WaitGroup) {
	api := discovery.ToDiscoveryInterfaceWithContext(j.discovery)
	lists := map[schema.GroupVersion][]metav1.APIResource{}
	groups, err := api.ServerGroupsWithContext(ctx)
	if err != nil {
		return // what is followed stays
	}
	for _, g := range groups.Groups {
		for _, v := range g.Versions {
			lists[schema.GroupVersion{Group: g.Name, Version: v.Version}] = nil
		}
	}
	for _, k := range j.kinds {
		var served *schema.GroupVersionKind
		for _, gvk := range k.GVKs {
			gv := gvk.GroupVersion()
			have, known := lists[gv]
			if !known || served != nil {
				continue
			}
			if have == nil {
				list, err := api.ServerResourcesForGroupVersionWithContext(ctx, gv.String())
				if err != nil {
					return
				}
				have = list.APIResources
				lists[gv] = have
			}
			if slices.ContainsFunc(have, func(r metav1.APIResource) bool { return r.Name == k.Resource }) {
				served = &gvk
			}
		}
		j.adjust(ctx, running, k, served)
	}
	j.mu.Lock()
	j.asked = true
	j.mu.Unlock()
}

func (j *Jobs) adjust(ctx context.Context, running *sync.WaitGroup, k *kinds.Kind, served *schema.GroupVersionKind) {
	j.mu.Lock()
	defer j.mu.Unlock()
	gk := k.GVKs[0].GroupKind()
	have := j.followed[gk]
	if have != nil && (served == nil || have.kind != *served) {
		have.stop()
		delete(j.followed, gk)
		have = nil
	}
	if served == nil || have != nil {
		return
	}
	client := j.client.Resource(served.GroupVersion().WithResource(k.Resource))
	door := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return client.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return client.Watch(ctx, o)
		},
	}, j.client)
	informer := cache.NewSharedIndexInformer(door, &unstructured.Unstructured{}, 0, cache.Indexers{})
	if err := informer.SetTransform(func(object any) (any, error) {
		j.runs.note(object)
		return keepJob(k)(object)
	}); err != nil {
		j.log.Error(err, "follow jobs", "kind", k.Name)
		return
	}
	following, stop := context.WithCancel(ctx)
	j.followed[gk] = &followedJobs{kind: *served, resource: k.Resource, informer: informer, stop: stop}
	running.Go(func() { informer.RunWithContext(following) })
}

// heldJob is a job as the informer holds it: its text takes a fraction of the decoded object.
type heldJob struct {
	where   types.NamespacedName
	id      types.UID
	version string
	text    []byte // labels, annotations that readers look at, spec; empty: not kept
	state   state
	changed time.Time // what is reviewed of it, in the API server's time
	deleted bool      // it goes
	ended   bool      // as its status says
	noted   bool      // it carries ReviewAnnotation
	owner   *metav1.OwnerReference
}

// GetObjectMeta is what an informer asks for.
func (h *heldJob) GetObjectMeta() metav1.Object {
	return &metav1.ObjectMeta{Namespace: h.where.Namespace, Name: h.where.Name, UID: h.id, ResourceVersion: h.version}
}

// goes says that an object is being deleted, and no finalizer holds it.
func goes(u *unstructured.Unstructured) bool {
	return u.GetDeletionTimestamp() != nil && len(u.GetFinalizers()) == 0
}

// keepJob keeps what is looked at: the UID and the state, and of kinds that can be scaled what a review reads.
func keepJob(k *kinds.Kind) cache.TransformFunc {
	ours := annotations()
	return func(object any) (any, error) {
		u, ok := object.(*unstructured.Unstructured)
		if !ok {
			return object, nil
		}
		written := u.GetAnnotations()
		_, noted := written[ReviewAnnotation]
		held := &heldJob{
			where: types.NamespacedName{Namespace: u.GetNamespace(), Name: u.GetName()}, id: u.GetUID(), version: u.GetResourceVersion(),
			state: stateOf(u), changed: changedAt(u), deleted: goes(u), ended: hasEnded(k, u), noted: noted, owner: metav1.GetControllerOf(u),
		}
		if k.Scale == "" {
			return held, nil
		}
		// Kubectl's copy, and the long ones of what diagnoses write. What an author writes is kept, however long: rules rest on it.
		maps.DeleteFunc(written, func(key, value string) bool {
			return key == corev1.LastAppliedConfigAnnotation || len(value) > 1024 && slices.Contains(ours, key)
		})
		text, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"labels": u.GetLabels(), "annotations": written},
			"spec":     u.Object["spec"],
		})
		if err != nil {
			return nil, err
		}
		held.text = text
		return held, nil
	}
}

// reviewedFields are the fields that make up a state, as managers of fields name them.
var reviewedFields = func() map[string]bool {
	out := map[string]bool{"f:spec": true, "f:labels": true}
	for _, key := range preflight.ReviewedKeys() {
		out["f:"+key] = true
	}
	return out
}()

// changedAt is when what is reviewed of a job was last written, as the API server notes it for each manager. It is read
// as it was decoded: GetManagedFields writes all fields of a job down as JSON, at each of its changes.
func changedAt(u *unstructured.Unstructured) time.Time {
	out := u.GetCreationTimestamp().Time
	all, _, _ := unstructured.NestedFieldNoCopy(u.Object, "metadata", "managedFields")
	entries, _ := all.([]any)
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		text, _ := entry["time"].(string)
		if at, err := time.Parse(time.RFC3339, text); err == nil && at.After(out) && namesReviewed(entry["fieldsV1"]) {
			out = at
		}
	}
	return out
}

// namesReviewed says that a field that is reviewed is among some, or within one of them.
func namesReviewed(fields any) bool {
	within, _ := fields.(map[string]any)
	for name, inner := range within {
		if reviewedFields[name] || namesReviewed(inner) {
			return true
		}
	}
	return false
}

// hasEnded says whether the operator is done with a job, or whoever else writes its status says so.
func hasEnded(k *kinds.Kind, u *unstructured.Unstructured) bool {
	if k.State == nil {
		return false
	}
	defer func() { _ = recover() }() // a status nobody understands has not ended
	phase := k.State(u).Phase
	return phase == kinds.Succeeded || phase == kinds.Failed
}

// storedJob is one job as the sweep looks at it.
type storedJob struct {
	kind            schema.GroupVersionKind
	plural          string
	namespace, name string
	uid             types.UID
	*heldJob
}

func (j storedJob) resource() schema.GroupVersionResource {
	return j.kind.GroupVersion().WithResource(j.plural)
}

func (j storedJob) ownerKind() schema.GroupKind {
	return schema.FromAPIVersionAndKind(j.owner.APIVersion, j.owner.Kind).GroupKind()
}

// Synced says whether all jobs that there are have been seen.
func (j *Jobs) Synced() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, f := range j.followed {
		if !f.informer.HasSynced() {
			return false
		}
	}
	return j.asked
}

// all are the jobs of all kinds, in no order.
func (j *Jobs) all() (out []storedJob) {
	j.mu.Lock()
	followed := slices.Collect(maps.Values(j.followed))
	j.mu.Unlock()
	for _, f := range followed {
		for _, object := range f.informer.GetStore().List() {
			held, ok := object.(*heldJob)
			if !ok {
				continue
			}
			out = append(out, storedJob{
				kind: f.kind, plural: f.resource, namespace: held.where.Namespace, name: held.where.Name, uid: held.id, heldJob: held,
			})
		}
	}
	return out
}
