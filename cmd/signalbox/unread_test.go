package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
)

// Of several files those that can be read are: what the others are is said, and beside them nothing shows health.
func TestDiagnoseReadsWhatItCanOfSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	well := file("a.log", "step 1/3 loss 2.5\nstep 2/3 loss 2.4\nstep 3/3 loss 2.3\nTraining finished successfully\n")
	failed := file("c.log", "Traceback (most recent call last):\n  File \"t.py\", line 1, in <module>\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n")
	noise := file("b.bin", strings.Repeat("\x01\x02\x83\x84", 200))
	for name, tc := range map[string]struct {
		args []string
		code int
		want string
	}{
		"beside a log that ends well": {[]string{well, noise}, shell.ExitUnknown, "missing: " + noise + " is not text"},
		"beside one that fails":       {[]string{noise, failed}, 1, "the GPU ran out of memory"},
		"as text for a ticket":        {[]string{well, noise, "-o", "md"}, shell.ExitUnknown, "unknown; too little was seen"},
		"alone":                       {[]string{noise}, shell.ExitUsage, "is not text; expected a log as text"},
		"two that are none":           {[]string{noise, noise}, shell.ExitUsage, "is not text"},
		"one that is not there":       {[]string{well, filepath.Join(dir, "z.log")}, shell.ExitUsage, "z.log"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			code := run(t.Context(), &shell.Shell{Name: "signalbox", Out: &out, Err: &errs, Now: time.Now}, append([]string{"diagnose", "--exit-code"}, tc.args...))
			if said := out.String() + errs.String(); code != tc.code || !strings.Contains(said, tc.want) {
				t.Errorf("exit code %d, want %d; it says\n%s\nwant %q in it", code, tc.code, said, tc.want)
			}
		})
	}
}
