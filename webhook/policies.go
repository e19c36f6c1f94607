package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/tools/txtar"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
)

const (
	// PolicyLabel marks the ConfigMaps that hold policies; its value is "true".
	PolicyLabel = "signalbox.dev/policy"
	// PolicyErrorAnnotation says on such a ConfigMap why the set does not load.
	PolicyErrorAnnotation = "signalbox.dev/policy-error"
)

// PolicySet is a set of policies that can be replaced while it decides. *policies.OPA is
// the one that runs.
type PolicySet interface {
	Swap(...fs.FS) error
	Revision() string
}

// PolicyMaps keeps a policy set equal to the labelled ConfigMaps of one namespace: all or
// nothing. A set that does not load leaves the last good one in place, and says so on the
// ConfigMap, in an Event, in a metric and in every review. Make it with NewPolicyMaps.
type PolicyMaps struct {
	client    kubernetes.Interface
	namespace string
	set       PolicySet
	builtin   []fs.FS
	metrics   *Metrics
	log       logr.Logger
	broken    atomic.Pointer[string]
	synced    atomic.Bool
}

// NewPolicyMaps makes a watcher; builtin are policies that are always part of the set.
func NewPolicyMaps(c kubernetes.Interface, namespace string, set PolicySet, m *Metrics, log logr.Logger, builtin ...fs.FS) *PolicyMaps {
	return &PolicyMaps{client: c, namespace: namespace, set: set, builtin: builtin, metrics: m, log: log}
}

// Broken says which policies do not load and what decides instead; empty: all is well.
func (p *PolicyMaps) Broken() string {
	if p == nil || p.broken.Load() == nil {
		return ""
	}
	return *p.broken.Load()
}

// Synced says whether the ConfigMaps have been read once.
func (p *PolicyMaps) Synced() bool { return p == nil || p.synced.Load() }

// Start follows the ConfigMaps until the context is done.
func (p *PolicyMaps) Start(ctx context.Context) error {
	factory := informers.NewSharedInformerFactoryWithOptions(p.client, 0, informers.WithNamespace(p.namespace),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = PolicyLabel + "=true" }))
	watched := factory.Core().V1().ConfigMaps()
	wake := make(chan struct{}, 1)
	notify := func() {
		select {
		case wake <- struct{}{}:
		default: // one is pending already
		}
	}
	registration, err := watched.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { notify() },
		UpdateFunc: func(any, any) { notify() },
		DeleteFunc: func(any) { notify() },
	})
	if err != nil {
		return fmt.Errorf("watch policies: %w", err)
	}
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: p.client.CoreV1().Events(p.namespace)})
	events := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "signalbox"})
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
		return nil // the context is done
	}
	last := ""
	for {
		last = p.follow(ctx, watched.Lister(), events, last)
		p.synced.Store(true)
		select {
		case <-ctx.Done():
			return nil
		case <-wake:
		}
	}
}

// follow loads the set if the policies are not those of last, tells the ConfigMaps, and
// returns what it looked at.
func (p *PolicyMaps) follow(ctx context.Context, lister listers.ConfigMapLister, events record.EventRecorder, last string) string {
	found, err := lister.ConfigMaps(p.namespace).List(labels.Everything())
	if err != nil {
		p.log.Error(err, "list policies")
		return last
	}
	slices.SortFunc(found, func(a, b *corev1.ConfigMap) int { return strings.Compare(a.Name, b.Name) })
	archive := files(found)
	if text := string(txtar.Format(archive)); text != last || !p.synced.Load() {
		last = text
		p.load(archive)
	}
	blamed := blame(p.Broken(), found)
	for _, m := range found {
		p.tell(ctx, m, blamed[m.Name], events)
	}
	return last
}

// blame gives each ConfigMap the error that names one of its files; an error that names
// none is given to all.
func blame(why string, found []*corev1.ConfigMap) map[string]string {
	out := map[string]string{}
	if why == "" {
		return out
	}
	words := strings.FieldsFunc(why, func(r rune) bool { return strings.ContainsRune(" \t\"'`(,;", r) })
	for _, m := range found {
		if slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, m.Name+"/") }) {
			out[m.Name] = why
		}
	}
	if len(out) == 0 {
		for _, m := range found {
			out[m.Name] = why
		}
	}
	return out
}

// files are the keys of the ConfigMaps as <configmap>/<key>: the names errors use.
func files(found []*corev1.ConfigMap) *txtar.Archive {
	out := &txtar.Archive{}
	for _, m := range found {
		for _, key := range slices.Sorted(maps.Keys(m.Data)) {
			out.Files = append(out.Files, txtar.File{Name: m.Name + "/" + key, Data: []byte(m.Data[key])})
		}
	}
	return out
}

// load replaces the set; on an error it keeps what there is and remembers why.
func (p *PolicyMaps) load(archive *txtar.Archive) {
	fsys, err := txtar.FS(archive)
	if err == nil {
		err = p.set.Swap(append(slices.Clone(p.builtin), fsys)...)
	}
	p.metrics.policies(err)
	if err == nil {
		p.broken.Store(nil)
		p.log.Info("loaded policies", "files", len(archive.Files), "revision", p.set.Revision())
		return
	}
	why := oneLine(err.Error())
	p.broken.Store(&why)
	p.log.Error(err, "load policies; the last good set decides", "revision", p.set.Revision())
}

// tell writes the error on the ConfigMap and takes it away where it no longer holds.
// Every replica tries; the second finds it written.
func (p *PolicyMaps) tell(ctx context.Context, m *corev1.ConfigMap, why string, events record.EventRecorder) {
	want := clip(why, auditBytes)
	if m.Annotations[PolicyErrorAnnotation] == want {
		return
	}
	value := any(want)
	if want == "" {
		value = nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{PolicyErrorAnnotation: value}}})
	if err != nil {
		p.log.Error(err, "write a policy's error", "configmap", m.Name)
		return
	}
	bounded, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if _, err := p.client.CoreV1().ConfigMaps(p.namespace).Patch(bounded, m.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "signalbox-policies"}); err != nil {
		p.log.Error(err, "write a policy's error", "configmap", m.Name)
		return
	}
	if want == "" {
		events.Event(m, corev1.EventTypeNormal, "PolicyLoaded", "the policies load again; revision "+p.set.Revision())
		return
	}
	events.Event(m, corev1.EventTypeWarning, "PolicyBroken", clip("the policies do not load, the last good set decides: "+want, auditBytes))
}
