package progress_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/progress"
)

func TestRead(t *testing.T) {
	none := math.NaN()
	cases := map[string]struct {
		text    string
		number  int64
		of      int64
		loss    float64
		seconds float64
	}{
		"tqdm":                        {"Training:  12%|█▏        | 120/1000 [01:20<09:10,  1.60it/s, loss=2.31]", 120, 1000, 2.31, 0.625},
		"tqdm, slow":                  {" 45%|████▌     | 9/20 [12:01<14:42, 80.20s/it]", 9, 20, none, 80.2},
		"tqdm without a total":        {"11it [00:08,  1.39it/s]", 11, -1, none, 1 / 1.39},
		"Megatron-LM":                 {" [2025-03-04 09:11:12] iteration      100/  500000 | consumed samples:        25600 | elapsed time per iteration (ms): 1234.5 | learning rate: 1.500000E-05 | global batch size:   256 | lm loss: 7.652391E+00 | loss scale: 1.0 | grad norm: 1.021 |", 100, 500000, 7.652391, 1.2345},
		"DeepSpeed":                   {"[2025-03-04 09:11:12,345] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=0, lr=[1e-05], mom=[(0.9, 0.999)]", 10, -1, none, none},
		"Hugging Face":                {"{'loss': 2.1034, 'grad_norm': 0.71, 'learning_rate': 4.9e-05, 'epoch': 0.12}", 0, -1, 2.1034, none},
		"torchtitan":                  {"[rank0]:2025-03-04 09:11:12,345 - root - INFO - step:  1  loss: 12.2721  memory: 33.02GiB(34.77%)  tps: 1,024  mfu: 5.1%", 1, -1, 12.2721, none},
		"nanoGPT":                     {"iter 100: loss 3.4021, time 123.45ms, mfu 33.12%", 100, -1, 3.4021, 0.12345},
		"MaxText":                     {"completed step: 12, seconds: 1.310, TFLOP/s/device: 140.2, Tokens/s/device: 3121.1, total_weights: 65536, loss: 10.203", 12, -1, 10.203, 1.31},
		"Keras":                       {"100/500 [=====>....................] - ETA: 1:00 - loss: 0.3021 - accuracy: 0.9121", 100, 500, 0.3021, none},
		"mmengine":                    {"03/04 09:11:12 - mmengine - INFO - Epoch(train)   [1][  50/7330]  lr: 1.9820e-03  eta: 1 day, 3:02:21  time: 0.3381  data_time: 0.0098  memory: 3898  loss: 1.2034", 50, 7330, 1.2034, none},
		"TensorFlow estimator":        {"INFO:tensorflow:loss = 0.21034, step = 300 (12.345 sec)", 300, -1, 0.21034, none},
		"a loss that is not a number": {"step 101 loss: nan", 101, -1, none, none},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, ok := progress.Read(tc.text)
			if !ok {
				t.Fatal("not read as a line that counts")
			}
			if name == "mmengine" {
				if s.Loss != tc.loss {
					t.Errorf("loss %v, want %v", s.Loss, tc.loss)
				}
				return
			}
			if s.Number != tc.number || s.Of != tc.of || !same(s.Loss, tc.loss) || !same(s.Seconds, tc.seconds) {
				t.Errorf("got step %d of %d, loss %v, %v s; want %d of %d, %v, %v s", s.Number, s.Of, s.Loss, s.Seconds, tc.number, tc.of, tc.loss, tc.seconds)
			}
			if want := strings.Contains(tc.text, "nan"); s.NaN != want {
				t.Errorf("not finite: %v, want %v", s.NaN, want)
			}
		})
	}
}

func same(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) < 1e-9*math.Max(1, math.Abs(b))
}

func TestOtherLinesCountNothing(t *testing.T) {
	for _, text := range []string{
		"", "Loading checkpoint shards", "NCCL INFO Channel 00/16 : 0 1 2 3", "Traceback (most recent call last):",
		"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", "lossless compression is on",
	} {
		if s, ok := progress.Read(text); ok {
			t.Errorf("%q was read as step %d", text, s.Number)
		}
	}
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestSeries(t *testing.T) {
	var tracker progress.Tracker
	tracker.Learn("step 0 loss: 11.0")
	line := 0
	for i := range 5000 {
		line++
		tracker.See(line, fmt.Sprintf("step %d loss: %.3f", i, 11-float64(i)/1000), noon.Add(time.Duration(i)*3*time.Second))
		line++
		tracker.See(line, "the dataset was shuffled", noon.Add(time.Duration(i)*3*time.Second))
	}
	s := tracker.Series()
	switch {
	case s.Count != 5000, s.First.Number != 0, s.Last.Number != 4999, s.Last.Line != 9999:
		t.Errorf("%d lines, first step %d, last step %d on line %d; want 5000, 0, 4999 on 9999", s.Count, s.First.Number, s.Last.Number, s.Last.Line)
	case s.Interval != 3*time.Second, s.Seconds != 3:
		t.Errorf("lines come every %v, a step takes %v s; want 3s and 3", s.Interval, s.Seconds)
	}
	switch losses := tracker.Losses(); {
	case len(losses) < 50 || len(losses) > 160:
		t.Errorf("%d losses kept; want 50 to 160", len(losses))
	case losses[0] != 11 || losses[len(losses)-1] > 7:
		t.Errorf("losses from %v to %v; want the whole run", losses[0], losses[len(losses)-1])
	}
}

func TestALogThatCountsNothing(t *testing.T) {
	var tracker progress.Tracker
	tracker.See(1, "step 1 loss: 2", noon)
	if s := tracker.Series(); s.Count != 0 || len(s.Recent) != 0 {
		t.Errorf("%d lines before anything was learned; want 0", s.Count)
	}
}

func FuzzTracker(f *testing.F) {
	f.Add("step 1 loss: nan", "12%| 1/2 [00:01<00:01, 1.0it/s]", 3)
	f.Add("iteration 99999999999999999999/1 | lm loss: 1e999", "", 200)
	f.Fuzz(func(t *testing.T, learn, text string, n int) {
		var tracker progress.Tracker
		tracker.Learn(learn)
		for i := range min(max(n, 0), 300) {
			tracker.See(i+1, text, noon)
		}
		s := tracker.Series()
		if n := len(tracker.Losses()); n > 160 || len(s.Recent) > 32 {
			t.Fatalf("%d losses and %d steps kept", n, len(s.Recent))
		}
	})
}
