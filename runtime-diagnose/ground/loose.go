package ground

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// opensAnswer is where an object with one of the headings begins.
var opensAnswer = lazy.MustCompile(`(?i)\{\s*["'“]?(?:` + headings + `|claims)["'”]?\s*:`)

// looseJSON reads an object as models write one where nobody holds them to the form: with words around it, in
// apostrophes, with a comma too many, cut off before its end. What stands around is returned as well; nil: there is none.
func looseJSON(text string) (object map[string]any, around string) {
	m := opensAnswer.FindStringIndex(text)
	if m == nil {
		return nil, ""
	}
	l := &loose{text: text, at: m[0]}
	object, _ = l.value(0).(map[string]any)
	return object, text[:m[0]] + "\n" + text[l.at:]
}

// loose is a reader of JSON that goes on where the form is broken.
type loose struct {
	text string
	at   int
}

// deepest is how many objects and lists are read within each other.
const deepest = 8

func (l *loose) value(depth int) any {
	switch c := l.next(" \t\r\n"); {
	case depth > deepest, c == 0:
		l.at = len(l.text)
		return nil
	case c == '{':
		return l.object(depth)
	case c == '[':
		l.at++
		list := []any{}
		for c := l.next(" \t\r\n,"); c != 0 && c != ']' && c != '}'; c = l.next(" \t\r\n,") {
			list = append(list, l.value(depth+1))
		}
		l.at = min(l.at+1, len(l.text))
		return list
	case strings.ContainsRune(quotes, c):
		return l.quoted(c)
	}
	end := strings.IndexAny(l.text[l.at:], ",}]\n")
	if end < 0 {
		end = len(l.text) - l.at
	}
	word := strings.TrimSpace(l.text[l.at : l.at+end])
	if l.at += end; end == 0 {
		l.at++
	}
	switch strings.ToLower(word) {
	case "true", "false":
		return strings.EqualFold(word, "true")
	case "null", "none":
		return nil
	}
	return word
}

func (l *loose) object(depth int) any {
	l.at++
	out := map[string]any{}
	for c := l.next(" \t\r\n,"); c != 0 && c != '}'; c = l.next(" \t\r\n,") {
		name := ""
		if strings.ContainsRune(quotes, c) {
			name = l.quoted(c)
		} else if end := strings.IndexAny(l.text[l.at:], ":}\n"); end > 0 {
			name = strings.TrimSpace(l.text[l.at : l.at+end])
			l.at += end
		}
		if l.next(" \t\r\n") != ':' {
			l.at = min(l.at+1, len(l.text)) // no name: the next may be one
			continue
		}
		l.at++
		out[name] = l.value(depth + 1)
	}
	l.at = min(l.at+1, len(l.text))
	return out
}

// next is the next character that is none of those, 0 at the end.
func (l *loose) next(skip string) rune {
	l.at = len(l.text) - len(strings.TrimLeft(l.text[l.at:], skip))
	if l.at == len(l.text) {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(l.text[l.at:])
	return r
}

const quotes = "\"'“‘"

// closed is what may follow the mark that closes a text: others stand within it.
var closed = lazy.MustCompile(`^\s*(?:[,:}\]]|$)`)

// quoted reads a text in quotation marks; they close it where a comma, a colon or a bracket follows.
func (l *loose) quoted(open rune) string {
	end := map[rune]rune{'“': '”', '‘': '’'}[open]
	if end == 0 {
		end = open
	}
	l.at += utf8.RuneLen(open)
	var b strings.Builder
	for l.at < len(l.text) {
		r, n := utf8.DecodeRuneInString(l.text[l.at:])
		switch {
		case r == '\\' && l.at+1 < len(l.text):
			c, _, rest, err := strconv.UnquoteChar(l.text[l.at:], byte(open))
			if err != nil {
				c, rest = rune(l.text[l.at+1]), l.text[l.at+2:]
			}
			b.WriteRune(c)
			l.at = len(l.text) - len(rest)
			continue
		case r == end && closed.MatchString(l.text[l.at+n:]):
			l.at += n
			return b.String()
		}
		b.WriteString(l.text[l.at : l.at+n])
		l.at += n
	}
	return b.String()
}
