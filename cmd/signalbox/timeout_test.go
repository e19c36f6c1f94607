package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"
)

// What a cluster was asked and did not answer in time is unknown, and one line says so; a connection that breaks is our failure.
func TestAClusterThatDoesNotAnswerInTimeIsUnknown(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		code int
		want string
	}{
		"in time": {context.DeadlineExceeded, exitUnknown, "read PyTorchJob ml/a: the cluster does not answer in time: context deadline exceeded"},
		"broken":  {errors.New("connection reset by peer"), exitOurs, "connection reset by peer"},
	} {
		t.Run(name, func(t *testing.T) {
			err := own(fmt.Errorf("read PyTorchJob ml/a: %w", &url.Error{Op: "Get", URL: "https://10.0.0.1/api?timeout=1ms", Err: tc.err}))
			if codeOf(err) != tc.code || !strings.Contains(err.Error(), tc.want) || tc.code == exitUnknown && strings.Contains(err.Error(), "https://") {
				t.Errorf("exit code %d: %v", codeOf(err), err)
			}
		})
	}
}

// The time may end within an answer as well.
func TestAnAnswerThatIsCutOffIsUnknown(t *testing.T) {
	err := own(fmt.Errorf("list pods: %w", fmt.Errorf(cutOff+"%w", context.DeadlineExceeded)))
	if want := "list pods: the cluster does not answer in time: context deadline exceeded"; codeOf(err) != exitUnknown || err.Error() != want {
		t.Errorf("exit code %d: %v, want %q", codeOf(err), err, want)
	}
}

// Lines of standard input are explained up to so many; one more is no line that vanishes.
func TestLinesOfStandardInputHaveABound(t *testing.T) {
	for n, cut := range map[int]bool{mostLinesExplained: false, mostLinesExplained + 1: true} {
		var out, errs strings.Builder
		sh := &shell{name: "signalbox", in: strings.NewReader(strings.Repeat("Killed\n", n)), out: &out, err: &errs, now: time.Now}
		if code := run(t.Context(), sh, []string{"explain", "--line", "-"}); code != exitFine || strings.Contains(errs.String(), "more than 20 lines") != cut {
			t.Errorf("%d lines: exit code %d, %q; want 0, and that others are left out: %t", n, code, errs.String(), cut)
		}
	}
}
