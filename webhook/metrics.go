package webhook

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/signalbox-dev/signalbox/certs"
	"github.com/signalbox-dev/signalbox/preflight"
)

// Metrics are the numbers of the webhook. A nil Metrics measures nothing.
type Metrics struct {
	duration   *prometheus.HistogramVec
	notChecked *prometheus.CounterVec
	findings   *prometheus.CounterVec
	loads      *prometheus.CounterVec
	loaded     prometheus.Gauge
	reviewed   *prometheus.CounterVec
	refusals   *prometheus.CounterVec
	closed     *prometheus.GaugeVec // without labels: there is none until it is known
	bundles    *prometheus.CounterVec
	bundle     prometheus.Gauge
	revisions  *prometheus.GaugeVec
}

// MetricText documents one metric, for the reference.
type MetricText struct{ Name, Type, Labels, Help string }

// MetricTexts are the metrics of the webhook in the order of the reference.
func MetricTexts() []MetricText {
	return []MetricText{
		{
			"signalbox_admission_duration_seconds", "histogram", "kind, decision",
			"How long the webhook took to answer; decision is allowed, warned, denied, skipped or unchecked (not whole, and not denied by what was).",
		},
		{
			"signalbox_admission_not_checked_total", "counter", "reason",
			"Things that were not checked: panic, deadline, busy, undecodable, view, check, policy.",
		},
		{
			"signalbox_findings_total", "counter", "check, severity",
			"Findings in reviews of creations and updates; dry runs are not counted.",
		},
		{
			"signalbox_policy_loads_total", "counter", "result",
			"Attempts to load the policy set from ConfigMaps: ok or error; after an error the last good set stays.",
		},
		{
			"signalbox_policy_set_broken", "gauge", "",
			"1 while the ConfigMaps hold a policy set that does not load, and the last good one decides.",
		},
		{certs.ExpiryMetric, "gauge", "certificate", certs.ExpiryHelp},
		{
			"signalbox_reviewed_late_total", "counter", "decision",
			"Jobs that were admitted without a whole review and reviewed afterwards: allowed, warned, denied (a policy that enforces would have denied them), unchecked (that failed, too, or left a policy undecided where the namespace enforces).",
		},
		{
			"signalbox_closed_admissions_total", "counter", "kind, decision",
			"Answers to the webhook configuration that is closed on failure: allowed or denied.",
		},
		{
			"signalbox_closed_on", "gauge", "",
			"1 while the webhook configuration that is closed on failure is installed, as webhook.closed.enabled wants it; 0 while it is off.",
		},
		{
			"signalbox_policy_bundle_loads_total", "counter", "result",
			"Looks at the bundle of policies in its registry: ok or error; after an error the last good set stays.",
		},
		{
			"signalbox_policy_bundle_broken", "gauge", "",
			"1 while the bundle of policies cannot be fetched or does not load, and the last good one decides.",
		},
		{"signalbox_policy_revision", "gauge", "revision", "1 for the revision of the policies that decide."},
	}
}

