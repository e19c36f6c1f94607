// Package finding is what a check says about a job: one mistake, the place where it
// is written, both numbers, and what to do. It formats and orders findings; it does
// not make any.
package finding

import "github.com/signalbox-dev/signalbox/preflight/job"

// Finding is one thing a check has to say.
type Finding struct {
	Check    string   `json:"check"` // slug, never renamed
	Severity Severity `json:"severity"`
	Path     job.Path `json:"path"`                         // where to edit
	Message  string   `json:"message"`                      // what is, with both numbers; no advice
	Remedy   string   `json:"remedy,omitempty"`             // what to do; one imperative sentence
	Facts    []Fact   `json:"facts,omitempty"`              // the same numbers for machines, in declared order
	Runbook  string   `json:"runbook,omitempty" policy:"-"` // the address of a page about the check; empty: none is configured
	Stops    bool     `json:"stops,omitempty"`              // it keeps the job from running at all, though it may pass; an error says so by itself
	Rule     string   `json:"-"`                            // of the limit before the nodes that the finding is about; empty: of none
	Meant    string   `json:"-"`                            // the name for which what is written at Path is a slip; empty: none is near
	Named    bool     `json:"-"`                            // it is about the name of the field at Path, and not about its value
}

// Fact is one number or name of a finding, for Rego and JSON.
type Fact struct {
	Name  string `json:"name"`
	Value any    `json:"value"` // string, int64 or bool
}
