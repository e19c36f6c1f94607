package progress

import (
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// notOfNumbers is what stands between a name and its number.
const notOfNumbers = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_ \t:=|()[]{},'\"/*-+>"

// noneAt is the length of "inf" or "nan" at the beginning of a text, as a word; 0: neither.
func noneAt(s string) int {
	for _, word := range []string{"infinity", "inf", "nan"} {
		if hasPrefix(s, word) && (len(s) == len(word) || !isWord(s[len(word)])) {
			return len(word)
		}
	}
	return 0
}

// hasNone says that there is a number that is none.
func hasNone(s string) bool {
	for i := 0; i+3 <= len(s); i++ {
		if b := s[i] | 0x20; (b == 'i' || b == 'n') && (i == 0 || !isWord(s[i-1])) && noneAt(s[i:]) > 0 {
			return true
		}
	}
	return false
}

// leading are the first numbers of a line that may count; -1: it has no more.
type leading [3]float64

// leadingIn reads them, and what is behind the first.
func leadingIn(body string) (n leading, rest string) {
	n = leading{-1, -1, -1}
	for i, at := 0, body; i < len(n); i++ {
		number, after, ok := firstNumber(at)
		if !ok || number >= mostCount {
			break
		}
		if n[i] = number; i == 0 {
			rest = after
		}
		at = after
	}
	return n, rest
}

// firstNumber is the first number of a line that is no part of a date, a time, a version or a word.
func firstNumber(body string) (n float64, rest string, ok bool) {
	clock := 0 // where a time of day ended
	for i := 0; i < len(body); i++ {
		if !isDigit(body[i]) {
			continue
		}
		from := i
		for i < len(body) && isDigit(body[i]) {
			n = n*10 + float64(body[i]-'0')
			i++
		}
		if percent, rest, is := percentAt(body, from, i); is {
			return percent, rest, true
		}
		if value, rest, is := namedAt(body, from, i); is {
			return value, rest, true
		}
		joined := from > 0 && strings.IndexByte(":/-._", body[from-1]) >= 0 && from > 1 && isDigit(body[from-2])
		if i < len(body) && body[i] == '/' && isDate(body[i:]) {
			n = 0
			continue
		}
		if i < len(body) && body[i] == '-' && !joined && isRange(body[i:]) {
			return n, body[i:], true
		}
		joins := i+1 < len(body) && strings.IndexByte(":/-.", body[i]) >= 0 && isDigit(body[i+1]) && body[i] != '/'
		if joined && body[from-1] == ':' {
			clock = i
		}
		if from > 1 && from-1 == clock && body[from-1] == ',' { // a fraction of a second, as logging writes it
			n = 0
			continue
		}
		if !joined && !joins && !(from > 0 && isLetter(body[from-1])) {
			return n, body[i:], true
		}
		n = 0
	}
	return 0, "", false
}

// percentAt reads a share with a fraction: "12.50%" counts, and no other number with a fraction does.
func percentAt(body string, from, end int) (n float64, rest string, ok bool) {
	if end >= len(body) || body[end] != '.' || from > 0 && (isWord(body[from-1]) || body[from-1] == '.' || body[from-1] == '-') {
		return 0, "", false
	}
	after := end + 1 + len(digitsAfter(body[end+1:]))
	if after >= len(body) || body[after] != '%' {
		return 0, "", false
	}
	n, err := strconv.ParseFloat(body[from:after], 64)
	return n, body[after+1:], err == nil
}

// namedAt reads a number with a fraction behind a name, "t = 0.487": simulations count time.
func namedAt(body string, from, end int) (n float64, rest string, ok bool) {
	if end >= len(body) || body[end] != '.' {
		return 0, "", false
	}
	name, found := strings.CutSuffix(strings.TrimRight(body[:from], " "), "=")
	name = strings.TrimRight(name, " ")
	after := end + 1 + len(digitsAfter(body[end+1:]))
	if !found || name == "" || !isLetter(name[len(name)-1]) || after == end+1 || after < len(body) && (isWord(body[after]) || body[after] == '.') {
		return 0, "", false
	}
	n, err := strconv.ParseFloat(body[from:after], 64)
	return n, body[after:], err == nil
}

// isRange says that a number is the first of "90-99", by what follows it; no date goes on like that.
func isRange(rest string) bool {
	i := 1 + len(digitsAfter(rest[1:]))
	return i > 1 && (i == len(rest) || isSpace(rest[i]))
}

// isDate says that a number is the first of "26/03/01", by what follows it; 50/100 is a counter.
func isDate(rest string) bool {
	i := 1
	for i < len(rest) && isDigit(rest[i]) {
		i++
	}
	return i > 1 && i < len(rest) && rest[i] == '/'
}

func hasNumber(s string) bool {
	for i := range len(s) {
		if isDigit(s[i]) {
			return true
		}
	}
	return false
}

// NotBegun says that a number at a place in a line may be the one that a minimum begins with, as nothing was computed yet:
// the line is a bar of tqdm's that has counted nothing of its total, "0%|   | 0/1541 [00:00<?, ?it/s", or calls the number
// the best one, and that is infinite.
func NotBegun(body string, at int) bool {
	n, ok := beforeBracket(body, bar)
	at = min(at, len(body))
	return ok && n.number == "0" && n.of != "0" || best.MatchString(body[:at]) && !strings.Contains(strings.ToLower(body[at:]), "nan")
}

// best is the word for the least of what was measured.
var best = lazy.MustCompile(`(?i)\bbest\b[^=:]{0,60}$`)
