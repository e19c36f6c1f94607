package serve

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox-dev/signalbox/certs"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/reference"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
	"github.com/signalbox-dev/signalbox/webhook"
)

// Metrics are the metrics of all parts of the server by name, read from what they
// register.
func Metrics() ([]reference.MetricText, error) {
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
	slices.SortFunc(r.texts, func(a, b reference.MetricText) int { return strings.Compare(a.Name, b.Name) })
	return r.texts, nil
}

// recorder is a Registerer that only writes down what is registered.
type recorder struct{ texts []reference.MetricText }

// Register writes a collector down: what it shows once something was counted, which is what Prometheus reads.
func (r *recorder) Register(c prometheus.Collector) error {
	if err := countOnce(c); err != nil {
		return err
	}
	shown := prometheus.NewPedanticRegistry()
	if err := shown.Register(c); err != nil {
		return err
	}
	families, err := shown.Gather()
	if err != nil {
		return err
	}
	if len(families) == 0 {
		return fmt.Errorf("read a metric: %T shows nothing before it has counted", c)
	}
	for _, f := range families {
		labels := f.GetMetric()[0].GetLabel()
		names := make([]string, len(labels))
		for _, l := range labels {
			at, err := strconv.Atoi(l.GetValue())
			if err != nil || at < 0 || at >= len(names) {
				return fmt.Errorf("read the labels of %s: %s=%q was not counted here", f.GetName(), l.GetName(), l.GetValue())
			}
			names[at] = l.GetName()
		}
		r.texts = append(r.texts, reference.MetricText{Name: f.GetName(), Type: strings.ToLower(f.GetType().String()), Labels: strings.Join(names, ", "), Help: f.GetHelp()})
	}
	return nil
}

// mostLabels is more than any metric of ours has.
const mostLabels = 8

// countOnce makes a metric with labels show itself. The value of each label is its place among them.
func countOnce(c prometheus.Collector) error {
	var count func(...string) error
	switch vec := c.(type) {
	case *prometheus.CounterVec:
		count = func(values ...string) error { _, err := vec.GetMetricWithLabelValues(values...); return err }
	case *prometheus.GaugeVec:
		count = func(values ...string) error { _, err := vec.GetMetricWithLabelValues(values...); return err }
	case *prometheus.HistogramVec:
		count = func(values ...string) error { _, err := vec.GetMetricWithLabelValues(values...); return err }
	default:
		return nil
	}
	var values []string
	for i := range mostLabels {
		if count(values...) == nil {
			return nil
		}
		values = append(values, strconv.Itoa(i))
	}
	return fmt.Errorf("read a metric: %T has more than %d labels", c, mostLabels-1)
}

// MustRegister is Register for callers that do not look at the error.
func (r *recorder) MustRegister(cs ...prometheus.Collector) {
	for _, c := range cs {
		_ = r.Register(c) // a metric that cannot be described is missed by the test of the reference
	}
}

// Unregister forgets nothing.
func (r *recorder) Unregister(prometheus.Collector) bool { return false }
