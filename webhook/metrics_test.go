package webhook

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admission/v1"

	"github.com/signalbox-dev/signalbox/certs"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

// gathered are the counters and the counts of histograms, one line each.
func gathered(t *testing.T, from prometheus.Gatherer) []string {
	t.Helper()
	families, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			n := m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			out = append(out, fmt.Sprintf("%s{%s} %v", f.GetName(), strings.Join(labels, ","), n))
		}
	}
	return out
}

func TestMetricsCountWhatWasAnswered(t *testing.T) {
	registry := prometheus.NewRegistry()
	m, err := NewMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	reports := []preflight.Report{
		{Decision: preflight.Allowed},
		{Decision: preflight.Warned, Findings: []finding.Finding{shortOfNodes}},
		{Decision: preflight.Allowed, Skipped: []preflight.Skip{{Check: "a", Reason: "panic", Failed: true}}, Undecided: []string{"p: fails"}},
	}
	h := handler(nil, world{})
	h.o.Metrics = m
	for _, r := range reports {
		h.o.Reviewer = finds(r)
		ask(t, h, request())
	}
	h.o.Reviewer = finds(reports[1])
	ask(t, h, request(func(r *admissionv1.AdmissionRequest) { yes := true; r.DryRun = &yes })) // its findings are not counted
	ask(t, h, request(func(r *admissionv1.AdmissionRequest) { r.Namespace = "kube-system" }))
	ask(t, h, request(func(r *admissionv1.AdmissionRequest) { r.Kind.Kind = "Invented" }))
	h.o.Reviewer = reviewFunc(func(context.Context, preflight.Request) (preflight.Report, error) {
		var missing *preflight.Report
		return *missing, nil
	})
	ask(t, h, request())
	want := []string{
		"signalbox_admission_duration_seconds{decision=allowed,kind=PyTorchJob} 1",
		"signalbox_admission_duration_seconds{decision=skipped,kind=PyTorchJob} 1",
		"signalbox_admission_duration_seconds{decision=unchecked,kind=PyTorchJob} 2",
		"signalbox_admission_duration_seconds{decision=unchecked,kind=other} 1",
		"signalbox_admission_duration_seconds{decision=warned,kind=PyTorchJob} 2",
		"signalbox_admission_not_checked_total{reason=check} 1",
		"signalbox_admission_not_checked_total{reason=panic} 1",
		"signalbox_admission_not_checked_total{reason=policy} 1",
		"signalbox_admission_not_checked_total{reason=undecodable} 1",
		"signalbox_findings_total{check=gang-does-not-fit,severity=warning} 1",
		"signalbox_policy_bundle_broken{} 0",
		"signalbox_policy_set_broken{} 0",
		"signalbox_reviewed_late_total{decision=allowed} 0",
		"signalbox_reviewed_late_total{decision=denied} 0",
		"signalbox_reviewed_late_total{decision=unchecked} 0",
		"signalbox_reviewed_late_total{decision=warned} 0",
	}
	if diff := cmp.Diff(want, gathered(t, registry)); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

// The reference names every metric that can appear, and no other.
func TestEveryMetricIsDocumented(t *testing.T) {
	registry := prometheus.NewRegistry()
	m, err := NewMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	expiry := certs.Expiry()
	registry.MustRegister(expiry)
	expiry.WithLabelValues("serving").Set(1)
	m.policies(nil)
	m.Bundle(nil)
	m.Revision("sha256:1")
	m.late("denied")
	m.switched(true)
	m.observeClosed("Job", true)
	m.observe("Job", request0(), answer{gaps: []gap{{reason: reasonBusy}}, report: &preflight.Report{Findings: []finding.Finding{shortOfNodes}}}, 0)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var have, documented []string
	for _, f := range families {
		have = append(have, f.GetName()+" "+strings.ToLower(f.GetType().String())+" "+f.GetHelp())
	}
	for _, text := range MetricTexts() {
		documented = append(documented, text.Name+" "+text.Type+" "+text.Help)
	}
	slices.Sort(documented)
	if diff := cmp.Diff(documented, have); diff != "" {
		t.Errorf("metrics (-documented +registered):\n%s", diff)
	}
}
