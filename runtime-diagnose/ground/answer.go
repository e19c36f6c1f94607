package ground

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// Answer is what a model wrote under the four headings that prompts ask for. Healthy is what
// it claims; nothing may rest on it.
type Answer struct {
	Healthy, Error, Analysis, Solution string
	Nominate                           Nomination
}

// Nomination is the line that a model takes for the cause, and the category that it puts it in. It is a proposal:
// see explain.Test. The zero value is none.
type Nomination struct{ Line, Quote, Category string }

// heading is one of the words at the start of a line, with the marks models put around it.
var heading = lazy.MustCompile(`(?i)^[\s>*#_\-\d.]{0,12}(healthy|error|analysis|solution|nominate|健康|错误|分析|解决方案|提名)[\s*_]{0,4}[:：][\s*_]{0,4}`)

// thoughts are what a reasoning model thinks aloud; an unclosed one runs to the end.
var thoughts = lazy.MustCompile(`(?is)<think(?:ing)?>.*?(?:</think(?:ing)?>|$)`)

var fences = lazy.MustCompile("(?m)^[ \t]*```[a-zA-Z]*[ \t]*\n?")

// Parse reads an answer: the four headings, or JSON with the same names. Text before the first
// heading, or without any, is Analysis.
func Parse(text string) Answer {
	text = fences.ReplaceAllString(Clean(thoughts.ReplaceAllString(text, "")), "")
	if a, ok := parseJSON(text); ok {
		return a
	}
	var a Answer
	nominate := ""
	at := &a.Analysis
	for line := range strings.Lines(text) {
		if m := heading.FindStringSubmatchIndex(line); m != nil {
			if at = a.field(line[m[2]:m[3]]); at == nil {
				at = &nominate
			}
			line = line[m[1]:]
		}
		*at += line
		if !strings.HasSuffix(line, "\n") {
			*at += "\n"
		}
	}
	for _, s := range []*string{&a.Healthy, &a.Error, &a.Analysis, &a.Solution} {
		*s = strings.TrimSpace(*s)
	}
	a.Nominate = nominationOf(nominate)
	return a
}

// nominationOf reads "[pod/worker-3/trainer#18231] dataset-error", in any order, with a quotation perhaps.
func nominationOf(text string) (n Nomination) {
	if m := brackets.FindStringSubmatch(text); m != nil {
		n.Line, text = strings.TrimSpace(m[1]), strings.Replace(text, m[0], " ", 1)
	}
	if m := quotation.FindStringSubmatch(text); m != nil {
		n.Quote, text = strings.Join(m[1:], ""), strings.Replace(text, m[0], " ", 1)
	}
	if n.Category = slug.FindString(text); n.Line == "" {
		return Nomination{}
	}
	return n
}

// slug is the name of a category.
var slug = lazy.MustCompile(`\b[a-z0-9]+(?:-[a-z0-9]+)+\b|\bsegfault\b|\bevicted\b`)

func (a *Answer) field(name string) *string {
	switch strings.ToLower(name) {
	case "healthy", "健康":
		return &a.Healthy
	case "error", "错误":
		return &a.Error
	case "solution", "解决方案":
		return &a.Solution
	case "nominate", "提名":
		return nil
	default:
		return &a.Analysis
	}
}

func parseJSON(text string) (Answer, bool) {
	var raw map[string]any
	around := ""
	if !strings.HasPrefix(strings.TrimSpace(text), "{") || json.Unmarshal([]byte(text), &raw) != nil {
		if raw, around = looseJSON(text); raw == nil {
			return Answer{}, false
		}
	}
	var a Answer
	for key, v := range raw { // in capitals, or with some
		if low := strings.ToLower(key); low != key && raw[low] == nil {
			raw[low] = v
		}
	}
	for _, f := range []struct {
		name string
		into *string
	}{{"healthy", &a.Healthy}, {"error", &a.Error}, {"analysis", &a.Analysis}, {"solution", &a.Solution}} {
		*f.into = Clean(plain(raw[f.name])) // JSON may hide marks behind escapes
	}
	if n, ok := raw["nominate"].(map[string]any); ok {
		a.Nominate = Nomination{Line: strings.Trim(strings.TrimSpace(plain(n["line"])), "[]"), Quote: plain(n["quote"]), Category: strings.TrimSpace(plain(n["category"]))}
	}
	if a.Nominate.Line == "" {
		a.Nominate = Nomination{}
	}
	if a == (Answer{}) {
		return a, false
	}
	a.Analysis = strings.TrimSpace(a.Analysis + "\n" + strings.TrimSpace(around)) // it is judged like the rest
	return a, true
}

// plain is a JSON value as text: a list is one line each.
func plain(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		if v {
			return "Yes"
		}
		return "No"
	case []any:
		var lines []string
		for _, x := range v {
			lines = append(lines, plain(x))
		}
		return strings.Join(lines, "\n")
	case map[string]any:
		return claimOf(v)
	default:
		return ""
	}
}

// claimOf is a sentence that came as an object, with its quotation and its citations behind it.
func claimOf(v map[string]any) string {
	text, cites := "", ""
	for _, name := range slices.Sorted(maps.Keys(v)) {
		said := strings.TrimSpace(plain(v[name]))
		switch low := strings.ToLower(name); {
		case said == "" || low == "kind" || low == "type" || low == "id":
		case low == "quote" || low == "quotation":
			cites = " \"" + said + "\"" + cites
		case strings.HasPrefix(low, "cit") || low == "evidence" || low == "source" || low == "sources":
			for id := range strings.FieldsSeq(said) {
				cites += " [" + strings.Trim(id, "[],") + "]"
			}
		default:
			text = strings.TrimSpace(text + " " + said)
		}
	}
	return text + cites
}
