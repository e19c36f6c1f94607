package get

import (
	"regexp"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// mostWords is how wide the wait of a job may be in a table: beside a namespace, a name and a category of usual length
// the row stays below 120 columns.
const mostWords = 48

// podsWait is how the diagnosis begins where pods have no node.
var podsWait = regexp.MustCompile(`^\d+ of (\d+ pods?) (?:is|are) running, (\d+) waits? for (.+)$`)

// fewWords is what a job waits for as a table has it: the first clause, which says how many wait for what. The reasons
// that follow are the matter of -o wide. Of a job that is suspended the first clause is only a word, and the last one says
// what keeps it so.
func fewWords(waiting string) string {
	clause := func(s string) string {
		for _, end := range []string{": ", "; ", ". "} {
			s, _, _ = strings.Cut(s, end)
		}
		return strings.TrimRight(s, ".")
	}
	head := clause(waiting)
	if m := podsWait.FindStringSubmatch(head); m != nil {
		head = m[2] + " of " + m[1] + ": " + m[3]
	}
	if parts := strings.Split(waiting, ": "); !strings.Contains(head, " ") && len(parts) > 2 {
		head += ": " + clause(parts[len(parts)-1])
	}
	return ansi.Truncate(head, mostWords, "…")
}
