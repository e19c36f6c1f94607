package kinds

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// shells take a script as the word after -c.
var shells = []string{"sh", "bash", "dash", "ash", "zsh", "ksh"}

// keywords may stand in front of a command.
var keywords = []string{"export", "local", "readonly", "if", "then", "else", "elif", "do", "while", "until", "!"}

// mostScript is the longest script that is read, in bytes; of a longer one nothing is known, for what comes
// last may be what counts.
const mostScript = 64 << 10

var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// scripts are the commands of an argument vector: itself, or the simple commands of the
// script that it hands to a shell.
func scripts(all command) []command {
	i := 0
	for i < len(all.words) && (strings.HasSuffix(all.words[i], "entrypoint.sh") || slices.Contains(wrappers, path.Base(all.words[i]))) {
		i++
	}
	if i >= len(all.words) || !slices.Contains(shells, path.Base(all.words[i])) {
		return []command{all}
	}
	for k := i + 1; k < len(all.words); k++ {
		w := all.words[k]
		if !strings.HasPrefix(w, "-") {
			break // a script file: its text is not here
		}
		if k+1 < len(all.words) && !strings.HasPrefix(w, "--") && strings.HasSuffix(w, "c") {
			return simpleCommands(all.words[k+1], all.at[k+1])
		}
	}
	return nil
}

// simpleCommands splits a script into commands of plain words. Quoting is honoured;
// variables that the script sets once to a plain value are replaced; everything that a
// shell would compute stays as it is written, to be found unread.
func simpleCommands(script string, at job.Path) []command {
	if len(script) > mostScript {
		return nil
	}
	set := map[string]string{}
	var out []command
	for _, words := range splitScript(script) {
		for len(words) > 0 && (assignment.MatchString(words[0]) || slices.Contains(keywords, words[0])) {
			remember(set, words[0])
			words = words[1:]
		}
		if len(words) == 0 {
			continue
		}
		cmd := command{shell: true}
		for _, w := range words {
			cmd.words, cmd.at = append(cmd.words, replace(set, w)), append(cmd.at, at)
		}
		out = append(out, cmd)
	}
	return out
}

// remember keeps an assignment; one that is made twice, or computed, is not known.
func remember(set map[string]string, word string) {
	name, value, ok := strings.Cut(word, "=")
	if !ok {
		return
	}
	if _, twice := set[name]; twice || strings.ContainsAny(value, "$`") {
		value = ""
	}
	set[name] = value
}

// replace resolves a word, or the value in --flag=$X, that is one reference.
func replace(set map[string]string, word string) string {
	flag, value, joined := strings.Cut(word, "=")
	if !joined || !strings.HasPrefix(flag, "-") {
		flag, value = "", word
	}
	m := variable.FindStringSubmatch(value)
	if m == nil || set[m[2]+m[3]] == "" {
		return word
	}
	if flag != "" {
		return flag + "=" + set[m[2]+m[3]]
	}
	return set[m[2]+m[3]]
}

// splitter cuts a script into words and commands in one pass.
type splitter struct {
	commands [][]string
	words    []string
	word     strings.Builder
	open     bool // a word has begun, even if it is still empty
}

func (s *splitter) endWord() {
	if s.open {
		s.words = append(s.words, s.word.String())
	}
	s.word.Reset()
	s.open = false
}

func (s *splitter) endCommand() {
	s.endWord()
	if len(s.words) > 0 {
		s.commands = append(s.commands, s.words)
	}
	s.words = nil
}

func (s *splitter) add(text string) {
	s.word.WriteString(text)
	s.open = true
}

// splitScript is a small part of a shell's lexer: quotes, escapes, comments, operators,
// substitutions (kept as text) and here-documents (left out).
func splitScript(script string) [][]string {
	s := &splitter{}
	script = strings.ReplaceAll(script, "\\\n", " ")
	for i := 0; i < len(script); {
		switch c := script[i]; {
		case c == ' ' || c == '\t' || c == '\r':
			s.endWord()
			i++
		case c == '#' && !s.open:
			i += lineLeft(script[i:])
		case c == '<' && strings.HasPrefix(script[i:], "<<") && !strings.HasPrefix(script[i:], "<<<"):
			s.endCommand()
			i += hereDocument(script[i:])
		case strings.IndexByte("\n;|&()<>{}", c) >= 0 && !(s.open && (c == '{' || c == '}')):
			s.endCommand()
			i++
		case c == '\'' || c == '"':
			i += s.quoted(script[i:], c)
		case c == '\\' && i+1 < len(script):
			s.add(script[i+1 : i+2])
			i += 2
		case c == '$' || c == '`':
			n := substitution(script[i:])
			s.add(script[i : i+n])
			i += n
		default:
			s.add(script[i : i+1])
			i++
		}
	}
	s.endCommand()
	return s.commands
}

func (s *splitter) quoted(text string, quote byte) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == quote:
			s.add(text[1:i])
			return i + 1
		case quote == '"' && text[i] == '\\':
			i++
		}
	}
	s.add(text[1:])
	return len(text)
}

// substitution is the length of $X, ${X}, $(…) or `…` at the beginning of the text.
func substitution(text string) int {
	if text[0] == '`' {
		if n := strings.IndexByte(text[1:], '`'); n >= 0 {
			return n + 2
		}
		return len(text)
	}
	if len(text) < 2 || text[1] != '(' && text[1] != '{' {
		return 1
	}
	depth := 0
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '(', '{':
			depth++
		case ')', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

func lineLeft(text string) int {
	if n := strings.IndexByte(text, '\n'); n >= 0 {
		return n
	}
	return len(text)
}

// hereDocument is the length of <<WORD up to and with the line that ends it.
func hereDocument(text string) int {
	line := lineLeft(text)
	fields := strings.Fields(strings.TrimLeft(text[2:line], "-"))
	if len(fields) == 0 {
		return 2
	}
	end := strings.Trim(fields[0], `'"\`)
	for at := line; at < len(text); {
		next := at + 1 + lineLeft(text[at+1:])
		if strings.TrimSpace(text[at+1:next]) == end {
			return next
		}
		at = next
	}
	return len(text)
}
