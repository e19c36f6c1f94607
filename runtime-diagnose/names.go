package diagnose

import (
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/logscan"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/report"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

type (
	// Case is what goes into a diagnosis.
	Case = evidence.Bundle
	// Log is the log of one container.
	Log = evidence.ContainerLog
	// Excerpt is what was kept of one.
	Excerpt = evidence.Excerpt

	// Result is what a diagnosis amounts to.
	Result = report.Report
	// Verdict is it in a word.
	Verdict = report.Verdict
	// Standing is how well a cause is supported.
	Standing = report.Standing
	// Cause is one thing that went wrong.
	Cause = report.Cause
	// Story is what a model wrote about a diagnosis.
	Story = report.Story
	// Nominee is a line that was read, and what the rules say to it as the cause.
	Nominee = report.Nominee
	// Nominated is a line that a model has named and the rules let stand.
	Nominated = report.Nominated
	// Coverage says how much was looked at.
	Coverage = report.Coverage
	// Picture says how a timeline is drawn.
	Picture = report.Picture
	// Printed is of a job that ended well, to compare the next run with.
	Printed = report.Printed

	// Heuristic is one rule that may be wrong, by name.
	Heuristic = logscan.Heuristic
	// Thresholds say when a job that runs is slow.
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

// OfObject says whether the decisive line is what an event or a status says, and no line of a log.
func OfObject(r Result) bool { return report.OfObject(r) }

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
