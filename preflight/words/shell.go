package words

import (
	"regexp"
	"strings"
)

// plainWord is a name that a shell takes as it is.
var plainWord = regexp.MustCompile(`^[\w./@%+=:,-]+$`)

// ShellWord is a name in a command that somebody may copy: one word that is no option, whatever stands in it. What a file, an
// Event or a manifest is called, others have written.
func ShellWord(name string) string {
	switch {
	case strings.HasPrefix(name, "-"):
		name = "./" + name
	case plainWord.MatchString(name):
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}
