package reduce

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// prefixes are what launchers and runtimes put before a line, most specific first. A
// group named rank holds the rank; lane says that the text tells processes apart.
var prefixes = []struct {
	re   *regexp.Regexp
	lane bool
	gate func(string) bool
}{
	// kubectl logs --timestamps, CRI files: "2025-01-02T03:04:05.678901234Z stderr F "
	{regexp.MustCompile(`^(?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)) (?:std(?:out|err) [FP] )?`), false, startsWithDigit},
	// kubectl logs --prefix: "[pod/train-worker-3/pytorch] "
	{regexp.MustCompile(`^\[pod/[^\]/]+/[^\]]+\] `), true, startsWithBracket},
	// PyTorch since 2.1: "[rank3]:"
	// … also where somebody quotes or indents the log
	{regexp.MustCompile(`^(?:[ \t>#]|//){0,12}\[rank(?P<rank>\d+)\]: ?`), true, func(s string) bool { return strings.Contains(s[:min(len(s), 18)], "[rank") }},
	// torchrun --tee: "[default0]:" (role and local rank)
	{regexp.MustCompile(`^\[[A-Za-z]\w*?\d+\]: ?`), true, startsWithBracket},
	// Open MPI --tag-output: "[1,0]<stderr>:"
	{regexp.MustCompile(`^\[\d+,(?P<rank>\d+)\]<std(?:out|err|diag)>: ?`), true, startsWithBracket},
	// Ray: "(WorkerDict pid=3490084, ip=10.0.0.1) "
	{regexp.MustCompile(`^\([^()]{1,60}pid=\d+(?:, ip=[^)]*)?\) `), true, func(s string) bool { return s[0] == '(' }},
	// srun --label: " 3: "
	{regexp.MustCompile(`^ {0,4}(?P<rank>\d{1,5}): `), true, func(s string) bool { return s[0] == ' ' || startsWithDigit(s) }},
}

func startsWithDigit(s string) bool   { return '0' <= s[0] && s[0] <= '9' }
func startsWithBracket(s string) bool { return s[0] == '[' }

// readPrefixes finds where the message starts and who wrote it. At most four prefixes are
// read: nothing in the field stacks more.
func (l *Line) readPrefixes() {
	for range 4 {
		rest := l.Text[l.body:]
		if rest == "" || !l.readPrefix(rest) {
			return
		}
	}
}

func (l *Line) readPrefix(rest string) bool {
	for _, p := range prefixes {
		if !p.gate(rest) {
			continue
		}
		m := p.re.FindStringSubmatchIndex(rest)
		if m == nil {
			continue
		}
		for i, name := range p.re.SubexpNames() {
			if name == "" || m[2*i] < 0 {
				continue
			}
			value := rest[m[2*i]:m[2*i+1]]
			switch name {
			case "rank":
				if n, err := strconv.Atoi(value); err == nil {
					l.Rank = n
				}
			case "at":
				if t, err := time.Parse(time.RFC3339Nano, strings.Replace(value, ",", ".", 1)); err == nil {
					l.At = t
				}
			}
		}
		if p.lane {
			l.Lane += rest[:m[1]]
		}
		l.body += m[1]
		return true
	}
	return false
}

// clock reads the time stamps that programs write themselves. A line without a stamp has
// the time of the nearest line before it, as far back as farBack lines. Heads of lines are
// remembered and read only when somebody asks: reading every stamp of a log costs more than
// everything else together.
type clock struct {
	year   int
	recent [farBack]string
	at     int
	last   time.Time // the newest stamp read so far, or set by a prefix
}

// farBack is how many lines may lie between a line and its time: a traceback, seldom more.
const farBack = 24

var stamps = []struct {
	re     *regexp.Regexp
	layout string
	year   bool // the layout has none
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)`), time.RFC3339Nano, false},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?`), "2006-01-02 15:04:05", false},
	// glog and klog: "E0825 17:31:27.240000", with the month cut to one digit by some printf: "E224 00:09:00"
	{regexp.MustCompile(`\b[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{1,9}`), "0102 15:04:05", true},
	{regexp.MustCompile(`^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d`), "Jan _2 15:04:05", true},
}

// earlyEnough is how far into a line a stamp may start; further in, it is part of a message.
const earlyEnough = 48

// TimeIn is the time that a program wrote near the beginning of a line; year is that of
// stamps without one, 0 where it is not known.
func TimeIn(text string, year int) (time.Time, bool) {
	c := clock{year: year}
	return c.read(text[:min(len(text), earlyEnough+40)])
}

// note remembers a line.
func (c *clock) note(l *Line) {
	if !l.At.IsZero() {
		c.last = l.At
	}
	c.recent[c.at%farBack] = l.Text[:min(len(l.Text), earlyEnough+40)]
	c.at++
}

// stamp gives the line noted last its time.
func (c *clock) stamp(l *Line) {
	if !l.At.IsZero() {
		return
	}
	for back := 1; back <= min(farBack, c.at); back++ {
		if t, ok := c.read(c.recent[(c.at-back)%farBack]); ok {
			l.At, c.last = t, t
			return
		}
	}
	l.At = c.last
}

func (c *clock) read(head string) (time.Time, bool) {
	if !strings.Contains(head, ":") || !strings.ContainsAny(head, "0123456789") {
		return time.Time{}, false
	}
	for _, s := range stamps {
		m := s.re.FindStringIndex(head)
		if m == nil || m[0] > earlyEnough || (s.year && c.year == 0) {
			continue
		}
		value := strings.Replace(strings.Replace(head[m[0]:m[1]], ",", ".", 1), "T", " ", 1)
		switch s.layout {
		case time.RFC3339Nano:
			value = head[m[0]:m[1]]
		case "0102 15:04:05":
			value = value[1:]
		}
		t, err := time.Parse(s.layout, value)
		if err != nil {
			continue
		}
		if s.year {
			t = t.AddDate(c.year-t.Year(), 0, 0)
		}
		return t, true
	}
	return time.Time{}, false
}
