package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
)

// A snapshot is read beside a bundle, and nowhere else; what is wrong with it is said.
func TestASnapshotBesideABundle(t *testing.T) {
	const bundle = "../../test/promises/bundles/q4-toolarge"
	const nowhere = "../../test/promises/bundles/a3-nonode"
	for name, tc := range map[string]struct {
		args string
		code int
		want string
	}{
		"beside a bundle":    {"--bundle " + bundle + " --snapshot " + bundle + "/nodes.yaml", 0, "but the largest node it may use has 24 even idle"},
		"nodes counted once": {"--bundle " + nowhere + " --snapshot " + nowhere + "/nodes.yaml", 0, "0 of 3 pods fit: no node may take them. "}, // the scheduler's words break them down
		"without one":        {"--snapshot " + bundle + "/nodes.yaml pytorchjob/train", shell.ExitUsage, "expected --bundle beside it"},
		"one that is absent": {"--bundle " + bundle + " --snapshot " + bundle + "/none.yaml", shell.ExitUsage, "none.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			sh := &shell.Shell{Name: "signalbox", In: strings.NewReader(""), Out: &out, Err: &out, Now: time.Now}
			if code := run(t.Context(), sh, append([]string{"diagnose"}, strings.Fields(tc.args)...)); code != tc.code || !strings.Contains(out.String(), tc.want) {
				t.Errorf("exit code %d, want %d and %q in\n%s", code, tc.code, tc.want, out.String())
			}
		})
	}
}
