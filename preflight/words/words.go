package words

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// noun says that a role is called after what does the work, as operators call theirs: "Worker", "leader", "ps". What an
// author calls a group may be any word, of which pods are no plural: "2 pods of big".
func noun(role string) bool {
	if len(role) > 2 && strings.HasSuffix(role, "s") {
		return true // it is a plural
	}
	role = strings.TrimSuffix(strings.ToLower(role), "s")
	return strings.HasSuffix(role, "er") || strings.HasSuffix(role, "or") || slices.Contains([]string{"p", "pod", "chief", "head", "replica"}, role)
}

// Pods is a number of pods of a role: "1 Master", "5 Workers", "2 pods of node".
func Pods(role string, n int) string {
	word := role != "" && strings.IndexFunc(role, func(r rune) bool { return !unicode.IsLetter(r) }) < 0
	switch {
	case role == "":
		return Count(n, "pod", "pods")
	case !word || !noun(role):
		return fmt.Sprintf("%s of %s", Count(n, "pod", "pods"), role)
	case n == 1 || strings.HasSuffix(role, "s") || strings.HasSuffix(role, "S"):
		return fmt.Sprintf("%d %s", n, role)
	default:
		return fmt.Sprintf("%d %ss", n, role)
	}
}

// Clip is a text of so many characters at most; … stands for what is cut off.
func Clip(s string, most int) string {
	switch r := []rune(s); {
	case len(r) <= most:
		return s
	case most < 1:
		return ""
	default:
		return string(r[:most-1]) + "…"
	}
}

// Count is a count with its noun: "1 node", "4 nodes".
func Count(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
