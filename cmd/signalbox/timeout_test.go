package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
)

// What a cluster was asked and did not answer in time is unknown, and one line says so; a connection that breaks is our failure.
func TestAClusterThatDoesNotAnswerInTimeIsUnknown(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		code int
		want string
	}{
		"in time": {context.DeadlineExceeded, shell.ExitUnknown, "read PyTorchJob ml/a: the cluster does not answer in time: context deadline exceeded"},
		"broken":  {errors.New("connection reset by peer"), shell.ExitOurs, "connection reset by peer"},
	} {
		t.Run(name, func(t *testing.T) {
			err := shell.Own(fmt.Errorf("read PyTorchJob ml/a: %w", &url.Error{Op: "Get", URL: "https://10.0.0.1/api?timeout=1ms", Err: tc.err}))
			if shell.CodeOf(err) != tc.code || !strings.Contains(err.Error(), tc.want) || tc.code == shell.ExitUnknown && strings.Contains(err.Error(), "https://") {
				t.Errorf("exit code %d: %v", shell.CodeOf(err), err)
			}
		})
	}
}

// Lines of standard input are explained up to so many; one more is no line that vanishes.
func TestLinesOfStandardInputHaveABound(t *testing.T) {
	for n, cut := range map[int]bool{20: false, 21: true} {
		var out, errs strings.Builder
		sh := &shell.Shell{Name: "signalbox", In: strings.NewReader(strings.Repeat("Killed\n", n)), Out: &out, Err: &errs, Now: time.Now}
		if code := run(t.Context(), sh, []string{"explain", "--line", "-"}); code != shell.ExitFine || strings.Contains(errs.String(), "more than 20 lines") != cut {
			t.Errorf("%d lines: exit code %d, %q; want 0, and that others are left out: %t", n, code, errs.String(), cut)
		}
	}
}
