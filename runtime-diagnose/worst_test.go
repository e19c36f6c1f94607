package diagnose_test

import (
	"io"
	"strings"
	"testing"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// TestALineThatIsKnownIsNoUnknownError: what a signature knows as a remark is not offered as the worst line.
func TestALineThatIsKnownIsNoUnknownError(t *testing.T) {
	for name, tc := range map[string]struct {
		line string
		want diagnose.Verdict
	}{
		"known as a remark": {"ERROR:git.cmd:git root error: Cmd('git') failed due to: exit code(128)", diagnose.Unknown},
		"known to nobody":   {"ERROR:ring: the spindle of ring 4 has no owner", diagnose.Diagnosed},
	} {
		t.Run(name, func(t *testing.T) {
			text := "loading\n" + tc.line + "\nstarting\n"
			c := diagnose.Case{Logs: []diagnose.Log{{
				Source: evidence.Source{File: "train.log"},
				Open:   func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil },
			}}}
			if r := diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{}); r.Verdict != tc.want {
				t.Errorf("%s (%s); want %s", r.Verdict, strings.TrimSpace(r.Error), tc.want)
			}
		})
	}
}
