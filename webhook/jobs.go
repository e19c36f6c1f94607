package webhook

import (
	"bytes"
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
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/tools/cache"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/cluster/live"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// Jobs are the jobs that are stored, as informers hold them: of all their UID and a fingerprint of what
// is reviewed of them, of kinds that can be scaled with their spec, and of all whole where others of the process
// look at them, too (see Informer). It implements Stored. Make it with NewJobs.
type Jobs struct {
	clients live.Clients
	kinds   []*kinds.Kind
	others  Others
	poll    time.Duration
	awaited time.Duration // for so long the first list of a kind is
	log     logr.Logger
	runs    runHistory

	mu       sync.Mutex
	followed map[schema.GroupKind]*followedJobs
	asked    bool                                      // the API has said at least once what it serves
	begin    func(func(context.Context)) (stop func()) // nil: before Start, and after it
}

// Others are other parts of the process that look at the jobs that the webhook follows.
type Others struct {
	Pack Pack // nil: there are none
	// Managers says whether they look at something in the managers of a job's fields, as an API server writes them; nil: they never do.
	Managers func([]byte) bool
}

// Pack makes what is held of a job for others; the job is its own.
type Pack func(*unstructured.Unstructured) (*live.PackedObject, error)

type followedJobs struct {
	kind     schema.GroupVersionKind
	resource string
	informer cache.SharedIndexInformer
	since    time.Time // it is followed
	users    int       // how many features want it to run
	stop     func()    // nil: it does not run yet
}

// NewJobs prepares to follow the jobs of kinds; nothing is read before Start.
func NewJobs(clients live.Clients, of []*kinds.Kind, others Others, log logr.Logger) *Jobs {
	return &Jobs{clients: clients, kinds: of, others: others, poll: 30 * time.Second, awaited: 20 * time.Second, log: log, followed: map[schema.GroupKind]*followedJobs{}}
}

// Job implements Stored.
func (j *Jobs) Job(kind schema.GroupKind, namespace, name string) *unstructured.Unstructured {
	held, of := j.held(kind, namespace, name)
	if held == nil {
		return nil
	}
	u := held.reviewed()
	if u == nil {
		return nil
	}
	u.SetGroupVersionKind(of)
	u.SetNamespace(namespace)
	u.SetName(name)
	u.SetUID(held.id)
	u.SetResourceVersion(held.version)
	return u
}

// UID implements Stored.
func (j *Jobs) UID(kind schema.GroupKind, namespace, name string) types.UID {
	if held, _ := j.held(kind, namespace, name); held != nil {
		return held.id
	}
	return ""
}

// held is a job as it is held; nil: it is not known.
func (j *Jobs) held(kind schema.GroupKind, namespace, name string) (*heldJob, schema.GroupVersionKind) {
	j.mu.Lock()
	f := j.followed[kind]
	j.mu.Unlock()
	if f == nil {
		return nil, schema.GroupVersionKind{}
	}
	object, _, err := f.informer.GetStore().GetByKey(namespace + "/" + name)
	held, ok := object.(*heldJob)
	if err != nil || !ok {
		return nil, schema.GroupVersionKind{}
	}
	return held, f.kind
}

// Start follows the jobs until the context is done. Kinds may be installed and removed meanwhile.
func (j *Jobs) Start(ctx context.Context) error {
	var running sync.WaitGroup
	defer running.Wait()
	j.beginIn(ctx, &running)
	defer j.end()
	wait.UntilWithContext(ctx, j.discover, j.poll)
	return nil
}

// discover starts and stops informers as the API begins and ceases to serve kinds.
func (j *Jobs) discover(ctx context.Context) {
	api := discovery.ToDiscoveryInterfaceWithContext(j.clients.Discovery)
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
	silent := map[schema.GroupVersion]bool{} // an aggregated API that is down: what it serves is not known
	for _, k := range j.kinds {
		var served *schema.GroupVersionKind
		unknown := false
		for _, gvk := range k.GVKs {
			gv := gvk.GroupVersion()
			have, known := lists[gv]
			if !known || served != nil {
				continue
			}
			if have == nil && !silent[gv] {
				list, err := api.ServerResourcesForGroupVersionWithContext(ctx, gv.String())
				if silent[gv] = err != nil; err == nil {
					have = list.APIResources
					lists[gv] = have
				}
			}
			unknown = unknown || silent[gv]
			if slices.ContainsFunc(have, func(r metav1.APIResource) bool { return r.Name == k.Resource }) {
				served = &gvk
			}
		}
		if !unknown || !j.follows(k) { // what is followed stays
			j.adjust(k, served)
		}
	}
	j.mu.Lock()
	j.asked = true
	j.mu.Unlock()
}

// follows says whether jobs of a kind are followed.
func (j *Jobs) follows(k *kinds.Kind) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.followed[k.GVKs[0].GroupKind()] != nil
}

