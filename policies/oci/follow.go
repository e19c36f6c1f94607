package oci

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"

	"github.com/signalbox-dev/signalbox/config/mounted"
	"github.com/signalbox-dev/signalbox/policies"
)

// Options are what a Follower is made of. Place, Into, Client and Namespace have to be there.
type Options struct {
	Place
	Key      string        // file of the public key (PEM) that has to have signed it; empty: none is needed
	Interval time.Duration // between two looks at a tag; 0: a minute
	Into     *policies.Source
	Client   kubernetes.Interface
	// Namespace is where StatusName is written.
	Namespace string
	// Label and Annotation mark the status, as they mark ConfigMaps with policies: the value of the
	// label is StatusMark, and the annotation says why the bundle does not load.
	Label, Annotation string
	Loaded            func(error) // called after every try; nil: not called
	Log               logr.Logger
}

const (
	// StatusName is the ConfigMap that says which bundle is in force.
	StatusName = "signalbox-policy-bundle"
	// StatusMark is the value of its label.
	StatusMark = "bundle"
)

// Follower keeps a source of policies equal to a bundle in a registry. One that cannot be fetched, is not
// signed by whom it should be, does not compile or fails its own tests leaves the last good one in place:
// that is said in an Event, on the status, in a metric and in the log. Make it with New.
type Follower struct {
	o      Options
	have   string // digest of what is in force
	said   string // what the status says
	known  bool   // it has been written
	broken atomic.Pointer[string]
	tried  atomic.Bool
}

// New makes a follower.
func New(o Options) *Follower {
	if o.Interval <= 0 {
		o.Interval = time.Minute
	}
	if o.Loaded == nil {
		o.Loaded = func(error) {}
	}
	return &Follower{o: o}
}

// Synced says whether the registry has been asked once.
func (f *Follower) Synced() bool { return f == nil || f.tried.Load() }

// Broken says why the bundle does not load; empty: all is well.
func (f *Follower) Broken() string {
	if f == nil || f.broken.Load() == nil {
		return ""
	}
	return *f.broken.Load()
}

// Start follows the bundle until the context is done. What is named by its digest is fetched until it
// is there, and not looked at again.
func (f *Follower) Start(ctx context.Context) error {
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: f.o.Client.CoreV1().Events(f.o.Namespace)})
	events := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "signalbox"})
	for {
		f.Try(ctx, events)
		if f.have != "" && f.known && f.Broken() == "" && ByDigest(f.o.Reference) {
			<-ctx.Done()
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(f.o.Interval):
		}
	}
}

// Try looks at the registry once.
func (f *Follower) Try(ctx context.Context, events record.EventRecorder) {
	loaded, err := f.load(ctx)
	if ctx.Err() != nil {
		return
	}
	f.tried.Store(true)
	f.o.Loaded(err)
	revision := f.o.Into.Revision()
	switch {
	case err != nil:
		why := strings.Join(strings.Fields(err.Error()), " ")
		if f.Broken() != why {
			f.o.Log.Error(err, "load the bundle of policies; the last good set stays", "bundle", f.o.Reference, "digest", f.have, "revision", revision)
		}
		f.broken.Store(&why)
	case loaded:
		f.o.Log.Info("loaded the bundle of policies", "bundle", f.o.Reference, "digest", f.have, "revision", revision)
		fallthrough
	default:
		f.broken.Store(nil)
	}
	f.tell(ctx, revision, events)
}

// load fetches and takes over what is new; false: nothing is.
func (f *Follower) load(ctx context.Context) (bool, error) {
	fetched, err := Fetch(ctx, f.o.Place, f.have)
	if err != nil || fetched.Digest == "" {
		return false, err
	}
	var key []byte
	if f.o.Key != "" {
		if key, err = mounted.Read(f.o.Key); err != nil {
			return false, fmt.Errorf("read the key of bundles: %w", err)
		}
		if len(key) == 0 {
			return false, fmt.Errorf("read the key of bundles: %s is empty", f.o.Key)
		}
	}
	files, err := policies.ReadBundle(fetched.Archive, key)
	if err != nil {
		return false, fmt.Errorf("%s: %w", fetched.Digest, err)
	}
	if err := f.o.Into.Swap(files); err != nil { //nolint:contextcheck // compiling policies blocks on nothing
		return false, fmt.Errorf("%s: %w", fetched.Digest, err)
	}
	f.have = fetched.Digest
	return true, nil
}

// mostBytes bounds an error in an annotation and in an Event.
const mostBytes = 1024

func bounded(why string) string {
	if len(why) > mostBytes {
		why = strings.ToValidUTF8(why[:mostBytes-len("…")], "") + "…"
	}
	return why
}

// tell writes what is in force and what is wrong where it has changed. Every replica does; what they
// write is the same, unless they see different things.
func (f *Follower) tell(ctx context.Context, revision string, events record.EventRecorder) {
	why := bounded(f.Broken())
	note := map[string]any{}
	if why != "" {
		note[f.o.Annotation] = why
	}
	status, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": StatusName, "labels": map[string]string{f.o.Label: StatusMark}, "annotations": note},
		"data":     map[string]string{"bundle": f.o.Reference, "digest": f.have, "revision": revision},
	})
	if err != nil || f.known && string(status) == f.said {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	force := true
	written, err := f.o.Client.CoreV1().ConfigMaps(f.o.Namespace).Patch(bounded, StatusName, types.ApplyPatchType, status,
		metav1.PatchOptions{FieldManager: "signalbox-policy-bundle", Force: &force})
	if err != nil {
		f.o.Log.Error(err, "write the status of the bundle", "configmap", StatusName)
		return
	}
	f.said, f.known = string(status), true
	if why != "" {
		events.Event(written, corev1.EventTypeWarning, "PolicyBundleBroken", "the bundle does not load, the last good set stays: "+why)
		return
	}
	events.Event(written, corev1.EventTypeNormal, "PolicyBundleLoaded", "bundle "+f.have+" is in force; revision "+revision)
}
