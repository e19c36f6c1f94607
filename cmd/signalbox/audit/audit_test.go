package audit

import (
	"testing"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

// TestAsManyJobsAreNamedAsPromised has as many jobs with a warning, or an error, as are named, and one more.
func TestAsManyJobsAreNamedAsPromised(t *testing.T) {
	for severity, more := range map[finding.Severity]string{finding.Warning: "1 job more; -o json has all", finding.Error: "1 more; -o json has all"} {
		for _, n := range []int{mostErrorsNamed, mostErrorsNamed + 1} {
			a := audited{}
			for range n {
				a.Jobs = append(a.Jobs, preflight.Report{Decision: preflight.Warned, Findings: []finding.Finding{{Check: "shm-missing", Severity: severity, Message: "m"}}})
			}
			lists := auditNames(a)
			if len(lists) != 1 {
				t.Fatalf("%d jobs: %d lists, want 1", n, len(lists))
			}
			lines := lists[0].lines
			if len(lines) != n || (lines[len(lines)-1] == more) != (n > mostErrorsNamed) {
				t.Errorf("%d jobs, severity %v: %d lines, the last %q", n, severity, len(lines), lines[len(lines)-1])
			}
		}
	}
}