// NewMetrics registers the metrics of the webhook.
func NewMetrics(reg prometheus.Registerer) (*Metrics, error) {
	t := MetricTexts()
	m := &Metrics{
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: t[0].Name, Help: t[0].Help,
			// 0.5 ms to 5 s: the deadline is 0.2 s, and an answer is due after 5 s.
			Buckets: []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5},
		}, []string{"kind", "decision"}),
		notChecked: prometheus.NewCounterVec(prometheus.CounterOpts{Name: t[1].Name, Help: t[1].Help}, []string{"reason"}),
		findings:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: t[2].Name, Help: t[2].Help}, []string{"check", "severity"}),
		loads:      prometheus.NewCounterVec(prometheus.CounterOpts{Name: t[3].Name, Help: t[3].Help}, []string{"result"}),
		loaded:     prometheus.NewGauge(prometheus.GaugeOpts{Name: t[4].Name, Help: t[4].Help}),
		reviewed:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: t[6].Name, Help: t[6].Help}, []string{"decision"}),
		refusals:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: t[7].Name, Help: t[7].Help}, []string{"kind", "decision"}),
		closed:     prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: t[8].Name, Help: t[8].Help}, nil),
		bundles:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: t[9].Name, Help: t[9].Help}, []string{"result"}),
		bundle:     prometheus.NewGauge(prometheus.GaugeOpts{Name: t[10].Name, Help: t[10].Help}),
		revisions:  prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: t[11].Name, Help: t[11].Help}, []string{"revision"}),
	}
	for _, c := range []prometheus.Collector{m.duration, m.notChecked, m.findings, m.loads, m.loaded, m.reviewed, m.refusals, m.closed, m.bundles, m.bundle, m.revisions} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	for _, decision := range []string{string(preflight.Allowed), string(preflight.Warned), string(preflight.Denied), lateUnchecked} {
		m.reviewed.WithLabelValues(decision) // the first job is an increase, too
	}
	return m, nil
}

// lateUnchecked is the decision where the review that came late failed, too.
const lateUnchecked = "unchecked"

// observe counts one answer.
func (m *Metrics) observe(kind string, req admission.Request, a answer, took time.Duration) {
	if m == nil {
		return
	}
	m.duration.WithLabelValues(kind, a.outcome()).Observe(took.Seconds())
	for _, g := range a.gaps {
		m.notChecked.WithLabelValues(string(g.reason)).Inc()
	}
	if a.report == nil || req.DryRun != nil && *req.DryRun {
		return
	}
	for _, f := range a.report.Findings {
		m.findings.WithLabelValues(f.Check, f.Severity.String()).Inc()
	}
}

// outcome is the decision with the two cases in which nothing was decided, or not whole: a policy that always runs out of time
// lets jobs in as surely as a webhook that does.
func (a answer) outcome() string {
	switch {
	case a.silent != "":
		return "skipped"
	case a.report == nil || a.decision() != preflight.Denied && !a.whole():
		return "unchecked"
	default:
		return string(a.decision())
	}
}

// kindLabel is the kind, from the closed list of those that are reviewed.
func (h *Handler) kindLabel(req admission.Request) string {
	if h.kindOf(schema.GroupVersionKind(req.Kind)) == nil {
		return "other"
	}
	return req.Kind.Kind
}

// policies counts one attempt to load the policy set.
func (m *Metrics) policies(err error) {
	if m != nil {
		attempt(m.loads, m.loaded, err)
	}
}

// Bundle counts one look at the bundle of policies.
func (m *Metrics) Bundle(err error) {
	if m != nil {
		attempt(m.bundles, m.bundle, err)
	}
}

// attempt counts what went well or did not, and says which the last one did.
func attempt(all *prometheus.CounterVec, broken prometheus.Gauge, err error) {
	result := "ok"
	if err != nil {
		result = "error"
	}
	all.WithLabelValues(result).Inc()
	broken.Set(map[bool]float64{true: 1}[err != nil])
}

// Revision says which policies decide.
func (m *Metrics) Revision(revision string) {
	if m == nil {
		return
	}
	m.revisions.Reset()
	m.revisions.WithLabelValues(revision).Set(1)
}

// late counts one job that was reviewed after it was admitted.
func (m *Metrics) late(decision string) {
	if m != nil {
		m.reviewed.WithLabelValues(decision).Inc()
	}
}

// observeClosed counts one answer to the configuration that is closed on failure. The job itself is counted where the
// other configuration asks about it.
func (m *Metrics) observeClosed(kind string, allowed bool) {
	if m == nil {
		return
	}
	decision := preflight.Allowed
	if !allowed {
		decision = preflight.Denied
	}
	m.refusals.WithLabelValues(kind, string(decision)).Inc()
}

// switched says whether what is closed on failure is on.
func (m *Metrics) switched(on bool) {
	if m == nil {
		return
	}
	m.closed.WithLabelValues().Set(map[bool]float64{true: 1}[on])
}
