package audit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/browser"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

func TestAnAuditShowsSoManyJobsAndSaysHowManyMore(t *testing.T) {
	a := audited{Decisions: map[string]int{"denied": browser.MostJobsShown + 1}}
	for i := range browser.MostJobsShown + 1 {
		a.Jobs = append(a.Jobs, preflight.Report{Job: job.Ref{Kind: "Job", Namespace: "ml", Name: fmt.Sprint("j", i)}, Decision: preflight.Denied})
	}
	sections := auditSections(a)
	if got := len(sections) - 1; got != browser.MostJobsShown {
		t.Errorf("%d jobs are shown, want %d", got, browser.MostJobsShown)
	}
	if notes := strings.Join(sections[0].Notes, " "); !strings.Contains(notes, "1 job in which something was found are not shown") {
		t.Errorf("notes: %s", notes)
	}
	a.Jobs = a.Jobs[:browser.MostJobsShown]
	if sections := auditSections(a); len(sections[0].Notes) > 0 {
		t.Errorf("notes where all are shown: %s", sections[0].Notes)
	}
}
