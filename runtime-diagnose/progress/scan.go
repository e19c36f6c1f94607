package progress

import (
	"strings"
	"unicode/utf8"
)

// The forms are looked for by hand: a log of a rank is mostly step lines, and regular expressions
// that look for the same take a hundred times as long (the test of this package holds both side
// by side). Letters are compared without case, ASCII only.

// stepWords are the words that count, the longest of those that begin alike first.
var stepWords = []string{"global_step", "global step", "globalstep", "iterations", "iteration", "iter", "steps", "step", "batch", "it"}

// count is what a counter says: how far, and of how many; empty where it does not say.
type count struct{ number, of string }

// counter finds the counter of a line, the most specific form first.
func counter(text string) (count, bool) {
	if strings.Contains(text, " [") {
		if c, ok := beforeBracket(text, bar); ok {
			return c, true
		}
	}
	if c, ok := barWithoutTotal(text); ok {
		return c, true
	}
	if c, ok := afterWord(text, stepWords, ":=[(# ", 4); ok {
		return c, true
	}
	if strings.Contains(text, " [") {
		if c, ok := beforeBracket(text, arrow); ok {
			return c, true
		}
	}
	if !contains(text, "epoch") {
		return count{}, false
	}
	if c, ok := epochBracket(text); ok {
		return c, true
	}
	return afterWord(text, []string{"epoch"}, ":=[ #", 3)
}

// beforeBracket reads "120/1000 [", where what is in the bracket fits.
func beforeBracket(text string, fits func(before byte, inside string) bool) (count, bool) {
	for at := 0; ; {
		next := strings.Index(text[at:], " [")
		if next < 0 {
			return count{}, false
		}
		at += next
		end := at
		of := digitsBefore(text, end)
		slash := end - len(of) - 1
		if of != "" && slash > 0 && text[slash] == '/' {
			number := digitsBefore(text, slash)
			before := byte(' ')
			if begin := slash - len(number); begin > 0 {
				before = text[begin-1]
			}
			if number != "" && fits(before, text[at+2:]) {
				return count{number, of}, true
			}
		}
		at += 2
	}
}

// bar is the inside of tqdm's bracket: "01:20<09:10,  1.60it/s".
func bar(_ byte, inside string) bool {
	const most = 40 // characters between the two times and the pace
	i := 0
	for i < len(inside) && (isDigit(inside[i]) || inside[i] == ':' || inside[i] == '?') {
		i++
	}
	if i == 0 || i >= len(inside) || inside[i] != '<' {
		return false
	}
	rest := inside[i+1:]
	for n := 0; n <= most && rest != ""; n++ {
		switch {
		case len(rest) > 2 && rest[1] == '/' && (rest[2] == 's' && isLetter(rest[0]) || rest[0] == 's' && isLetter(rest[2])):
			return true // "8.14it/s", "60.58s/task"
		case rest[0] == ']':
			return false
		}
		_, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
	}
	return false
}

// barWithoutTotal reads "120it [01:20,  1.60it/s]", as tqdm counts what it does not know the end of.
func barWithoutTotal(text string) (count, bool) {
	for before, rest, found := strings.Cut(text, "it ["); found; before, rest, found = strings.Cut(rest, "it [") {
		number := digitsBefore(before, len(before))
		inside, _, closed := strings.Cut(rest, "]")
		if closed && number != "" && inside != "" && isDigit(inside[0]) && (strings.HasSuffix(inside, "it/s") || strings.HasSuffix(inside, "s/it")) {
			return count{number: number}, true
		}
	}
	return count{}, false
}

// arrow is the inside of Keras' bracket: "=====>....". The number does not end a word.
func arrow(before byte, inside string) bool {
	i := 0
	for i < len(inside) && strings.IndexByte("=>.- ", inside[i]) >= 0 {
		i++
	}
	return i > 0 && i < len(inside) && inside[i] == ']' && !isWord(before)
}

// afterWord reads "step=10", "iter [ 5/5000]", "'step': 3 of 9": a word, at most most marks,
// a number and perhaps a total.
func afterWord(text string, words []string, marks string, most int) (count, bool) {
	for i := range len(text) {
		if !isLetter(text[i]) || i > 0 && isWord(text[i-1]) {
			continue
		}
		for _, word := range words {
			if !hasPrefix(text[i:], word) {
				continue
			}
			if c, ok := numberBehind(text[i+len(word):], marks, most); ok {
				return c, true
			}
		}
	}
	return count{}, false
}

// numberBehind reads the marks behind a word, the number and the total. Spaces may stand around
// the marks, and a space is a mark itself.
func numberBehind(s, marks string, most int) (count, bool) {
	if s != "" && (s[0] == '\'' || s[0] == '"') {
		s = s[1:]
	}
	first, last, space, i := -1, -1, false, 0
	for ; i < len(s) && (isSpace(s[i]) || strings.IndexByte(marks, s[i]) >= 0); i++ {
		if isSpace(s[i]) {
			space = space || s[i] == ' '
			continue
		}
		if first < 0 {
			first = i
		}
		last = i
	}
	switch {
	case first < 0 && !space, last-first >= most:
		return count{}, false
	case first >= 0 && strings.ContainsAny(s[first:last], "\t\n\f\r"):
		return count{}, false
	}
	number := digitsAfter(s[i:])
	if number == "" {
		return count{}, false
	}
	return count{number, total(s[i+len(number):])}, true
}

// total reads "/500" or "of 500"; empty: there is none.
func total(s string) string {
	s = trimSpaces(s)
	switch {
	case strings.HasPrefix(s, "/"):
		s = s[1:]
	case hasPrefix(s, "of"):
		s = s[2:]
	default:
		return ""
	}
	return digitsAfter(trimSpaces(s))
}

