package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
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
