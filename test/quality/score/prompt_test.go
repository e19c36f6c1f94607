package score_test

import (
	"testing"

	"github.com/signalbox-dev/signalbox/test/quality/score"
)

// The decisive line counts as shown where it stands, wrapped and indented as it may be; a piece of it is not it.
func TestTheLineInAPrompt(t *testing.T) {
	c := score.Case{Label: score.Label{Category: "disk-full", KeyLine: "OSError: [Errno 28] No space left on device: '/ckpt/step-100.pt'"}}
	for text, want := range map[string]bool{
		"| [pod/a/b#7] 2026-03-04T10:42:10Z OSError: [Errno 28]  No space left on device: '/ckpt/step-100.pt'\n": true,
		"| [pod/a/b#7] OSError: [Errno 28]\n": false,
		"| [pod/a/b#8] step 10 loss 2.1\n":    false,
	} {
		holds, asked, err := c.InPrompt(text)
		if err != nil || !asked || holds != want {
			t.Errorf("%q holds the line: %v (asked %v, %v); want %v", text, holds, asked, err, want)
		}
	}
	if _, asked, _ := (score.Case{Label: score.Label{Category: "healthy"}}).InPrompt(""); asked {
		t.Error("a healthy case has a decisive line")
	}
}
