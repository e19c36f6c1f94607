package redact

import (
	"slices"
	"strings"
)

// longestKey is how many lines a private key may have: a beginning without an end would hide the rest of
// a log. An RSA key of 16,384 bits has 200.
const longestKey = 256

// Lines hides in the lines of a log what no single line gives away: the insides of private keys, and a
// value on the line behind its name. It does not mask what Line masks. The zero value is ready.
type Lines struct {
	key     int   // lines of a private key still to hide
	body    bool  // the line before was the bare body of a private key
	class   class // of the name that the line before ended with
	fields  int   // before that name
	blank   int   // empty lines since
	valueOf bool  // the value stands behind "value:"
	putty   bool
	inside  manifest
}

// Idle says that nothing is hidden of the next line for what stands above it.
func (l *Lines) Idle() bool { return l.key == 0 && !l.body && l.class == none && l.inside.left == 0 }

// Next is the next line with what it hides masked.
func (l *Lines) Next(text string) string { return l.NextOf(text, Look(text)) }

// NextOf is Next of a line of which it is known what stands in it.
func (l *Lines) NextOf(text string, has Bytes) string {
	hidden, done := l.goesOn(text)
	if !done {
		return l.starts(text, has, 0)
	}
	return hidden
}

// masked is the next line without its secrets: those that it holds alone as well. A line that holds none stays as it is; one that does
// is a part of what s has written, and is to be written and forgotten.
func (l *Lines) masked(text string, s *scan) string {
	has, plain := Look(text), text
	if has.Has(Control | Beyond) {
		plain = cleaned(text, has) // no kind of bytes that starts asks for comes to it
	}
	gate := -1
	hidden, done := l.goesOn(plain)
	if hidden == plain {
		gate = opening.next(plain, 0)
	}
	if !done {
		hidden = l.starts(plain, has, gate)
	}
	if hidden != plain {
		return Line(hidden)
	}
	if gate >= 0 {
		hidden = s.settle(plain, gate)
	}
	if hidden != plain || plain == text {
		return hidden
	}
	return settle(text)
}

// goesOn is a line with what the lines before it hide of it. done says that it belongs to them alone.
func (l *Lines) goesOn(text string) (hidden string, done bool) {
	if l.key > 0 {
		l.key--
		if strings.Contains(text, "-----END ") || l.putty && strings.Contains(text, "Private-MAC:") {
			l.key, l.putty = 0, false
		}
		return masked, true
	}
	if l.body {
		if last := lastField(text); len(last) >= 16 && base64s.only(strings.TrimRight(last, "=")) {
			return text[:len(text)-len(last)] + masked, true
		}
		l.body = false
	}
	if l.class != none {
		if hidden, ok := l.value(text); ok {
			return hidden, true
		}
	}
	if l.inside.left > 0 {
		if hidden := l.inside.next(text); hidden != text {
			return hidden, true
		}
	}
	return text, false
}

// starts is a line with what it hides itself, where no gate stands before a place; -1: none stands in it. It notes what it hides of
// the next lines.
func (l *Lines) starts(text string, has Bytes, gate int) string {
	if len(text) < 6 {
		return text
	}
	if c := text[len(text)-1]; len(text) < 64 && (c == 't' || c == '1' || c == ',' || c == '"') && l.inside.starts(text) {
		l.inside.left = longestManifest
		l.inside.secret = l.inside.secret || strings.Contains(text, "Secret")
	}
	if has.Has(capitalV) && has.Has(capitalP) && strings.Contains(text, "PRIVATE KEY") || has.Has(capitalP) && strings.Contains(text, "Private-Lines:") {
		return l.begins(text)
	}
	if gate >= 0 { // else it names no secret
		l.read(text)
	}
	if bareBody(text) {
		l.body = true
		return text[:len(text)-len(lastField(text))] + masked
	}
	if len(text) >= 40 && has.Has(CapitalM) && strings.Contains(text, "MII") {
		var s scan
		s.text = text
		if i := strings.Index(text, "MII"); byKeyBody(&s, i) > 0 && len(s.spans) > 0 {
			l.body = true
		}
	}
	return text
}

