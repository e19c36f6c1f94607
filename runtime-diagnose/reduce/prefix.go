package reduce

import (
	"strings"
	"time"
)

// readPrefixes finds where the message starts and what wrote it: what launchers and runtimes
// put before a line. At most four prefixes are read: nothing in the field stacks more.
func (l *Line) readPrefixes() {
	for n := range 4 {
		rest := l.Text[l.body:]
		if rest == "" {
			return
		}
		length, lane := l.readPrefix(rest)
		if length == 0 {
			return
		}
		if lane {
			l.Lane += rest[unstamped(rest):length]
		}
		if n == 0 && !l.At.IsZero() {
			l.collected = length
		}
		l.body += length
	}
}

// readPrefix reads one prefix and says whether it tells processes apart.
func (l *Line) readPrefix(s string) (length int, lane bool) {
	switch c := s[0]; {
	case isDigit(c):
		if n := l.readCollected(s); n > 0 {
			return n, false
		}
		return l.readLabel(s), false
	case c == '[':
		switch {
		case strings.HasPrefix(s, "[pod/"):
			return podPrefix(s), true
		case strings.HasPrefix(s, "[rank"):
			if n := l.readRank(s); n > 0 {
				return n, true
			}
			return processPrefix(s), true
		case len(s) > 1 && isDigit(s[1]):
			return l.readTag(s), true
		}
		return processPrefix(s), true
	case c == '(':
		return rayPrefix(s), true
	case c == 'M' || c == 'T' || c == 'W' || c == 'F' || c == 'S':
		if at := len(time.ANSIC); len(s) > at && s[at] == '[' {
			return l.readStampedTag(s), true
		}
	case c == ' ' || c == '\t' || c == '>' || c == '#' || c == '/':
		if n := l.readRank(s); n > 0 {
			return n, true
		}
		return l.readLabel(s), false
	}
	return 0, false
}

// readCollected reads the time of kubectl logs --timestamps and of CRI's files:
// "2025-01-02T03:04:05.678901234Z stderr F ".
func (l *Line) readCollected(s string) int {
	end := strings.IndexByte(s[:min(len(s), len("2006-01-02T15:04:05.999999999+00:00 "))], ' ')
	if end < len("2006-01-02T15:04:05Z") || s[10] != 'T' || !zoned(s[:end]) {
		return 0
	}
	at, ok := stampIn(s[:end], time.Time{})
	if !ok {
		return 0
	}
	l.At = at
	end++
	for _, stream := range []string{"stdout ", "stderr "} {
		if rest := s[end:]; strings.HasPrefix(rest, stream) && len(rest) > 8 && (rest[7] == 'F' || rest[7] == 'P') && rest[8] == ' ' {
			return end + 9
		}
	}
	return end
}

func zoned(stamp string) bool {
	return stamp[len(stamp)-1] == 'Z' || strings.LastIndexAny(stamp, "+-") > len("2006-01-02T")
}

// podPrefix is that of kubectl logs --prefix: "[pod/train-worker-3/pytorch] ".
func podPrefix(s string) int {
	end := strings.Index(s, "] ")
	if end < 0 || strings.Count(s[:end], "/") != 2 {
		return 0
	}
	return end + 2
}

// readRank reads PyTorch's "[rank3]: " (since 2.1), also where the log is quoted or indented.
func (l *Line) readRank(s string) int {
	at := 0
	for at < len(s) && at < 12 && strings.IndexByte(" \t>#/", s[at]) >= 0 {
		at++
	}
	if !strings.HasPrefix(s[at:], "[rank") {
		return 0
	}
	at += len("[rank")
	end := at
	for end < len(s) && isDigit(s[end]) {
		end++
	}
	if end == at || end-at > 9 || !strings.HasPrefix(s[end:], "]:") {
		return 0
	}
	l.Rank = number(s[at:end])
	return withSpace(s, end+2)
}

// processPrefix is that of torchrun --tee, role and local rank: "[default0]:".
func processPrefix(s string) int {
	end := strings.Index(s[:min(len(s), 64)], "]:")
	if end < 3 || !isWord(s[1]) || isDigit(s[1]) || s[1] == '_' || !isDigit(s[end-1]) {
		return 0
	}
	for i := 1; i < end; i++ {
		if !isWord(s[i]) {
			return 0
		}
	}
	return withSpace(s, end+2)
}

// readTag reads Open MPI's --tag-output, "[1,3]<stderr>:", and that of horovodrun over Gloo, "[3]<stderr>:"
// (https://github.com/horovod/horovod/blob/v0.28.1/horovod/runner/common/util/safe_shell_exec.py, forward_stream).
func (l *Line) readTag(s string) int {
	end := strings.Index(s[:min(len(s), 48)], "]<std")
	if end < 0 {
		return 0
	}
	if rest, ok := strings.CutPrefix(s, "[1,mpirank:"); ok { // SageMaker's: "[1,mpirank:0,algo-1]<stdout>:"
		rank, _, _ := strings.Cut(rest, ",")
		return l.readStream(s, end, number(rank))
	}
	comma := strings.IndexByte(s[:end], ',')
	if comma >= 0 && number(s[1:comma]) < 0 {
		return 0
	}
	comma = max(comma, 0)
	if end-comma > 10 || number(s[comma+1:end]) < 0 {
		return 0
	}
	return l.readStream(s, end, number(s[comma+1:end]))
}

