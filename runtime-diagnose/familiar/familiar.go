// Package familiar knows lines of logs by their form: the words of a line without its numbers. What a
// run that ended well printed is familiar; what only a run that failed printed may say why. It keeps
// forms, not texts, so that nothing of a log can be read from them, and a bounded number.
//
// It is no signature: that a line is new proves nothing about what it says. Start reading at Lines.
package familiar

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Most is how many forms are kept of one run: programs print a few hundred.
const Most = 2048

// longest is how much of a line makes its form, in bytes.
const longest = 240

// Lines are the forms of the lines that somebody printed. The zero value is empty.
type Lines struct {
	forms map[uint32]struct{}
	over  bool // there were more than are kept
}

// Good is what the last run of a job that ended well printed.
type Good struct {
	UID   string // of that job
	At    time.Time
	Pods  int  // whose logs were read
	Whole bool // all lines of them were
	Lines Lines
}

// Add takes a line, without time stamps and prefixes.
func (l *Lines) Add(text string) {
	form, ok := formOf(text)
	if !ok {
		return
	}
	if _, known := l.forms[form]; known {
		return
	}
	if len(l.forms) >= Most {
		l.over = true
		return
	}
	if l.forms == nil {
		l.forms = map[uint32]struct{}{}
	}
	l.forms[form] = struct{}{}
}

// Join adds what others printed.
func (l *Lines) Join(others Lines) {
	l.over = l.over || others.over
	for form := range others.forms {
		if _, known := l.forms[form]; !known && len(l.forms) >= Most {
			l.over = true
			return
		}
		if l.forms == nil {
			l.forms = map[uint32]struct{}{}
		}
		l.forms[form] = struct{}{}
	}
}

// Len is how many forms there are.
func (l *Lines) Len() int { return len(l.forms) }

// Tell says that the lines can tell what is new: there are some, and none were left out.
func (l *Lines) Tell() bool { return len(l.forms) > 0 && !l.over }

// New says that a line was not printed. Lines without words, and lines that cannot be compared
// because some were left out, are never new.
func (l *Lines) New(text string) bool {
	form, ok := formOf(text)
	if !ok || !l.Tell() {
		return false
	}
	_, known := l.forms[form]
	return !known
}

// Has says that a line was printed. Two forms of 32 bits are equal by chance once in two million
// comparisons with all that are kept.
func (l *Lines) Has(text string) bool {
	form, ok := formOf(text)
	_, known := l.forms[form]
	return ok && known
}

// Encode is the stored form: four bytes for each, in order.
func (l *Lines) Encode() []byte {
	out := make([]byte, 0, 4*len(l.forms))
	for _, form := range slices.Sorted(maps.Keys(l.forms)) {
		out = binary.LittleEndian.AppendUint32(out, form)
	}
	return out
}

// Decode reads the stored form; over says that there were more. The error says how it is none.
func Decode(data []byte, over bool) (Lines, error) {
	if len(data)%4 != 0 || len(data) > 4*Most {
		return Lines{}, fmt.Errorf("read forms of lines: %d bytes; expected at most %d, and four for each", len(data), 4*Most)
	}
	l := Lines{over: over, forms: map[uint32]struct{}{}}
	for ; len(data) > 0; data = data[4:] {
		l.forms[binary.LittleEndian.Uint32(data)] = struct{}{}
	}
	return l, nil
}

// Over says that more forms were printed than are kept.
func (l *Lines) Over() bool { return l.over }

// formOf is a hash (FNV-1a) of a line's words and signs: a word with a digit in it is a number, with
// the signs inside it; what is repeated stands once; spaces only part words; and bytes beyond ASCII,
// as progress bars are made of, count as one sign. A line without a word of three letters has none.
func formOf(text string) (form uint32, ok bool) {
	const offset, prime = 2166136261, 16777619
	text = text[:min(len(text), longest)]
	form = offset
	last := byte(0)
	put := func(c byte) { form, last = (form^uint32(c))*prime, c }
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c <= ' ':
			i++
			continue
		case !isWord(c):
			if c = min(c, 0x80); c != last {
				put(c)
			}
			i++
			continue
		case isLetter(last):
			put(' ')
		}
		end, digit := wordAt(text, i)
		switch {
		case digit && last != '#':
			put('#')
		case digit:
		default:
			ok = ok || end-i >= 3
			for _, c := range []byte(text[i:end]) {
				put(c | 0x20)
			}
		}
		i = end
	}
	return form, ok
}

// wordAt is where a word ends, and whether it is a number: then with "-", ".", ":", "/" and "+"
// between its parts.
func wordAt(text string, at int) (end int, digit bool) {
	for end = at; end < len(text) && isWord(text[end]); end++ {
		digit = digit || isDigit(text[end])
	}
	if !digit {
		return end, false
	}
	for end+1 < len(text) && isInside(text[end]) && isDigit(text[end+1]) {
		end++
		for end < len(text) && isWord(text[end]) {
			end++
		}
	}
	return end, true
}

func isInside(c byte) bool {
	return c == '-' || c == '.' || c == ':' || c == '/' || c == '+'
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isWord(c byte) bool   { return isDigit(c) || isLetter(c) || c == '_' }
