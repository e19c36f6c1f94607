package fit

import (
	"errors"
	"testing"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/dryrun"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/review"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/fit"
)

// A job of a kind that the cluster does not serve has been read, and never fits.
func TestAJobOfAKindThatIsNotServedNeverFits(t *testing.T) {
	f := finding.Finding{Check: dryrun.Check, Severity: finding.Error, Path: "kind", Message: "the cluster does not serve RayJob of ray.io/v1"}
	report := preflight.Report{Findings: []finding.Finding{f}, Fit: &fit.Result{Verdict: fit.Fits}}
	var ends *shell.Exit
	if err := fitVerdict([]review.Reviewed{{Report: report}}, []preflight.Trouble{{Message: f.Message}}, ""); !errors.As(err, &ends) || ends.Code != shell.ExitFindings {
		t.Errorf("ended with %v", err)
	}
}
