package controller

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/explain"
)

// metrics count what the controller does; a nil *metrics counts nothing.
type metrics struct {
	diagnoses *prometheus.CounterVec
	duration  prometheus.Histogram
	writes    prometheus.Counter
	refused   prometheus.Counter
	calls     *prometheus.CounterVec
	waited    prometheus.Histogram
	tokens    *prometheus.CounterVec
	dropped   prometheus.Counter
	cost      *prometheus.CounterVec
	saved     *prometheus.CounterVec
	named     *prometheus.CounterVec
	used      *prometheus.GaugeVec
	evidence  *prometheus.CounterVec
	keptBytes prometheus.Histogram
	outcomes  *prometheus.CounterVec
}

// newMetrics registers them; nil: nowhere.
func newMetrics(into prometheus.Registerer) (*metrics, error) {
	if into == nil {
		return nil, nil
	}
	m := &metrics{
		diagnoses: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "signalbox_diagnoses_total", Help: "Diagnoses made, by verdict and category of the cause.",
		}, []string{"verdict", "category"}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "signalbox_diagnosis_duration_seconds", Help: "Time to collect the evidence of one job and to judge it.",
			Buckets: []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}),
		writes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "signalbox_annotation_writes_total", Help: "Diagnoses written on jobs; unchanged ones are not.",
		}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "signalbox_annotation_writes_refused_total", Help: "Diagnoses that the API server does not take on their job: a policy refuses them, or the job has no room; they are told as Events.",
		}),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "signalbox_llm_calls_total", Help: "Questions to the language model, by outcome: told, ungrounded, error; budget: not asked, because the day's budget is used; shared: answered about the same failure of another job, without a call.",
		}, []string{"outcome"}),
		waited: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "signalbox_llm_duration_seconds", Help: "Time of one call of the language model, waiting for a turn included.",
			Buckets: []float64{.1, .5, 1, 2.5, 5, 10, 30, 60, 120},
		}),
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "signalbox_llm_tokens_total", Help: "Tokens as the model's server counts them, by direction: in, out.",
		}, []string{"direction"}),
		dropped: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "signalbox_llm_sentences_dropped_total", Help: "Sentences of the model that the evidence they cite does not support.",
		}),
		cost: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "signalbox_llm_cost_total", Help: "What the language model cost, by llm.price: spent, and saved by answers that were shared.",
		}, []string{"what"}),
		saved: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "signalbox_llm_saved_tokens_total", Help: "Tokens that shared answers did not take again, by direction: in, out.",
		}, []string{"direction"}),
		named: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "signalbox_llm_nominations_total", Help: "Lines that the language model named as the cause where the rules found none, by outcome: accepted, refused.",
		}, []string{"outcome"}),
		used: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "signalbox_llm_budget_used_ratio", Help: "Part of llm.perDay that is used since 00:00 UTC, by budget: calls, tokens and money in all; namespace-calls, namespace-tokens and namespace-money of the namespace that used most.",
		}, []string{"budget"}),
		evidence: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "signalbox_evidence_writes_total", Help: "Writes of what is kept of ended containers beside their job, by outcome: written, failed.",
		}, []string{"outcome"}),
		keptBytes: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "signalbox_evidence_bytes", Help: "Bytes of what is kept beside one job, at each write.",
			Buckets: prometheus.ExponentialBuckets(1<<10, 2, 10),
		}),
	}
	m.outcomes = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "signalbox_check_outcomes_total", Help: "What became of what checks said of jobs, by check (other: those that name no failure) and outcome: came-true, other, ran, unsaid.",
	}, []string{"check", "outcome"})
	for _, c := range []prometheus.Collector{m.outcomes, m.diagnoses, m.duration, m.writes, m.refused, m.calls, m.waited, m.tokens, m.dropped, m.cost, m.saved, m.named, m.used, m.evidence, m.keptBytes} {
		if err := into.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return m, nil
}

func (m *metrics) diagnosed(r diagnose.Result, took time.Duration) {
	if m == nil {
		return
	}
	m.diagnoses.WithLabelValues(string(r.Verdict), r.Category).Inc()
	m.duration.Observe(took.Seconds())
}

// kept counts a write of evidence.
func (m *metrics) kept(bytes int, err error) {
	if m == nil {
		return
	}
	outcome := "written"
	if err != nil {
		outcome = "failed"
	}
	m.evidence.WithLabelValues(outcome).Inc()
	m.keptBytes.Observe(float64(bytes))
}

// settled counts what became of a warning. An account that may edit a job may write what it was warned of: only names that are known here
// are series.
func (m *metrics) settled(check string, o Outcome) {
	if m != nil {
		if _, known := predicts[check]; !known {
			check = "other"
		}
		m.outcomes.WithLabelValues(check, string(o)).Inc()
	}
}

func (m *metrics) wrote() {
	if m != nil {
		m.writes.Inc()
	}
}

func (m *metrics) notTaken() {
	if m != nil {
		m.refused.Inc()
	}
}

// spent shows what part of each budget of the day is used.
func (m *metrics) spent(of *explain.Budget) {
	if m == nil {
		return
	}
	for budget, part := range of.Used() {
		m.used.WithLabelValues(budget).Set(part)
	}
}

func (m *metrics) asked(err error, told explain.Told, took time.Duration, budget *explain.Budget) {
	if m == nil {
		return
	}
	a, s := told.Answer, told.Story
	switch {
	case s != nil && s.Nominated != nil:
		m.named.WithLabelValues("accepted").Inc()
	case s != nil && s.Refused != "":
		m.named.WithLabelValues("refused").Inc()
	}
	if told.Shared {
		m.calls.WithLabelValues("shared").Inc()
		m.saved.WithLabelValues("in").Add(float64(told.Saved.In))
		m.saved.WithLabelValues("out").Add(float64(told.Saved.Out))
		m.cost.WithLabelValues("saved").Add(budget.PriceOf(told.Saved.In, told.Saved.Out))
		m.dropped.Add(float64(s.Dropped))
		return
	}
	outcome := "told"
	switch {
	case errors.Is(err, explain.ErrBudget):
		m.calls.WithLabelValues("budget").Inc()
		return
	case err != nil:
		outcome = "error"
	case s == nil || s.Text == "":
		outcome = "ungrounded"
	default:
		m.dropped.Add(float64(s.Dropped))
	}
	m.calls.WithLabelValues(outcome).Inc()
	m.waited.Observe(took.Seconds())
	m.tokens.WithLabelValues("in").Add(float64(a.TokensIn))
	m.tokens.WithLabelValues("out").Add(float64(a.TokensOut))
	m.cost.WithLabelValues("spent").Add(budget.PriceOf(a.TokensIn, a.TokensOut))
}
