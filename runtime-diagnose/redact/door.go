package redact

import (
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean takes from a text what a terminal would obey and what nobody sees: control sequences, control
// bytes except tabs and line ends, zero-width and direction marks. Invalid UTF-8 becomes U+FFFD. Cleaning
// twice is cleaning once.
func Clean(text string) string {
	control, beyond := unusual(text)
	if control {
		text = string(Escapes([]byte(text)))
	}
	if beyond {
		text = Visible(text)
	}
	return text
}

// Visible drops the characters that nobody sees, and makes bytes that are no text U+FFFD.
func Visible(text string) string {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, string(utf8.RuneError))
	}
	for _, r := range text {
		if r >= 0x80 && (invisible(r) || unicode.IsControl(r)) {
			return strings.Map(func(r rune) rune {
				if r >= 0x80 && (invisible(r) || unicode.IsControl(r)) {
					return -1
				}
				return r
			}, text)
		}
	}
	return text
}

// Unusual says whether there are control bytes other than tabs and line ends, and bytes beyond ASCII. Most
// lines have neither: eight bytes are asked at a time whether one of them is below a space,
// DEL, or above ("Bit Twiddling Hacks", https://graphics.stanford.edu/~seander/bithacks.html#HasLessInWord).
func Unusual(b []byte) (control, beyond bool) {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	some, at := uint64(0), 0
	for ; at+8 <= len(b); at += 8 {
		w := binary.LittleEndian.Uint64(b[at:])
		del := w ^ ones*0x7f
		some |= w | (w-ones*' ')&^w | (del-ones)&^del
	}
	if some&high == 0 { // none of them is unusual: so it is nearly always
		b = b[at:]
	}
	for _, c := range b {
		control = control || c < ' ' && c != '\t' && c != '\n' || c == 0x7f
		beyond = beyond || c > 0x7f
	}
	return control, beyond
}

// unusual is Unusual of a string.
func unusual(text string) (control, beyond bool) {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	some, at := uint64(0), 0
	for ; at+8 <= len(text); at += 8 {
		s := text[at : at+8]
		w := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		del := w ^ ones*0x7f
		some |= w | (w-ones*' ')&^w | (del-ones)&^del
	}
	if some&high == 0 {
		text = text[at:]
	}
	for i := range len(text) {
		c := text[i]
		control = control || c < ' ' && c != '\t' && c != '\n' || c == 0x7f
		beyond = beyond || c > 0x7f
	}
	return control, beyond
}

// Escapes drops control bytes and terminal sequences (ECMA-48).
func Escapes(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == 0x1b:
			i += escape(b[i:]) - 1
		case c < ' ' && c != '\t' && c != '\n', c == 0x7f:
		default:
			out = append(out, c)
		}
	}
	return out
}

// escape is how many bytes of b, which begins with ESC, nobody sees on a terminal: colours (CSI), titles
// and links (OSC, which end with BEL or ESC \), and short ones such as ESC ( B. A title that does not
// end on its line is taken for text.
func escape(b []byte) int {
	if len(b) < 2 {
		return 1
	}
	switch c := b[1]; {
	case c == '[':
		return final(b, skipWhile(b, 2, func(c byte) bool { return ' ' <= c && c < 0x40 }))
	case c == ']' || c == 'P' || c == '^' || c == '_' || c == 'X':
		end := skipWhile(b, 2, func(c byte) bool { return c != 0x07 && c != 0x1b && c != '\n' })
		switch {
		case end == len(b) || b[end] == '\n':
			return 2
		case b[end] == 0x1b && end+1 < len(b) && b[end+1] == '\\':
			return end + 2
		case b[end] == 0x07:
			return end + 1
		}
		return end
	case ' ' <= c && c < 0x30:
		return final(b, skipWhile(b, 2, func(c byte) bool { return ' ' <= c && c < 0x30 }))
	case 0x30 <= c && c < 0x7f:
		return 2
	}
	return 1
}

// final is behind the byte at i where that can end a sequence.
func final(b []byte, i int) int {
	if i < len(b) && 0x30 <= b[i] && b[i] < 0x7f {
		return i + 1
	}
	return i
}

func skipWhile(b []byte, i int, more func(byte) bool) int {
	for i < len(b) && more(b[i]) {
		i++
	}
	return i
}
