package reduce

import (
	"strings"
	"time"
)

// earlyEnough is how far into a line a stamp may start; further in, it is part of a message.
const earlyEnough = 48

// TimeIn is the time that a program wrote near the beginning of a line. Stamps without a year are
// of the last year in which they are not after now; where now is not known, they are unknown.
func TimeIn(text string, now time.Time) (time.Time, bool) {
	return stampIn(text[:min(len(text), earlyEnough+40)], now)
}

// stampIn finds the time that a program wrote near the beginning of a line: a time of day
// with a date before it, as programs and the tools below write it. Every log passes here
// line by line, so it is read by hand: regular expressions take twenty times as long.
//
//	2026-03-01T12:00:01.25Z   2026-03-01 12:00:01,250   logging, RFC 3339, Rust, Java, dmesg --time-format iso
//	2026/03/01 12:00:01       03/01/2026 12:00:01       Go's log, Transformers
//	20260301 12:00:01         2026.03.01 12:00:01       01.03.2026 12:00:01
//	26/03/01 12:00:01         01/Mar/2026:12:00:01      Spark and Hadoop, web servers
//	I0301 12:00:01.250000     [E1106 12:00:01.250       klog, glog, c10d; [E301: c10d, which leaves the zero out
//	Mar  1 12:00:01           03-01 12:00:01            syslog, vLLM
//	Sun Mar  1 12:00:01 2026  Sun Mar  1 12:00:01 UTC 2026   ctime, dmesg -T, date
//	I0000 00:00:1700000000.25 "ts":1700000000.25        absl in TensorFlow and JAX, zap; seconds since 1970
//	"time_ms": 1700000000250                            MLPerf
//	1700000000.25   1700000000250   [1700000000]        time.time(), at the very beginning only
//
// Of dmesg without -T, whose stamps count from the boot, nothing can be known. That c10d writes
// month × 100 + day shows in threads that have both clocks:
// https://github.com/xorbitsai/inference/issues/4926 ([W520 of 2026-05-20),
// https://github.com/pytorch/pytorch/blob/main/c10/util/Logging.cpp.
func stampIn(head string, now time.Time) (time.Time, bool) {
	for i := 0; i+8 <= len(head) && i <= earlyEnough+len("2006-01-02 "); i++ {
		next := strings.IndexByte(head[i+2:], ':')
		if i += next; next < 0 || i+8 > len(head) || i > earlyEnough+len("2006-01-02 ") {
			break
		}
		if t, ok := absl(head[i:]); ok && i > 0 && head[i-1] == ' ' {
			return t, true
		}
		clock, ok := timeOfDay(head[i:])
		if !ok || i > 0 && isDigit(head[i-1]) {
			continue
		}
		if t, ok := clock.on(head[:i], head[i+clock.length:], now); ok {
			return t, true
		}
	}
	if t, ok := leadingEpoch(head); ok {
		return t, true
	}
	return sinceEpoch(head)
}

// leadingEpoch reads "1700000000.25 ", "1700000000250 " and "[1700000000]" at the beginning of a line: what
// Python's time.time() gives, and scripts write. Ten digits alone may be any number.
func leadingEpoch(head string) (time.Time, bool) {
	head, bracket := strings.CutPrefix(head, "[")
	digits := 0
	for digits < len(head) && isDigit(head[digits]) {
		digits++
	}
	if digits < 10 || head[0] != '1' || digits == len(head) {
		return time.Time{}, false
	}
	switch next := head[digits]; {
	case digits == 10 && next == '.' && digits+1 < len(head) && isDigit(head[digits+1]):
	case (digits == 13 || digits == 16 || digits == 19) && (next == ' ' || next == '\t' || next == ':' || next == ']'):
	case digits == 10 && bracket && next == ']':
	default:
		return time.Time{}, false
	}
	return epoch(head)
}

// absl reads "00:00:1700000000.25", which absl writes before it knows the zone.
func absl(s string) (time.Time, bool) {
	rest, ok := strings.CutPrefix(s, "00:00:")
	if !ok {
		return time.Time{}, false
	}
	return epoch(rest)
}

// sinceEpoch reads the number behind the keys of structured logs that hold one.
func sinceEpoch(head string) (time.Time, bool) {
	if !strings.Contains(head, `":`) {
		return time.Time{}, false
	}
	for _, key := range []string{`"ts":`, `"time_ms":`, `"timestamp":`, `"time":`} {
		if _, rest, ok := strings.Cut(head, key); ok {
			if t, ok := epoch(strings.TrimPrefix(rest, " ")); ok {
				return t, true
			}
		}
	}
	return time.Time{}, false
}