// read looks whether a line names a secret whose value stands on the next one: it ends with what separates a value from
// its name, or is an entry of a list of settings.
func (l *Lines) read(text string) {
	switch text[len(text)-1] {
	case ':', '=', ' ', '|', '-', '>', '\t', '"', '\'':
		l.ends(text)
	case '\\': // a text in quotation marks goes on
		if open := strings.LastIndexByte(text, '"'); open > 0 && strings.Count(text, `"`)%2 == 1 {
			l.ends(text[:open])
		}
	case 0x9a: // the last byte of a full-width colon
		if strings.HasSuffix(text, "：") {
			l.ends(text)
		}
	default:
		l.names(text)
	}
}

// widths are how many characters a line of a private key has: of PEM (RFC 7468), of OpenSSH and of MIME.
var widths = [...]int{64, 70, 76}

// bareBody says whether a line, or all of it behind a stamp, is a full line of base64: the beginning of its key may
// have gone with an older file. A digest says what it is, or is hexadecimal.
func bareBody(text string) bool {
	if len(text) < 64 || !base64s[text[len(text)-1]] {
		return false
	}
	from := base64s.runBack(text, len(text))
	if !slices.Contains(widths[:], len(text)-from) {
		return false
	}
	body, stamp := text[from:], strings.TrimSpace(text[:from])
	return uppers.has(body) && random(body, 64) && (stamp == "" || (digits[stamp[0]] || stamp[0] == '[') && text[from-1] == ' ' && strings.Count(stamp, " ") < 3)
}

// begins is a line with the beginning of a private key.
func (l *Lines) begins(text string) string {
	if strings.Contains(text, "Private-Lines:") {
		l.key, l.putty = longestKey, true
		return text
	}
	begin := strings.Index(text, "-----BEGIN ")
	if begin < 0 {
		return text
	}
	if !strings.Contains(text[begin:], "-----END ") && !strings.ContainsAny(text[begin:], `"'`) {
		l.key = longestKey
		return text[:begin] + masked
	}
	if q := strings.IndexAny(text[begin:], `"'`); q >= 0 && strings.Count(text[:begin], text[begin+q:begin+q+1])%2 == 0 && !strings.Contains(text[begin:], "-----END ") {
		l.key = longestKey
		return text[:begin] + masked
	}
	return text // Line masks it
}

// lastField is what stands behind the last blank of a line, but for those at its end.
func lastField(text string) string {
	text = strings.TrimRight(text, " \t\r")
	return text[inField.runBack(text, len(text)):]
}

// folds stand behind a name in YAML whose value is on the lines below.
var folds = [...]string{" |", " >", " |-", " >-", " |+", " >+"}

// ends looks whether a line ends with a name and no value.
func (l *Lines) ends(text string) {
	text = text[:tabs.runBack(text, len(text))]
	for _, fold := range folds {
		if rest, ok := strings.CutSuffix(text, fold); ok {
			text = rest
			break
		}
	}
	cut := text
	for before := ""; cut != before; {
		before = cut
		cut = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(cut, ":"), "="), "：")
	}
	if len(cut) == len(text) {
		l.names(text)
		return
	}
	cut = cut[:behindName.runBack(cut, len(cut))]
	from := dotted.runBack(cut, len(cut))
	c := classOf(strings.TrimLeft(cut[from:], "-"))
	if c == key || c == none {
		c = ofTwoWords(cut, from, len(cut), c)
	}
	if c == none {
		// "Password for ml:"
		if len(cut) < 200 && holds(cut, "password for ") {
			c = password
		}
		if cut != "" {
			for _, w := range wordsEnd[cut[len(cut)-1]] {
				if strings.HasSuffix(cut, w.name) {
					c = w.of
				}
			}
		}
	}
	if c == none {
		return
	}
	l.class, l.blank, l.valueOf = c, 0, false
	l.fields = len(strings.Fields(cut[:from]))
}

