package progress

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// What the package looks for by hand, as regular expressions: the oracle.
var (
	countersByExpression = []*regexp.Regexp{
		regexp.MustCompile(`(\d+)/(\d+) \[[\d:?]+<[^\]]{0,40}(?:[a-zA-Z]/s|s/[a-zA-Z])`),
		regexp.MustCompile(`(\d+)it \[\d[^\]]*(?:it/s|s/it)\]`),
		regexp.MustCompile(`(?i)\b(?:global[_ ]?step|iterations?|iter|steps?|batch|it)['"]?\s*[:=\[(# ]{1,4}\s*(\d+)(?:\s*(?:/|of)\s*(\d+))?`),
		regexp.MustCompile(`\b(\d+)/(\d+) \[[=>.\- ]+\]`),
		regexp.MustCompile(`(?i)\bepoch\b[^|]{0,24}\[\s*(\d+)\s*/\s*(\d+)\s*\]`),
		regexp.MustCompile(`(?i)\bepoch['"]?\s*[:=\[ #]{1,3}\s*(\d+)(?:\s*(?:/|of)\s*(\d+))?`),
	}
	lossByExpression    = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:lm |train(?:ing)?[_ /]|total[_ ]|avg[_ ]|mean[_ ])?loss['"]?\s*(?:is|=|:)?\s*[:=(\[]*\s*['"]?(nan|-?inf(?:inity)?|[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)\b`)
	perStepByExpression = []struct {
		re   *regexp.Regexp
		unit float64
	}{
		{regexp.MustCompile(`elapsed time per iteration \(ms\): *([\d.]+)`), 1e-3},
		{regexp.MustCompile(`([\d.]+)s/it\b`), 1},
		{regexp.MustCompile(`([\d.]+)it/s\b`), 0},
		{perStep[0].re, perStep[0].unit},
		{perStep[1].re, perStep[1].unit},
		{perStep[2].re, perStep[2].unit},
	}
)

// readByExpression is Read, the slow and obvious way.
func readByExpression(text string) (s Step, ok bool) {
	s = Step{Number: -1, Of: -1, Loss: math.NaN(), Seconds: math.NaN()}
	text = text[:min(len(text), longest)]
	if !strings.ContainsAny(text, "0123456789") {
		return s, false
	}
	for _, re := range countersByExpression {
		if m := re.FindStringSubmatch(text); m != nil {
			s.Number = whole(m[1])
			if m[2] != "" {
				s.Of = whole(m[2])
			}
			ok = s.Number >= 0
			break
		}
	}
	if m := lossByExpression.FindStringSubmatch(text); m != nil {
		v, err := strconv.ParseFloat(m[1], 64)
		if ok = true; err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
			s.Loss = v
		} else {
			s.NaN = true
		}
	}
	for _, p := range perStepByExpression {
		m := p.re.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		if v, err := strconv.ParseFloat(m[1], 64); err == nil && v > 0 {
			s.Seconds = v * p.unit
			if p.unit == 0 {
				s.Seconds = 1 / v
			}
		}
		break
	}
	return s, ok
}

// FuzzReadByHand holds what is looked for by hand against regular expressions. Those take some
// letters beyond ASCII for the same without case (ſ for s), which no program prints.
func FuzzReadByHand(f *testing.F) {
	for _, text := range []string{
		"Training:  12%|#| 120/1000 [01:20<09:10,  1.60it/s, loss=2.31]", " 9/20 [?<14:42, 80.20s/it]", "35/37 [20:22<02:01, 60.58s/task]", "7/9 [00:01<00:02, 30.1 rows/s]", "1/2 [1<x/]s", "1/2 [1<]it/s", "x1/2 [1<it/s] 3/4 [==]",
		" iteration      100/  500000 | elapsed time per iteration (ms):  1234.5 | lm loss: 7.652391E+00 |", "elapsed time per iteration (ms): x elapsed time per iteration (ms): 2",
		"step=10, skipped=0", "global step [ 7 of 9", "globalstep#3", "'iter': 3/", "batch\t 5", "batch\t5", "step : = 5", "step ::: : 5", "step:\t:5", "it 4", "xit 4", "ITERATIONS (5 OF 6)", "steps: step: 7",
		"100/500 [=====>....] - ETA: 1:00 - loss: 0.3021", "a1/5 [=] 2/6 [>]", "1/5 [] 2/6 [ ]",
		"Epoch(train)   [1][  50/7330]  lr: 1.9820e-03", "epoch [ 1 / 2 ] [3/4]", "epoch | [1/2]", "epoch: 3 of 10", "epoch ### 4", "epoch #### 4", "epochs [1/2]", "Epoch #3",
		"{'loss': 2.1034, 'epoch': 0.12}", "loss: nan", "Loss is -inf", "loss = infinity", "loss infinityx", "lossless 5", "flossy loss 5x", "loss 1.5e", "loss 1.5e3", "loss 1.x", "loss +5.", "loss: ('7')", "loss is= : 5", "loss = : 5", "loss 1e999", "train_loss=[nan]",
		"iter 100: loss 3.4021, time 123.45ms, mfu 33.12%", "step_time: 1.5 sec", "batch time = 3", "dt: 12 ms", "seconds: 1.310", "secs/iter: 4", "99999999999999999999/1 [1<1it/s",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 }) {
			t.Skip()
		}
		got, ok := Read(text)
		want, wantOK := readByExpression(text)
		if fmt.Sprint(got, ok) != fmt.Sprint(want, wantOK) {
			t.Errorf("%q is read as %+v, %t; by expressions as %+v, %t", text, got, ok, want, wantOK)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	lines := []string{
		"[2026-11-20 08:00:00,123] [INFO] [trainer.py:88] step=1200, loss=2.1034, lr=0.0003, grad_norm=1.000, tokens/s=31042",
		" [2025-03-04 09:11:12] iteration      100/  500000 | consumed samples:        25600 | elapsed time per iteration (ms): 1234.5 | learning rate: 1.500000E-05 | global batch size:   256 | lm loss: 7.652391E+00 | loss scale: 1.0 | grad norm: 1.021 |",
		"Training:  12%|#         | 120/1000 [01:20<09:10,  1.60it/s, loss=2.31]",
	}
	for name, read := range map[string]func(string) (Step, bool){"hand": Read, "expressions": readByExpression} {
		b.Run("by="+name, func(b *testing.B) {
			for b.Loop() {
				for _, line := range lines {
					if _, ok := read(line); !ok {
						b.Fatal(line)
					}
				}
			}
		})
	}
}
