// Package render writes what reviews found: as text, JSON, YAML, Markdown and in the forms that forges read. Start reading at
// Check.
package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/review"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// Check writes the report of a check in one of the documented formats.
func Check(to io.Writer, format, failOn string, jobs []review.Reviewed, troubles []preflight.Trouble, paint terminal.Painter) error {
	switch format {
	case "json", "yaml":
		return shell.RenderDocument(to, format, preflight.NewDocument(Reports(jobs), troubles))
	case "md":
		return terminal.Page{To: to}.Write(checkMarkdown(jobs, troubles))
	case "sarif":
		return renderSARIF(to, jobs, troubles)
	case "junit":
		return renderJUnit(to, failOn, jobs, troubles)
	case "github":
		return renderGitHub(to, jobs, troubles)
	case "gitlab":
		return renderGitLab(to, jobs, troubles)
	case "concise":
		return renderConcise(to, jobs, troubles)
	default:
		return renderText(to, jobs, troubles, paint)
	}
}

// Reports are what was found of the jobs, for a document.
func Reports(jobs []review.Reviewed) []preflight.Report {
	out := make([]preflight.Report, len(jobs))
	for i, j := range jobs {
		out[i] = j.Report
	}
	return out
}

// renderText writes reports for people: one block for each job, the place of every
// finding as file:line, what to do below it.
func renderText(to io.Writer, jobs []review.Reviewed, troubles []preflight.Trouble, paint terminal.Painter) error {
	var b strings.Builder
	for i, j := range jobs {
		if i > 0 {
			b.WriteString("\n")
		}
		Text(&b, j, paint)
	}
	switch n := len(jobs); {
	case n == 0 && len(troubles) == 0:
		b.WriteString("no training job found\n")
	case n > 0:
		if line := sum(jobs); line != "" {
			b.WriteString("\n" + paint.As("bold", line) + "\n")
		}
	}
	return terminal.NewPage(to).Write(b.String())
}

// Text writes what was found of one job for people.
func Text(b *strings.Builder, j review.Reviewed, paint terminal.Painter) {
	fmt.Fprintf(b, "%s (%s): %s\n", paint.As("bold", words.VisibleLine(j.Job.String())), words.VisibleLine(j.Source), paint.Word(j.Word()))
	word := ruled(j)
	for _, f := range toldAs(j) {
		at := manifest.Document{Source: j.From.Source, Line: j.Line(f.Finding)}.Where()
		fmt.Fprintf(b, "  %s[%s] %s\n", paint.Word(word(f)), paint.As("bold", f.Check), words.VisibleLine(at))
		if quote := j.Quote(f.Finding, paint); quote != "" {
			b.WriteString(quote)
		} else if f.Path != "" {
			fmt.Fprintf(b, "    %s\n", paint.As("dim", words.VisibleLine(string(f.Path))))
		}
		fmt.Fprintf(b, "    %s\n", words.VisibleLine(terminal.OneLine(f.Message)))
		if f.Remedy != "" {
			fmt.Fprintf(b, "    → %s\n", words.VisibleLine(f.Remedy))
		}
		if f.Runbook != "" {
			fmt.Fprintf(b, "    runbook: %s\n", words.VisibleLine(f.Runbook))
		}
	}
	said := ""
	if j.Fit != nil && !slices.ContainsFunc(j.Findings, review.SaysBusy) { // the finding has said it
		said = j.Fit.String()
		if review.SaysLimit(j.Report) {
			said = j.Fit.Headline()
		}
		fmt.Fprintf(b, "  fit     %s: %s\n", paint.Word(j.Fit.Answer()), indented(words.Visible(said)))
		if j.Fit.Change != "" {
			fmt.Fprintf(b, "          → %s\n", words.Visible(j.Fit.Change))
		}
	}
	if j.Fit != nil {
		for _, a := range FewAssumed(assumed(j, said), j.Fit.Verdict) {
			fmt.Fprintf(b, "  assumed %s\n", words.VisibleLine(a))
		}
	}
	for _, e := range j.Exempted {
		fmt.Fprintf(b, "  exempt: policy %s\n", words.VisibleLine(terminal.OneLine(e)))
	}
	for _, line := range Unchecked(j) {
		fmt.Fprintf(b, "  %s\n", words.VisibleLine(line))
	}
}

