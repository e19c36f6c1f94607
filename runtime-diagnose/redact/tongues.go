package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// inWords are names of secrets in other languages, and what they are of.
var inWords = map[string]class{
	"密码": password, "口令": password, "密碼": password, "パスワード": password, "비밀번호": password, "пароль": password,
	"mot de passe": password, "contraseña": password, "contrasena": password, "senha": password, "kennwort": password, "hasło": password, "wachtwoord": password, "lösenord": password,
	"密钥": secret, "私钥": secret, "令牌": secret, "密鑰": secret, "凭证": secret,
}

// verbs stand between a name and its value: a few characters may stand between them that end with one that says "is", or
// with a colon.
var verbs = lazy.MustCompile(`^["'”’]?(?:\p{Han}{1,8}[为為是成]|\p{Han}{1,4}\s*[：:])?\s*(?:是|为|為|：|:|=|＝|は|는|\s)?\s*(?:[:：=]\s*)?["'“‘「]?`)

// inWord is a name of a secret in another language.
type inWord struct {
	name string
	of   class
}

// wordsBegin and wordsEnd are the names by their first and their last byte.
var wordsBegin, wordsEnd = func() (begin, end [256][]inWord) {
	for w, c := range inWords {
		begin[w[0]] = append(begin[w[0]], inWord{w, c})
		end[w[len(w)-1]] = append(end[w[len(w)-1]], inWord{w, c})
	}
	return begin, end
}()

// asciiWord is what a value behind such a word is made of.
var asciiWord = func() (b bytesOf) {
	for c := byte(' ') + 1; c < 0x80; c++ {
		b[c] = strings.IndexByte("\"'`,;<>", c) < 0
	}
	return b
}()

func byWord(s *scan, at int) int {
	for _, w := range wordsBegin[lower[s.text[at]]] {
		if !beginsWith(s.text[at:], w.name) || insideWord(s.text, at) && w.name[0] < 0x80 {
			continue
		}
		from := at + len(w.name)
		if outOfReach(s.text[from:]) {
			return from
		}
		from += len(verbs.FindString(s.text[from:]))
		to := s.run(&asciiWord, from)
		v := s.text[from:to]
		if v == "" || placeholder(v) {
			return from
		}
		if w.of == password && len(v) >= 6 && letters.has(v) && (digits.has(v) || uppers.has(v)) || w.of == secret && random(v, 16) {
			s.mask(from, to)
		}
		return to
	}
	return at
}

// farthest is how many Chinese characters may stand between a name and its value, by verbs: eight, one that says "is", and another.
const farthest = 10

// outOfReach says that Chinese stands behind a name, and no value: more of it than verbs has, or the end or a mark behind it. Most that a log says
// of passwords is so.
func outOfReach(text string) bool {
	at, n := 0, 0
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		if !han(r) {
			return n > 0 && strings.ContainsRune("，。、；！？）】》", r)
		}
		if n++; n > farthest {
			return true
		}
		at += size
	}
	return true
}

// han says that a rune is Chinese: most are of one range.
func han(r rune) bool { return '一' <= r && r <= '\u9fff' || unicode.Is(unicode.Han, r) }

func wordGates() (out []string) {
	for w := range inWords {
		out = append(out, strings.ToLower(w))
	}
	return out
}

// invisible are the runes that nobody sees: zero-width and direction marks, soft hyphens, variation
// selectors, in all of which a text may be hidden from people and not from a model, and the tag characters of U+E0000. The
// fillers of Hangul are as wide as a letter.
func invisible(r rune) bool {
	if r >= firstSeen && r < 0xFE00 {
		return false // bars, Chinese, Japanese, Korean: most of what is not ASCII in a log
	}
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// firstSeen begins a long range of runes that are all seen, up to the variation selectors.
const firstSeen = 0x2070
