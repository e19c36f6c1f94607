package webhook

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// Keys of the audit annotations; the API server puts the webhook's name and a slash
// before them. They are qualified names, as it demands (k8s.io/apiserver,
// pkg/admission/attributes.go, checkKeyFormat).
const (
	auditDecision   = "decision"        // allowed, warned or denied
	auditRevision   = "policy-revision" // of the policy set that decided
	auditExempted   = "exempted"        // policies that made an exception, and why
	auditNotChecked = "not-checked"     // what was not checked, and why
	auditFindings   = "findings"        // names of the checks and policies that spoke
)

const (
	mostNamed   = 3    // checks that failed for one reason; more are counted
	auditBytes  = 1024 // of one audit annotation: every request of every user is logged with it
	denialBytes = 8192 // of the message of a denial; kubectl prints it whole
)

// More is the command that shows what the warnings had no room for.
const More = "kubectl signalbox check -f FILE"

// reason is why something was not checked, as the metric's label has it.
type reason string

const (
	reasonPanic       reason = "panic"
	reasonDeadline    reason = "deadline"
	reasonBusy        reason = "busy"
	reasonUndecodable reason = "undecodable"
	reasonView        reason = "view"
	reasonCheck       reason = "check"
	reasonPolicy      reason = "policy"
)

// gap is one thing that was not checked.
type gap struct {
	reason reason
	text   string
}

// answer is what the webhook has to say about one request.
type answer struct {
	silent string // why nobody needs to be told anything; no review took place
	report *preflight.Report
	gaps   []gap    // in the order of their weight
	record []string // the whole review for a program that asked, instead of all other warnings
	// unchecked says that the report is not of a review: only what policies say to there being none.
	unchecked bool
	job       *unstructured.Unstructured // nil: it was not read
}

// of is the answer about a job as it is.
func (a answer) of(u *unstructured.Unstructured) answer {
	a.job = u
	return a
}

// whole says whether a review now would find no more: nothing is missing that time, another moment or the end
// of a fault of ours would give.
func (a answer) whole() bool {
	if a.silent != "" {
		return true
	}
	return a.report != nil && !a.unchecked && !slices.ContainsFunc(a.gaps, func(g gap) bool { return g.reason != reasonUndecodable })
}

// notChecked is the answer where no review came about.
func notChecked(r reason, text string) answer { return answer{gaps: []gap{{reason: r, text: text}}} }

// lacking is the answer with one more gap, the gravest.
func (a answer) lacking(g gap) answer {
	a.gaps = append([]gap{g}, a.gaps...)
	return a
}

// uncheck marks an answer that no review stands behind.
func (a answer) uncheck() answer {
	a.unchecked = true
	return a
}

// reported is the answer after a review; missing is what the view lacked. Checks that failed for one
// reason are named together, and so are policies.
func reported(r preflight.Report, missing string) answer {
	a := answer{report: &r}
	if missing != "" {
		a.gaps = append(a.gaps, gap{reason: reasonView, text: "the view of the cluster is not whole: " + missing})
	}
	if len(r.Unread) > 0 {
		a.gaps = append(a.gaps, gap{reason: reasonUndecodable, text: restsOn(r.Unread)})
	}
	var reasons []string
	checks := map[string][]string{}
	for _, s := range r.Skipped {
		if !s.Failed || missing != "" && s.Why == check.ViewUntrusted {
			continue
		}
		if checks[s.Reason] == nil {
			reasons = append(reasons, s.Reason)
		}
		checks[s.Reason] = append(checks[s.Reason], s.Check)
	}
	for _, why := range reasons {
		names := strings.Join(checks[why], ", ")
		if n := len(checks[why]); n > mostNamed {
			names = fmt.Sprintf("%d checks", n)
		}
		a.gaps = append(a.gaps, gap{reason: reasonCheck, text: names + ": " + why})
	}
	a.gaps = append(a.gaps, undecided(r.Undecided)...)
	return a
}

// undecided are the policies that gave no answer, those with one reason together.
func undecided(texts []string) (out []gap) {
	var reasons []string
	names := map[string][]string{}
	for _, u := range texts {
		name, why, _ := strings.Cut(u, ": ")
		if names[why] == nil {
			reasons = append(reasons, why)
		}
		names[why] = append(names[why], name)
	}
	for _, why := range reasons {
		word := "policy"
		if len(names[why]) > 1 {
			word = "policies"
		}
		text := word + " " + strings.Join(names[why], ", ")
		if why != "" {
			text += ": " + why
		}
		out = append(out, gap{reason: reasonPolicy, text: text})
	}
	return out
}