func (j *Jobs) adjust(k *kinds.Kind, served *schema.GroupVersionKind) {
	j.mu.Lock()
	defer j.mu.Unlock()
	gk := k.GVKs[0].GroupKind()
	have := j.followed[gk]
	if have != nil && (served == nil || have.kind != *served) {
		delete(j.followed, gk)
		have.leave()
		have = nil
	}
	if served != nil && have == nil {
		j.follow(k, *served)
	}
}

// follow begins to follow a kind; the lock is held.
func (j *Jobs) follow(k *kinds.Kind, served schema.GroupVersionKind) {
	of := served.GroupVersion().WithResource(k.Resource)
	client := j.clients.Dynamic.Resource(of)
	lists := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return client.List(ctx, o)
		},
		WatchFuncWithContext: live.WatchObjects(j.clients, of, j.wantsManagers),
	}, j.clients.Dynamic)
	by := cache.Indexers{}
	if j.others.Pack != nil {
		by[cache.NamespaceIndex] = cache.MetaNamespaceIndexFunc // as caches of controller-runtime have it
	}
	informer := cache.NewSharedIndexInformer(lists, &unstructured.Unstructured{}, 0, by)
	keep := keepJob(k, j.others.Pack)
	if err := informer.SetTransform(func(object any) (any, error) {
		j.runs.note(object)
		return keep(object)
	}); err != nil {
		j.log.Error(err, "follow jobs", "kind", k.Name)
		return
	}
	f := &followedJobs{kind: served, resource: k.Resource, informer: informer, since: time.Now(), users: 1}
	j.followed[k.GVKs[0].GroupKind()] = f
	if j.begin != nil {
		f.stop = j.begin(f.informer.RunWithContext)
	}
}

// leave says that one part does not want it to run any more; the lock of the jobs is held.
func (f *followedJobs) leave() {
	if f.users--; f.users == 0 && f.stop != nil {
		f.stop()
	}
}

// beginIn lets informers run until a context is done.
func (j *Jobs) beginIn(ctx context.Context, running *sync.WaitGroup) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.begin = func(run func(context.Context)) func() {
		following, stop := context.WithCancel(ctx)
		running.Go(func() { run(following) })
		return stop
	}
	for _, f := range j.followed {
		f.stop = j.begin(f.informer.RunWithContext)
	}
}

// end lets no more of them begin.
func (j *Jobs) end() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.begin = nil
}

// heldJob is a job as the informer holds it: its text takes a fraction of the decoded object.
type heldJob struct {
	*live.PackedObject // the job, for its other followers; nil: it has none
	where              types.NamespacedName
	id                 types.UID
	version            string
	text               []byte // labels, annotations that readers look at, spec; empty: not kept, or in the packed job
	state              state
	changed            time.Time // what is reviewed of it, in the API server's time
	deleted            bool      // it goes
	ended              bool      // as its status says
	noted              bool      // it carries ReviewAnnotation
	owner              *metav1.OwnerReference
}

// GetObjectMeta is what an informer asks for.
func (h *heldJob) GetObjectMeta() metav1.Object {
	if h.PackedObject != nil {
		return h.PackedObject.GetObjectMeta()
	}
	return &metav1.ObjectMeta{Namespace: h.where.Namespace, Name: h.where.Name, UID: h.id, ResourceVersion: h.version}
}

// goes says that an object is being deleted, and no finalizer holds it.
func goes(u *unstructured.Unstructured) bool {
	return u.GetDeletionTimestamp() != nil && len(u.GetFinalizers()) == 0
}

