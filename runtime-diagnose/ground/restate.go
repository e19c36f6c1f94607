package ground

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// What evidence says in one form explanations say in another: an exit code by its signal, 2000 as 2,000, two times by
// what lies between them. Each is worked out from the evidence, and none is a guess.

var (
	signalled = lazy.MustCompile(`(?i)\bexit(?:ed|s)?[ _-]?(?:with )?(?:code|status)?[ :=]{0,3}(1[2-5]\d)\b`)         // 128 and the signal: POSIX sh
	xidOf     = lazy.MustCompile(`\bXid \(PCI:[0-9a-fA-F:.]+\):? (\d+)`)                                              // NVIDIA's kernel driver
	numbered  = lazy.MustCompile(`(?i)(?:^|[\s/])(step|epoch|iter|iteration|checkpoint|shard|rank|layer)[-_](\d+)\b`) // step-2000
	field     = lazy.MustCompile(`"([A-Za-z_]\w*)": ?(-?\d+(?:\.\d+)?)\b`)                                            // of a log that is JSON
	bracketed = lazy.MustCompile(`\[([0-9a-fA-F.:]+)\]:(\d+)`)                                                        // Gloo's [10.0.0.2]:35227
	interval  = lazy.MustCompile(`[\[(](-?\d+(?:\.\d+)?), ?(-?\d+(?:\.\d+)?)[\])]`)
	frameAt   = lazy.MustCompile(`\bFile "([^"]+)", line (\d+)\b`)         // of a Python traceback
	ofCUDA    = lazy.MustCompile(`\bversion (1\d)0(\d)0\b`)                // 12040 is CUDA 12.4: https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART____VERSION.html
	hosts     = lazy.MustCompile(`\b([a-z][\w-]*)\[(\d{1,6})-(\d{1,6})\]`) // Slurm's nid[0040-0043]: https://slurm.schedmd.com/scontrol.html#OPT_hostnames
	finished  = lazy.MustCompile(`(?i)[a-z] (?:has |was )?(?:finished|completed)\W*$`)
	grouped   = lazy.MustCompile(`\b\d{1,3}(?:,\d{3})+\b`)
)

// decimals is a number with some digits behind the point.
var decimals = lazy.MustCompile(`\d+\.(\d+)`)

// unshortened writes the number of the evidence for one that a claim has with fewer digits behind the point.
func unshortened(claim, support string) string {
	claim = ofName.ReplaceAllStringFunc(claim, func(m string) string { return strings.ReplaceAll(m, ".", point) })
	claim = dotted.ReplaceAllStringFunc(claim, func(m string) string { return strings.ReplaceAll(m, ".", point) })
	claim = decimals.ReplaceAllStringFunc(claim, func(n string) string {
		if holds(support, n) {
			return n
		}
		digits := len(n) - strings.IndexByte(n, '.') - 1
		for _, of := range decimals.FindAllString(support, -1) {
			if len(of) > len(n) && strconv.FormatFloat(value(of), 'f', digits, 64) == n {
				return of
			}
		}
		return n
	})
	return strings.ReplaceAll(claim, point, ".")
}

// ofName is a name with a number: Llama-3.1 is not 3.12.
var ofName = lazy.MustCompile(`[A-Za-z_][\w/-]*-\d+(?:\.\d+)+`)

// dotted is an address or a version of three numbers or more.
var dotted = lazy.MustCompile(`\d+(?:\.\d+){2,}`)

// point stands for one in a name meanwhile.
const point = "\x00"

