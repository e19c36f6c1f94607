package kinds

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// shells take a script as the word after -c.
var shells = []string{"sh", "bash", "dash", "ash", "zsh", "ksh"}

// mostScript is the longest script that is read, in bytes; of a longer one nothing is known, for what comes
// last may be what counts.
const mostScript = 64 << 10

// mostNested is how many brackets may be open at a time in a script that is read: each is a call of the parser within
// another, and people write ten.
const mostNested = 256

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

// simpleCommands are the commands of a script in plain words, as a shell reads it. Quotes are taken away; variables
// that the script sets once to a plain value are replaced; everything that a shell would compute stays as it is
// written, to be found unread. Of a script that no shell reads whole nothing is known.
func simpleCommands(script string, at job.Path) []command {
	if len(script) > mostScript || nested(script) > mostNested {
		return nil
	}
	script = strings.ReplaceAll(script, "$$", "$") // as the kubelet hands it on
	return parsed(script, at, 0, map[string]string{})
}

// parsed are the simple commands of a script that begins below so many lines, where variables are set so.
func parsed(script string, at job.Path, above uint, set map[string]string) []command {
	file, err := syntax.NewParser().Parse(strings.NewReader(script), "")
	if err != nil {
		return nil
	}
	var out []command
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			return false // a word
		case *syntax.Stmt:
			if text := handedOn(script, n); text != nil && above == 0 { // one within another nobody writes
				var body strings.Builder
				for _, part := range text.Parts {
					if lit, plain := part.(*syntax.Lit); plain {
						body.WriteString(lit.Value)
						continue
					}
					body.WriteString(script[part.Pos().Offset():part.End().Offset()])
				}
				out = append(out, parsed(body.String(), at, text.Pos().Line()-1, set)...)
				return false
			}
		case *syntax.Assign:
			remember(set, script, n)
		case *syntax.CallExpr:
			if len(n.Args) == 0 {
				break
			}
			cmd := command{shell: true, line: int(min(above+n.Args[0].Pos().Line(), mostScript))}
			for _, w := range n.Args {
				cmd.words, cmd.at = append(cmd.words, replace(set, plain(script, w.Parts, false))), append(cmd.at, at)
			}
			out = append(out, cmd)
		}
		return true
	})
	return out
}

// handedOn is the here-document that a statement gives a shell to read as its script; nil: it gives none.
func handedOn(script string, s *syntax.Stmt) *syntax.Word {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || !slices.Contains(shells, path.Base(plain(script, call.Args[0].Parts, false))) {
		return nil
	}
	for _, w := range call.Args[1:] {
		if flag := plain(script, w.Parts, false); !strings.HasPrefix(flag, "-") || strings.HasSuffix(flag, "c") {
			return nil // the script is elsewhere
		}
	}
	for _, r := range s.Redirs {
		if (r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc) && r.Hdoc != nil {
			return r.Hdoc
		}
	}
	return nil
}

// nested is how many brackets are open at most, quoted or not.
func nested(script string) (most int) {
	open := 0
	for i := range len(script) {
		switch script[i] {
		case '(', '[', '{':
			open++
			most = max(most, open)
		case ')', ']', '}':
			open = max(0, open-1)
		}
	}
	return most
}

// plain is a word without its quotes and escapes. The escape of a dollar stays: what follows is no variable.
func plain(script string, parts []syntax.WordPart, quoted bool) string {
	var b strings.Builder
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(unescaped(p.Value, quoted))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			b.WriteString(plain(script, p.Parts, true))
		default:
			b.WriteString(script[p.Pos().Offset():p.End().Offset()])
		}
	}
	return b.String()
}

// unescaped takes the backslashes away that a shell takes away: between quotes those before a quote, a backslash and a
// backquote only.
func unescaped(text string, quoted bool) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && text[i+1] != '$' && (!quoted || strings.IndexByte("\"\\`", text[i+1]) >= 0) {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// remember keeps an assignment; one that is made twice, or computed, is not known.
func remember(set map[string]string, script string, a *syntax.Assign) {
	if a.Name == nil || a.Naked {
		return
	}
	value := ""
	if a.Value != nil && !a.Append && a.Index == nil {
		value = plain(script, a.Value.Parts, false)
	}
	if _, twice := set[a.Name.Value]; twice || strings.ContainsAny(value, "$`") {
		value = ""
	}
	set[a.Name.Value] = value
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
