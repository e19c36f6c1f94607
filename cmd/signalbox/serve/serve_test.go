package serve

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
)

// A manager that ends, because its lease is lost or the API server is away, is started again.
func TestWhatEndsIsStartedAgain(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	runs := 0
	again(ctx, logr.Discard(), time.Nanosecond, func(context.Context) error {
		if runs++; runs == 4 {
			cancel()
		}
		return errors.New("leader election lost")
	})
	if runs != 4 {
		t.Errorf("it ran %d times; want 4", runs)
	}
}

func TestMemoryIsBoundedBelowTheLimit(t *testing.T) {
	file := func(text string) string {
		name := filepath.Join(t.TempDir(), "memory.max")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	cases := map[string]struct {
		said, file string
		want       int64
	}{
		"the Deployment says it":       {"2147483640", file("1000\n"), 1932735276},
		"only the control group knows": {"", file("1000\n"), 900},
		"there is no limit":            {"", file("max\n"), 0},
		"nobody knows":                 {"", filepath.Join(t.TempDir(), "none"), 0},
		"nonsense is said":             {"2Gi", file("1000"), 900},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got, _ := memoryOf(tc.said, tc.file); got != tc.want {
				t.Errorf("%d; want %d", got, tc.want)
			}
		})
	}
}
