// Package webhook gives the API server the review: it decodes an
// admission request, lets preflight review the job, and speaks the report as warnings,
// a denial (only where a policy says so) and audit annotations.
//
// It holds no rules, and it must never be the reason why a job is refused: a panic, a
// passed deadline, an object that cannot be read, a view that is not complete and a broken
// policy all end in "admitted, and this was not checked". It calls no API while it
// answers; everything it looks at lies in memory.
//
// Start reading at Handler.Handle; New puts the parts together.
package webhook
