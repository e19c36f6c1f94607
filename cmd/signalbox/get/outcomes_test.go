package get

import (
	"bytes"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

func TestOutcomesAreCountedByCheck(t *testing.T) {
	var rows []JobRow
	for _, outcome := range []string{`"came-true"`, `"ran"`, `"ran"`, `"other"`, `"unsaid"`, `""`} {
		o := objectOf(t, strings.Replace(sickJob, "  annotations:\n", "  annotations:\n    signalbox.dev/warned: '{\"at\":\"2026-03-04T08:00:01Z\",\"checks\":[{\"check\":\"shm-missing\",\"says\":\"x\",\"outcome\":"+outcome+"}]}'\n", 1))
		rows = append(rows, rowOf(kinds.For(o.GroupVersionKind()), o))
	}
	o := objectOf(t, strings.Replace(sickJob, "  annotations:\n", "  annotations:\n    signalbox.dev/warned: '{\"at\":\"2026-03-03T08:00:00Z\",\"checks\":[{\"check\":\"shm-missing\",\"says\":\"x\"}]}'\n", 1))
	rows = append(rows, rowOf(kinds.For(o.GroupVersionKind()), o)) // it came with a job that was created anew
	var out bytes.Buffer
	sh := &shell.Shell{Out: &out, Err: &out}
	if err := renderOutcomes(sh, "text", tallies(rows)); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || strings.Join(strings.Fields(lines[0]), " ") != "CHECK FIRED CAME TRUE OTHER RAN UNSAID OPEN" || strings.Join(strings.Fields(lines[1]), " ") != "shm-missing 6 1 1 2 1 1" {
		t.Errorf("it says\n%s", out.String())
	}
}