// names looks whether a line is an entry of a list of settings whose value stands on the next one.
func (l *Lines) names(text string) {
	if len(text) > 200 || !endsAsName(text) {
		return
	}
	i := nameIn(text)
	if i < 0 {
		return
	}
	name := strings.Trim(lastField(text), `"',`)
	if end, ok := strings.CutSuffix(name, "</name>"); ok { // Hadoop's files of settings
		name = end[strings.LastIndexByte(end, '>')+1:]
	}
	if c := classOf(name); c != none && len(name) < len(text) {
		l.class, l.blank, l.valueOf = c, 0, true
		l.fields = len(strings.Fields(text[:i]))
	}
}

// endsAsName says that the last field of a line may be the name of a secret: its last letter ends one.
func endsAsName(text string) bool {
	at := len(text) - 1
	if at >= 0 && text[at] == '>' {
		return true // a tag stands behind it
	}
	for field := false; at >= 0 && !letters[text[at]]; at-- {
		switch {
		case inField[text[at]]:
			field = field || text[at] != '\r'
		case field: // it has no letter
			return false
		}
	}
	return at >= 0 && endsWord[text[at]]
}

// nameIn is where a line says "name:" or "<name>", or else `"name"` with its quotes; -1: nowhere. Nearly every line passes
// here, and the m is the rarest letter of it.
func nameIn(text string) int {
	quoted := -1
	for at := 0; ; at++ {
		next := strings.IndexByte(text[at:], 'm')
		if next < 0 {
			return quoted
		}
		if at += next; at < 2 || !strings.HasPrefix(text[at-2:], "name") || at+2 >= len(text) {
			continue
		}
		switch {
		case text[at+2] == ':':
			return at - 2
		case text[at+2] == '>' && at > 2 && text[at-3] == '<':
			return at - 3
		case quoted < 0 && text[at+2] == '"' && at > 2 && text[at-3] == '"':
			quoted = at - 3
		}
	}
}

// value masks a line that is the value of the name before it, and says so.
func (l *Lines) value(text string) (string, bool) {
	fields := strings.Fields(text)
	if len(fields) == 0 && l.blank < 2 {
		l.blank++
		return text, true
	}
	c, before, valueOf := l.class, l.fields, l.valueOf
	l.class = none
	if len(fields) == 0 {
		return text, false
	}
	last := lastField(text)
	at := strings.LastIndex(text, last)
	v := strings.Trim(last, `"',`)
	from := at + strings.Index(last, v)
	if v == "" || strings.Contains(v, masked) {
		return text, false
	}
	if in, ok := strings.CutPrefix(last, "<value>"); ok && valueOf {
		in, _, _ = strings.Cut(in, "</")
		if from = at + len("<value>"); !c.fits(in, quotedValue) {
			return text, false
		}
		return text[:from] + masked + text[from+len(in):], true
	}
	if valueOf {
		if len(fields) < 2 || !strings.Contains(fields[len(fields)-2], "value") || !c.fits(v, quotedValue) {
			return text, false
		}
		return text[:from] + masked + text[from+len(v):], true
	}
	quoted := len(v) < len(last) && (last[0] == '"' || last[0] == '\'')
	if n := len(fields); n != 1 && n != before+1 {
		return text, false
	}
	switch {
	case quoted && c.fits(v, quotedValue):
	case c == password && len(v) >= 6 && letters.has(v) && (digits.has(v) || mixed(v)) && !strings.HasSuffix(v, ":"):
	case c != password && (random(v, 16) || c == secret && len(v) >= 40 && base64s.only(strings.TrimRight(v, "="))):
	default:
		return text, false
	}
	return text[:from] + masked + text[from+len(v):], true
}
