package mcp

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
)

// An answer that would fill a model's window is an error that says what to ask instead.
func TestAnAnswerOfAToolIsBounded(t *testing.T) {
	for n, want := range map[int]string{1 << 20: "", 1<<20 + 1: "the answer has 1048577 bytes, more than the 1048576 that a tool may answer with; ask for less"} {
		box := &toolbox{sh: &shell.Shell{Name: "signalbox", Now: time.Now}, turn: make(chan struct{}, 1), commands: func(_ context.Context, sh *shell.Shell, _ []string) int {
			_, _ = io.WriteString(sh.Out, strings.Repeat("step 7\n", n/7)+strings.Repeat("x", n%7))
			return shell.ExitFine
		}}
		_, err := box.run(t.Context(), "", nil)
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("of %d bytes: %v; want %q", n, err, want)
		}
	}
}