// reviewed is what is reviewed of a job, and may be changed; nil: it cannot be read.
func (h *heldJob) reviewed() *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{}}
	if h.PackedObject != nil {
		u, ok := h.DeepCopyObject().(*unstructured.Unstructured)
		if !ok {
			return nil
		}
		out.Object = reviewedOf(u)
	} else if len(h.text) > 0 && utiljson.Unmarshal(h.text, &out.Object) != nil {
		return nil
	}
	return out
}

// reviewedOf is what is reviewed of a job: no copy of kubectl's, and not the long ones of what diagnoses write. What an
// author writes is kept, however long: rules rest on it.
func reviewedOf(u *unstructured.Unstructured) map[string]any {
	written := u.GetAnnotations()
	maps.DeleteFunc(written, func(key, value string) bool {
		return key == corev1.LastAppliedConfigAnnotation || len(value) > 1024 && slices.Contains(ourAnnotations, key)
	})
	out := &unstructured.Unstructured{Object: map[string]any{"spec": u.Object["spec"]}}
	out.SetLabels(u.GetLabels())
	out.SetAnnotations(written)
	return out.Object
}

var ourAnnotations = annotations()

// keepJob keeps what is looked at: the UID and the state, and of kinds that can be scaled what a review reads; or, where
// others look at them, all that pack keeps.
func keepJob(k *kinds.Kind, pack Pack) cache.TransformFunc {
	return func(object any) (any, error) {
		u, ok := object.(*unstructured.Unstructured)
		if !ok {
			return object, nil
		}
		_, noted := u.GetAnnotations()[ReviewAnnotation]
		held := &heldJob{
			where: types.NamespacedName{Namespace: u.GetNamespace(), Name: u.GetName()}, id: u.GetUID(), version: u.GetResourceVersion(),
			state: stateOf(u), changed: changedAt(u), deleted: goes(u), ended: hasEnded(k, u), noted: noted, owner: metav1.GetControllerOf(u),
		}
		var err error
		switch {
		case pack != nil:
			held.PackedObject, err = pack(u)
		case k.Scale != "":
			held.text, err = json.Marshal(reviewedOf(u))
		}
		if err != nil {
			return nil, err
		}
		if held.PackedObject != nil { // in its words: in others, each would be held twice
			held.where, held.version = held.Name(), held.Version()
		}
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

// wantsManagers says whether anything is to be read of who wrote a job that was created at a time: when what is reviewed
// was written, if that was later, and what others look for.
func (j *Jobs) wantsManagers(managers []byte, created string) bool {
	entries, ok := live.EntriesOf(managers)
	if !ok || len(created) != len("2006-01-02T15:04:05Z") || bytes.IndexByte(managers, '\\') >= 0 {
		return true
	}
	if j.others.Managers != nil && j.others.Managers(managers) {
		return true
	}
	for _, entry := range entries {
		if at := live.TextOf(entry, "time"); len(at) == len(created) && at <= created { // in one form texts have the order of the times
			continue
		}
		for name := range reviewedFields {
			if bytes.Contains(entry, []byte(`"`+name+`"`)) {
				return true
			}
		}
	}
	return false
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

// hasEnded says whether the operator is done with a job, or whatever else writes its status says so.
func hasEnded(k *kinds.Kind, u *unstructured.Unstructured) bool {
	if k.State == nil {
		return false
	}
	defer func() { _ = recover() }() // a status that cannot be read has not ended
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

func (j storedJob) groupKind() string { return j.kind.GroupKind().String() }

func (j storedJob) ownerKind() schema.GroupKind {
	return schema.FromAPIVersionAndKind(j.owner.APIVersion, j.owner.Kind).GroupKind()
}

// Synced says whether all jobs that there are have been seen.
func (j *Jobs) Synced() bool {
	listed, ok := j.listed()
	for _, of := range listed {
		ok = ok && of
	}
	return ok
}

// listed says of each kind that is served whether its jobs have been seen, as Kind.group. The API server may not be able
// to list one, because a conversion webhook is away, and is waited for a while only: ok is false until then.
func (j *Jobs) listed() (of map[string]bool, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	of, ok = make(map[string]bool, len(j.followed)), j.asked
	for kind, f := range j.followed {
		synced := f.informer.HasSynced()
		of[kind.String()] = synced
		ok = ok && (synced || time.Since(f.since) >= j.awaited)
	}
	return of, ok
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
