package main

import (
	"context"
	"fmt"
	"net/url"
	"testing"
)

// Where the time ends, before an answer or within one, what was asked is unknown, and our program did not fail.
func TestATimeThatEndsIsUnknown(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"before the answer": {
			fmt.Errorf("list pods: %w", &url.Error{Op: "Get", URL: "https://api.local/pods", Err: context.DeadlineExceeded}),
			"list pods: the cluster does not answer in time: context deadline exceeded",
		},
		"within it": {
			fmt.Errorf("list pods: %w", fmt.Errorf(cutOff+"%w", context.DeadlineExceeded)),
			"list pods: the cluster does not answer in time: context deadline exceeded",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := own(tc.err)
			if code := codeOf(got); code != exitUnknown || got.Error() != tc.want {
				t.Errorf("code %d, %q; want %d, %q", code, got, exitUnknown, tc.want)
			}
		})
	}
}
