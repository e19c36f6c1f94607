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
var heading = lazy.MustCompile(`(?i)^[\s>*#_\-\d.]{0,12}` + headings + `[\s*_]{0,4}[:：][\s*_]{0,4}`)

// title is a heading that has a line of its own, as Markdown has it.
var title = lazy.MustCompile(`(?i)^(?:\s{0,3}#{1,6}[\s*_\d.)]{0,8}|\s{0,3}(?:\*\*|__)[\d.)\s]{0,4})` + headings + `[\s*_]{0,4}$`)

const headings = `(healthy|errors?|analysis|solutions?|(?:recommended |suggested |possible )?(?:fix|fixes|remedy|remedies)|nominate|(?:是否)?健康(?:状态|状况)?|错误(?:信息|原因)?|(?:原因|根因|问题|错误)?分析|解决(?:方案|方法|办法|步骤)|建议|提名)`

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
	text = inLines(text)
	var a Answer
	nominate := ""
	at := &a.Analysis
	for line := range strings.Lines(text) {
		m := heading.FindStringSubmatchIndex(line)
		if m == nil {
			m = title.FindStringSubmatchIndex(strings.TrimRight(line, "\r\n"))
		}
		if m != nil {
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
	switch low := strings.ToLower(name); {
	case low == "healthy", strings.Contains(low, "健康"):
		return &a.Healthy
	case low == "analysis", strings.HasSuffix(low, "分析"):
		return &a.Analysis
	case strings.HasPrefix(low, "error"), strings.HasPrefix(low, "错误"):
		return &a.Error
	case strings.HasPrefix(low, "solution"), strings.HasPrefix(low, "解决"), strings.Contains(low, "fix"), strings.Contains(low, "remed"), low == "建议":
		return &a.Solution
	default:
		return nil
	}
}

// named is the name of a value of JSON that is one of the headings.
var named = lazy.MustCompile(`(?i)^` + headings + `$`)

// wrapped is how many objects of one value each may stand around an answer.
const wrapped = 3

func parseJSON(text string) (Answer, bool) {
	var raw map[string]any
	around := ""
	if !strings.HasPrefix(strings.TrimSpace(text), "{") || json.Unmarshal([]byte(text), &raw) != nil {
		if raw, around = looseJSON(text); raw == nil {
			return Answer{}, false
		}
	}
	for range wrapped {
		if len(raw) != 1 {
			break
		}
		for key, v := range raw {
			if inner, ok := v.(map[string]any); ok && !named.MatchString(key) {
				raw = inner
			}
		}
	}
	var a Answer
	if others := otherNames(raw); others != "" {
		around = strings.TrimSpace(others + around)
	}
	for _, key := range slices.Sorted(maps.Keys(raw)) { // in capitals, in Chinese, or with some
		if into := a.field(key); into != nil && named.MatchString(key) && *into == "" {
			*into = Clean(plain(raw[key])) // JSON may hide marks behind escapes
		}
		if low := strings.ToLower(key); low != key && raw[low] == nil {
			raw[low] = raw[key]
		}
	}
	if claims, ok := raw["claims"].([]any); ok {
		a.claims(claims)
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

// claims are sentences with what they are said for.
func (a *Answer) claims(list []any) {
	for _, one := range list {
		into := &a.Analysis
		if claim, ok := one.(map[string]any); ok {
			switch kind, _ := claim["kind"].(string); strings.ToLower(kind) {
			case "cause", "error":
				into = &a.Error
			case "step", "solution":
				into = &a.Solution
			}
		}
		*into = strings.TrimSpace(*into + "\n" + Clean(plain(one)))
	}
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