// epoch reads seconds (10 digits and a fraction), milli-, micro- or nanoseconds since 1970.
func epoch(s string) (time.Time, bool) {
	n, digits := int64(0), 0
	for digits < len(s) && digits < 20 && isDigit(s[digits]) {
		n, digits = n*10+int64(s[digits]-'0'), digits+1
	}
	switch digits {
	case 10:
		t := time.Unix(n, 0)
		for scale, i := time.Second, digits+1; i < len(s) && s[digits] == '.' && isDigit(s[i]) && scale >= 10; i++ {
			scale /= 10
			t = t.Add(scale * time.Duration(s[i]-'0'))
		}
		return t.UTC(), true
	case 13:
		return time.UnixMilli(n).UTC(), true
	case 16:
		return time.UnixMicro(n).UTC(), true
	case 19:
		return time.Unix(0, n).UTC(), n > 0
	default:
		return time.Time{}, false
	}
}

// dayTime is a time of day as written, and how many bytes it takes.
type dayTime struct {
	hour, minute, second, nano, length int
}

// timeOfDay reads "12:00:01" and a fraction behind a point or comma.
func timeOfDay(s string) (dayTime, bool) {
	if len(s) < 8 || s[2] != ':' || s[5] != ':' {
		return dayTime{}, false
	}
	d := dayTime{hour: number(s[0:2]), minute: number(s[3:5]), second: number(s[6:8]), length: 8}
	if d.hour < 0 || d.hour > 23 || d.minute < 0 || d.minute > 59 || d.second < 0 || d.second > 60 || len(s) > 8 && isDigit(s[8]) {
		return dayTime{}, false
	}
	if len(s) < 10 || s[8] != '.' && s[8] != ',' || !isDigit(s[9]) {
		return d, true
	}
	scale := int(time.Second)
	for d.length = 9; d.length < len(s) && isDigit(s[d.length]); d.length++ {
		if scale /= 10; scale > 0 {
			d.nano += int(s[d.length]-'0') * scale
		}
	}
	return d, true
}

// on reads the date that ends before the time, or the year that follows it.
func (d dayTime) on(before, after string, now time.Time) (time.Time, bool) {
	if before == "" {
		return time.Time{}, false
	}
	sep := before[len(before)-1]
	if sep != ' ' && sep != 'T' && sep != '_' && sep != '-' && sep != ':' {
		return time.Time{}, false
	}
	before = before[:len(before)-1]
	if y, m, day, ok := fullDate(before); ok && sep != ':' {
		return d.at(y, m, day, zoneOf(after))
	}
	if y, m, day, ok := namedDate(before); ok {
		return d.at(y, m, day, zoneOf(after))
	}
	if sep != ' ' {
		return time.Time{}, false
	}
	m, day, written := monthAndDay(before)
	if !written {
		return time.Time{}, false
	}
	if year := yearBehind(after); year > 0 {
		return d.at(year, m, day, time.UTC)
	}
	return d.lately(m, day, now)
}

// yearBehind is the year of " 2026" and " UTC 2026"; 0 if there is none.
func yearBehind(s string) int {
	if len(s) > 0 && s[0] == ' ' {
		letters := 1
		for letters < len(s) && letters < 6 && 'A' <= s[letters] && s[letters] <= 'Z' {
			letters++
		}
		if letters > 3 {
			s = s[letters:]
		}
	}
	if len(s) < 5 || s[0] != ' ' || len(s) > 5 && isDigit(s[5]) || number(s[1:5]) < 1971 {
		return 0
	}
	return number(s[1:5])
}

// ahead is how far a stamp may be after now: clocks differ, and programs write local times.
const ahead = 24 * time.Hour

// lately is the last time it was that day of the year. A leap day is at most eight years back.
func (d dayTime) lately(month, day int, now time.Time) (time.Time, bool) {
	if now.IsZero() {
		return time.Time{}, false
	}
	for year := now.Year() + 1; year >= now.Year()-8; year-- {
		if t, ok := d.at(year, month, day, time.UTC); ok && !t.After(now.Add(ahead)) {
			return t, true
		}
	}
	return time.Time{}, false
}

func (d dayTime) at(year, month, day int, zone *time.Location) (time.Time, bool) {
	if year < 1970 || month < 1 || month > 12 || day < 1 || day > 31 {
		return time.Time{}, false
	}
	t := time.Date(year, time.Month(month), day, d.hour, d.minute, d.second, d.nano, zone)
	return t, t.Day() == day || d.second == 60
}

