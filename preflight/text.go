package preflight

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/finding"
)

// Paint colours a word of a report by what it stands for: a severity, an effect or a
// decision. Nil paints nothing.
type Paint func(word string) string

// Text is the report as a person reads it: a heading, every finding and ruling with its
// remedy, the fit, and what was not checked. It ends with a newline.
func (r Report) Text(paint Paint) string {
	if paint == nil {
		paint = func(word string) string { return word }
	}
	var b strings.Builder
	b.WriteString(r.Job.String())
	if r.Source != "" {
		fmt.Fprintf(&b, " (%s)", r.Source)
	}
	fmt.Fprintf(&b, ": %s\n", paint(string(r.Decision)))
	for _, f := range r.Lines() {
		word := f.Severity.String()
		if r.ruled(f.Check) {
			word = map[finding.Severity]string{finding.Error: string(Deny), finding.Warning: string(Warn)}[f.Severity]
		}
		fmt.Fprintf(&b, "  %s%s %s\n", paint(word), strings.Repeat(" ", len("warning")-len(word)), f.Line())
		if f.Remedy != "" {
			fmt.Fprintf(&b, "          → %s\n", f.Remedy)
		}
	}
	if r.Fit != nil {
		fmt.Fprintf(&b, "  fit     %s\n", indent(r.Fit.String()))
	}
	for _, line := range r.unchecked() {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	return b.String()
}

// ruled says whether a name is that of a policy that ruled.
func (r Report) ruled(name string) bool {
	return slices.ContainsFunc(r.Rulings, func(ruling Ruling) bool { return ruling.Policy == name })
}

// unchecked says what was not looked at, one line per reason.
func (r Report) unchecked() []string {
	var reasons []string
	names := map[string][]string{}
	for _, s := range r.Skipped {
		if names[s.Reason] == nil {
			reasons = append(reasons, s.Reason)
		}
		names[s.Reason] = append(names[s.Reason], s.Check)
	}
	slices.Sort(reasons)
	var out []string
	for _, reason := range reasons {
		out = append(out, fmt.Sprintf("not checked: %s (%s)", strings.Join(names[reason], ", "), reason))
	}
	for _, u := range r.Undecided {
		out = append(out, "not decided: "+u)
	}
	if len(r.Findings)+len(r.Rulings) == 0 && r.Ran > 0 {
		out = append([]string{fmt.Sprintf("nothing to say: %d checks ran", r.Ran)}, out...)
	}
	return out
}

func indent(s string) string { return strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n          ") }

// Gravest is the gravest severity among findings and rulings; 0 where there are none.
func (r Report) Gravest() finding.Severity {
	var out finding.Severity
	for _, f := range r.Lines() {
		out = max(out, f.Severity)
	}
	return out
}
