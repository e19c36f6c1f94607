package preflight

import (
	"encoding/json"

	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/fit"
)

// Schema names the format of Document; it is a promise of the public surface.
const Schema = "signalbox.dev/report/v1"

// Document is the output of check and fit for machines.
type Document struct {
	Schema string
	Jobs   []Report
	Errors []Trouble
}

// Trouble is an input that could not be reviewed.
type Trouble struct {
	Source  string `json:"source"` // "job.yaml:12"
	Message string `json:"message"`
}

// NewDocument wraps reports in the order given.
func NewDocument(jobs []Report, errors []Trouble) Document {
	return Document{Schema: Schema, Jobs: jobs, Errors: errors}
}

// MarshalJSON writes the documented form; lists are never null.
func (d Document) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Schema string    `json:"schema"`
		Jobs   []Report  `json:"jobs"`
		Errors []Trouble `json:"errors"`
	}{d.Schema, list(d.Jobs), list(d.Errors)})
}

type jobDocument struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Namespace  string            `json:"namespace"`
	Name       string            `json:"name"`
	Source     string            `json:"source"`
	Decision   Decision          `json:"decision"`
	Fit        *fit.Result       `json:"fit"`
	Findings   []finding.Finding `json:"findings"`
	Rulings    []Ruling          `json:"rulings"`
	Skipped    []Skip            `json:"skipped"`
	Undecided  []string          `json:"undecided,omitempty"`
	Exempted   []string          `json:"exempted,omitempty"`
	Revision   string            `json:"policyRevision,omitempty"`
	Notes      []string          `json:"notes,omitempty"`
}

// MarshalJSON writes one element of the documented "jobs"; lists are never null, fit is
// null where it could not be asked.
func (r Report) MarshalJSON() ([]byte, error) {
	return json.Marshal(jobDocument{
		APIVersion: r.Job.APIVersion, Kind: r.Job.Kind, Namespace: r.Job.Namespace, Name: r.Job.Name,
		Source: r.Source, Decision: r.Decision, Fit: withLists(r.Fit),
		Findings: list(r.Findings), Rulings: list(r.Rulings), Skipped: list(r.Skipped),
		Undecided: r.Undecided, Exempted: r.Exempted, Revision: r.Revision, Notes: r.Notes,
	})
}

func withLists(answer *fit.Result) *fit.Result {
	if answer == nil {
		return nil
	}
	out := *answer
	out.Plan, out.Shortfall = list(answer.Plan), list(answer.Shortfall)
	out.Changes, out.Assumed = list(answer.Changes), list(answer.Assumed)
	return &out
}

func list[T any](s []T) []T { return append([]T{}, s...) }
