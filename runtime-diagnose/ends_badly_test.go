package diagnose

import (
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Never healthy for lack of evidence: steps that advanced say nothing once the program has
// said that it gives up.
func TestStepsBeforeABadEndAreNoHealth(t *testing.T) {
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	steps := strings.Repeat("step 10 loss 2.31\n", 20)
	for last, want := range map[string]Verdict{
		"step 210 loss 1.98":                    Healthy,
		"Aborting run.":                         Unknown,
		"coordinator lost its lease, giving up": Unknown,
		"Traceback (most recent call last):\n  File \"train.py\", line 9, in step\n    save()": Unknown,
	} {
		var c Case
		c.AddLog("train.log", []byte(steps+last+"\n"))
		if got := Diagnose(t.Context(), c, catalog, Options{}).Verdict; got != want {
			t.Errorf("a log that ends with %q is %s, want %s", last, got, want)
		}
	}
}
