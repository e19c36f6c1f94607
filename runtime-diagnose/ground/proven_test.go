package ground

import (
	"testing"
	"time"
)

// What is said of several is shown where it is so of each alone, and what is said of their order where their times say so: swapped, miscounted or of
// another distance it is not.
func TestWhatIsSaidOfSeveral(t *testing.T) {
	job := gang("run-2: the GPU ran out of memory", "2/t#9", "0/t#7", "2/t#9 RuntimeError: CUDA out of memory",
		"0/t#7 RuntimeError: Connection closed by peer", "1/t#7 RuntimeError: Connection closed by peer", "2/t/exit container t ended: exit code 1", "0/t/exit container t ended: exit code 1", "1/t/exit container t ended: exit code 1", "3/t/exit container t ended: exit code 137", "2/t#3 reading '/data/a': No such file or directory")
	for i, seconds := range []int{0, 2, 2, 60, 90, 90, 91, -20} {
		job.Items[i].At = time.Date(2026, 11, 22, 5, 0, 0, 0, time.UTC).Add(time.Duration(seconds) * time.Second)
	}
	const exits = " [pod/run-0/t/exit] [pod/run-1/t/exit]."
	for want, sentences := range map[outcome][]string{
		published: {
			"2 containers ended with exit code 1" + exits,
			"Both of them ended with exit code 1" + exits,
			"The container of run-0 ended with exit code 1, 30 seconds after that of run-2 [pod/run-0/t/exit] [pod/run-2/t/exit].",
			"The container of run-2 ended half a minute before the other two [pod/run-2/t/exit] [pod/run-0/t/exit] [pod/run-1/t/exit].",
			"Its container ended with exit code 1 a minute later [pod/run-2/t/exit].",
			"Two seconds later the connection of run-0 was closed by its peer [pod/run-0/t#7].",
			"run-2 failed first: CUDA out of memory [pod/run-2/t#9].",
			"The call was reading /data/a [pod/run-2/t#3].",
		},
		apart: {
			"All containers ended with exit code 1" + exits, // there are more
			"Three containers ended with exit code 1 [pod/run-0/t/exit] [pod/run-1/t/exit] [pod/run-3/t/exit].",
			"The container of run-2 ended with exit code 1, 30 seconds after that of run-0 [pod/run-0/t/exit] [pod/run-2/t/exit].",
			"The container of run-2 ended after the others [pod/run-2/t/exit] [pod/run-0/t/exit].",
			"run-0 failed first: Connection closed by peer [pod/run-0/t#7].",
			"The container of run-2 had already ended when CUDA ran out of memory [pod/run-2/t/exit] [pod/run-2/t#9].",
			"Both ran out of CUDA memory [pod/run-2/t#9] [pod/run-0/t#7].",
		},
	} {
		for _, sentence := range sentences {
			k := Keep(Answer{Analysis: sentence}, job)
			if got := outcomeOf(k); got != want && (want == published || got == published) {
				t.Errorf("%s: is %d, want %d (0 published, 1 apart, 2 dropped): %s", sentence, got, want, k.LeftOut())
			}
		}
	}
}
