package main

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/test/promises"
)

// Each row of docs/reference/promises.md that names what its command shows is run; of the others the
// command must be one.
func TestEveryPromiseIsKept(t *testing.T) {
	rows, err := promises.Rows()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("../..")
	t.Setenv("KUBECONFIG", t.TempDir()+"/none")
	for _, r := range rows {
		words := strings.Fields(r.See)
		if len(words) == 0 || words[0] != "signalbox" {
			continue
		}
		t.Run(strconv.Itoa(r.Number), func(t *testing.T) {
			var out bytes.Buffer
			sh := &shell{name: "signalbox", in: strings.NewReader(""), out: &out, err: &out, now: time.Now}
			if !r.Runs() {
				if c, _, err := newRoot(sh).Find(words[1:]); err != nil || c.Name() == "signalbox" {
					t.Errorf("%q is no command: %v", r.See, err)
				}
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
