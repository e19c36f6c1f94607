package logscan

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// failure is what Linux calls one of its errors, and the exception that Python makes of it
// (https://man7.org/linux/man-pages/man3/errno.3.html, https://docs.python.org/3/library/exceptions.html#os-exceptions).
type failure struct {
	exception, text string
}

// failures are those that name a cause, by number.
var failures = map[int]failure{
	1:   {"PermissionError", "Operation not permitted"},
	2:   {"FileNotFoundError", "No such file or directory"},
	5:   {"OSError", "Input/output error"},
	11:  {"BlockingIOError", "Resource temporarily unavailable"},
	12:  {"OSError", "Cannot allocate memory"},
	13:  {"PermissionError", "Permission denied"},
	20:  {"NotADirectoryError", "Not a directory"},
	21:  {"IsADirectoryError", "Is a directory"},
	24:  {"OSError", "Too many open files"},
	28:  {"OSError", "No space left on device"},
	30:  {"OSError", "Read-only file system"},
	37:  {"OSError", "No locks available"},
	98:  {"OSError", "Address already in use"},
	107: {"OSError", "Transport endpoint is not connected"},
	111: {"ConnectionRefusedError", "Connection refused"},
	116: {"OSError", "Stale file handle"},
	121: {"OSError", "Remote I/O error"},
	122: {"OSError", "Disk quota exceeded"},
}

// errnoForms are how other runtimes than Python print the number: Rust, twice, and native code.
var errnoForms = regexp.MustCompile(`\bOs \{ code: (\d{1,3}),|\(os error (\d{1,3})\)|\b(?i:errno)[ =:]{1,3}(\d{1,3})\b`)

// errnoOf is the number of the failure that a message names, by number or by its words at the end; 0: it names none.
func errnoOf(message string) int {
	if m := errnoForms.FindStringSubmatch(message); m != nil {
		n, err := strconv.Atoi(m[1] + m[2] + m[3])
		if _, known := failures[n]; err == nil && known {
			return n
		}
	}
	message = strings.TrimRight(message, " .'\")")
	for n, f := range failures {
		if strings.HasSuffix(message, ": "+f.text) {
			return n
		}
	}
	return 0
}

// byErrno asks the signatures once more about what another runtime than Python's raised: the operating system's errors
// are one set, and signatures know them as Python words them.
func (r *logReader) byErrno(l reduce.Line) []signature.Match {
	if l.Trace == nil || !r.options.uses(readsErrno) {
		return nil
	}
	n := errnoOf(l.Trace.Message)
	if n == 0 {
		return nil
	}
	f := failures[n]
	text := f.exception + ": [Errno " + strconv.Itoa(n) + "] " + f.text
	return slices.DeleteFunc(r.catalog.Match(text, r.kinds()...), func(m signature.Match) bool {
		return !explainsMore(m) || m.Signature.LastResort
	})
}
