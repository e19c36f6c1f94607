package words

import (
	"fmt"
	"strings"
	"unicode"
)

// Pods is a number of pods of a role: "1 Master", "5 Workers", "2 pods of node".
func Pods(role string, n int) string {
	word := role != "" && strings.IndexFunc(role, func(r rune) bool { return !unicode.IsLetter(r) }) < 0
	switch {
	case role == "":
		return Count(n, "pod", "pods")
	case !word || strings.EqualFold(role, "node"):
		return fmt.Sprintf("%s of %s", Count(n, "pod", "pods"), role)
	case n == 1 || strings.HasSuffix(role, "s") || strings.HasSuffix(role, "S"):
		return fmt.Sprintf("%d %s", n, role)
	default:
		return fmt.Sprintf("%d %ss", n, role)
	}
}

// Count is a count with its noun: "1 node", "4 nodes".
func Count(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
