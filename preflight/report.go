package preflight

import (
	"cmp"
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Report is everything one review found out.
type Report struct {
	Job       job.Ref
	Source    string
	Decision  Decision
	Fit       *fit.Result // nil: not asked (no cluster view, or no time)
	Gang      *gang.Gang  // that Fit is about; nil: the job could not be read
	Findings  []finding.Finding
	Rulings   []Ruling
	Skipped   []Skip
	Revision  string   // of the policy set
	Ran       int      // checks that ran
	Undecided []string // policies that failed, and why
	Exempted  []string // policies that made an exception of the job, and why
	Notes     []string // what else is to be known of where the job stands
	// Unread are the fields that could not be read, each a finding too: what rests on them
	// was not checked.
	Unread []job.Path
}

// Skip is something that was not checked, and why.
type Skip struct {
	Check  string       `json:"check"` // "all" where nothing was
	Reason string       `json:"reason"`
	Why    check.Reason `json:"-"` // of a check; zero: another reason
	Failed bool         `json:"-"` // the fault is ours: the author of the job can do nothing about it
}

// Decision is what the review amounts to.
type Decision string

// The decisions.
const (
	Allowed Decision = "allowed"
	Warned  Decision = "warned"
	Denied  Decision = "denied"
)

// Effect is what a ruling does.
type Effect string

// The effects.
const (
	Deny Effect = "deny"
	Warn Effect = "warn"
	Mute Effect = "mute" // a finding is taken back; no report has a ruling with it
)

// Ruling is what one policy says.
type Ruling struct {
	Policy  string   `json:"policy"`
	Effect  Effect   `json:"effect"`
	Message string   `json:"message"`
	Path    job.Path `json:"path"`
	Remedy  string   `json:"remedy,omitempty"`
	Check   string   `json:"-"` // whose findings are taken back; of Mute alone
}

// byPolicy orders rulings.
func byPolicy(a, b Ruling) int {
	return cmp.Or(cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message), cmp.Compare(a.Effect, b.Effect))
}

// Lines are all findings and rulings in one list, gravest first: denials, then as finding.Sort has it. Both doors speak from it,
// so that the webhook and the command line say the same bytes: a denial is an error, a
// policy's warning a warning, under the name of the policy.
func (r Report) Lines() []finding.Finding {
	out := make([]finding.Finding, 0, len(r.Findings)+len(r.Rulings))
	out = append(out, r.Findings...)
	var denials []finding.Finding
	for _, ruling := range r.Rulings {
		f := finding.Finding{Check: ruling.Policy, Severity: finding.Warning, Path: ruling.Path, Message: ruling.Message, Remedy: ruling.Remedy}
		if ruling.Effect == Deny {
			f.Severity = finding.Error
			denials = append(denials, f)
			continue
		}
		out = append(out, f)
	}
	finding.Sort(denials)
	sortFindings(out)
	return append(denials, out...)
}

// sortFindings orders findings as reports print them: what is wrong with the namespace first,
// however mild, because whoever believes a namespace to be guarded must not find it behind "4 more".
func sortFindings(fs []finding.Finding) {
	finding.Sort(fs)
	slices.SortStableFunc(fs, func(a, b finding.Finding) int {
		of := func(f finding.Finding) int {
			if f.Check == namespaceMode {
				return 0
			}
			return 1
		}
		return of(a) - of(b)
	})
}

// Add takes in what was found out elsewhere about the job (an API server that was asked).
func (r *Report) Add(findings []finding.Finding, skipped []Skip) {
	r.Findings = append(r.Findings, findings...)
	sortFindings(r.Findings)
	r.Skipped = append(r.Skipped, skipped...)
	r.Decision = decide(r.Findings, r.Rulings)
}

// Failures are what was not checked through a fault of ours, one line each; empty: all
// that could be checked was.
func (r Report) Failures() []string {
	var out []string
	for _, s := range r.Skipped {
		if s.Failed {
			out = append(out, s.Check+": "+s.Reason)
		}
	}
	for _, u := range r.Undecided {
		out = append(out, "policy "+u)
	}
	return out
}

// decide is what findings and rulings amount to. Only a policy denies.
func decide(findings []finding.Finding, rulings []Ruling) Decision {
	decision := Allowed
	for _, f := range findings {
		if f.Severity >= finding.Warning {
			decision = Warned
		}
	}
	for _, r := range rulings {
		if r.Effect == Deny {
			return Denied
		}
		decision = Warned
	}
	return decision
}
