package controller

import (
	"fmt"
	"io/fs"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
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
// labelled ConfigMaps of one namespace, keys <id>.yaml: all or nothing. A set that does not
// load leaves the last good one in place and says so on the ConfigMap, in an Event and in a
// metric.
func NewSignatureMaps(kube kubernetes.Interface, namespace string, base *signature.Catalog, live *signature.Live, into prometheus.Registerer, log logr.Logger) (*labelled.ConfigMaps, error) {
	loaded, err := countLoads(into)
	if err != nil {
		return nil, err
	}
	return labelled.New(labelled.Options{
		Client: kube, Namespace: namespace, Label: SignatureLabel, Annotation: SignatureErrorAnnotation,
		What: "signatures", Reason: "Signature", Loaded: loaded, Log: log,
		Load: func(fsys fs.FS) (string, error) {
			all, err := base.With(KnownRules(), fsys)
			if err != nil {
				return "", err
			}
			live.Swap(all)
			return fmt.Sprintf("%d signatures", len(all.All())), nil
		},
	}), nil
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
		Name: "signalbox_signatures_broken", Help: "1 while the signatures of ConfigMaps do not load and the last good set stays.",
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
