package reduce_test

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
)

// visited reads a log and returns what Visit saw.
func visited(t testing.TB, text string) []reduce.Line {
	t.Helper()
	var lines []reduce.Line
	_, err := reduce.Read(strings.NewReader(text), reduce.Options{Now: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), Visit: func(l reduce.Line) bool {
		lines = append(lines, l)
		return false
	}})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func TestLinesAreCleanedAndPlaced(t *testing.T) {
	at := func(s string) time.Time {
		v, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	cases := map[string]struct {
		text string
		body string
		rank int
		at   time.Time
	}{
		"plain":                            {"hello", "hello", -1, time.Time{}},
		"the last state of a progress bar": {"  0%|   | 0/10\r 50%|## | 5/10\rloss 2.3\r\n", "loss 2.3", -1, time.Time{}},
		"a bar that was wiped at the end":  {"50%\rdone\r      \n", "done", -1, time.Time{}},
		"a link as rich writes it":         {"see \x1b]8;id=7;file:///a.py\x1b\\a.py\x1b]8;;\x1b\\:3 Error", "see a.py:3 Error", -1, time.Time{}},
		"a title that does not end":        {"\x1b]0;Error: x", "0;Error: x", -1, time.Time{}},
		"tput sgr0":                        {"\x1b[31mError\x1b(B\x1b[m: x\x1b7\x1b=", "Error: x", -1, time.Time{}},
		"a colour cut short":               {"a\x1b[31\x1b[0mb\x1b[", "ab", -1, time.Time{}},
		"a colour in the middle of a rank": {"\x1b[36m[rank\x1b[1m3\x1b[0m]:\x1b[0m Error", "Error", 3, time.Time{}},
		"colours and a window title":       {"\x1b]0;title\x07\x1b[1;31mError\x1b[0m: x", "Error: x", -1, time.Time{}},
		"NUL and broken UTF-8":             {"a\x00b\xffc", "ab\uFFFDc", -1, time.Time{}},
		"kubectl --timestamps":             {"2026-03-01T12:00:01.5Z Error: x", "Error: x", -1, at("2026-03-01T12:00:01.5Z")},
		"CRI file":                         {"2026-03-01T12:00:01.5+00:00 stderr F Error: x", "Error: x", -1, at("2026-03-01T12:00:01.5+00:00")},
		"kubectl --prefix":                 {"[pod/train-worker-3/pytorch] Error: x", "Error: x", -1, time.Time{}},
		"PyTorch's rank":                   {"[rank3]: Error: x", "Error: x", 3, time.Time{}},
		"PyTorch's rank, quoted":           {"> [rank3]: Error: x", "Error: x", 3, time.Time{}},
		"torchrun --tee":                   {"[default0]:Error: x", "Error: x", -1, time.Time{}},
		"both, behind a time":              {"2026-03-01T12:00:01Z [default1]:[rank9]: Error: x", "Error: x", 9, at("2026-03-01T12:00:01Z")},
		"Open MPI":                         {"[1,12]<stderr>:Error: x", "Error: x", 12, time.Time{}},
		"Horovod over Gloo":                {"[12]<stderr>:Error: x", "Error: x", 12, time.Time{}},
		"Open MPI with times":              {"Mon Oct  8 17:00:17 2018[1,4]<stderr>:Error: x", "Error: x", 4, time.Date(2018, 10, 8, 17, 0, 17, 0, time.UTC)},
		"SageMaker's mpirun":               {"[1,mpirank:3,algo-1]<stdout>:Error: x", "Error: x", 3, time.Time{}},
		"SageMaker's, without a rank":      {"[1,mpirank:x,algo-1]<stdout>:Error: x", "[1,mpirank:x,algo-1]<stdout>:Error: x", -1, time.Time{}},
		"no tag":                           {"[x,12]<stderr>:Error: x", "[x,12]<stderr>:Error: x", -1, time.Time{}},
		"srun --label":                     {" 7: Error: x", "Error: x", 7, time.Time{}},
		"Ray":                              {"(WorkerDict pid=349, ip=10.0.0.1) Error: x", "Error: x", -1, time.Time{}},
		"Python's logging":                 {"2026-03-01 12:00:01,250 ERROR x", "2026-03-01 12:00:01,250 ERROR x", -1, at("2026-03-01T12:00:01.25Z")},
		"c10d, its month without a zero":   {"[rank1]:[E301 12:00:01.250000000 ProcessGroupNCCL.cpp:616] x", "[E301 12:00:01.250000000 ProcessGroupNCCL.cpp:616] x", 1, at("2026-03-01T12:00:01.25Z")},
		"docker's JSON lines":              {`{"log":"Error: x\n","stream":"stderr","time":"2026-03-01T12:00:01.25Z"}`, "Error: x", -1, at("2026-03-01T12:00:01.25Z")},
		"docker's, and the program's time": {`{"log":"2026-03-01T11:00:00Z Error: x\n","time":"2026-03-01T12:00:01Z"}`, "Error: x", -1, at("2026-03-01T11:00:00Z")},
		"docker's, with no time that is":   {`{"log":"Error: x\n","time":"noon"}`, "Error: x", -1, time.Time{}},
		"klog":                             {"E0301 12:00:01.250000 7 x.go:1] x", "E0301 12:00:01.250000 7 x.go:1] x", -1, at("2026-03-01T12:00:01.25Z")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			lines := slices.DeleteFunc(visited(t, tc.text), func(l reduce.Line) bool { return l.Overwritten })
			if len(lines) != 1 {
				t.Fatalf("%d lines, want 1", len(lines))
			}
			l := lines[0]
			if l.Body() != tc.body || l.Rank != tc.rank || !l.At.Equal(tc.at) {
				t.Errorf("got %q rank %d at %v; want %q rank %d at %v", l.Body(), l.Rank, l.At, tc.body, tc.rank, tc.at)
			}
		})
	}
}

