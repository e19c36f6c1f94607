package policy

import (
	"fmt"
	"strings"

	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// coverageText writes how much of each file was evaluated.
func coverageText(b *strings.Builder, covered []policies.Covered) {
	for _, c := range covered {
		fmt.Fprintf(b, "%3d%%  %s", c.Percent, words.VisibleLine(c.File))
		if len(c.Not) > 0 {
			fmt.Fprintf(b, "  not evaluated: %s", strings.Join(c.Not, ", "))
		}
		b.WriteString("\n")
	}
}

// tooLittle are files below so many percent, as tests that are not as expected.
func tooLittle(covered []policies.Covered, least int) (out []policies.Tested) {
	for _, c := range covered {
		if c.Percent < least {
			out = append(out, policies.Tested{Policy: "coverage", Fixture: c.File, Problem: fmt.Sprintf("%d%% of its lines are evaluated; want %d%%", c.Percent, least)})
		}
	}
	return out
}