// readStream reads the stream's name behind a tag, and notes the rank that the tag names.
func (l *Line) readStream(s string, end, rank int) int {
	if rank < 0 {
		return 0
	}
	for _, stream := range []string{"out>:", "err>:", "diag>:"} {
		if strings.HasPrefix(s[end+len("]<std"):], stream) {
			l.Rank = rank
			return withSpace(s, end+len("]<std")+len(stream))
		}
	}
	return 0
}

// readStampedTag reads the tag behind the time of Open MPI's --timestamp-output: "Mon Oct  8 17:00:17 2018[1,4]<stderr>:".
func (l *Line) readStampedTag(s string) int {
	at := len(time.ANSIC)
	t, err := time.Parse(time.ANSIC, s[:at])
	if err != nil {
		return 0
	}
	n := l.readTag(s[at:])
	if n == 0 {
		return 0
	}
	l.At = t
	return at + n
}

// unstamped is where the part of a prefix that tells processes apart begins: behind such a time.
func unstamped(prefix string) int {
	if at := len(time.ANSIC); 'A' <= prefix[0] && prefix[0] <= 'Z' {
		return at
	}
	return 0
}

// rayPrefix is "(WorkerDict pid=3490084, ip=10.0.0.1) ".
func rayPrefix(s string) int {
	end := strings.Index(s[:min(len(s), 160)], ") ")
	pid := strings.Index(s[:min(len(s), 80)], "pid=")
	if pid < 2 || end < pid+5 || pid > 61 || strings.ContainsAny(s[1:pid], "()") {
		return 0
	}
	digits := pid + 4
	for digits < end && isDigit(s[digits]) {
		digits++
	}
	if digits == pid+4 || digits < end && !strings.HasPrefix(s[digits:], ", ip=") {
		return 0
	}
	return end + 2
}

// readLabel reads srun's --label: " 3: ".
func (l *Line) readLabel(s string) int {
	at := 0
	for at < len(s) && at < 4 && s[at] == ' ' {
		at++
	}
	end := at
	for end < len(s) && isDigit(s[end]) {
		end++
	}
	if end == at || end-at > 5 || !strings.HasPrefix(s[end:], ": ") {
		return 0
	}
	l.Rank = number(s[at:end])
	return end + 2
}

func withSpace(s string, end int) int {
	if end < len(s) && s[end] == ' ' {
		return end + 1
	}
	return end
}

// clock reads the time stamps that programs write themselves. A line without a stamp has
// the time of the nearest line before it, as far back as farBack lines. Heads of lines are
// remembered and read only when it is asked for: reading every stamp of a log costs more than
// everything else together.
type clock struct {
	now     time.Time // by which the year of a stamp without one is told
	dated   bool      // a stamp with a year was read
	heads   int       // of the first lines, read for a year
	recent  [farBack]string
	without [farBack]bool // it was read, and has no time
	at      int
	last    time.Time // the newest stamp read so far, or set by a prefix
}

// farBack is how many lines may lie between a line and its time: a traceback, seldom more.
const farBack = 24

// note remembers a line.
func (c *clock) note(l *Line) {
	if !l.At.IsZero() {
		c.last = l.At
	}
	head := l.Text[:min(len(l.Text), earlyEnough+40)]
	c.without[c.at%farBack] = false
	if c.recent[c.at%farBack] = head; !c.dated && c.heads < firstHeads {
		c.heads++
		c.read(head)
	}
	c.at++
}

// stamp gives the line noted last its time.
func (c *clock) stamp(l *Line) {
	if !l.At.IsZero() {
		return
	}
	for back := 1; back <= min(farBack, c.at); back++ {
		at := (c.at - back) % farBack
		if c.without[at] {
			continue
		}
		if t, ok := c.read(c.recent[at]); ok {
			l.At, l.Carried, c.last = t, back > 1, t
			return
		}
		c.without[at] = true
	}
	l.At, l.Carried = c.last, !c.last.IsZero()
}

// firstHeads is how many lines of the beginning of a text are looked at for a year.
const firstHeads = 64

// read reads a stamp. One with a year dates those without that are near it: they are of the year in which they
// are within half a year of it, whatever year it is now.
func (c *clock) read(head string) (time.Time, bool) {
	if t, ok := stampIn(head, time.Time{}); ok {
		now := t.AddDate(0, 6, 0).Add(-ahead)
		if now.Year() != c.now.Year() {
			clear(c.without[:]) // stamps without a year may have one now
		}
		c.dated, c.now = true, now
		return t, true
	}
	return stampIn(head, c.now)
}