// restsOn says what fields that cannot be read leave open.
func restsOn(paths []job.Path) string {
	if len(paths) == 1 {
		return fmt.Sprintf("what rests on %s, which could not be read", paths[0])
	}
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = string(p)
	}
	return fmt.Sprintf("what rests on %d fields that could not be read: %s", len(paths), strings.Join(names, ", "))
}

// decision is what the answer amounts to, as audit log and metrics name it.
func (a answer) decision() preflight.Decision {
	if a.report == nil || a.report.Decision == "" {
		return preflight.Allowed
	}
	return a.report.Decision
}

// response puts the answer into the API server's words. Only a policy denies.
func (a answer) response() admission.Response {
	resp := admission.Allowed("")
	if denials := a.denials(); len(denials) > 0 && a.decision() == preflight.Denied {
		resp = admission.Denied(denial(denials))
	}
	resp.Warnings = a.warnings()
	resp.AuditAnnotations = a.audit()
	return resp
}

func (a answer) denials() []preflight.Ruling {
	if a.report == nil {
		return nil
	}
	var out []preflight.Ruling
	for _, r := range a.report.Rulings {
		if r.Effect == preflight.Deny {
			out = append(out, r)
		}
	}
	return out
}

// deniedBy are the policies that deny, once each.
func (a answer) deniedBy() (names []string) {
	for _, d := range a.denials() {
		if !slices.Contains(names, d.Policy) {
			names = append(names, d.Policy)
		}
	}
	return names
}

// denial lists every reason at once, so that nobody has to apply three times.
func denial(rulings []preflight.Ruling) string {
	var b strings.Builder
	for i, r := range rulings {
		line := oneLine(asFinding(r).Line())
		if r.Remedy != "" {
			line += ". " + oneLine(r.Remedy)
		}
		if i > 0 && b.Len()+len(line) > denialBytes {
			fmt.Fprintf(&b, "\n%d more: %s", len(rulings)-i, More)
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(clip(line, denialBytes))
	}
	return b.String()
}

// warnings are what the report says, gravest first, and one line about what was not
// checked; all within the budget of the API server. Denials are in the message already.
func (a answer) warnings() []string {
	if len(a.record) > 0 {
		return a.record
	}
	budget := finding.KubectlBudget
	var last []string
	if text := a.gapText(); text != "" {
		line := words.Clip("[signalbox] not checked: "+oneLine(text), budget.Runes)
		last, budget.Bytes = []string{line}, budget.Bytes-len(line)
	}
	if a.report == nil {
		return last
	}
	denied := map[line]bool{} // an author may be denied for each of his variables
	for _, d := range a.denials() {
		denied[lineOf(asFinding(d))] = true
	}
	lines := slices.DeleteFunc(a.report.Lines(), func(f finding.Finding) bool { return denied[lineOf(f)] })
	out := finding.Warnings(lines, budget, More)
	for i := range out {
		out[i] = oneLine(out[i]) // a path may come from a policy
	}
	return append(out, last...)
}

// line is a finding without its facts.
type line struct {
	check    string
	severity finding.Severity
	path     job.Path
	message  string
}

func lineOf(f finding.Finding) line { return line{f.Check, f.Severity, f.Path, f.Message} }

// audit is what the audit log keeps. Nothing for a request that needed no review.
func (a answer) audit() map[string]string {
	if a.silent != "" {
		return nil
	}
	out := map[string]string{auditDecision: string(a.decision())}
	if text := a.gapText(); text != "" {
		out[auditNotChecked] = logged(text)
	}
	if a.report == nil {
		return out
	}
	if a.report.Revision != "" {
		out[auditRevision] = clip(a.report.Revision, auditBytes)
	}
	if len(a.report.Exempted) > 0 {
		out[auditExempted] = logged(strings.Join(a.report.Exempted, "; "))
	}
	if names := a.names(); len(names) > 0 {
		out[auditFindings] = clip(strings.Join(names, ","), auditBytes)
	}
	return out
}

// logged is a text as the audit log keeps it, which is read by more people than the job is: what could not
// be read may be repeated in it, and that may be secret.
func logged(text string) string { return clip(forAll(text), auditBytes) }

// names are the checks and policies that spoke, each once, sorted.
func (a answer) names() []string {
	var out []string
	for _, r := range a.report.Rulings {
		out = append(out, r.Policy)
	}
	for _, f := range a.report.Findings {
		out = append(out, f.Check)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// gapText is what was not checked, in one line.
func (a answer) gapText() string {
	var texts []string
	for _, g := range a.gaps {
		texts = append(texts, g.text)
	}
	return strings.Join(texts, "; ")
}

// asFinding lets a ruling be written like a finding: the policy stands where the check does.
func asFinding(r preflight.Ruling) finding.Finding {
	return finding.Finding{Check: r.Policy, Severity: finding.Error, Path: r.Path, Message: r.Message, Remedy: r.Remedy}
}
