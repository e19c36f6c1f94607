package logscan

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// An operating system and a driver have one set of errors each, and every runtime words them in its own way. The
// signatures know them as Python and torch word them, so what another runtime prints is put into these words.

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

// worded are their numbers, by text in lower case. None of the texts begins with another one.
var worded = func() map[string]int {
	of := map[string]int{}
	for n, f := range failures {
		of[strings.ToLower(f.text)] = n
	}
	return of
}()

// numbered are how other runtimes than Python print the number: Rust, twice, and native code.
var numbered = regexp.MustCompile(`\bOs \{ code: (\d{1,3}),|\(os error (\d{1,3})\)|\b(?i:errno)[ =:]{1,3}(\d{1,3})\b`)

// pythonNumber begins the text of an OSError (https://docs.python.org/3/library/exceptions.html#OSError.errno): a line
// that holds it quotes one, whoever wrote the line.
const pythonNumber = "[Errno "

// failureOf is the failure that a message names, by number or by its words at the end.
func failureOf(message string) (number int, f failure) {
	if m := numbered.FindStringSubmatch(message); m != nil {
		n, err := strconv.Atoi(m[1] + m[2] + m[3])
		if f, known := failures[n]; err == nil && known {
			return n, f
		}
	}
	lower := strings.ToLower(message)
	for end := len(lower); ; {
		at := strings.LastIndex(lower[:end], ": ")
		if at < 0 {
			return 0, failure{}
		}
		for text, n := range worded {
			if rest, ok := strings.CutPrefix(lower[at+len(": "):], text); ok && ends(rest) {
				return n, failures[n]
			}
		}
		end = at
	}
}

// ends says that what follows the words of a failure does not go on with them.
func ends(rest string) bool { return rest == "" || strings.IndexByte(` .,;'")\[`, rest[0]) >= 0 }

// deviceErrors are errors of CUDA that name a cause, by the name that the driver gives them without CUDA_ERROR_, with
// the number of both interfaces and the words of torch
// (https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TYPES.html, enum CUresult).
var deviceErrors = []struct {
	name   string
	number int
	text   string
}{
	{"OUT_OF_MEMORY", 2, "out of memory"},
	{"NO_BINARY_FOR_GPU", 209, "no kernel image is available for execution on the device"},
	{"ECC_UNCORRECTABLE", 214, "uncorrectable ECC error encountered"},
	{"NVLINK_UNCORRECTABLE", 220, "uncorrectable NVLink error detected during the execution"},
	{"ILLEGAL_ADDRESS", 700, "an illegal memory access was encountered"},
	{"LAUNCH_TIMEOUT", 702, "the launch timed out and was terminated"},
	{"ASSERT", 710, "device-side assert triggered"},
	{"HARDWARE_STACK_ERROR", 714, "hardware stack error"},
	{"ILLEGAL_INSTRUCTION", 715, "an illegal instruction was encountered"},
	{"MISALIGNED_ADDRESS", 716, "misaligned address"},
	{"LAUNCH_FAILED", 719, "unspecified launch failure"},
	{"UNKNOWN", 999, "unknown error"},
}

// deviceCode is how native code prints one of them: by the driver's name, or by the number.
var deviceCode = regexp.MustCompile(`\bCUDA_ERROR_([A-Z_]{4,})\b|\b(?:cudaError_t|cuda ?[eE]rror(?: code)?|CUDA (?:[eE]rror(?: code)?|runtime error)|cuda runtime error)[ :=(]{1,3}(\d{1,3})\b`)

// checked is how a macro that native code copies prints what CUDA returned (https://stackoverflow.com/a/14038590).
const checked = "gpuassert: "

// begins says that a text begins with one in ASCII, in whatever case.
func begins(text, with string) bool {
	return len(text) >= len(with) && strings.EqualFold(text[:len(with)], with)
}