// epochBracket reads "Epoch: [0][ 50/7330]": the bracket within a few characters behind the word,
// the last of several.
func epochBracket(text string) (count, bool) {
	const within = 24
	for i := range len(text) {
		if !hasPrefix(text[i:], "epoch") || i > 0 && isWord(text[i-1]) {
			continue
		}
		rest := text[i+len("epoch"):]
		if rest == "" || isWord(rest[0]) {
			continue
		}
		found, ok := count{}, false
		for n := 0; n <= within && rest != ""; n++ {
			if c, fits := insideBracket(rest); fits {
				found, ok = c, true
			}
			if rest[0] == '|' {
				break
			}
			_, size := utf8.DecodeRuneInString(rest)
			rest = rest[size:]
		}
		if ok {
			return found, true
		}
	}
	return count{}, false
}

// insideBracket reads "[ 50/7330 ]" at the beginning of a text.
func insideBracket(s string) (count, bool) {
	if s[0] != '[' {
		return count{}, false
	}
	s = trimSpaces(s[1:])
	number := digitsAfter(s)
	s = trimSpaces(s[len(number):])
	if number == "" || s == "" || s[0] != '/' {
		return count{}, false
	}
	s = trimSpaces(s[1:])
	of := digitsAfter(s)
	s = trimSpaces(s[len(of):])
	return count{number, of}, of != "" && s != "" && s[0] == ']'
}

// lossIn finds the value of a loss, as written: a number, nan or inf.
func lossIn(text string) (value string, ok bool) {
	for i := range len(text) {
		if text[i]|0x20 != 'l' || !hasPrefix(text[i:], "loss") || i > 0 && isLetter(text[i-1]) {
			continue
		}
		if value, ok := valueBehind(text[i+len("loss"):]); ok {
			return value, true
		}
	}
	return "", false
}

// valueBehind reads what stands between the word and its value, and the value.
func valueBehind(s string) (string, bool) {
	unquote := func() {
		if s != "" && (s[0] == '\'' || s[0] == '"') {
			s = s[1:]
		}
	}
	unquote()
	s = trimSpaces(s)
	switch {
	case hasPrefix(s, "is"):
		s = s[2:]
	case s != "" && (s[0] == '=' || s[0] == ':'):
		s = s[1:]
	}
	s = trimSpaces(strings.TrimLeft(trimSpaces(s), ":=(["))
	unquote()
	for _, word := range []string{"nan", "infinity", "inf", "-infinity", "-inf"} {
		if hasPrefix(s, word) && endsWord(s, len(word)) {
			return s[:len(word)], true
		}
	}
	n := decimal(s)
	return s[:n], n > 0
}

// decimal is the length of the number at the beginning of a text that ends where a word does;
// 0: there is none. Of "1.5e" that is "1.", as a regular expression finds it.
func decimal(s string) int {
	i := 0
	if s != "" && (s[0] == '-' || s[0] == '+') {
		i++
	}
	whole := i + len(digitsAfter(s[i:]))
	if whole == i {
		return 0
	}
	ends := []int{whole}
	if whole < len(s) && s[whole] == '.' {
		fraction := whole + 1 + len(digitsAfter(s[whole+1:]))
		ends = []int{fraction, whole + 1, whole}
	}
	if n := exponent(s[ends[0]:]); n > 0 {
		ends = append([]int{ends[0] + n}, ends...)
	}
	for _, end := range ends {
		if endsWord(s, end) {
			return end
		}
	}
	return 0
}

func exponent(s string) int {
	if s == "" || s[0]|0x20 != 'e' {
		return 0
	}
	i := 1
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	n := len(digitsAfter(s[i:]))
	if n == 0 {
		return 0
	}
	return i + n
}

// endsWord says that a word begins or ends between two bytes.
func endsWord(s string, at int) bool {
	before := at > 0 && isWord(s[at-1])
	after := at < len(s) && isWord(s[at])
	return before != after
}

// unitBehind finds the number right before a unit that ends a word: "1.60it/s".
func unitBehind(text, unit string) (string, bool) {
	for at := 0; ; {
		next := strings.Index(text[at:], unit)
		if next < 0 {
			return "", false
		}
		at += next
		begin := at
		for begin > 0 && (isDigit(text[begin-1]) || text[begin-1] == '.') {
			begin--
		}
		if begin < at && endsWord(text, at+len(unit)) {
			return text[begin:at], true
		}
		at += len(unit)
	}
}

// hasPrefix is strings.HasPrefix without case, for a prefix in lower case.
func hasPrefix(s, prefix string) bool {
	if len(s) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != prefix[i] {
			return false
		}
	}
	return true
}

// contains is strings.Contains without case, for a word in lower case.
func contains(s, word string) bool {
	for i := 0; i+len(word) <= len(s); i++ {
		if hasPrefix(s[i:], word) {
			return true
		}
	}
	return false
}

func digitsAfter(s string) string {
	i := 0
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return s[:i]
}

func digitsBefore(s string, end int) string {
	begin := end
	for begin > 0 && isDigit(s[begin-1]) {
		begin--
	}
	return s[begin:end]
}

func trimSpaces(s string) string {
	for s != "" && isSpace(s[0]) {
		s = s[1:]
	}
	return s
}

func isSpace(b byte) bool  { return b == ' ' || b == '\t' || b == '\n' || b == '\f' || b == '\r' }
func isDigit(b byte) bool  { return '0' <= b && b <= '9' }
func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }
func isWord(b byte) bool   { return isDigit(b) || isLetter(b) || b == '_' }
