package apiserver

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
)

// ServerSays is an error of the API server, or of a webhook behind it, as a person reads it: some of them print the Go
// value that is wrong, such as a whole pod template of which one word changed.
func ServerSays(err error) string { return terminal.OneLine(WithoutGo(err.Error())) }

var (
	// goLiteral begins a value as %#v or %v prints it: core.PodTemplateSpec{, &errors.StatusError{, map[string]interface {}{.
	goLiteral = regexp.MustCompile(`[&*]?(?:\b[a-z]\w*\.[A-Z]\w*|\[\][\w.*]+|map\[\w+\](?:interface ?\{\}|[\w.*]+))\{`)
	// ownMessage is what an error that was printed so says.
	ownMessage = regexp.MustCompile(`\bMessage: ?("(?:[^"\\]|\\.)+")`)
)

// WithoutGo is a text without the values of Go in it: of an error its message stays, of others that there was one.
func WithoutGo(text string) string {
	var b strings.Builder
	for {
		at := goLiteral.FindStringIndex(text)
		if at == nil {
			return b.String() + text
		}
		end := at[1] + closing(text[at[1]:])
		b.WriteString(text[:at[0]])
		if m := ownMessage.FindStringSubmatch(text[at[0]:end]); m != nil {
			said, _ := strconv.Unquote(m[1])
			b.WriteString(said)
		} else {
			b.WriteString("…")
		}
		text = text[end:]
	}
}

// closing is where the brace ends that is open before a text; its length where none closes it.
func closing(text string) int {
	depth, quoted := 1, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}
