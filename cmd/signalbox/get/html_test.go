package get

import (
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/browser"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
)

func TestAListForABrowserShowsSoManyJobsAndSaysHowManyMore(t *testing.T) {
	s := JobsSection(make([]JobRow, browser.MostJobsShown+1), nil, time.Now(), true)
	if got := len(s.Tables[0].Rows); got != browser.MostJobsShown || len(s.Notes) != 1 || s.Notes[0] != "1 more job not shown" {
		t.Errorf("%d rows, notes %q", got, s.Notes)
	}
	if s := JobsSection(make([]JobRow, browser.MostJobsShown), nil, time.Now(), true); len(s.Notes) > 0 {
		t.Errorf("notes where all are shown: %q", s.Notes)
	}
}

func TestOutcomesAreShownInABrowser(t *testing.T) {
	row := JobRow{Warned: controller.Remembered{Checks: []controller.Warning{{Check: "shm-small", Outcome: controller.CameTrue}}}}
	s := OutcomesSection([]JobRow{row}, nil)
	if len(s.Tables) != 1 || s.Tables[0].Rows[0][0].Text != "shm-small" || s.Tables[0].Rows[0][2].Text != "1" {
		t.Errorf("%+v", s)
	}
}
