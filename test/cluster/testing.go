package cluster

import (
	"context"
	"os"
	"testing"
)

// ForTest starts a cluster that lives as long as the test. The logs stay where the test's artifacts are when
// it failed.
func ForTest(t testing.TB, o Options) *Cluster {
	t.Helper()
	if o.Progress == nil {
		o.Progress = t.Output()
	}
	// The test's context ends before its clean-up does, which still needs to know whether the test failed.
	c, err := Start(context.WithoutCancel(t.Context()), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			if err := os.CopyFS(t.ArtifactDir(), os.DirFS(c.LogDir())); err != nil {
				t.Errorf("keep logs: %v", err)
			}
		}
		if err := c.Stop(); err != nil {
			t.Errorf("stop cluster: %v", err)
		}
	})
	return c
}
