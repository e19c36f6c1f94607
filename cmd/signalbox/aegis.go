package main

import (
	"cmp"
	"fmt"
	"strings"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// aegisForm is a diagnosis in the four lines that Aegis answers with: healthy or not, the likely cause,
// why, and what to do. Each is one line, so that what reads Aegis' answers reads these.
func aegisForm(r diagnose.Result) string {
	analysis := strings.Join(append([]string{cmp.Or(r.Analysis, r.Waiting)}, r.Remarks...), " ")
	var steps []string
	for i, step := range r.Solution {
		steps = append(steps, fmt.Sprintf("%d. %s", i+1, step))
	}
	var b strings.Builder
	for _, one := range [][2]string{
		{"Healthy", diagnose.HealthyWord(r.Verdict)}, {"Error", r.Error}, {"Analysis", analysis}, {"Solution", strings.Join(steps, " ")},
	} {
		fmt.Fprintf(&b, "%s: %s\n", one[0], cmp.Or(oneLine(one[1]), "none"))
	}
	return b.String()
}
