package main

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/test/promises"
)

// parses asks whether a command line would be taken: the command is there, it is one that does something,
// and it knows its flags. The command itself would need a cluster.
func parses(t *testing.T, sh *shell.Shell, words []string) {
	t.Helper()
	c, rest, err := newRoot(sh).Find(words)
	if err != nil || !c.Runnable() || c.HasSubCommands() {
		t.Fatalf("%q is no command: %v", words, err)
	}
	if err := c.ParseFlags(rest); err != nil {
		t.Errorf("%q: %v", words, err)
	} else if err := c.ValidateArgs(c.Flags().Args()); err != nil {
		t.Errorf("%q: %v", words, err)
	}
}

// Each row of docs/reference/promises.md that names what its command shows is run; of the others the
// command line must be one that would be taken.
func TestEveryPromiseIsKept(t *testing.T) {
	rows, err := promises.Rows()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("../..")
	t.Setenv("KUBECONFIG", os.DevNull)
	for _, r := range rows {
		words := strings.Fields(r.See)
		if len(words) == 0 || words[0] != "signalbox" {
			continue
		}
		t.Run(strconv.Itoa(r.Number), func(t *testing.T) {
			var out bytes.Buffer
			sh := &shell.Shell{Name: "signalbox", In: strings.NewReader(""), Out: &out, Err: &out, Now: time.Now}
			if !r.Runs() {
				parses(t, sh, words[1:])
				return
			}
			run(t.Context(), sh, words[1:])
			for _, want := range r.Shows {
				not, unwanted := strings.CutPrefix(want, "!")
				if strings.Contains(out.String(), not) == unwanted {
					t.Errorf("%s\nwant %q in\n%s", r.See, want, out.String())
				}
			}
		})
	}
}