// restated is what a piece of evidence says in other forms.
func restated(text string) string {
	var b strings.Builder
	for _, m := range signalled.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(m[1])
		if name := signals[n-128]; name != "" {
			fmt.Fprintf(&b, "signal %d %s\n", n-128, name)
		}
	}
	if m := gluedTo.FindStringSubmatch(text); m != nil {
		b.WriteString(m[1] + "\n")
	}
	for _, m := range numberedError.FindAllStringSubmatch(text, -1) {
		if name := errorNames[m[1]]; name != "" {
			b.WriteString(name + "\n")
		}
	}
	low := strings.ToLower(text)
	for _, e := range systemErrors {
		if strings.Contains(low, e.message) {
			b.WriteString(e.name + " errno " + e.number + "\n")
		}
	}
	for _, m := range xidOf.FindAllStringSubmatch(text, -1) {
		b.WriteString("Xid " + m[1] + "\n")
	}
	for _, m := range hosts.FindAllStringSubmatch(text, -1) {
		from, _ := strconv.Atoi(m[2])
		to, _ := strconv.Atoi(m[3])
		for n := from; n <= to && n-from < mostListed; n++ {
			fmt.Fprintf(&b, "%s%0*d\n", m[1], len(m[2]), n)
		}
	}
	for _, m := range ofCUDA.FindAllStringSubmatch(text, -1) {
		fmt.Fprintf(&b, "CUDA %s.%s\n", m[1], m[2])
	}
	for _, m := range numbered.FindAllStringSubmatch(text, -1) {
		b.WriteString(m[1] + " " + m[2] + "\n")
	}
	for _, m := range field.FindAllStringSubmatch(text, -1) {
		b.WriteString(m[1] + " " + m[2] + "\n")
	}
	for _, m := range bracketed.FindAllStringSubmatch(text, -1) {
		b.WriteString(m[1] + ":" + m[2] + "\n")
	}
	for _, m := range interval.FindAllStringSubmatch(text, -1) {
		b.WriteString(m[1] + " to " + m[2] + "\n")
	}
	for _, m := range frameAt.FindAllStringSubmatch(text, -1) {
		b.WriteString(path.Base(m[1]) + ":" + m[2] + "\n")
	}
	if finished.MatchString(text) {
		b.WriteString("finished completed\n")
	}
	return b.String() + elided(text)
}

// ellipsis is a number behind one whose noun it shares: "wants 118 columns and got 117".
var ellipsis = lazy.MustCompile(`\b\d+ ([a-z]{3,})(?:,? (?:and|but)(?: only)?|(?: in [a-z]+ \d+)?,) (?:saw|got|found|was|were|received|has|had|have|[a-z]+) (\d+)(?:[.,;)]|\s*$|\n)`)

// elided are such numbers with their noun.
func elided(text string) string {
	var b strings.Builder
	for _, m := range ellipsis.FindAllStringSubmatch(text, -1) {
		b.WriteString(m[2] + " " + m[1] + "\n")
	}
	return b.String()
}

// gluedTo is the first word of a message behind level and logger, as Python's logging writes them: WARNING:torch.distributed:Sending process 16.
// https://docs.python.org/3/library/logging.html#logging.basicConfig
var gluedTo = lazy.MustCompile(`\b(?:DEBUG|INFO|WARNING|ERROR|CRITICAL):[\w.]+:([A-Za-z]+)\b`)

// numberedError is an error of the operating system by its number.
var numberedError = lazy.MustCompile(`(?i)\berrno:? ?(\d+)\b`)

// systemErrors are those of Linux that logs of jobs have, whatever system a diagnosis is made on, in small letters.
// https://github.com/torvalds/linux/blob/v6.12/include/uapi/asm-generic/errno-base.h and errno.h beside it;
// https://github.com/golang/go/blob/go1.24.0/src/syscall/zerrors_linux_amd64.go has the messages.
var systemErrors = []struct{ number, name, message string }{
	{"1", "EPERM", "operation not permitted"},
	{"2", "ENOENT", "no such file or directory"},
	{"5", "EIO", "input/output error"},
	{"11", "EAGAIN", "resource temporarily unavailable"},
	{"12", "ENOMEM", "cannot allocate memory"},
	{"13", "EACCES", "permission denied"},
	{"17", "EEXIST", "file exists"},
	{"20", "ENOTDIR", "not a directory"},
	{"21", "EISDIR", "is a directory"},
	{"22", "EINVAL", "invalid argument"},
	{"24", "EMFILE", "too many open files"},
	{"28", "ENOSPC", "no space left on device"},
	{"30", "EROFS", "read-only file system"},
	{"32", "EPIPE", "broken pipe"},
	{"98", "EADDRINUSE", "address already in use"},
	{"99", "EADDRNOTAVAIL", "cannot assign requested address"},
	{"101", "ENETUNREACH", "network is unreachable"},
	{"104", "ECONNRESET", "connection reset by peer"},
	{"110", "ETIMEDOUT", "connection timed out"},
	{"111", "ECONNREFUSED", "connection refused"},
	{"113", "EHOSTUNREACH", "no route to host"},
	{"116", "ESTALE", "stale file handle"},
	{"122", "EDQUOT", "disk quota exceeded"},
}

