package diagnose_test

import (
	"io"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	corev1 "k8s.io/api/core/v1"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
)

// read diagnoses one log of a pod, or a bare file where there is no pod.
func read(t *testing.T, pod string, in io.Reader) diagnose.Result {
	t.Helper()
	source := evidence.Source{Pod: pod, Container: "trainer", Rank: -1}
	c := diagnose.Case{Now: noon}
	if pod == "" {
		source = evidence.Source{File: "train.log", Rank: -1}
	} else {
		c.Pods = []corev1.Pod{{}}
		c.Pods[0].Name = pod
	}
	c.Logs = []diagnose.Log{{Source: source, Open: func() (io.ReadCloser, error) { return io.NopCloser(in), nil }}}
	return diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{})
}

// Of a long line that part is shown which decides.
func TestTheWordsThatDecideAreShown(t *testing.T) {
	const said = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB."
	x := func(n int) string { return strings.Repeat("x", n) }
	cases := map[string]struct{ line, want string }{ // want: what is shown, a long row as …
		"a short line":                  {"[rank0]: " + said, "[rank0]: " + said},
		"behind a screen full":          {x(300) + " " + said, "…… " + said},
		"behind more than results hold": {x(5000) + " " + said, "…… " + said},
		"behind more than is read":      {x(5*reduce.LongestLine) + " " + said, "…… […] " + said},
		"before more than is shown":     {said + x(5000), said + "……"},
		"a line of another alphabet":    {strings.Repeat("日志", 300) + " " + said, "…… " + said},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := read(t, "", strings.NewReader(tc.line+"\n"))
			if r.Root == nil || !strings.Contains(r.Root.Line, "CUDA out of memory") || len(r.Root.Line) > 2000 {
				t.Fatalf("root is %+v", r.Root)
			}
			_, shown, _ := strings.Cut(diagnose.Text(r), "\n  > ")
			shown, _, _ = strings.Cut(shown, "\n")
			shown = regexp.MustCompile("x{20,}|(日志){10,}").ReplaceAllString(shown, "…")
			if shown != tc.want {
				t.Errorf("shown is %q, want %q", shown, tc.want)
			}
		})
	}
}

// A log of which the end is missing shows no health: failures stand at the end.
func TestALogThatBreaksOffIsNotHealthy(t *testing.T) {
	for name, text := range map[string]string{
		"training that advances":   strings.Repeat("step 100 loss: 2.31 grad_norm: 0.7 lr: 1e-05\n", 50),
		"training that ended well": "***** train metrics *****\nTraining completed. Do not forget to share your model on huggingface.co/models =)\n",
	} {
		t.Run(name, func(t *testing.T) {
			if r := read(t, "", strings.NewReader(text)); r.Verdict != diagnose.Healthy {
				t.Fatalf("the whole log is %s", r.Verdict)
			}
			r := read(t, "", io.MultiReader(strings.NewReader(text), iotest.ErrReader(io.ErrUnexpectedEOF)))
			if want := "The end of train.log was not read; what it says there would decide."; r.Verdict != diagnose.Unknown || !strings.HasSuffix(r.Analysis, want) {
				t.Errorf("what is left of it is %s: %s", r.Verdict, r.Analysis)
			}
		})
	}
}

func TestTheDecisiveLineIsTheProgramsOwn(t *testing.T) {
	const said = "2026-03-01 11:59:58,250 ERROR ModuleNotFoundError: No module named 'einops'"
	const collected = "2026-03-01T11:59:58.260000001Z "
	cases := map[string]struct{ pod, log, want string }{
		"what the cluster hands out has the kubelet's time before it": {"w-0", collected + said, said},
		"a CRI file":                          {"w-0", collected + "stderr F " + said, said},
		"a time that the program wrote stays": {"w-0", said, said},
		"a file is shown as it can be found":  {"", collected + said, collected + said},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := read(t, tc.pod, strings.NewReader(tc.log+"\n"))
			if r.Root == nil || r.Root.Line != tc.want {
				t.Errorf("root %+v; want the line %q", r.Root, tc.want)
			}
		})
	}
}

func TestWhatWasNotReadOfALogIsSaid(t *testing.T) {
	long := strings.Repeat("x", reduce.LongestLine+1) + "\n"
	r := read(t, "", strings.NewReader("a\n"+long+long+"b\n"))
	want := "log of train.log: of 2 lines only the first 48 and the last 16 KiB were read"
	if !strings.Contains(strings.Join(r.Coverage.Missing, "\n"), want) {
		t.Errorf("missing: %q; want %q", r.Coverage.Missing, want)
	}
	r = read(t, "", io.MultiReader(strings.NewReader("a\nb\n"), brokenReader{}))
	if want := "log of train.log after byte 4: unexpected EOF"; !strings.Contains(strings.Join(r.Coverage.Missing, "\n"), want) {
		t.Errorf("missing: %q; want %q", r.Coverage.Missing, want)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// endless repeats a block for so many bytes and watches the heap while somebody reads.
type endless struct {
	block string
	left  int
	peak  uint64
	reads int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	if e.reads++; e.reads%64 == 0 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		e.peak = max(e.peak, m.HeapInuse)
	}
	n := copy(p, e.block[e.left%len(e.block):])
	e.left -= n
	return n, nil
}

// The bound holds for any size: make bench-logs reads ten gigabytes.
func TestALogOfAnySizeTakesBoundedMemory(t *testing.T) {
	var block strings.Builder
	for i := range 4000 {
		block.WriteString("2026-03-01 12:00:01,250 INFO step 100 loss: 2.31 grad_norm: 0.7 lr: 1e-05\n")
		if i%100 == 0 {
			block.WriteString("[rank3]: RuntimeError: CUDA error: an illegal memory access was encountered\n")
		}
	}
	block.WriteString(strings.Repeat("a line without end ", 200_000) + "\n" + strings.Repeat("\r 50%|##   | 5/10", 10_000) + "\n")
	catalog(t)
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	const size = 48 << 20
	in := &endless{block: block.String(), left: size}
	r := read(t, "", in)
	if r.Coverage.BytesRead < size {
		t.Errorf("%d bytes read; want %d", r.Coverage.BytesRead, size)
	}
	if grown := int64(in.peak) - int64(m.HeapInuse); in.peak == 0 || grown > 32<<20 {
		t.Errorf("the heap grew by %d bytes while %d were read; the bound is %d", grown, size, 32<<20)
	}
}

// Beside a log that could not be opened, one that ends well proves nothing of the job.
func TestALogThatIsNotReadMayHoldTheFailure(t *testing.T) {
	for unread, want := range map[bool]diagnose.Verdict{false: diagnose.Healthy, true: diagnose.Unknown} {
		c := diagnose.Case{Now: noon, Unread: unread, Logs: []diagnose.Log{{Source: evidence.Source{File: "rank-0.log", Rank: -1}, Open: func() (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader("epoch 1 loss 0.5\nepoch 2 loss 0.4\nepoch 3 loss 0.3\nTraining completed.\n")), nil
		}}}}
		if r := diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{}); r.Verdict != want {
			t.Errorf("unread %t: %s; want %s", unread, r.Verdict, want)
		}
	}
}
