package diagnose_test

import (
	"fmt"
	"strings"
	"testing"
)

// Launchers and macros print how a process ended in words of their own; the number means the same in all of them.
func TestTheNumberOfAnEndIsReadInAnyWords(t *testing.T) {
	for line, category := range map[string]string{
		"ERROR:oddlaunch.cli:Rank 2 crashed with exit code -7.":                                         "shm-exhausted",
		"ERROR:oddlaunch.cli:Global rank 0 (PID 208865) exited with code -11":                           "segfault",
		"[E] worker 3 died with status 139":                                                             "segfault",
		"[ERROR] [launch.py:324] ['python', '-u', 't.py'] exits with return code = -7":                  "shm-exhausted",
		"subprocess.CalledProcessError: Command '['python']' returned non-zero exit status 3221225477.": "segfault",
		"[E] worker 3 exited with code 3221225725":                                                      "segfault",
		"[E] worker 3 exited with code 3221225499":                                                      "python-exception-user-code",
		"GPUassert: out of memory src/tensors/memory.cu 31":                                             "gpu-oom",
		"ERROR: worker 3 exited with code 3":                                                            "python-exception-user-code",
	} {
		r := read(t, "", strings.NewReader("Building trainer...\n"+line+"\n"))
		if r.Root == nil || r.Category != category {
			t.Errorf("%q: %s, %+v, want %s", line, r.Category, r.Root, category)
		}
	}
}

// CUDA's words are known without the number and in another form.
func TestWordsOfCUDAAreReadInAnotherForm(t *testing.T) {
	r := read(t, "", strings.NewReader("epoch 3\nRuntimeError:cuda error:misaligned address\n"))
	if r.Category != "illegal-memory-access" {
		t.Errorf("%s, %+v", r.Category, r.Root)
	}
}

// A loss that is none is one by whatever name, however long the training went well before.
func TestALossByAShortNameIsNone(t *testing.T) {
	for _, sound := range []int{12, 16, 60} {
		text := "training\n"
		for i := range sound + 14 {
			loss := "nan"
			if i < sound {
				loss = fmt.Sprintf("%d.5", 9-i%9)
			}
			text += fmt.Sprintf("iter %d L=%s lr=0.001\n", i*10, loss)
		}
		if r := read(t, "", strings.NewReader(text)); r.Category != "nan-loss" {
			t.Errorf("%s, category %q, below %d numbers", r.Verdict, r.Category, sound)
		}
	}
}
