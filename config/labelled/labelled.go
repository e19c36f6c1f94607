// Package labelled keeps something equal to the labelled ConfigMaps of one namespace: policies,
// signatures. All of them load, or none: a set that does not load leaves the last good one in
// place, and says so on the ConfigMap. What a set is, its loader knows.
//
// Start reading at ConfigMaps.
package labelled

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

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

	"github.com/signalbox-dev/signalbox/config/backoff"
)

// Options say which ConfigMaps, and what to make of them. Client, Namespace, Label, Annotation,
// What and Load have to be there.
type Options struct {
	Client     kubernetes.Interface
	Namespace  string
	Label      string // marks the ConfigMaps; its value is "true"
	Annotation string // on a ConfigMap: why the set does not load
	What       string // "policies": in messages
	Reason     string // of Events: PolicyLoaded and PolicyBroken begin with "Policy"
	// Load replaces the set by the files, named <configmap>/<key>, and returns the revision that is in
	// force now, in words. An error leaves the last good set in place.
	Load func(fs.FS) (revision string, err error)
	// Parts says that an error beside a revision leaves out what is broken, and nothing else.
	Parts bool
	// Loaded is called after every try; nil: nothing is.
	Loaded func(error)
	Log    logr.Logger
}

// ConfigMaps follows the ConfigMaps. Make it with New.
type ConfigMaps struct {
	o        Options
	revision string
	part     bool // what is broken was left out, the rest is in force
	broken   atomic.Pointer[string]
	synced   atomic.Bool
	told     map[string]*backoff.Written[string] // by the name of the ConfigMap
}

// New makes a watcher.
func New(o Options) *ConfigMaps {
	if o.Loaded == nil {
		o.Loaded = func(error) {}
	}
	return &ConfigMaps{o: o, told: map[string]*backoff.Written[string]{}}
}

// mostBytes bounds an error on a ConfigMap and in an Event.
const mostBytes = 1024

// Broken says what does not load; empty: all is well.
func (p *ConfigMaps) Broken() string {
	if p == nil || p.broken.Load() == nil {
		return ""
	}
	return *p.broken.Load()
}

// Synced says whether the ConfigMaps have been read once.
func (p *ConfigMaps) Synced() bool { return p == nil || p.synced.Load() }

// Start follows the ConfigMaps until the context is done.
func (p *ConfigMaps) Start(ctx context.Context) error {
	factory := informers.NewSharedInformerFactoryWithOptions(p.o.Client, 0, informers.WithNamespace(p.o.Namespace),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = p.o.Label + "=true" }))
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
		return fmt.Errorf("watch %s: %w", p.o.What, err)
	}
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: p.o.Client.CoreV1().Events(p.o.Namespace)})
	events := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "signalbox"})
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
		return nil // the context is done
	}
	last := ""
	for {
		var again time.Duration
		last, again = p.follow(ctx, watched.Lister(), events, last)
		p.synced.Store(true)
		var later <-chan time.Time
		if again > 0 {
			later = time.After(again)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-wake:
		case <-later:
		}
	}
}

// follow loads the set if the policies are not those of last, tells the ConfigMaps, and
// returns what it looked at, and after how long something is to be told again; 0: nothing is.
func (p *ConfigMaps) follow(ctx context.Context, lister listers.ConfigMapLister, events record.EventRecorder, last string) (now string, again time.Duration) {
	found, err := lister.ConfigMaps(p.o.Namespace).List(labels.Everything())
	if err != nil {
		p.o.Log.Error(err, "list "+p.o.What)
		return last, 0
	}
	slices.SortFunc(found, func(a, b *corev1.ConfigMap) int { return strings.Compare(a.Name, b.Name) })
	archive := files(found)
	if now = mark(archive); now != last || !p.synced.Load() {
		p.load(archive)
	}
	blamed, there := blame(p.Broken(), found), map[string]bool{}
	for _, m := range found {
		there[m.Name] = true
		if wait := p.tell(ctx, m, blamed[m.Name], events); wait > 0 && (again == 0 || wait < again) {
			again = wait
		}
	}
	maps.DeleteFunc(p.told, func(name string, _ *backoff.Written[string]) bool { return !there[name] })
	return now, again
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
		all := maps.Clone(m.BinaryData) // where kubectl puts what is no UTF-8; no key is in both
		if all == nil {
			all = map[string][]byte{}
		}
		for key, text := range m.Data {
			all[key] = []byte(text)
		}
		for _, key := range slices.Sorted(maps.Keys(all)) {
			out.Files = append(out.Files, txtar.File{Name: m.Name + "/" + key, Data: all[key]})
		}
	}
	return out
}