// withoutSystemErrors is a text in small letters without their messages: the "or" of "no such file or directory" leaves nothing open.
func withoutSystemErrors(low string) string {
	for _, e := range systemErrors {
		low = strings.ReplaceAll(low, e.message, e.name)
	}
	return low
}

// errorNames are their names by number.
var errorNames = func() map[string]string {
	out := make(map[string]string, len(systemErrors))
	for _, e := range systemErrors {
		out[e.number] = e.name
	}
	return out
}()

// signals are those of Linux that end processes of jobs: https://man7.org/linux/man-pages/man7/signal.7.html
var signals = map[int]string{
	1: "SIGHUP", 2: "SIGINT", 4: "SIGILL", 6: "SIGABRT abort", 7: "SIGBUS bus error", 8: "SIGFPE", 9: "SIGKILL kill", 11: "SIGSEGV segmentation fault", 15: "SIGTERM terminate",
}

// calculated is a calculation with its result on either side: 8 × 6 = 48, 143 is 128 + 15.
var (
	calculated = lazy.MustCompile(`\b(\d{1,9})\s*([+×x*-]|times)\s*(\d{1,9})\s*=\s*(\d{1,9})\b|\b(\d{1,9})\s*(?:=|is|are)\s*(\d{1,9})\s*([+×x*-]|times)\s*(\d{1,9})\b`)
	// severalTerms is a calculation with more than two numbers, and firstOf are the first two of them.
	severalTerms = lazy.MustCompile(`\b\d{1,9}(?:\s*[+×x*]\s*\d{1,9}){2,8}\s*=\s*\d`)
	firstOf      = lazy.MustCompile(`^(\d{1,9})\s*([+×x*])\s*(\d{1,9})(\s*[+×x*]\s*\d)`)
)

// withoutCommas writes 2,000 as 2000.
func withoutCommas(text string) string {
	return grouped.ReplaceAllStringFunc(text, func(n string) string { return strings.ReplaceAll(n, ",", "") })
}

// inPairs writes a calculation with more than two numbers as one with two.
func inPairs(claim string) string {
	return severalTerms.ReplaceAllStringFunc(claim, func(terms string) string {
		for m := firstOf.FindStringSubmatch(terms); m != nil && strings.HasPrefix(strings.TrimSpace(m[4]), m[2]); m = firstOf.FindStringSubmatch(terms) {
			of := value(m[1]) * value(m[3])
			if m[2] == "+" {
				of = value(m[1]) + value(m[3])
			}
			terms = strconv.FormatFloat(of, 'f', -1, 64) + m[4] + terms[len(m[0]):]
		}
		return terms
	})
}

// adds says whether a calculation is right, and its result.
func adds(of []string) (sum string, right bool) {
	a, by, b, sum := of[1], of[2], of[3], of[4]
	if a == "" {
		sum, a, by, b = of[5], of[6], of[7], of[8]
	}
	x, y := value(a), value(b)
	switch by {
	case "+":
		return sum, x+y == value(sum)
	case "-":
		return sum, x-y == value(sum)
	}
	return sum, x*y == value(sum)
}