// ruled is the word that stands before what is told: deny or warn of a policy, the severity of a check.
func ruled(r review.Reviewed) func(told) string {
	effects := map[string]preflight.Effect{}
	for _, r := range r.Rulings {
		effects[r.Policy+string(r.Path)+r.Message] = r.Effect
	}
	return func(f told) string {
		if effect := effects[f.Check+string(f.Path)+f.first]; effect != preflight.Warn { // which is a warning as any other
			return cmp.Or(string(effect), f.Severity.String())
		}
		return finding.Warning.String()
	}
}

// told is a finding as a text tells it, for all that are alike.
type told struct {
	finding.Finding
	first string // the message of the first of them
}

// toldAs are the findings as a text tells them. A YAML anchor is one place of the file for several roles, and what is
// wrong there is told once: "container pytorch of Master and Worker has …".
func toldAs(r review.Reviewed) (out []told) {
	for _, f := range r.Lines() {
		at := slices.IndexFunc(out, func(t told) bool {
			n, column, word := r.From.Place(f.Path)
			m, also, same := r.From.Place(t.Path)
			_, alike := both(t.Message, t.first, f.Message)
			return alike && t.Check == f.Check && t.Severity == f.Severity && t.Remedy == f.Remedy && t.Runbook == f.Runbook &&
				n > 0 && n == m && column == also && word == same
		})
		if at < 0 {
			out = append(out, told{f, f.Message})
			continue
		}
		out[at].Message, _ = both(out[at].Message, out[at].first, f.Message)
	}
	return out
}

// both is what was told, with the word of another message in which it differs from the first one: "of Master and
// Worker". Of messages that differ in more than a word, or in a number, ok is false.
func both(said, first, other string) (text string, ok bool) {
	a, b := strings.Split(first, " "), strings.Split(other, " ")
	if len(a) != len(b) {
		return "", false
	}
	at := -1
	for i := range a {
		if a[i] != b[i] && at >= 0 {
			return "", false
		} else if a[i] != b[i] {
			at = i
		}
	}
	if at < 0 {
		return said, true
	}
	word, end := b[at], ""
	if last := word[max(0, len(word)-1):]; strings.Contains(",:;", last) && strings.HasSuffix(a[at], last) {
		word, end = strings.TrimSuffix(word, last), last
	}
	if strings.ContainsFunc(word, unicode.IsDigit) && !strings.ContainsFunc(word, unicode.IsLetter) {
		return "", false
	}
	before := strings.Join(a[:at], " ")
	after := strings.TrimPrefix(strings.Join(a[at+1:], " "), " ")
	if at+1 < len(a) {
		after = " " + after
	}
	roles := strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(said, before), after), end))
	if before == "" && end == "" { // the subject of the sentence, whose verb is that of one
		main, others, _ := strings.Cut(roles, besides)
		if others != "" {
			word = strings.ReplaceAll(others, " and ", ", ") + " and " + word
		}
		return main + besides + word + after, true
	}
	if before != "" {
		before += " "
	}
	return before + strings.ReplaceAll(roles, " and ", ", ") + " and " + word + end + after, true
}

// besides joins subjects and leaves the verb to the first of them.
const besides = " as well as "

// assumed is what the fit took for given, without what a text has said already.
func assumed(r review.Reviewed, said string) (out []string) {
	if r.Fit == nil {
		return nil
	}
	for _, a := range r.Fit.Assumed {
		if !strings.Contains(said, a) {
			out = append(out, a)
		}
	}
	return out
}

// mostAssumed is how many lines a text has for what was taken for given.
const mostAssumed = 3

// FewAssumed is what was taken for given as a text tells it: the first of many, which are what the answer rests on most, and
// how many more there are.
//
// Where the answer is unknown they are its reasons, and stay.
func FewAssumed(all []string, of fit.Verdict) []string {
	if len(all) <= mostAssumed || of == fit.Unknown {
		return all
	}
	told := mostAssumed - 1
	return append(slices.Clone(all[:told]), fmt.Sprintf("and %d more: -o json lists all", len(all)-told))
}

