package controller

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/tools/txtar"
	"k8s.io/client-go/kubernetes"

	"github.com/signalbox-dev/signalbox/config/labelled"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

const (
	// SignatureLabel marks the ConfigMaps that hold signatures; its value is "true".
	SignatureLabel = "signalbox.dev/signature"
	// SignatureErrorAnnotation says on such a ConfigMap why the set does not load.
	SignatureErrorAnnotation = "signalbox.dev/signature-error"
)

// NewSignatureMaps makes a watcher that keeps the catalog in force equal to base and the
// labelled ConfigMaps of one namespace, keys <id>.yaml. A signature that does not load is left out,
// or stays as it was when it last did; the others are in force. It is said on the ConfigMap, in an
// Event and in a metric.
func NewSignatureMaps(kube kubernetes.Interface, namespace string, base *signature.Catalog, live *signature.Live, into prometheus.Registerer, log logr.Logger) (*labelled.ConfigMaps, error) {
	loaded, err := countLoads(into)
	if err != nil {
		return nil, err
	}
	return labelled.New(labelled.Options{
		Client: kube, Namespace: namespace, Label: SignatureLabel, Annotation: SignatureErrorAnnotation,
		What: "signatures", Reason: "Signature", Loaded: loaded, Log: log,
		Load: (&signatureFiles{base: base, live: live}).load, Parts: true,
	}), nil
}

// signatureFiles are the files of the signatures in force.
type signatureFiles struct {
	base *signature.Catalog
	live *signature.Live
	good []txtar.File
	made int // catalogs, which cost most
}

// load puts the files in force, and of those that do not load what they were before.
func (f *signatureFiles) load(fsys fs.FS) (string, error) {
	files, err := filesOf(fsys)
	if err != nil {
		return "", err
	}
	all, err := f.with(files)
	if err != nil {
		files, err = f.without(files)
		var own error
		if all, own = f.with(files); own != nil {
			return "", own
		}
	}
	f.good = files
	f.live.Swap(all)
	return fmt.Sprintf("%d signatures", len(all.All())), err
}

func (f *signatureFiles) with(files []txtar.File) (*signature.Catalog, error) {
	f.made++
	fsys, err := txtar.FS(&txtar.Archive{Files: files})
	if err != nil {
		return nil, err
	}
	return f.base.With(KnownRules(), fsys)
}

// without are the files that load together, in the order of their names, and why others do not. They
// are tried twice: one may name another that comes later.
func (f *signatureFiles) without(files []txtar.File) ([]txtar.File, error) {
	var good, broken []txtar.File
	var unreadable, errs []error
	// What cannot be read by itself is sorted out first: that costs one file, not the whole catalog.
	files = slices.DeleteFunc(slices.Clone(files), func(file txtar.File) bool {
		if path.Ext(file.Name) != ".yaml" {
			return false // not read at all
		}
		_, err := signature.Decode(file.Data)
		if err != nil {
			broken, unreadable = append(broken, file), append(unreadable, fmt.Errorf("read signature %s: %w", file.Name, err))
		}
		return err != nil
	})
	left := files
	for range 2 {
		good, left, errs = f.add(good, left)
	}
	var were []txtar.File // as they last loaded
	for _, file := range append(left, broken...) {
		if i := slices.IndexFunc(f.good, func(g txtar.File) bool { return g.Name == file.Name }); i >= 0 {
			were = append(were, f.good[i])
		}
	}
	good, _, _ = f.add(good, were)
	return good, errors.Join(append(unreadable, errs...)...)
}

// add adds to files that load those of others that load with them. It tries all at once, and halves
// of what does not: a broken one among many costs the logarithm of their number.
func (f *signatureFiles) add(good, files []txtar.File) (loaded, left []txtar.File, errs []error) {
	if len(files) == 0 {
		return good, nil, nil
	}
	_, err := f.with(slices.Concat(good, files))
	switch {
	case err == nil:
		return slices.Concat(good, files), nil, nil
	case len(files) == 1:
		return good, files, []error{err}
	}
	half := len(files) / 2
	good, left, errs = f.add(good, files[:half])
	good, more, why := f.add(good, files[half:])
	return good, slices.Concat(left, more), append(errs, why...)
}

// filesOf reads the files of a set by name.
func filesOf(fsys fs.FS) ([]txtar.File, error) {
	names, err := fs.Glob(fsys, "*/*")
	if err != nil {
		return nil, err
	}
	var out []txtar.File
	for _, name := range names {
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		out = append(out, txtar.File{Name: name, Data: data})
	}
	return out, nil
}

// KnownRules are the rules that look at structure instead of text: a signature may hide them.
func KnownRules() []string {
	var ids []string
	for _, r := range control.Rules() {
		ids = append(ids, r.ID)
	}
	return ids
}

// countLoads registers what is counted about loading; nil: nothing is.
func countLoads(into prometheus.Registerer) (func(error), error) {
	if into == nil {
		return nil, nil
	}
	loads := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "signalbox_signature_loads_total", Help: "Attempts to load the signatures of ConfigMaps, by result: ok, error.",
	}, []string{"result"})
	broken := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "signalbox_signatures_broken", Help: "1 while signatures of ConfigMaps do not load and are left out.",
	})
	for _, c := range []prometheus.Collector{loads, broken} {
		if err := into.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return func(err error) {
		if err != nil {
			loads.WithLabelValues("error").Inc()
			broken.Set(1)
			return
		}
		loads.WithLabelValues("ok").Inc()
		broken.Set(0)
	}, nil
}