func TestWhatWasWrittenOverIsSeenToo(t *testing.T) {
	cases := map[string]struct {
		text string
		want []string // overwritten ones in brackets, exceptions with a !
	}{
		"a bar":                       {" 1%\r 2%\r\n", []string{"[ 1%]", " 2%"}},
		"blank segments":              {"\r  \ra\r\t\rb", []string{"[a]", "b"}},
		"an error under a bar":        {"disk full\r 50%|##\n", []string{"[disk full]", " 50%|##"}},
		"windows' line ends":          {"a\r\nb\r\n", []string{"a", "b"}},
		"no other line ends at all":   {"a\rTraceback (most recent call last):\r  File \"x.py\", line 1, in f\r    f()\rKeyError: 1\rb\r", []string{"[a]", "[Traceback (most recent call last):]", "[  File \"x.py\", line 1, in f]", "[    f()]", "[KeyError: 1]!", "b"}},
		"docker's own line around it": {`{"log":"a\rb\n","stream":"stdout"}`, []string{"b"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, l := range visited(t, tc.text) {
				text := l.Text
				if l.Overwritten {
					text = "[" + text + "]"
				}
				if l.Trace != nil {
					text += "!"
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestALineWithoutATimeHasTheTimeOfTheLinesBeforeIt(t *testing.T) {
	lines := visited(t, "2026-03-01T12:00:01Z Traceback\nValueError: x\n")
	if !lines[1].At.Equal(lines[0].At) || lines[1].At.IsZero() {
		t.Errorf("second line at %v, want %v", lines[1].At, lines[0].At)
	}
}

func TestTracebacksEndAtTheExceptionEvenWhenRanksInterleave(t *testing.T) {
	log := `[rank0]: Traceback (most recent call last):
[rank1]: Traceback (most recent call last):
[rank0]:   File "train.py", line 3, in main
[rank1]:   File "data.py", line 9, in __getitem__
[rank1]:     raise KeyError(k)
[rank0]:     dist.barrier()
[rank1]: KeyError: 'x'
step 3 loss: 1.0
[rank0]: torch.distributed.DistBackendError: NCCL error
[rank1]: During handling of the above exception, another exception occurred:
[rank1]: Traceback (most recent call last):
[rank1]:   File "data.py", line 12, in fallback
[rank1]:     f()
[rank1]: ValueError: no fallback
Exception ignored in: <function X.__del__ at 0x1>
Traceback (most recent call last):
  File "x.py", line 1, in __del__
AttributeError: gone
Traceback (most recent call last):
  File "/usr/lib/python3.10/multiprocessing/util.py", line 300, in _run_finalizers
    finalizer()
FileNotFoundError: [Errno 2] No such file or directory
--- Logging error ---
Traceback (most recent call last):
  File "/usr/lib/python3.12/logging/__init__.py", line 1160, in emit
    msg = self.format(record)
TypeError: not all arguments converted during string formatting
Call stack:
  File "train.py", line 8, in <module>
    logging.info("rouge", 0.3)
Message: 'rouge'
Arguments: (0.3,)
`
	type end struct {
		Line    int
		Type    string
		Frame   string
		Chain   reduce.Chain
		Ignored bool
	}
	var got []end
	code := 0
	for _, l := range visited(t, log) {
		if l.Trace != nil {
			got = append(got, end{l.Number, l.Trace.Type, l.Trace.Frame, l.Trace.Chain, l.Trace.Ignored})
		}
		if l.Code {
			code++
		}
	}
	want := []end{
		{7, "KeyError", `File "data.py", line 9, in __getitem__`, reduce.Alone, false},
		{9, "torch.distributed.DistBackendError", `File "train.py", line 3, in main`, reduce.Alone, false},
		{14, "ValueError", `File "data.py", line 12, in fallback`, reduce.During, false},
		{18, "AttributeError", `File "x.py", line 1, in __del__`, reduce.Alone, true},
		{22, "FileNotFoundError", `File "/usr/lib/python3.10/multiprocessing/util.py", line 300, in _run_finalizers`, reduce.Alone, true},
		{27, "TypeError", `File "/usr/lib/python3.12/logging/__init__.py", line 1160, in emit`, reduce.Alone, true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tracebacks (-want +got):\n%s", diff)
	}
	if code != 13 {
		t.Errorf("%d lines are quoted code, want 13", code)
	}
}

func TestRanksThatWroteOnOneLineAreTakenApart(t *testing.T) {
	log := "2026-03-01T12:00:01Z [rank0]: Traceback (most recent call last):[rank1]: Traceback (most recent call last):\n" +
		"[rank0]:   File \"a.py\", line 1, in f[rank1]:   File \"b.py\", line 2, in g\n" +
		"[rank1]: KeyError: 'x'[rank0]: ValueError: y\n" +
		"[rank1]: it quotes [rank of] somebody\n"
	var got []string
	d, err := reduce.Read(strings.NewReader(log), reduce.Options{Visit: func(l reduce.Line) bool {
		if l.Trace != nil {
			got = append(got, fmt.Sprintf("%d: rank %d: %s at %s", l.Number, l.Rank, l.Trace.Type, l.Trace.Frame))
		}
		return l.Trace != nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`3: rank 1: KeyError at File "b.py", line 2, in g`, `3: rank 0: ValueError at File "a.py", line 1, in f`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if d.LinesRead != 4 || len(d.Lines) != 4 {
		t.Errorf("%d lines read, %d kept; want 4 of each: a line is kept whole", d.LinesRead, len(d.Lines))
	}
}

func TestLongLinesAreReadFromBothEnds(t *testing.T) {
	const longest, end = reduce.LongestLine, reduce.LongestEnd
	x := func(n int) string { return strings.Repeat("x", n) }
	bar := strings.Repeat("\rstep 1/2", longest)
	cases := map[string]struct {
		line string
		want string // "…" stands for a long row of x
		cut  int
	}{
		"as long as is read":                 {x(longest), "…", 0},
		"as long as is read, and a CR":       {x(longest) + "\r", "…", 0},
		"one byte longer":                    {x(longest-9) + " b c words", "… […] b c words", 1},
		"much longer":                        {"a " + x(9*longest) + " the end", "a … […] the end", 1},
		"a secret at the edge":               {x(longest) + "password=" + x(end-10) + " fine", "… […] fine", 1},
		"the name of a secret at the edge":   {x(longest) + " --hf-token secretsecret" + strings.Repeat(" abc", end/4-5), "… […] abc", 1},
		"what follows a progress bar":        {bar + "\rstep 2/2 RuntimeError: boom", "step 2/2 RuntimeError: boom", 0},
		"a bar that ended in blanks":         {bar + "   \r", "step 1/2   ", 0},
		"what follows a bar is long as well": {bar + "\r" + x(2*longest) + " a b c", "st […] a b c", 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, chunk := range []int{1 << 20, 4097} {
				text := tc.line + "\nshort\n"
				d, err := reduce.Read(pieces{strings.NewReader(text), chunk}, reduce.Options{Budget: 1 << 20})
				if err != nil {
					t.Fatal(err)
				}
				if d.LinesCut != tc.cut || d.LinesRead != 2 || d.BytesRead != int64(len(text)) {
					t.Errorf("cut %d of %d lines, %d bytes; want %d of 2, %d", d.LinesCut, d.LinesRead, d.BytesRead, tc.cut, len(text))
				}
				got := regexp.MustCompile("x{1000,}").ReplaceAllString(d.Lines[0].Text, "…")
				got = regexp.MustCompile("(abc ){1000,}").ReplaceAllString(got, "")
				if got != tc.want {
					t.Errorf("read is %.200q, want %q", got, tc.want)
				}
			}
		})
	}
}

func TestDigestKeepsHeadHitsAndTail(t *testing.T) {
	var b strings.Builder
	for i := 1; i <= 1000; i++ {
		if i == 500 {
			b.WriteString("BOOM\n")
			continue
		}
		fmt.Fprintf(&b, "line %d\n", i)
	}
	d, err := reduce.Read(strings.NewReader(b.String()), reduce.Options{
		Head: 2, Tail: 2, Before: 1, After: 1, Budget: 1 << 10,
		Visit: func(l reduce.Line) bool { return l.Text == "BOOM" },
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range d.Lines {
		got = append(got, fmt.Sprintf("%d:%s", l.Number, l.Text))
	}
	want := []string{"1:line 1", "2:line 2", "499:line 499", "500:BOOM", "501:line 501", "999:line 999", "1000:line 1000"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

func TestWhatWasReadBeforeAnErrorIsKept(t *testing.T) {
	r := io.MultiReader(strings.NewReader("one\ntwo\n"), iotest.ErrReader(io.ErrUnexpectedEOF))
	d, err := reduce.Read(r, reduce.Options{})
	if err == nil || d.LinesRead != 2 {
		t.Errorf("read %d lines, error %v; want 2 and the reader's error", d.LinesRead, err)
	}
}

func TestPrivateKeysAreMaskedOverLines(t *testing.T) {
	log := "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIEabc\nxyz\n-----END RSA PRIVATE KEY-----\nb\n"
	d, err := reduce.Read(strings.NewReader(log), reduce.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range d.Lines {
		if strings.Contains(l.Text, "MIIE") || strings.Contains(l.Text, "xyz") {
			t.Errorf("line %d shows the key: %q", l.Number, l.Text)
		}
	}
	if last := d.Lines[len(d.Lines)-1].Text; last != "b" {
		t.Errorf("last line is %q, want b", last)
	}
}

// pieces reads in chunks of n bytes.
type pieces struct {
	r io.Reader
	n int
}

func (p pieces) Read(b []byte) (int, error) { return p.r.Read(b[:min(len(b), p.n)]) }

func FuzzReduceChunking(f *testing.F) {
	f.Add("one\ntwo\r\nthree\rfour\n", 1)
	f.Add("[rank0]: Traceback (most recent call last):\n[rank0]:   File \"x\", line 1, in f\n[rank0]: ValueError: password=abcd1234\n", 3)
	f.Add("[rank0]: Trace[rank1]: ValueError: x[rank2]:y\n2026-03-01T12:00:01Z [rank0]: a[rank[rank1]: b\n", 5)
	f.Add("\x1b[31m\x00\xff\n-----BEGIN PRIVATE KEY-----\nabc\n", 2)
	f.Fuzz(func(t *testing.T, text string, n int) {
		const budget = 512
		read := func(r io.Reader) (reduce.Digest, []reduce.Line) {
			var seen []reduce.Line
			d, err := reduce.Read(r, reduce.Options{Budget: budget, Head: 3, Tail: 4, Now: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), Visit: func(l reduce.Line) bool {
				seen = append(seen, l)
				return strings.Contains(l.Text, "Error")
			}})
			if err != nil {
				t.Fatal(err)
			}
			return d, seen
		}
		whole, lines := read(strings.NewReader(text))
		chunked, _ := read(pieces{strings.NewReader(text), max(1, n%64)})
		if diff := cmp.Diff(whole.Lines, chunked.Lines); diff != "" {
			t.Fatalf("chunks of %d change the digest (-whole +chunked):\n%s", n, diff)
		}
		kept := 0
		for i, l := range whole.Lines {
			kept += len(l.Text)
			if i > 0 && whole.Lines[i-1].Number >= l.Number {
				t.Fatalf("line %d is kept behind line %d", l.Number, whole.Lines[i-1].Number)
			}
			written := "" // by all ranks that wrote on the line
			for _, part := range lines {
				if part.Number == l.Number && !part.Overwritten {
					written += part.Text
				}
			}
			if want := redact.Line(written); l.Text != want {
				t.Fatalf("line %d is kept as %q; the log has %q", l.Number, l.Text, want)
			}
		}
		if kept > budget {
			t.Fatalf("%d bytes kept; the budget is %d", kept, budget)
		}
	})
}

func BenchmarkReduce(b *testing.B) {
	text := strings.Repeat("2026-03-01 12:00:01,250 INFO step 100 loss: 2.31 grad_norm: 0.7 lr: 1e-05\n", 10000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := reduce.Read(strings.NewReader(text), reduce.Options{Suspect: func(string) bool { return false }}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestTracebacksInsideWrappings(t *testing.T) {
	cases := map[string]struct{ log, want string }{
		"docker's JSON lines": {
			`{"log":"Traceback (most recent call last):\n","stream":"stderr"}` + "\n" +
				`{"log":"  File \"a.py\", line 1, in \u003cmodule\u003e\n","stream":"stderr"}` + "\n" +
				`{"log":"ZeroDivisionError: division by zero\n","stream":"stderr"}` + "\n",
			`ZeroDivisionError at File "a.py", line 1, in <module>`,
		},
		"a pod's name before each line, and another pod between": {
			"w-1 main Traceback (most recent call last):\nw-0 main step 3\nw-1 main   File \"a.py\", line 1, in f\nw-1 main IndexError: list index out of range\n",
			`IndexError at File "a.py", line 1, in f`,
		},
		"a time before each line": {
			"10:00:01 Traceback (most recent call last):\n10:00:02   File \"a.py\", line 1, in f\n10:00:03 KeyError: 'x'\n",
			`KeyError at File "a.py", line 1, in f`,
		},
		"a text that begins in the middle of it": {
			"    return f(x)\n  File \"a.py\", line 1, in f\n    assert x.ok\nAssertionError\n",
			`AssertionError at File "a.py", line 1, in f: assert x.ok`,
		},
		"a text that begins in the middle of one rank's": {
			"[rank1]:   File \"a.py\", line 1, in f\n[rank0]: step 3\n[rank1]: KeyError: 'x'\n",
			`KeyError at File "a.py", line 1, in f`,
		},
		"a stack that nobody raised": {
			"Thread 0x7f (most recent call first):\n  File \"a.py\", line 1 in f\nINFO: still here\nhost: x\n", "",
		},
		"a wrapper that names what it was raised for on the next line": {
			"  File \"a.py\", line 1, in f\nx.BackendCompilerFailed: backend='b' raised:\nKeyError: 'x'\n",
			`KeyError at File "a.py", line 1, in f`,
		},
		"broken JSON stays as it is": {"{\"log\":\"Traceback (most recent call last):\n", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			_, err := reduce.Read(strings.NewReader(tc.log), reduce.Options{Visit: func(l reduce.Line) bool {
				if l.Trace != nil {
					got = l.Trace.Type + " at " + l.Trace.Frame
					if strings.HasPrefix(l.Trace.Source, "assert ") {
						got += ": " + l.Trace.Source
					}
				}
				return false
			}})
			if err != nil || got != tc.want {
				t.Errorf("trace %q, %v; want %q", got, err, tc.want)
			}
		})
	}
}

func TestATextMayEndInsideATraceback(t *testing.T) {
	const begun = "step 3\nTraceback (most recent call last):\n  File \"a.py\", line 1, in f\n    g()\n"
	for text, want := range map[string]bool{
		begun:                     true,
		begun + "  File \"b.py\"": true,
		begun + "KeyError: 'x'\n": false,
		begun + "KeyError: Traceback (most recent call last):\n  File \"b.py\", line 1, in f\nKeyError: 'x'\ny\n": false,
		"step 3\nstep 4\n":         false,
		begun + "KeyError: 'x'\ny": false,
		"[rank0]: Traceback (most recent call last):\n[rank0]:   File \"a.py\", line 1, in f\n" + strings.Repeat("[rank1]: step 4\n", 9): false,
	} {
		d, err := reduce.Read(strings.NewReader(text), reduce.Options{})
		if err != nil || d.InTraceback != want {
			t.Errorf("%q: in a traceback %v, %v; want %v", text, d.InTraceback, err, want)
		}
	}
}

// Blank lines at the end of a log do not push what stands before them out of its tail.
func TestBlankLinesDoNotFillTheTail(t *testing.T) {
	d, err := reduce.Read(strings.NewReader(strings.Repeat("a\n", 30)+"b\nc\n"+strings.Repeat(" \n", 60)), reduce.Options{Head: 1, Tail: 4})
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, l := range d.Lines {
		got = append(got, l.Number)
	}
	if want := []int{1, 30, 31, 32, 33}; !slices.Equal(got, want) {
		t.Errorf("lines %v were kept, want %v", got, want)
	}
	if last := d.Lines[len(d.Lines)-1]; !last.Meets(93) || last.Meets(94) {
		t.Errorf("it stands for %d lines below it, want the other 59 blank ones", last.Again)
	}
}
