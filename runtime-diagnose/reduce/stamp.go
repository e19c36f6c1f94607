package reduce

import "time"

// earlyEnough is how far into a line a stamp may start; further in, it is part of a message.
const earlyEnough = 48

// TimeIn is the time that a program wrote near the beginning of a line; year is that of
// stamps without one, 0 where it is not known.
func TimeIn(text string, year int) (time.Time, bool) {
	return stampIn(text[:min(len(text), earlyEnough+40)], year)
}

// stampIn finds the time that a program wrote near the beginning of a line: a time of day
// with a date before it, as programs and the tools below write it. Every log passes here
// line by line, so it is read by hand: regular expressions take twenty times as long.
//
//	2026-03-01T12:00:01.25Z   2026-03-01 12:00:01,250   logging, RFC 3339, Rust, Java
//	2026/03/01 12:00:01       03/01/2026 12:00:01       Go's log, Transformers
//	I0301 12:00:01.250000     [E1106 12:00:01.250       klog, glog, c10d
//	Mar  1 12:00:01           03-01 12:00:01            syslog, vLLM
//	Sun Mar  1 12:00:01 2026                            ctime, dmesg -T
//
// Stamps without a year get the one given; where it is 0 they are unknown. The c10d of PyTorch
// leaves the zero of the month out (E301): such a number may be anything, and is no date.
func stampIn(head string, year int) (time.Time, bool) {
	for i := 0; i+8 <= len(head) && i <= earlyEnough+len("2006-01-02 "); i++ {
		if head[i+2] != ':' {
			continue
		}
		clock, ok := timeOfDay(head[i:])
		if !ok || i > 0 && isDigit(head[i-1]) {
			continue
		}
		if t, ok := clock.on(head[:i], head[i+clock.length:], year); ok {
			return t, true
		}
	}
	return time.Time{}, false
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
func (d dayTime) on(before, after string, year int) (time.Time, bool) {
	if before == "" {
		return time.Time{}, false
	}
	sep := before[len(before)-1]
	if sep != ' ' && sep != 'T' && sep != '_' && sep != '-' {
		return time.Time{}, false
	}
	before = before[:len(before)-1]
	if y, m, day, ok := fullDate(before); ok {
		return d.at(y, m, day, zoneOf(after))
	}
	if sep != ' ' {
		return time.Time{}, false
	}
	m, day, written := monthAndDay(before)
	if !written {
		return time.Time{}, false
	}
	if len(after) >= 5 && after[0] == ' ' && number(after[1:5]) > 1970 && (len(after) == 5 || !isDigit(after[5])) {
		year = number(after[1:5])
	}
	if year == 0 {
		return time.Time{}, false
	}
	return d.at(year, m, day, time.UTC)
}

func (d dayTime) at(year, month, day int, zone *time.Location) (time.Time, bool) {
	if year < 1970 || month < 1 || month > 12 || day < 1 || day > 31 {
		return time.Time{}, false
	}
	t := time.Date(year, time.Month(month), day, d.hour, d.minute, d.second, d.nano, zone)
	return t, t.Day() == day || d.second == 60
}

// fullDate reads a date with a year at the end of a text: 2026-03-01, 2026/03/01, 03/01/2026.
func fullDate(s string) (year, month, day int, ok bool) {
	const length = len("2006-01-02")
	if len(s) < length || len(s) > length && isDigit(s[len(s)-length-1]) {
		return 0, 0, 0, false
	}
	s = s[len(s)-length:]
	switch {
	case s[4] == '-' && s[7] == '-' || s[4] == '/' && s[7] == '/':
		year, month, day = number(s[0:4]), number(s[5:7]), number(s[8:10])
	case s[2] == '/' && s[5] == '/': // month first, as Transformers writes it
		year, month, day = number(s[6:10]), number(s[0:2]), number(s[3:5])
	default:
		return 0, 0, 0, false
	}
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
	if digits != 4 || at == 0 || !isLevel(s[at-1]) || at > 1 && isWord(s[at-2]) {
		return 0, 0, false
	}
	return number(s[at : len(s)-2]), number(s[len(s)-2:]), true
}

// zoneOf reads Z, +02:00 or +0200; UTC where there is none.
func zoneOf(s string) *time.Location {
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
