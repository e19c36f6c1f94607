package ground

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ansi is a terminal's control sequence: CSI, OSC up to its end, or two bytes.
var ansi = regexp.MustCompile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[@-_])")

// framing are the marks by which models tell who speaks: ChatML and its kin, Llama's, Gemma's,
// and the tags that agents wrap thoughts and tools in. In data they are an attempt to speak as
// somebody else.
var framing = regexp.MustCompile(`(?i)<\|[^|<>\n]{0,64}\|>|<｜[^｜<>\n]{0,64}｜>|</?(?:system|assistant|user|developer|tool|tool_call|function_call|instructions?|think|thinking|s)>|<(?:start|end)_of_turn>|\[/?INST\]|<</?SYS>>`)

// Clean takes from a text what a reader cannot see or a model could take for a turn of the
// conversation: terminal sequences, control characters except newline and tab, zero-width and
// direction marks, framing tokens. Invalid UTF-8 becomes U+FFFD. Cleaning twice is cleaning once.
func Clean(s string) string {
	for {
		t := cleanOnce(s)
		if t == s {
			return t
		}
		s = t
	}
}

// cleanOnce may join what stood around a removed part into a new mark; Clean repeats it.
func cleanOnce(s string) string {
	s = ansi.ReplaceAllString(strings.ToValidUTF8(s, string(utf8.RuneError)), "")
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		// Cf holds zero-width and bidirectional marks, and the tag characters of U+E0000.
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r >= 0xFE00 && r <= 0xFE0F {
			return -1
		}
		return r
	}, s)
	return framing.ReplaceAllString(s, "")
}