func indented(s string) string { return strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n          ") }

// Unchecked says what was not looked at, one line for each reason in the order of the
// first check that gives it.
func Unchecked(r review.Reviewed) []string {
	viewless := map[string]bool{}
	blind := slices.ContainsFunc(r.Skipped, func(s preflight.Skip) bool { return s.Why == check.NoCluster })
	skipped := slices.Clone(r.Skipped)
	for i := range skipped {
		s := &skipped[i]
		if blind && s.Why == check.LabelsUnknown {
			s.Why, s.Reason = check.NoCluster, check.Skip{Reason: check.NoCluster}.String() // that view would have had the labels
		}
		viewless[s.Reason] = s.Why == check.NoCluster || s.Why == check.ViewUntrusted
	}
	var out []string
	if len(r.Findings)+len(r.Rulings)+r.Hidden == 0 && r.Ran > 0 {
		found := "nothing found"
		if len(r.Exempted) > 0 {
			found = "nothing else found" // what a policy mutes was
		}
		out = append(out, fmt.Sprintf("%s: %s ran", found, terminal.Count(r.Ran, "check")))
	}
	for _, left := range reasons(skipped) {
		what := strings.Join(left.checks, ", ")
		if n := len(left.checks) - terminal.MostNames; viewless[left.why] && n > 0 {
			what = fmt.Sprintf("%d checks that look at the cluster", len(left.checks))
			if slices.Contains(left.checks, "gang-does-not-fit") {
				what = "what looks at the cluster, such as gang-does-not-fit"
			}
		} else if n > 1 {
			what = fmt.Sprintf("%s and %d more", strings.Join(left.checks[:terminal.MostNames], ", "), n)
		}
		out = append(out, words.VisibleLine(fmt.Sprintf("not checked: %s (%s)", what, left.why)))
	}
	for _, u := range r.Undecided {
		out = append(out, words.VisibleLine("not decided: policy "+u))
	}
	return out
}

// sum is the last line of a review: what became of the jobs, and what was found; empty where
// one job says it all, and all checks were on.
func sum(jobs []review.Reviewed) string {
	n, found := map[string]int{}, map[finding.Severity]int{}
	all := 0
	var off []string
	for _, j := range jobs {
		off = append(off, j.Off...)
		n[j.Word()]++
		for _, f := range toldAs(j) {
			found[f.Severity]++
			all++
		}
	}
	slices.Sort(off)
	off = slices.Compact(off)
	disabled := disabledText(jobs)
	if len(jobs) == 1 && all < 2 && len(off) == 0 {
		return disabled
	}
	var became, parts []string
	for _, d := range []string{string(preflight.Denied), string(preflight.Warned), "unknown", string(preflight.Allowed)} {
		if n[d] > 0 && len(jobs) > 1 {
			became = append(became, fmt.Sprintf("%d %s", n[d], d))
		}
	}
	for _, s := range []finding.Severity{finding.Error, finding.Warning, finding.Note} {
		if found[s] > 0 {
			parts = append(parts, terminal.Count(found[s], s.String()))
		}
	}
	if n := len(off); n > 0 {
		parts = append(parts, fmt.Sprintf("%s %s off by %s", terminal.Count(n, "check"), map[bool]string{true: "is", false: "are"}[n == 1], words.VisibleLine(jobs[0].By)))
	}
	text := terminal.Count(len(jobs), "job") + ": " + strings.Trim(strings.Join(became, ", ")+"; "+strings.Join(parts, ", "), "; ")
	if disabled != "" {
		text += "\n" + disabled
	}
	return text
}

// disabledText says which checks --disable left out: a run that was copied looks clean for a reason.
func disabledText(jobs []review.Reviewed) string {
	if len(jobs) == 0 || len(jobs[0].Disabled) == 0 {
		return ""
	}
	names := slices.Sorted(slices.Values(jobs[0].Disabled))
	return "off by --disable: " + words.VisibleLine(strings.Join(slices.Compact(names), ", "))
}

// gravity is a severity in the words of a format that has three of its own.
func gravity(s finding.Severity, note, warning, err string) string {
	switch s {
	case finding.Error:
		return err
	case finding.Warning:
		return warning
	default:
		return note
	}
}
