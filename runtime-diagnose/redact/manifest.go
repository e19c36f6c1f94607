package redact

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// longestManifest is how many lines of a manifest are read: a Secret that fills its 1 MiB has them in a few long ones.
const longestManifest = 256

// manifest is where in a manifest that may be a Secret the lines of a log stand. Its values have names of the
// user's choice, so only the kind says that they are secrets. kubectl writes the keys in alphabetic order: the data
// come before the kind, and then only base64 of a text is taken for a secret.
type manifest struct {
	left   int  // lines still to read; 0: this is no manifest
	secret bool // the kind was read
	data   int  // one more than the indent of "data:"; 0: not within it
}

// starts says that a line is one with which a manifest of a Secret may begin.
func (m *manifest) starts(text string) bool {
	if text[len(text)-1] == ',' {
		text = text[:len(text)-1]
	}
	return strings.HasSuffix(text, "kind: Secret") || strings.HasSuffix(text, `"kind": "Secret"`) ||
		strings.HasSuffix(text, "apiVersion: v1") || strings.HasSuffix(text, `"apiVersion": "v1"`)
}

// next is a line of a manifest, with what it hides masked.
func (m *manifest) next(text string) string {
	m.left--
	body := strings.TrimLeft(text, " \t")
	indent := len(text) - len(body)
	if body == "" {
		return text
	}
	if m.data > 0 && indent >= m.data {
		return m.value(text, indent)
	}
	m.data = 0
	name, value, ok := strings.Cut(strings.TrimRight(body, "{, \t\r"), ":")
	switch name = strings.Trim(name, `"`); {
	case !ok && body[0] != '}' && body[0] != '{', strings.HasPrefix(body, "---"):
		*m = manifest{}
	case name == "kind":
		m.secret = strings.Trim(value, `" `) == "Secret"
	case (name == "data" || name == "stringData") && value == "":
		m.data = indent + 1
	}
	return text
}

// value masks the value of a line within the data.
func (m *manifest) value(text string, indent int) string {
	at := strings.Index(text[indent:], ":")
	if at < 0 {
		if m.secret { // the lines of a text that was folded
			return text[:indent] + masked
		}
		return text
	}
	from := blanks.run(text, indent+at+1)
	to := len(strings.TrimRight(text, ", \t\r"))
	if from < to && text[from] == '"' {
		from, to = from+1, max(from+1, len(strings.TrimRight(text[:to], `"`)))
	}
	if from >= to || strings.Contains(text[from:to], masked) || !m.secret && !encodesText(text[from:to]) {
		return text
	}
	return text[:from] + masked + text[to:]
}

// encodesText says that a word is base64 of a text: hardly any word is by chance.
func encodesText(v string) bool {
	plain, err := base64.StdEncoding.DecodeString(v)
	return err == nil && len(v) >= 8 && utf8.Valid(plain) && !strings.ContainsFunc(string(plain), func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' && r != '\r' })
}

var (
	dataOf  = lazy.MustCompile(`\\?"(?:data|stringData)\\?"\s*:\s*\{([^{}]*)\}`)
	valueIn = lazy.MustCompile(`:\s*\\?"([^"\\]+)`)
)

// bySecretManifest masks the data of a Secret that stands on one line, as kubectl's annotation of what was applied.
func bySecretManifest(s *scan, _ int) int {
	for _, m := range dataOf.FindAllStringSubmatchIndex(s.text, -1) {
		for _, v := range valueIn.FindAllStringSubmatchIndex(s.text[m[2]:m[3]], -1) {
			s.mask(m[2]+v[2], m[2]+v[3])
		}
	}
	return len(s.text)
}
