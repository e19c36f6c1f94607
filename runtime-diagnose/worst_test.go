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

// What a program says again well after it said it first, it has lived with: where its last words are of an end, so is
// the last time that it said so.
func TestWhatIsSaidAgainLongAfterIsNoLastWord(t *testing.T) {
	text := func(times int, last string) string {
		return "the groups are read\n" + strings.Repeat("overwriting groups: members of ring 7\nERROR: the spindle of ring 7 has no owner\n", times) + last
	}
	const end = "Total time: 411.7 s\n"
	for name, tc := range map[string]struct {
		text string
		want diagnose.Verdict
	}{
		"14 times, the last 26 lines below the first": {text(14, end), diagnose.Healthy},
		"12 times, the last 22 lines below the first": {text(12, end), diagnose.Diagnosed},
		"without a word of an end":                    {text(14, ""), diagnose.Diagnosed},
		"another complaint as long after the first":   {text(1, strings.Repeat("ring 7 is read\n", 19)) + text(1, strings.Repeat("ring 8 is read\n", 4)) + "ERROR: no ring is closed\n" + end, diagnose.Diagnosed},
	} {
		t.Run(name, func(t *testing.T) {
			if r := read(t, "", strings.NewReader(tc.text)); r.Verdict != tc.want {
				t.Errorf("%s (%s); want %s", r.Verdict, strings.TrimSpace(r.Error), tc.want)
			}
		})
	}
}
