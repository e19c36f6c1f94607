package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/quota"
)

// Pass is the only door between a check and its driver.
type Pass struct {
	Job       *job.Job
	Old       *job.Job          // set where the check needs Update
	Operator  *kinds.Operator   // what the operator of the job's kind does; never nil
	Cluster   *cluster.Snapshot // may be nil unless the check needs Cluster or Objects
	Namespace map[string]string // labels of the namespace; nil: unknown
	Admission bool              // an API server asks: the namespace is there, and the view holds more than the author may read
	Params    any
	fit       func() fit.Result
	limits    func() []quota.Violation
	check     *Check
	severity  finding.Severity // from the configuration; 0: what the check says
	sink      *[]finding.Finding
	said      map[said]bool // what is in the sink, once it is much
	answered  bool          // the API server or an operator's webhook refuses what the check says with its own severity
	overdue   func() bool
	cut       bool // the check ended because the review is over
	unheld    []string
	unheldHas map[string]bool // what is in unheld
	failed    error
}

// EachRole is what runs a check that looks at one role after the other.
func EachRole(run func(p *Pass, r *job.Role)) func(*Pass) {
	return func(p *Pass) {
		for r := range p.Job.EachRole() {
			run(p, r)
		}
	}
}

// EachUnread is what runs a check of one kind of what was not read.
func EachUnread(run func(p *Pass, u job.Unread), kind job.UnreadKind) func(*Pass) {
	return func(p *Pass) {
		for _, u := range p.Job.Unread {
			if u.Kind == kind {
				run(p, u)
			}
		}
	}
}

// Fail says that the check itself failed; the job is not blamed for it.
func (p *Pass) Fail(err error) { p.failed = err }

// Over says that the time of the review is over. A check that does something costly for each role, or for each entry of a
// list that an author writes, asks before each of them and returns: it then counts as one that did not run.
func (p *Pass) Over() bool {
	p.cut = p.cut || p.overdue()
	return p.cut
}

// NotHeld says that the view of the cluster does not hold what the check would have to see, such as the keys of an
// object of which the view has the name: the check counts as one that did not run, beside what it found elsewhere.
func (p *Pass) NotHeld(what string) {
	if p.unheldHas[what] {
		return
	}
	if p.unheldHas == nil {
		p.unheldHas = map[string]bool{}
	}
	p.unheldHas[what] = true
	p.unheld = append(p.unheld, what)
}

// mostUnheld is how many things that the view lacks are named.
const mostUnheld = 3

// lacks names what the view does not hold.
func (p *Pass) lacks() string {
	if n := len(p.unheld) - mostUnheld; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(p.unheld[:mostUnheld], ", "), n)
	}
	return strings.Join(p.unheld, ", ")
}

// Fit is the answer of the capacity engine for the whole job; computed once per review.
// Only checks that need Cluster may call it.
func (p *Pass) Fit() fit.Result { return p.fit() }

// Limits are the rules between the job and the nodes that the job does not keep; worked
// out once per review. Only checks that need Cluster or Objects may call it.
func (p *Pass) Limits() []quota.Violation { return p.limits() }

// Reportf reports at a path with the severity and the remedy of the check. A Suggestion among the
// arguments is what the word at the path is a slip for.
func (p *Pass) Reportf(at job.Path, format string, args ...any) {
	p.ReportAs(finding.Finding{Path: at}, format, args...)
}

// ReportAs is Reportf for a finding that says more than its path: facts, or a severity or a remedy of its own.
func (p *Pass) ReportAs(f finding.Finding, format string, args ...any) {
	f.Message = fmt.Sprintf(format, args...)
	for _, arg := range args {
		if s, ok := arg.(Suggestion); ok {
			f.Meant = s.Name()
		}
	}
	p.Report(f)
}

// Report reports a finding. Severity and Remedy are the check's where the finding leaves
// them empty; a configured severity wins over both. The same words at the same path are
// kept once: roles may share a template. A path to what is not written is led back to what
// should hold it: every path of a finding leads somewhere in the job.
func (p *Pass) Report(f finding.Finding) {
	f.Check, f.Stops = p.check.Name, p.check.Stops
	f.Path = p.written(f.Path)
	f.Severity = cmp.Or(f.Severity, p.check.Severity)
	if p.answered && f.Severity >= p.check.Severity {
		return
	}
	if p.severity != 0 {
		f.Severity = p.severity
	}
	f.Remedy = cmp.Or(f.Remedy, p.check.Remedy)
	if !p.reported(f) {
		*p.sink = append(*p.sink, f)
	}
}

// fewFindings is up to how many findings of a check are compared one by one, without a map.
const fewFindings = 16

// reported says whether the check has said so already, in time that does not grow with what it has said: an author
// may write thousands of mistakes into one job.
func (p *Pass) reported(f finding.Finding) bool {
	if len(*p.sink) < fewFindings {
		return slices.ContainsFunc(*p.sink, func(old finding.Finding) bool { return old.Path == f.Path && old.Message == f.Message })
	}
	if p.said == nil {
		p.said = map[said]bool{}
		for _, old := range *p.sink {
			p.said[said{old.Path, old.Message}] = true
		}
	}
	if p.said[said{f.Path, f.Message}] {
		return true
	}
	p.said[said{f.Path, f.Message}] = true
	return false
}

// said is by which a finding is the same as another.
type said struct {
	path    job.Path
	message string
}

// written is the path, or the nearest one above it that the job has.
func (p *Pass) written(at job.Path) job.Path {
	if p.Job == nil || p.Job.Source == nil {
		return at
	}
	for at != "" {
		if _, err := at.Resolve(p.Job.Source.Object); err == nil {
			return at
		}
		at = at.Parent()
	}
	return at
}