// uncalculated is a claim without the calculations whose result its evidence has.
func uncalculated(claim, support string) string {
	return calculated.ReplaceAllStringFunc(claim, func(m string) string {
		if sum, right := adds(calculated.FindStringSubmatch(m)); right && holds(support, sum) {
			return sum
		}
		return m
	})
}

// ofWords is a name of several words: its number is no part of a calculation.
var ofWords = lazy.MustCompile(`\b[A-Za-z]\w*(?:-\w+)+`)

// miscalculated says whether a claim holds a calculation that is wrong, whatever it is about.
func miscalculated(claim string) bool {
	claim = inPairs(withoutCommas(ofWords.ReplaceAllString(claim, " ")))
	return slices.ContainsFunc(calculated.FindAllStringSubmatch(claim, -1), func(of []string) bool {
		_, right := adds(of)
		return !right
	})
}

// ungrouped writes 2,000 of a claim as 2000 where its evidence does.
func ungrouped(claim, support string) string {
	return grouped.ReplaceAllStringFunc(claim, func(n string) string {
		if strings.Contains(support, n) {
			return n
		}
		return strings.ReplaceAll(n, ",", "")
	})
}

// members of a claim's evidence are counted where there are several: "all three ranks".
func (g *grounds) countedMembers(cites []evidence.ID) string {
	var pods []string
	for _, id := range cites {
		if pod := g.items[id].Source.Pod; pod != "" && !slices.Contains(pods, pod) {
			pods = append(pods, pod)
		}
	}
	if len(pods) < 2 {
		return ""
	}
	return fmt.Sprintf("%d pods\n", len(pods))
}

// between says whether two of the cited pieces of evidence lie so much time apart, as people round it: a number to its last digit. The
// first lines of the cause are what a claim counts from without citing them, and others may be.
func (g *grounds) between(cites []evidence.ID, n, unit string, since ...evidence.ID) bool {
	if !clock[unit] {
		return false
	}
	others := slices.Concat(cites, g.Root[:min(mostRoots, len(g.Root))], since)
	return slices.ContainsFunc(cites, func(id evidence.ID) bool {
		return slices.ContainsFunc(others, func(o evidence.ID) bool {
			a, b := g.items[id].Told(), g.items[o].Told()
			return !a.IsZero() && !b.IsZero() && lies(a.Sub(b), n, unit)
		})
	})
}

// lies says whether a time is so long, as people round it.
func lies(took time.Duration, n, unit string) bool {
	seconds, digit := value(n)*units[unit], 0.6*min(1, units[unit])
	if strings.Contains(n, ".") {
		digit /= 10
	}
	d := math.Abs(took.Seconds())
	return math.Abs(d-seconds) <= max(digit, d/10)
}

// mostRoots is how many lines of the cause a time is counted from.
const mostRoots = 4

// stamped takes the time from the beginning of a line: it is when the line was written, and no number of what it says.
func stamped(i evidence.Item) evidence.Item {
	stamp, rest, _ := strings.Cut(i.Text, " ")
	if at, err := time.Parse(time.RFC3339Nano, stamp); err == nil {
		if i.Text = rest; i.At.IsZero() {
			i.At = at
		}
	}
	return i
}

// clock are the units in which people tell how much later something was.
var clock = words("ms millisecond milliseconds 毫秒 s sec secs second seconds min mins minute minutes h hour hours 秒 分钟 小时")

// progressed is how far something came, which is no success, and enough to do harm.
var progressed = lazy.MustCompile(`(?i)\bcomplet(?:ed|ing) (?:[\w-]+ ){0,2}(?:of (?:the |its )?\d+ )?(?:epochs?|steps?|iterations?|rounds?)\b|\benough to (?:break|stop|fail|end|kill|block|cause)\b|完成(?:事件|队列)|完成了?\s*(?:第\s*)?\d+`)

// withoutProgress is a claim without how far something came: of all, where that was read.
func withoutProgress(body, support string) string {
	return progressed.ReplaceAllStringFunc(body, func(m string) string {
		if counted(m, support) {
			return " "
		}
		return m
	})
}
