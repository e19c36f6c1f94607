package ground

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// A model that answers in JSON under names of its own says the same as one that writes "Cause: ..." in lines. So its values are read as
// lines behind their names, line by line, because an answer may break off or come piece by piece.

var (
	// pair is a name and the beginning of its value, alone on a line.
	pair = lazy.MustCompile(`^"[^"\\]{1,60}"\s*:\s*`)
	// ofText are names that only say that a sentence follows, and ofKind those of what it is said for.
	ofText = words("text statement claim claims sentence description detail details summary message finding value")
	ofSort = words("kind type category label")
	// ofChat are names by which an object is a turn of a conversation and no answer.
	ofChat = words("role content tool_calls tool_call function_call function name arguments override system prompt")
)

// inLines writes JSON that is no answer under the headings as lines: each value behind its name. Other lines stay as they are.
func inLines(text string) string {
	if out, ok := linesOf(text); ok {
		return out
	}
	if !strings.Contains(text, `"`) {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		of := strings.TrimSuffix(strings.TrimSpace(strings.TrimLeft(line, " \t*-•")), ",")
		if opened := pair.FindString(of); opened != "" {
			switch of[len(opened):] {
			case "[", "{":
				continue // what it holds follows
			}
			of = "{" + of + "}"
		} else if !strings.HasPrefix(of, "{") && !strings.HasPrefix(of, "[") && !(strings.HasPrefix(of, `"`) && brackets.MatchString(of)) {
			b.WriteString(line)
			continue
		}
		if out, ok := linesOf(of); ok {
			line = out
		}
		b.WriteString(line)
	}
	return b.String()
}

// linesOf are the lines of a text that is JSON as a whole.
func linesOf(text string) (string, bool) {
	text = strings.TrimSpace(text)
	var v any
	if text == "" || !strings.ContainsRune(`{["`, rune(text[0])) || json.Unmarshal([]byte(text), &v) != nil {
		return "", false
	}
	var b strings.Builder
	ok := line(&b, "", v, 0)
	return b.String(), ok
}

// otherNames are the values of an answer under other names than the headings, as lines: those that cite something.
func otherNames(raw map[string]any) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		if low := strings.ToLower(key); named.MatchString(key) || low == "claims" || low == "nominate" || ofChat[low] {
			continue
		}
		var of strings.Builder
		if line(&of, strings.Map(spaced, key), raw[key], 0) && brackets.MatchString(of.String()) {
			b.WriteString(of.String())
		}
	}
	return b.String()
}

// line writes a value behind its name; it says whether it is one of an answer.
func line(b *strings.Builder, name string, v any, depth int) bool {
	switch v := v.(type) {
	case []any:
		return depth <= deepest && !slices.ContainsFunc(v, func(one any) bool { return !line(b, name, one, depth+1) })
	case map[string]any:
		if depth > deepest {
			return false
		}
		cites, sentences := "", []string{}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			switch low := strings.ToLower(key); {
			case ofChat[low]:
				return false
			case strings.HasPrefix(low, "cit") || low == "evidence" || low == "source" || low == "sources":
				cites += strings.TrimPrefix(claimOf(map[string]any{"cites": v[key]}), " ") + " "
			case ofSort[low]:
				name = plain(v[key])
			case low != "id":
				sentences = append(sentences, key)
			}
		}
		for _, key := range sentences {
			of := strings.TrimSpace(strings.Map(spaced, key))
			if ofText[strings.ToLower(key)] {
				of = name
			}
			one := v[key]
			if said, ok := one.(string); ok {
				one = strings.TrimSpace(said + " " + strings.TrimSpace(cites))
			}
			if !line(b, of, one, depth+1) {
				return false
			}
		}
		return true
	}
	if said := Clean(plain(v)); strings.TrimSpace(said) != "" { // JSON may hide marks behind escapes
		if name != "" {
			said = Clean(name) + ": " + said
		}
		b.WriteString(said + "\n")
	}
	return true
}

// spaced is a character of a name as one of words.
func spaced(r rune) rune {
	if r == '_' || r == '-' || r == '.' {
		return ' '
	}
	return r
}
