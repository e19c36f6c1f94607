package report

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// placeholder is {{.fact}} or {{.fact|what to say without it}}.
var placeholder = regexp.MustCompile(`\{\{ *\.([A-Za-z]\w*) *(?:\| *([^}]*))?\}\}`)

// fill puts facts into a text of a signature.
func fill(text string, facts map[string]string) string {
	return placeholder.ReplaceAllStringFunc(text, func(m string) string {
		groups := placeholder.FindStringSubmatch(m)
		return cmp.Or(facts[groups[1]], groups[2], "something")
	})
}

// quiet facts are for machines: they repeat what the sentence says, or are long.
var quiet = []string{"frame", "here", "there", "rank", "why", "waiting", "reason", "nodes", "message", "than", "loud", "says"}

// factList is what a finding knows besides, for people: each fact by its name, in order.
func factList(facts map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		if !slices.Contains(quiet, name) && len(facts[name]) <= 160 {
			parts = append(parts, factName(name)+" "+facts[name])
		}
	}
	return strings.Join(parts, ", ")
}

// factName turns a fact's name into words: exitCode, memory_limit → exit code, memory limit.
func factName(name string) string {
	var b strings.Builder
	for _, c := range name {
		switch {
		case c == '_':
			b.WriteByte(' ')
		case 'A' <= c && c <= 'Z':
			b.WriteByte(' ')
			b.WriteRune(c + 'a' - 'A')
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}
