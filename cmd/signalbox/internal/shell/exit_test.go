package shell

import (
	"context"
	"fmt"
	"testing"
)

// The time may end within an answer as well.
func TestAnAnswerThatIsCutOffIsUnknown(t *testing.T) {
	err := Own(fmt.Errorf("list pods: %w", fmt.Errorf(cutOff+"%w", context.DeadlineExceeded)))
	if want := "list pods: the cluster does not answer in time: context deadline exceeded"; CodeOf(err) != ExitUnknown || err.Error() != want {
		t.Errorf("exit code %d: %v, want %q", CodeOf(err), err, want)
	}
}
