package review

import (
	"slices"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/fit"
)

// Outcome is what a review of files amounts to.
type Outcome struct {
	Jobs     []Reviewed
	Troubles []preflight.Trouble
	Fixes    string // exact remedies, where they are asked for
	Unknown  string // why what was asked is not known; empty: it is, or was not asked
}

// Verdict is the exit code that a review amounts to, as an error. Input that nobody could
// read outweighs everything: the review is not whole.
func Verdict(all *Outcome, failOn string) error {
	var objects, busy, failed bool
	for _, j := range all.Jobs {
		objects = objects || objection(j.Report, failOn)
		busy = busy || Waits(j.Report) && !j.roomy
		failed = failed || len(j.ours) > 0
	}
	switch {
	case len(all.Troubles) > 0:
		return &shell.Exit{Code: shell.ExitUsage}
	case objects:
		return &shell.Exit{Code: shell.ExitFindings}
	case failed:
		return &shell.Exit{Code: shell.ExitOurs}
	case all.Unknown != "":
		return &shell.Exit{Code: shell.ExitUnknown}
	case busy && failOn != "never":
		return &shell.Exit{Code: shell.ExitBusy}
	}
	return nil
}

// Severities are those that flags name; never is above all.
var Severities = map[string]finding.Severity{"note": finding.Note, "warning": finding.Warning, "error": finding.Error, "never": finding.Error + 1}

// OnlyFrom leaves out what is found below a severity, and counts it. What policies say stays.
func OnlyFrom(jobs []Reviewed, least finding.Severity) (hidden int) {
	for i := range jobs {
		j := &jobs[i]
		all := len(j.Findings)
		j.Findings = slices.DeleteFunc(j.Findings, func(f finding.Finding) bool { return f.Severity < least })
		j.Hidden = all - len(j.Findings)
		hidden += j.Hidden
	}
	return hidden
}

// objection says whether a report holds more against a job than that others are using
// the cluster now.
func objection(r preflight.Report, failOn string) bool {
	if r.Decision == preflight.Denied {
		return true
	}
	return slices.ContainsFunc(r.Lines(), func(f finding.Finding) bool { return Fails(r, f, failOn) && (!Waits(r) || !SaysBusy(f)) })
}

// Fails says whether one line of a report makes the exit code another than 0.
func Fails(r preflight.Report, f finding.Finding, failOn string) bool {
	denies := slices.ContainsFunc(r.Rulings, func(r preflight.Ruling) bool {
		return r.Effect == preflight.Deny && r.Policy == f.Check && r.Path == f.Path && r.Message == f.Message
	})
	return denies || f.Severity >= Severities[failOn] || failOn != "never" && Waits(r) && SaysBusy(f)
}

// Waits says whether the job would fit if only others were not using the cluster, or if the nodes that are away were back.
func Waits(r preflight.Report) bool {
	return r.Fit != nil && (r.Fit.WaitsForOthers || r.Fit.Verdict == fit.TooBig && r.Fit.WithNodesBack)
}

// SaysBusy says whether a finding is the fit's answer and nothing else: there is no room
// now, on the nodes or in a quota.
func SaysBusy(f finding.Finding) bool {
	return f.Check == roomCheck || f.Check == "quota-exceeded" && f.Severity < finding.Error
}

// SaysLimit says whether a finding is about what the fit names first before the nodes.
func SaysLimit(r preflight.Report) bool {
	return r.Fit != nil && r.Fit.Held() && slices.ContainsFunc(r.Findings, func(f finding.Finding) bool {
		return f.Rule == string(r.Fit.Violations[0].Rule)
	})
}

// RulingsVerdict is the exit code that the answers of policies amount to, as an error.
func RulingsVerdict(jobs []Reviewed, troubles []preflight.Trouble) error {
	code := shell.ExitFine
	for _, j := range jobs {
		switch {
		case len(j.Undecided) > 0 || len(troubles) > 0:
			return &shell.Exit{Code: shell.ExitUsage}
		case j.Decision == preflight.Denied:
			code = shell.ExitFindings
		}
	}
	if len(troubles) > 0 {
		code = shell.ExitUsage
	}
	if code == shell.ExitFine {
		return nil
	}
	return &shell.Exit{Code: code}
}

// OnlyRulings leaves what policies said: the findings are check's to tell.
func OnlyRulings(jobs []Reviewed) {
	for i := range jobs {
		jobs[i].Findings, jobs[i].Skipped, jobs[i].Fit, jobs[i].Ran = nil, nil, nil, 0
		if len(jobs[i].Rulings) == 0 {
			jobs[i].Decision = preflight.Allowed
		}
	}
}