// fullDate reads a date with a year at the end of a text: 2026-03-01, 2026/03/01, 2026.03.01,
// 03/01/2026, 01.03.2026, 20260301, 26/03/01.
func fullDate(s string) (year, month, day int, ok bool) {
	const length, short = len("2006-01-02"), len("20060102")
	if len(s) >= length && (len(s) == length || !isDigit(s[len(s)-length-1])) {
		long := s[len(s)-length:]
		switch sep := long[4]; {
		case (sep == '-' || sep == '/' || sep == '.') && long[7] == sep:
			year, month, day = number(long[0:4]), number(long[5:7]), number(long[8:10])
		case long[2] == '/' && long[5] == '/': // month first, as Transformers writes it
			year, month, day = number(long[6:10]), number(long[0:2]), number(long[3:5])
		case long[2] == '.' && long[5] == '.':
			year, month, day = number(long[6:10]), number(long[3:5]), number(long[0:2])
		}
		if year > 0 && month > 0 && day > 0 {
			return year, month, day, true
		}
	}
	if len(s) < short || len(s) > short && isDigit(s[len(s)-short-1]) {
		return 0, 0, 0, false
	}
	s = s[len(s)-short:]
	if s[2] == '/' && s[5] == '/' { // Spark and Hadoop: the year first; before 2013 it might be a month
		year, month, day = number(s[0:2]), number(s[3:5]), number(s[6:8])
		return 2000 + year, month, day, year > 12 && month > 0 && day > 0
	}
	year, month, day = number(s[0:4]), number(s[4:6]), number(s[6:8])
	return year, month, day, year >= 1970 && year < 2100 && month > 0 && day > 0
}

// namedDate reads 01/Mar/2026 and 01-Mar-2026 at the end of a text.
func namedDate(s string) (year, month, day int, ok bool) {
	const length = len("01/Mar/2026")
	if len(s) < length {
		return 0, 0, 0, false
	}
	s = s[len(s)-length:]
	if s[2] != s[6] || s[2] != '/' && s[2] != '-' {
		return 0, 0, 0, false
	}
	year, month, day = number(s[7:]), monthNamed(s[3:6]), number(s[0:2])
	return year, month, day, year > 0 && month > 0 && day > 0
}

// monthAndDay reads a date without a year at the end of a text.
func monthAndDay(s string) (month, day int, ok bool) {
	if len(s) >= 5 && s[len(s)-3] == '-' && (len(s) == 5 || !isDigit(s[len(s)-6]) && s[len(s)-6] != '-') { // 03-01
		month, day = number(s[len(s)-5:len(s)-3]), number(s[len(s)-2:])
		return month, day, month > 0 && day > 0
	}
	if len(s) >= 6 && s[len(s)-3] == ' ' { // Mar  1, Mar 15
		return monthNamed(s[len(s)-6 : len(s)-3]), number(trimSpace(s[len(s)-2:])), monthNamed(s[len(s)-6:len(s)-3]) > 0
	}
	digits := 0
	for digits < len(s) && digits < 5 && isDigit(s[len(s)-1-digits]) {
		digits++
	}
	at := len(s) - digits
	if at == 0 || !isLevel(s[at-1]) || at > 1 && isWord(s[at-2]) {
		return 0, 0, false
	}
	// With the zero left out there are three digits: [E301. Without the bracket that is any number.
	if digits != 4 && (digits != 3 || at < 2 || s[at-2] != '[') {
		return 0, 0, false
	}
	return number(s[at : len(s)-2]), number(s[len(s)-2:]), true
}

// zoneOf reads Z, +02:00, +0200 or, behind a space, +0200; UTC where there is none.
func zoneOf(s string) *time.Location {
	if len(s) >= 6 && s[0] == ' ' && number(s[2:6]) >= 0 && (len(s) == 6 || !isWord(s[6]) && s[6] != '.') {
		s = s[1:]
	}
	if len(s) < 5 || s[0] != '+' && s[0] != '-' {
		return time.UTC
	}
	minutes := s[3:]
	if s[3] == ':' {
		minutes = s[4:]
	}
	if len(minutes) < 2 {
		return time.UTC
	}
	h, m := number(s[1:3]), number(minutes[:2])
	if h < 0 || h > 14 || m < 0 || m > 59 {
		return time.UTC
	}
	seconds := h*3600 + m*60
	if s[0] == '-' {
		seconds = -seconds
	}
	return time.FixedZone("", seconds)
}

func monthNamed(s string) int {
	const names = "JanFebMarAprMayJunJulAugSepOctNovDec"
	for m := range 12 {
		if names[3*m:3*m+3] == s {
			return m + 1
		}
	}
	return 0
}

// number is the value of a text of digits, -1 if it is none.
func number(s string) int {
	n := 0
	for i := range len(s) {
		if !isDigit(s[i]) {
			return -1
		}
		n = n*10 + int(s[i]-'0')
	}
	if s == "" {
		return -1
	}
	return n
}

func trimSpace(s string) string {
	for s != "" && s[0] == ' ' {
		s = s[1:]
	}
	return s
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }
func isLevel(b byte) bool { return b == 'I' || b == 'W' || b == 'E' || b == 'F' }
func isWord(b byte) bool {
	return isDigit(b) || b == '_' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}
