package diagnose_test

import (
	"fmt"
	"strings"
	"testing"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// An exception that the program says it leaves behind is passing where training goes on for long enough.
func TestAnExceptionThatTrainingLeftBehind(t *testing.T) {
	steps := func(from, n int) (text string) {
		for i := range n {
			text += fmt.Sprintf("step %d | loss: %.3f | lr 1e-4\n", from+i, 2-float64(from+i)/1000)
		}
		return text
	}
	const raised = "Traceback (most recent call last):\n  File \"/app/data.py\", line 33, in __getitem__\n    img = Image.open(path)\nPIL.UnidentifiedImageError: cannot identify image file '/data/7.jpg'\n"
	cases := map[string]struct {
		text string
		want diagnose.Verdict
	}{
		"announced, and many steps after it":     {steps(0, 30) + raised + "skipping this sample\n" + steps(30, 20), diagnose.Healthy},
		"announced at the very beginning":        {raised + "skipping this sample\n" + steps(0, 20), diagnose.Healthy},
		"announced, and few steps after it":      {steps(0, 30) + raised + "skipping this sample\n" + steps(30, 3), diagnose.Diagnosed},
		"not announced: other ranks may go on":   {steps(0, 30) + raised + steps(30, 20), diagnose.Diagnosed},
		"announced too late to belong to it":     {steps(0, 30) + raised + "a\nb\nc\nskipping this sample\n" + steps(30, 20), diagnose.Diagnosed},
		"another one after it that ends the run": {steps(0, 30) + raised + "skipping this sample\n" + steps(30, 20) + raised, diagnose.Diagnosed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if r := read(t, "", strings.NewReader(tc.text)); r.Verdict != tc.want {
				t.Errorf("%s, want %s: %s", r.Verdict, tc.want, r.Error)
			}
		})
	}
}
