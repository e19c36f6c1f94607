package terminal

import (
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// Width is the width of the terminal: what COLUMNS says, what the terminal says, or 80.
func Width(w io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return 80
}

// locale is what a set of variables says of characters, in lower case; empty: nothing. The first of
// these that is set counts (POSIX.1-2017, 8.2).
func locale(env func(string) string) string {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(env(name)); v != "" {
			return v
		}
	}
	return ""
}

// SpeaksUTF8 says whether the locale can show more than ASCII.
func SpeaksUTF8(system string, env func(string) string) bool {
	v := locale(env)
	if v == "" {
		return system == "windows" // whose terminals know no locale
	}
	return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
}

// marks are the signs of our own texts that are not ASCII. What programs and files say stays as it is.
var marks = strings.NewReplacer(" · ", " - ", " × ", " x ", "…", "...", "→", "->", "←", "<-", "│", "|", "±", "+-", "–", "-", "≥", ">=", "≤", "<=")

// Plainly is a text for a locale that names no UTF-8; where none is named, somebody else reads it.
func Plainly(text string, env func(string) string) string {
	if locale(env) == "" || SpeaksUTF8("", env) {
		return text
	}
	return marks.Replace(text)
}
