package diagnose_test

import (
	"fmt"
	"strings"
	"testing"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// What a program survived a dozen times, which is as often as one thing is kept, may end it at last.
func TestWhatWasSurvivedOftenEndsTheProgram(t *testing.T) {
	steps := func(from int) (text string) {
		for i := range 20 {
			text += fmt.Sprintf("step %d/9000 loss %.4f lr 1e-4\n", from*20+i+1, 3-float64(from*20+i)/9000)
		}
		return text
	}
	const top = "Traceback (most recent call last):\n  File \"/app/train.py\", line 12, in <module>\n    train(batch)\n"
	for name, tc := range map[string]struct{ each, last, category string }{
		"a line, and an exception": {
			"WARNING: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB; skipping the batch\n",
			top + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n", "gpu-oom",
		},
		"lines of which the last decides": {
			"Error executing job with overrides: ['model.hiden_size=4096']\nCould not override 'model.hiden_size'.\nTo append to your config use +model.hiden_size=4096\nKey 'hiden_size' is not in struct\n    full_key: model.hiden_size\n    object_type=dict\n",
			"Error executing job with overrides: ['model.hiden_size=4096']\nCould not override 'model.hiden_size'.\nTo append to your config use +model.hiden_size=4096\nKey 'hiden_size' is not in struct\n    full_key: model.hiden_size\n    object_type=dict\n", "argument-or-config-error",
		},
		"a warning above what is raised": {
			"[W socket.cpp:436] [c10d] The server socket has failed to bind to [::]:29500 (errno: 98 - Address already in use).\n[E socket.cpp:472] [c10d] The server socket has failed to listen on any local network address.\n",
			"[W socket.cpp:436] [c10d] The server socket has failed to bind to [::]:29500 (errno: 98 - Address already in use).\n[E socket.cpp:472] [c10d] The server socket has failed to listen on any local network address.\n" +
				"torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. The server socket has failed to bind to 0.0.0.0:29500 (errno: 98 - Address already in use).\n" +
				strings.Repeat("frame #1: c10d::TCPStore::run() + 0x8 (0x7f in libtorch_cpu.so)\n", 60), "port-in-use",
		},
		"an exception with a name":                  {top + "KeyError: 'image'\nskipping the sample\n", top + "KeyError: 'image'\n", "dataset-error"},
		"an exception that no signature knows":      {top + "app.errors.Unruly: no way\ngoing on\n", top + "app.errors.Unruly: no way\n", "python-exception-user-code"},
		"an error that a subject tells the kind of": {top + "ConnectionError: HTTPSConnectionPool(host='hub', port=443): Max retries exceeded\nretrying\n", top + "ConnectionError: HTTPSConnectionPool(host='hub', port=443): Max retries exceeded\n", "network-dns"},
	} {
		for _, times := range []int{1, 11, 12, 13, 40, 1000} {
			t.Run(fmt.Sprintf("%s/%d times", name, times), func(t *testing.T) {
				var text string
				for i := range times {
					text += steps(i) + tc.each
				}
				text += steps(times)
				if r := read(t, "", strings.NewReader(text)); r.Verdict != diagnose.Healthy {
					t.Errorf("survived each time, it is %s: %s", r.Verdict, r.Error)
				}
				if r := read(t, "", strings.NewReader(text+tc.last)); r.Verdict != diagnose.Diagnosed || r.Category != tc.category {
					t.Errorf("it ends, and is %s, %s: %s", r.Verdict, r.Category, r.Error)
				}
			})
		}
	}
}
