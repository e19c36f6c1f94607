package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean takes from a text what a terminal would obey and what nobody sees: control sequences, control
// bytes except tabs and line ends, zero-width and direction marks. Invalid UTF-8 becomes U+FFFD. Cleaning
// twice is cleaning once.
func Clean(text string) string {
	return cleaned(text, Look(text))
}

// cleaned is Clean of a text of which it is known what stands in it.
func cleaned(text string, has Bytes) string {
	if has.Has(Control) {
		text = string(withoutEscapes(text))
	}
	if has.Has(Beyond) {
		text = Visible(text)
	}
	return text
}

// Visible drops the characters that nobody sees, and makes bytes that are no text U+FFFD.
func Visible(text string) string {
	for at := 0; at < len(text); {
		c := text[at]
		if c < utf8.RuneSelf {
			at++
			continue
		}
		if n := seen(text[at:]); n > 0 {
			at += n
			continue
		}
		r, size := utf8.DecodeRuneInString(text[at:])
		if r == utf8.RuneError && size == 1 || unseen(r) {
			return strings.Map(func(r rune) rune {
				if unseen(r) {
					return -1
				}
				return r
			}, strings.ToValidUTF8(text, string(utf8.RuneError)))
		}
		at += size
	}
	return text
}

func unseen(r rune) bool { return r >= utf8.RuneSelf && (invisible(r) || unicode.IsControl(r)) }

// seen is how many bytes of a text, which begins beyond ASCII, are a character of which the first two bytes tell that it is seen: bars, Chinese,
// Japanese, Korean and their marks; 0: they don't. They are the three bytes of U+2080 to U+CFFF and of U+FF00 to U+FFBF.
func seen(text string) int {
	if len(text) < 3 || text[1]&0xC0 != 0x80 || text[2]&0xC0 != 0x80 {
		return 0
	}
	if lead := text[0]; 0xE3 <= lead && lead <= 0xEC || lead == 0xE2 && text[1] >= 0x82 || lead == 0xEF && 0xBC <= text[1] && text[1] <= 0xBE {
		return 3
	}
	return 0
}

// Bytes are kinds of bytes that stand in a line. Most questions about a line need a byte that it does not have: all
// of them are looked for in one pass.
type Bytes uint16

// The kinds.
const (
	Control  Bytes = 1 << iota // other than tabs and line ends
	Beyond                     // ASCII
	Return                     // \r, which is a control byte as well
	Percent                    // %
	Paren                      // (
	SmallX                     // x
	Quote                      // "
	CapitalM                   // M
	CapitalH                   // H
	Equals                     // =
	capitalP
	capitalV
)

var kindOf = func() (t [256]Bytes) {
	for c := range t {
		if c < ' ' && c != '\t' && c != '\n' || c == 0x7f {
			t[c] |= Control
		}
		if c > 0x7f {
			t[c] |= Beyond
		}
	}
	for c, kind := range map[byte]Bytes{'\r': Return, '%': Percent, '(': Paren, 'x': SmallX, '"': Quote, 'M': CapitalM, 'P': capitalP, 'V': capitalV, 'H': CapitalH, '=': Equals} {
		t[c] |= kind
	}
	return t
}()

// Look is which of the kinds stand in a line.
func Look[T string | []byte](line T) Bytes {
	var a, b Bytes
	at := 0
	for ; at+8 <= len(line); at += 8 {
		w := line[at : at+8]
		a |= kindOf[w[0]] | kindOf[w[1]] | kindOf[w[2]] | kindOf[w[3]]
		b |= kindOf[w[4]] | kindOf[w[5]] | kindOf[w[6]] | kindOf[w[7]]
	}
	for ; at < len(line); at++ {
		a |= kindOf[line[at]]
	}
	return a | b
}

// Has says that one of some kinds is among them.
func (b Bytes) Has(of Bytes) bool { return b&of != 0 }

// Escapes drops control bytes and terminal sequences (ECMA-48).
func Escapes(b []byte) []byte { return withoutEscapes(b) }

func withoutEscapes[T string | []byte](text T) []byte {
	out := make([]byte, 0, len(text))
	for at := 0; at < len(text); {
		from := at
		for at < len(text) && (kindOf[text[at]]&Control == 0) {
			at++
		}
		out = append(out, text[from:at]...)
		switch {
		case at == len(text):
		case text[at] == 0x1b:
			at += escape(text[at:])
		default:
			at++
		}
	}
	return out
}

// escape is how many bytes of b, which begins with ESC, nobody sees on a terminal: colours (CSI), titles
// and links (OSC, which end with BEL or ESC \), and short ones such as ESC ( B. A title that does not
// end on its line is taken for text.
func escape[T string | []byte](b T) int {
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
func final[T string | []byte](b T, i int) int {
	if i < len(b) && 0x30 <= b[i] && b[i] < 0x7f {
		return i + 1
	}
	return i
}

func skipWhile[T string | []byte](b T, i int, more func(byte) bool) int {
	for i < len(b) && more(b[i]) {
		i++
	}
	return i
}

// nameFields are the fields of objects that hold what something is called, or what it is told by.
var nameFields = map[string]bool{"name": true, "generateName": true, "namespace": true, "nodeName": true, "hostname": true, "reason": true, "fieldPath": true, "uid": true, "labels": true}

// Names cleans all texts of an object that came in a file, and makes what names something one line: no API server has looked at
// them, and what is said of a pod or a node begins with its name.
func Names(object map[string]any) { cleanedIn(object, false) }

func cleanedIn(v any, line bool) any {
	switch v := v.(type) {
	case string:
		if v = Clean(v); line && strings.ContainsAny(v, "\n\u2028\u2029") {
			return strings.Join(strings.Fields(v), " ")
		}
		return v
	case []any:
		for i := range v {
			v[i] = cleanedIn(v[i], line)
		}
	case map[string]any:
		for key := range v {
			v[key] = cleanedIn(v[key], line || nameFields[key])
		}
	}
	return v
}
