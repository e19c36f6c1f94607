package reduce_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
)

// What other runtimes print of an exception that nobody handled is one, too.
func TestExceptionsOfOtherRuntimes(t *testing.T) {
	cases := map[string]struct {
		log  string
		want []string
	}{
		"the JVM, and what caused it": {
			"INFO start\nException in thread \"main\" java.lang.IllegalStateException: no data\n\tat ml.Job.run(Job.java:3)\nCaused by: java.io.IOException: disk gone\n\tat ml.Disk.read(Disk.java:8)\n",
			[]string{"2 java.lang.IllegalStateException: no data", "4 java.io.IOException: disk gone caused by"},
		},
		"a cause without an exception of the JVM": {"Caused by: java.io.IOException: disk gone\n", nil},
		"Go":                             {"2026/03/01 10:00:00 start\npanic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:\n", []string{"2 panic: runtime error: index out of range [5] with length 3"}},
		"Go's runtime":                   {"fatal error: all goroutines are asleep - deadlock!\n", []string{"1 fatal error: all goroutines are asleep - deadlock!"}},
		"C++":                            {"terminate called after throwing an instance of 'std::out_of_range'\n  what():  vector::_M_range_check\n", []string{"2 std::out_of_range: vector::_M_range_check"}},
		"Rust":                           {"thread 'main' panicked at src/model.rs:88:42:\ncalled `Option::unwrap()` on a `None` value\nnote: run with `RUST_BACKTRACE=1`\n", []string{"2 panic: called `Option::unwrap()` on a `None` value"}},
		"Rust before 1.73":               {"thread 'main' panicked at 'called `Result::unwrap()` on an `Err` value: Os { code: 2, kind: NotFound, message: \"No such file or directory\" }', src/mod.rs:593:29\n", []string{"1 panic: called `Result::unwrap()` on an `Err` value: Os { code: 2, kind: NotFound, message: \"No such file or directory\" }"}},
		"Rust, of a crate far down":      {"thread 'main' panicked at /home/" + strings.Repeat("deep/", 30) + "lib.rs:3:5:\nno rows\n", []string{"2 panic: no rows"}},
		"Rust's words in another line":   {"say: thread 'main' panicked at 'x', src/a.rs:1:1\n", nil},
		"Fortran of Intel":               {"forrtl: severe (24): end-of-file during read, unit 11\n", []string{"1 severe: end-of-file during read, unit 11"}},
		"Fortran of GNU":                 {"At line 88 of file grid.f90 (unit = 11)\nFortran runtime error: End of file\n", []string{"2 Fortran runtime error: End of file"}},
		"a message below its heading":    {"--------\nSource file: top.cpp (line 3)\n\nFatal error:\nAtomtype CL not found\n\nFor more\n", []string{"5 fatal error: Atomtype CL not found"}},
		"a heading at the end":           {"Fatal error:\n", nil},
		"what() of nothing":              {"  what():  vector::_M_range_check\n", nil},
		"Node, below the mark":           {"/app/job.js:3\n  throw err;\n  ^\n\nTypeError: x is not a function\n    at main\n", []string{"5 TypeError: x is not a function"}},
		"the same words without a mark":  {"start\n\nTypeError: x is not a function\n", nil},
		"what is ignored is not printed": {"Exception ignored in: <function f>\nOSError: [Errno 9] Bad file descriptor\n", nil},
		"a panic that is only spoken of": {"we do not panic: all is well\n", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			_, err := reduce.Read(strings.NewReader(tc.log), reduce.Options{Suspect: func(string) bool { return false }, Visit: func(l reduce.Line) bool {
				text := fmt.Sprintf("%d %s: %s", l.Number, l.Trace.Type, l.Trace.Message)
				if l.Trace.Chain == reduce.CausedBy {
					text += " caused by"
				}
				got = append(got, text)
				return true
			}})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("exceptions (-want +got):\n%s", diff)
			}
		})
	}
}
