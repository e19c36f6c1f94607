package redact

import (
	"strings"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// place is how a value stands beside its name.
type place int

const (
	quotedValue place = iota // name: "value"
	assigned                 // name=value
	setting                  // NAME=value
	colon                    // name: value
	option                   // --name value
	optionIs                 // --name=value
	exported                 // NAME value
	prose                    // the name is value
	parameter                // ?name=value
)

// fits says whether a text that stands so is a value to mask. What it is made of tells most, and is seen soonest.
func (c class) fits(v string, at place) bool {
	if len(v) > longestJudged && !placeholder(v) {
		v = v[:longestJudged]
	}
	return v != "" && c.looks(v, at) && !placeholder(v) && !(inCode.has(v) && code.MatchString(v))
}

// longestJudged is how much of a value is looked at: what it is shows there, and a line of a megabyte may seem to hold a
// hundred thousand values that all go on to its end.
const longestJudged = 1 << 10

// looks says whether a text is made as such a value is.
func (c class) looks(v string, at place) bool {
	if (at == option || at == optionIs) && notValues[strings.ToLower(v)] {
		return false
	}
	switch c { //nolint:exhaustive // none fits nothing
	case password:
		switch at { //nolint:exhaustive // the other places are alike
		case colon:
			return utf8.RuneCountInString(v) >= 4
		case exported, prose:
			return len(v) >= 6 && letterAndDigit(v) && !measure(v) && !path(v)
		}
		return true
	case secret:
		switch at { //nolint:exhaustive // the other places are alike
		case quotedValue:
			return !path(v)
		case colon:
			return len(v) >= 4 && (mixed(v) || len(v) >= 20) && !path(v)
		case option:
			return len(v) >= 4 && !path(v)
		case exported:
			return len(v) >= 8 && letterAndDigit(v) && !path(v)
		case prose:
			return random(v, 16)
		}
		return len(v) >= 4 && !path(v)
	case token:
		switch at { //nolint:exhaustive // the other places are alike
		case quotedValue, setting, parameter:
			return len(v) >= 8 && letterAndDigit(v) && !path(v)
		case option:
			return len(v) >= 4 && (mixed(v) || len(v) >= 16) && !path(v)
		case optionIs:
			return len(v) >= 4 && !path(v)
		case exported:
			return len(v) >= 12 && letterAndDigit(v) && !path(v)
		case prose:
			return random(v, 16)
		}
		return len(v) >= 16 && letterAndDigit(v) && !path(v)
	case key:
		switch at { //nolint:exhaustive // the other places are alike
		case parameter:
			return len(v) >= 16 && letterAndDigit(v) && !path(v)
		case prose:
			return false
		case option, optionIs:
			return random(v, 16)
		}
		return random(v, 20)
	}
	return false
}

func letterAndDigit(v string) bool { return digits.has(v) && letters.has(v) }

// notValues are what stands where a value would, and is none.
var notValues = words("null none nil true false yes no unset undefined str string int integer bytes bool any object optional required missing empty invalid wrong incorrect expired default enabled disabled " +
	"is was or and not to must cannot requires option flag argument parameter value given for the in of strict redacted masked hidden self optional[str] not-set not_set changeme")

// placeholder is what stands for a value: words for nothing, stars, variables and templates.
func placeholder(v string) bool {
	if strings.HasPrefix(v, masked) {
		return true
	}
	if word := v[:marks.runBack(v, len(v))]; len(word) <= longestNoValue && !digits.has(word) && notValues[strings.ToLower(word)] {
		return true
	}
	switch v[0] {
	case '$':
		return len(v) > 1 && (letters[v[1]] || v[1] == '{' || v[1] == '(' || v[1] == '_')
	case '<':
		return strings.HasSuffix(v, ">") || strings.Contains(v, "|")
	case '{', '%':
		return strings.HasPrefix(v, "{{") || strings.HasPrefix(v, "%(")
	case '*', '.':
		return strings.Trim(v, v[:1]) == ""
	case 'x', 'X':
		return strings.Trim(v, "xX") == ""
	case '-', '_':
		return strings.Trim(v, "-_") == ""
	}
	return false
}

// marks are those that may stand behind a word.
var marks = set(".,;:!")

// longestNoValue is how many bytes the longest of notValues has. None has a digit, as most secrets do.
var longestNoValue = func() (most int) {
	for w := range notValues {
		most = max(most, len(w))
	}
	return most
}()

// inCode are those of which one stands in code.
var inCode = set(".([")

// code is source text that says where a value comes from.
var code = lazy.MustCompile(`^(?:(?:args|self|config|cfg|os|settings|opts?|options|conf|params?|kwargs|env|environ|getpass|request|ctx|this|vault|keyring|process|System|secrets)\.[A-Za-z_][\w.]*|(?:[a-z_]\w*\.)*[a-zA-Z_]\w*[(\[].*)$`)

// path is the name of a file.
func path(v string) bool {
	if strings.IndexByte(v, ':') >= 0 && strings.Contains(v, "://") {
		return true
	}
	if v == "" || v[0] != '/' && v[0] != '.' && v[0] != '~' {
		return false
	}
	for _, begin := range []string{"/", "./", "../", "~/"} {
		if strings.HasPrefix(v, begin) {
			for part := range strings.SplitSeq(v, "/") {
				if len(part) >= 20 && mixed(part) && uppers.has(part) || strings.ContainsAny(part, "+=") {
					return false
				}
			}
			return true
		}
	}
	return false
}

// measured is a number with a unit, a version, a time or an address.
var measured = lazy.MustCompile(`^(?:v?\d[\d.,:/-]*[a-zA-Z%]{0,4}|0x[0-9a-fA-F]+|\d+x\d+\w*|[a-z]+-?\d{1,4}|\w+\(.*|[\w.-]+:\d+|[^\s/]*/.*|\d+(?:st|nd|rd|th)|utf-?\d+|sha\d+.*|[\w.-]+\.[a-z]{1,5}(?::\d+)?)$`)

func measure(v string) bool {
	if len(v) > 128 {
		return strings.IndexByte(v, '/') >= 0 // no number, version, time or address is so long
	}
	return measured.MatchString(v)
}

// random is what no word, number or name is: capitals, small letters and digits, or many hexadecimal digits.
func random(v string, least int) bool {
	if len(v) < least || !digits.has(v) || !letters.has(v) || path(v) {
		return false
	}
	if uppers.has(v) && lowers.has(v) {
		return !strings.Contains(v, "://")
	}
	if hex.only(v) {
		return len(v) >= 32
	}
	changes := 0
	for i := 1; i < len(v); i++ {
		if digits[v[i]] != digits[v[i-1]] {
			changes++
		}
	}
	return len(v) >= 20 && changes >= 5
}