// deviceError is a message of CUDA in torch's words; empty: it names none. One that says the words without a number
// may write them otherwise: "cuda error:misaligned address".
func deviceError(message string) string {
	lower := strings.ToLower(message)
	if !strings.Contains(lower, "cuda") && !strings.HasPrefix(lower, checked) {
		return ""
	}
	m := deviceCode.FindStringSubmatch(message)
	inWords := m == nil && (strings.Contains(lower, "cuda error") || strings.HasPrefix(lower, checked))
	if m == nil && !inWords {
		return ""
	}
	for _, e := range deviceErrors {
		if m != nil && (m[1] == e.name || m[2] == strconv.Itoa(e.number)) || inWords && strings.Contains(lower, strings.ToLower(e.text)) {
			return "RuntimeError: CUDA error: " + e.text
		}
	}
	return ""
}

// childEnd is how launchers, each in words of its own, print the number with which a process ended: below zero a signal
// (https://docs.python.org/3/library/subprocess.html#subprocess.Popen.returncode), from a shell 128 and the signal
// (https://www.gnu.org/software/bash/manual/html_node/Exit-Status.html).
var childEnd = regexp.MustCompile(`\b(?i:exit(?:s|ed)?|return(?:s|ed)?|crashed|terminated|died|failed)\b.{0,30}?\b(?i:code|status)\b[ =:(]{1,3}(-\d{1,2}|1[34]\d|322122\d{4})\b`)

// ofChildEnd and endedHow are what a line holds that it matches.
var (
	ofChildEnd = signature.NewGate(childEnd.String())
	endedHow   = signature.NewGate(`(?i:exit|return|crashed|terminated|died|failed)`)
)

// statuses are what Windows gives a process that crashed, with the signal that it would be: an access violation, an
// illegal instruction, an overflow of the stack, a failed check
// (https://learn.microsoft.com/en-us/openspecs/windows_protocols/ms-erref/596a1078-e883-4972-9bbc-49e60bebca55).
var statuses = map[int]int{0xC0000005: 11, 0xC000001D: 4, 0xC00000FD: 11, 0xC0000409: 6}

// crashes are signals that a process gets for what it did itself, by number
// (https://man7.org/linux/man-pages/man7/signal.7.html).
var crashes = []int{4, 6, 7, 8, 11}

// byChildEnd asks about the end of a process that a launcher reports in words that no signature knows, in those of
// torchrun.
func (r *logReader) byChildEnd(text string) []signature.Match {
	return r.bySignal(text, crashes)
}

// kills are signals that a process gets from others. Launchers end those that are left so; it counts where nothing else
// is known.
var kills = []int{9, 15}

// terminate is the signal by which a process is asked to end, and toldToStop the signature of that.
const (
	terminate  = 15
	toldToStop = "signal-received"
)

// byKill asks about the end of a process by such a signal.
func (r *logReader) byKill(text string) []signature.Match { return r.bySignal(text, kills) }

// signalOf is the signal by which a launcher says that a process ended; 0: it does not say one.
func (r *logReader) signalOf(text string) int {
	if !r.options.uses(readsCodes) {
		return 0
	}
	if !r.view.MayMatch(ofChildEnd, text) || !r.view.MayMatch(endedHow, text) { // most lines that are asked are of something else
		return 0
	}
	m := childEnd.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return 0
	}
	if signal, known := statuses[n]; known {
		n = -signal
	}
	if n = -n; n < 0 {
		n = -n - 128
	}
	return n
}

func (r *logReader) bySignal(text string, signals []int) []signature.Match {
	n := r.signalOf(text)
	if !slices.Contains(signals, n) {
		return nil
	}
	found := slices.DeleteFunc(r.catalog.Match("failed (exitcode: -"+strconv.Itoa(n)+") local_rank: 0", r.kinds()...), func(m signature.Match) bool {
		return m.Signature.Role != signature.Root
	})
	for i := range found {
		found[i].Start, found[i].Facts = 0, nil // they are of the other words
	}
	return found
}

// inOtherWords asks the signatures about a message that none of them knows, in the words that they know it in.
func (r *logReader) inOtherWords(message string) []signature.Match {
	if !r.options.uses(readsCodes) {
		return nil
	}
	text := deviceError(message)
	if text == "" {
		n, f := failureOf(message)
		if n == 0 {
			return nil
		}
		text = f.exception + ": [Errno " + strconv.Itoa(n) + "] " + f.text
	}
	return slices.DeleteFunc(r.catalog.Match(text, r.kinds()...), func(m signature.Match) bool {
		return !explainsMore(m) || m.Signature.LastResort
	})
}
