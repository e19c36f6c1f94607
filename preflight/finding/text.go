package finding

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/preflight/words"
)

// Budget bounds the warnings of one admission response.
type Budget struct {
	Lines int // warnings proper; one more line counts what was left out
	Wish  int // characters that a line should have at most
	Runes int // and may have
	Bytes int // all lines together
}

// KubectlBudget is what kubectl and the API server let through: warnings should be
// 120 characters, are cut at 256, and all of them together at 4096 (API server
// k8s.io/apiserver/pkg/endpoints/filters/warning.go, truncation constants).
var KubectlBudget = Budget{Lines: 5, Wish: 120, Runes: 256, Bytes: 4096}

// Line is a finding in one line: "[check] path: message. Remedy".
func (f Finding) Line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s] ", f.Check)
	if f.Path != "" {
		fmt.Fprintf(&b, "%s: ", f.Path)
	}
	b.WriteString(oneLine(f.Message))
	return b.String()
}

// Warnings are the gravest findings as lines within the budget, and a last line that
// counts what it left out; more is the command that shows the rest. The findings must
// be sorted.
func Warnings(fs []Finding, budget Budget, more string) []string {
	var out []string
	used := 0
	last := func(left int) string {
		return words.Clip(fmt.Sprintf("%d more: %s", left, more), budget.Runes)
	}
	for i, f := range fs {
		line := words.Clip(f.warning(budget.Wish), budget.Runes)
		reserve := 0
		if i < len(fs)-1 {
			reserve = len(last(len(fs) - i))
		}
		if len(out) == budget.Lines || used+len(line)+reserve > budget.Bytes {
			if left := last(len(fs) - i); used+len(left) <= budget.Bytes {
				out = append(out, left)
			}
			return out
		}
		out = append(out, line)
		used += len(line)
	}
	return out
}

// warning is a finding as a line of at most so many characters, if it can be: with its remedy and path, with the path,
// with the end of the path, or the message alone, which names its subject. The message itself is whole in any case.
func (f Finding) warning(wish int) string {
	name, says := "["+f.Check+"] ", oneLine(f.Message)
	lines := []string{f.Line()}
	path := strings.Split(string(f.Path), ".")
	if n := len(path); n > 2 { // the last two: "limits.cpu" says where, "cpu" hardly
		lines = append(lines, name+"…"+path[n-2]+"."+path[n-1]+": "+says)
	}
	lines = append(lines, name+says)
	if f.Remedy != "" {
		lines = append([]string{f.Line() + ". " + oneLine(f.Remedy)}, lines...)
	}
	for _, line := range lines {
		if utf8.RuneCountInString(line) <= wish {
			return line
		}
	}
	return name + says
}

// oneLine replaces whatever a warning header cannot carry by single spaces.
func oneLine(s string) string {
	s = strings.ToValidUTF8(s, "�")
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
}