// mark tells sets apart, whatever stands in their files.
func mark(of *txtar.Archive) string {
	sum := sha256.New()
	for _, f := range of.Files {
		fmt.Fprintf(sum, "%d %s %d %s", len(f.Name), f.Name, len(f.Data), f.Data)
	}
	return string(sum.Sum(nil))
}

// mostSet is how many bytes all files of a set may have, as those of a folder: to load them takes many times that.
const mostSet = 32 << 20

// bounded are the files of a set that is not too large.
func bounded(archive *txtar.Archive) (fs.FS, error) {
	size := 0
	for _, f := range archive.Files {
		size += len(f.Data)
	}
	if size > mostSet {
		return nil, fmt.Errorf("%d ConfigMap keys have %d MiB together, and may have %d MiB", len(archive.Files), (size+1<<20-1)>>20, mostSet>>20)
	}
	return txtar.FS(archive)
}

// load replaces the set; on an error it keeps what there is and remembers why.
func (p *ConfigMaps) load(archive *txtar.Archive) {
	var revision string
	fsys, err := bounded(archive)
	if err == nil {
		revision, err = p.o.Load(fsys)
	}
	p.o.Loaded(err)
	p.revision = cmp.Or(revision, p.revision)
	p.part = p.o.Parts && err != nil && revision != ""
	if err == nil {
		p.broken.Store(nil)
		p.o.Log.Info("loaded "+p.o.What, "files", len(archive.Files), "revision", revision)
		return
	}
	why := oneLine(err.Error())
	p.broken.Store(&why)
	p.o.Log.Error(err, "load "+p.o.What+"; "+p.instead(), "revision", p.revision)
}

// tell writes the error on the ConfigMap and takes it away where it no longer holds.
// Every replica tries; the second finds it written. It answers with after how long to write it again; 0: it stands there.
func (p *ConfigMaps) tell(ctx context.Context, m *corev1.ConfigMap, why string, events record.EventRecorder) time.Duration {
	want := clip(why)
	if m.Annotations[p.o.Annotation] == want {
		return 0
	}
	if p.told[m.Name] == nil {
		p.told[m.Name] = &backoff.Written[string]{}
	}
	last, now := p.told[m.Name], time.Now()
	if wait := last.Wait(want, now); wait > 0 {
		return wait
	}
	value := any(want)
	if want == "" {
		value = nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{p.o.Annotation: value}}})
	if err != nil {
		p.o.Log.Error(err, "write the error of "+p.o.What, "configmap", m.Name)
		return 0
	}
	bounded, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if _, err := p.o.Client.CoreV1().ConfigMaps(p.o.Namespace).Patch(bounded, m.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "signalbox-" + p.o.What}); err != nil {
		p.o.Log.Error(err, "write the error of "+p.o.What, "configmap", m.Name)
		return 0
	}
	last.Note(want, now)
	if want == "" {
		events.Event(m, corev1.EventTypeNormal, p.o.Reason+"Loaded", "the "+p.o.What+" load again; revision "+p.revision)
		return 0
	}
	events.Event(m, corev1.EventTypeWarning, p.o.Reason+"Broken", clip("the "+p.o.What+" do not load, "+p.instead()+": "+want))
	return 0
}

// instead is what is in force while something does not load.
func (p *ConfigMaps) instead() string {
	if p.part {
		return "what is broken is left out and the rest is in force"
	}
	return "the last good set stays"
}

// clip shortens to the bytes that an error may have, at the border of a character.
func clip(s string) string {
	s = strings.ToValidUTF8(s, "�")
	if len(s) <= mostBytes {
		return s
	}
	const mark = "…"
	end := mostBytes - len(mark)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + mark
}

// oneLine is the lines of an error, one behind the other, with single spaces for white space and control characters.
func oneLine(s string) string {
	var lines []string
	for line := range strings.Lines(strings.ToValidUTF8(s, "�")) {
		words := strings.FieldsFunc(line, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
		if len(words) > 0 {
			lines = append(lines, strings.Join(words, " "))
		}
	}
	return strings.Join(lines, "; ")
}
