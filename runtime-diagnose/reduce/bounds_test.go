package reduce_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
)

// raised are the exceptions that a log's tracebacks end in, and what is left of the log.
func raised(t *testing.T, log string) (types []string, d reduce.Digest) {
	t.Helper()
	d, err := reduce.Read(strings.NewReader(log), reduce.Options{Visit: func(l reduce.Line) bool {
		if l.Trace != nil {
			types = append(types, l.Trace.Type)
		}
		return false
	}})
	if err != nil {
		t.Fatal(err)
	}
	return types, d
}

// One line is taken apart for so many ranks; what those beyond wrote stays on the last part, and nothing is lost.
func TestOneLineIsTakenApartForSoManyRanks(t *testing.T) {
	for n, want := range map[int]int{63: 63, 64: 64, 65: 64, 3000: 64} {
		var line strings.Builder
		for rank := range n {
			fmt.Fprintf(&line, "[rank%d]: word", rank)
		}
		parts, whole := 0, ""
		for _, l := range visited(t, line.String()+"\n") {
			parts++
			whole += l.Text
		}
		if parts != want || whole != line.String() {
			t.Errorf("of %d ranks %d parts with %d of %d bytes; want %d parts", n, parts, len(whole), line.Len(), want)
		}
	}
}

// So many ranks may print tracebacks at a time. What begins beyond is counted, and what is printed when they have ended is read again.
func TestTracebacksThatAreNotFollowedAreCounted(t *testing.T) {
	for n, want := range map[int]int{4095: 0, 4096: 0, 4097: 1, 5000: 904} {
		var log strings.Builder
		for rank := range n {
			fmt.Fprintf(&log, "[rank%d]: Traceback (most recent call last):\n", rank)
		}
		for rank := range n {
			fmt.Fprintf(&log, "[rank%d]: odd.BrokenError: it broke\n", rank)
		}
		log.WriteString("[rank9999]: Traceback (most recent call last):\n[rank9999]:   File \"a.py\", line 1, in f\n[rank9999]: odd.Late: it broke late\n")
		types, d := raised(t, log.String())
		late := len(types) > 0 && types[len(types)-1] == "odd.Late"
		if d.Unfollowed != want || len(types) != n+1-want || !late || d.LinesRead != 2*n+3 {
			t.Errorf("of %d tracebacks %d are not followed, %d end; want %d not followed; the late one is: %t", n, d.Unfollowed, len(types), want, late)
		}
	}
}

func TestBoundsOfATraceback(t *testing.T) {
	const head, frame, end = "Traceback (most recent call last):\n", "  File \"a.py\", line 1, in f\n", "odd.Broken: it broke\n"
	prefix := func(n int) string { return strings.Repeat("p", n-1) + " " }
	long := func(n int) string { return "v" + strings.Repeat("w", n) }
	cases := map[string]struct {
		log  string
		want []string
	}{
		// What has not ended within 2,000 lines of frames takes no more of the log for its own.
		"as many lines of frames as are waited for": {head + frame + strings.Repeat("    g()\n", 1998) + end, []string{"odd.Broken"}},
		"one line more":        {head + frame + strings.Repeat("    g()\n", 1999) + end, nil},
		"the next one is read": {head + frame + strings.Repeat("    g()\n", 5000) + end + head + frame + end, []string{"odd.Broken"}},
		// A prefix that nobody told us of.
		"a prefix as long as is looked for": {prefix(120) + head + prefix(120) + frame + prefix(120) + end, []string{"odd.Broken"}},
		"one byte longer":                   {prefix(121) + head + prefix(121) + frame + prefix(121) + end, nil},
		// What is read at any length.
		"a panic at a place of a long name": {"thread 'main' panicked at /home/" + strings.Repeat("registry/", 100) + "lib.rs:7:5:\nit broke\n", []string{"panic"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			types, d := raised(t, tc.log)
			if diff := cmp.Diff(tc.want, types); diff != "" || d.LinesRead != strings.Count(tc.log, "\n") {
				t.Errorf("%d lines are read; tracebacks end in (-want +got):\n%s", d.LinesRead, diff)
			}
		})
	}
	for _, n := range []int{1, 58, 59, 60, 61, 3000} {
		lines := visited(t, long(n)+" = Runner(limit)\n")
		if len(lines) != 1 || !lines[0].Code {
			t.Errorf("a statement that gives a value to a name of %d bytes is none", n+1)
		}
	}
}

// Of a text that goes on and on so many sentences are told apart; what it is stays known, and memory bounded.
func TestSentencesThatAreToldApartAreBounded(t *testing.T) {
	sentence := func(i int) string {
		word := func(i int) string { return string([]byte{'a' + byte(i%26), 'b' + byte(i/26%25), 'c' + byte(i/650%24)}) }
		return "The reader who has come so far will find that " + word(i) + " is told apart from what was said before, and so is the word " + word(7*i+3) + "."
	}
	for _, n := range []int{4095, 4096, 4097, 20_000} {
		var d reduce.Document
		for i := range n {
			d.See(sentence(i), false)
		}
		if !d.Is() {
			t.Errorf("a text of %d sentences is none", n)
		}
	}
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	var d reduce.Document
	for i := range 4096 {
		d.See(sentence(i), false)
	}
	before := heap()
	for i := range 14_000 {
		d.See(sentence(4096+i)+" It goes on.", false)
	}
	if grown := heap() - before; grown > 200<<10 || !d.Is() {
		t.Errorf("14,000 sentences above the bound take %d bytes", grown)
	}
}

// A sentence that a loop prints with other numbers counts eight times, the ninth time against the text.
func TestASentenceWithOtherNumbersCountsEightTimes(t *testing.T) {
	for n, want := range map[int]bool{8: true, 9: false, 500: false} {
		var d reduce.Document
		for range 10 {
			d.See(strings.Repeat("x", 100), false)
		}
		for i := range n {
			d.See(fmt.Sprintf("The worker %d has read all of the files that it was given to read, and it will go on to read others as soon as it is told so.", 100+i), false)
		}
		if d.Is() != want {
			t.Errorf("with the sentence %d times the text is a document: %t, want %t", n, d.Is(), want)
		}
	}
}
