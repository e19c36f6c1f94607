package cluster

import (
	"context"
	"os"
	"testing"
)

// ForTest starts a cluster that lives as long as the test. When the test fails, the cluster's folder stays,
// and its logs are copied to the test's artifacts.
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
			c.Keep()
			t.Logf("logs are kept in %s", c.LogDir())
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
