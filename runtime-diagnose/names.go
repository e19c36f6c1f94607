package diagnose

import (
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/report"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

// What goes into a diagnosis, by its names in package evidence.
type (
	Case    = evidence.Bundle
	Log     = evidence.ContainerLog
	Excerpt = evidence.Excerpt
)

// What a diagnosis amounts to, by its names in package report.
type (
	Result   = report.Report
	Verdict  = report.Verdict
	Standing = report.Standing
	Cause    = report.Cause
	Story    = report.Story
	Coverage = report.Coverage
	Picture  = report.Picture
	Printed  = report.Printed

	Thresholds = timeline.Thresholds
)

// The verdicts and standings.
const (
	Unknown      = report.Unknown
	Healthy      = report.Healthy
	Diagnosed    = report.Diagnosed
	Inconclusive = report.Inconclusive

	Hypothesis  = report.Hypothesis
	Supported   = report.Supported
	Established = report.Established
)

// Text is the report for people.
func Text(r Result) string { return report.Text(r) }

// Why is the table behind an answer.
func Why(r Result) string { return report.Why(r) }

// JSON is the report for programs.
func JSON(r Result) ([]byte, error) { return report.JSON(r) }

// Timeline draws what became of every member.
func Timeline(r Result, p Picture) string { return report.Timeline(r, p) }

// Fingerprint is equal for two reports that say the same thing of the same job.
func Fingerprint(r Result) string { return report.Fingerprint(r) }

// HealthyWord is what the annotation and the JSON say: Yes, No or Unknown.
func HealthyWord(v Verdict) string { return report.HealthyWord(v) }
