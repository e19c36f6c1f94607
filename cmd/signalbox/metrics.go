package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox-dev/signalbox/certs"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
	"github.com/signalbox-dev/signalbox/webhook"
)

// metricText documents one metric.
type metricText struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Labels string `json:"labels"`
	Help   string `json:"help"`
}

func metricShelf() shelf {
	return shelf{
		name:    "metrics",
		about:   "Metrics of `signalbox serve` for Prometheus, at /metrics.",
		columns: []string{"name", "type", "labels", "meaning"},
		entries: func() ([]entry, error) {
			texts, err := metricTexts()
			if err != nil {
				return nil, err
			}
			var out []entry
			for _, m := range texts {
				out = append(out, entry{name: m.Name, row: []string{m.Name, m.Type, m.Labels, m.Help}, value: m})
			}
			return out, nil
		},
	}
}

// metricTexts are the metrics of all parts of the server by name, read from what they
// register.
func metricTexts() ([]metricText, error) {
	var r recorder
	if _, err := webhook.NewMetrics(&r); err != nil {
		return nil, err
	}
	if err := controller.RegisterMetrics(&r); err != nil {
		return nil, err
	}
	if err := r.Register(certs.Expiry()); err != nil {
		return nil, err
	}
	for _, c := range []prometheus.Collector{buildInfo(), notifications()} {
		if err := r.Register(c); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(r.texts, func(a, b metricText) int { return strings.Compare(a.Name, b.Name) })
	return r.texts, nil
}

// recorder is a Registerer that only writes down what is registered.
type recorder struct{ texts []metricText }

// described is how prometheus prints a description; its fields are not exported.
var described = regexp.MustCompile(`^Desc\{fqName: ("(?:[^"\\]|\\.)*"), help: ("(?:[^"\\]|\\.)*"), .*variableLabels: \{([^}]*)\}\}$`)

// Register writes a collector down.
func (r *recorder) Register(c prometheus.Collector) error {
	descs := make(chan *prometheus.Desc, 16)
	c.Describe(descs)
	close(descs)
	for d := range descs {
		m := described.FindStringSubmatch(d.String())
		if m == nil {
			return fmt.Errorf("read the description of a metric: %s", d)
		}
		name, err := strconv.Unquote(m[1])
		if err != nil {
			return err
		}
		help, err := strconv.Unquote(m[2])
		if err != nil {
			return err
		}
		r.texts = append(r.texts, metricText{name, kindOfMetric(c), strings.ReplaceAll(m[3], ",", ", "), help})
	}
	return nil
}

// MustRegister is Register for those who do not look.
func (r *recorder) MustRegister(cs ...prometheus.Collector) {
	for _, c := range cs {
		_ = r.Register(c) // a metric that cannot be described is missed by the test of the reference
	}
}

// Unregister forgets nothing.
func (r *recorder) Unregister(prometheus.Collector) bool { return false }

func kindOfMetric(c prometheus.Collector) string {
	switch c.(type) {
	case *prometheus.CounterVec, prometheus.Counter:
		// every gauge is a counter to the type system, so gauges are asked first
		if _, ok := c.(prometheus.Gauge); !ok {
			return "counter"
		}
		return "gauge"
	case *prometheus.GaugeVec:
		return "gauge"
	case *prometheus.HistogramVec, prometheus.Histogram:
		return "histogram"
	}
	return "untyped"
}
