// Package learn makes drafts of signatures from lines that a model named as the cause of a failure, that the
// rules let stand, and that somebody has confirmed. A draft is of the form that make new-signature lays out: it
// loads, its fixtures hold, and a person has still to say what it proves.
//
// It reads no cluster and writes no file. Start reading at Drafts.
package learn

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Confirmed is one line that somebody has confirmed as the cause.
type Confirmed struct {
	Job      string // for people
	Text     string // of the line
	Category string // as confirmed
	Kind     signature.Kind
	Names    []string // of the job and its pods: they stand for any
}

// Draft is a signature and its fixtures, as files of the catalog.
type Draft struct {
	ID             string
	YAML, Fixtures []byte
	Jobs           []string // that it comes from
}

// Skipped is a confirmed line that no draft is made of.
type Skipped struct{ Job, Why string }

// mostMatches is how many lines stand in the fixtures of one draft; what is above them counts the others.
const mostMatches = 8

// Drafts are one for each form of line and category, in the order of their names. known is the catalog in force:
// what it knows needs no draft.
func Drafts(all []Confirmed, known *signature.Catalog, since string) ([]Draft, []Skipped) {
	type group struct {
		of    []Confirmed
		lines [][]string
	}
	groups := map[string]*group{}
	var keys []string
	var skipped []Skipped
	for _, c := range all {
		body := bodyOf(c.Text)
		words := strings.Fields(body)
		if _, ok := signature.CategoryOf(c.Category); !ok {
			skipped = append(skipped, Skipped{c.Job, fmt.Sprintf("%q is no category; signalbox list categories names all", c.Category)})
			continue
		}
		if m := rootOf(known, body, c.Kind); m != "" {
			skipped = append(skipped, Skipped{c.Job, "signature " + m + " knows the line already"})
			continue
		}
		key := string(c.Kind) + "\x00" + c.Category + "\x00" + form(words, c.Names)
		if groups[key] == nil {
			groups[key] = &group{}
			keys = append(keys, key)
		}
		g := groups[key]
		g.of, g.lines = append(g.of, c), append(g.lines, words)
	}
	slices.Sort(keys)
	var out []Draft
	taken := map[string]int{}
	for _, key := range keys {
		g := groups[key]
		d, err := draft(g.of, g.lines, since, taken)
		if err != nil {
			skipped = append(skipped, Skipped{g.of[0].Job, err.Error()})
			continue
		}
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b Draft) int { return cmp.Compare(a.ID, b.ID) })
	return out, skipped
}

// rootOf is the signature that names a cause in a line already; empty: none does.
func rootOf(known *signature.Catalog, body string, kind signature.Kind) string {
	if known == nil {
		return ""
	}
	for _, m := range known.Match(body, kind) {
		if m.Signature.Role == signature.Root && !m.Signature.LastResort && !m.Signature.Weak {
			return m.Signature.ID
		}
	}
	return ""
}

// draft is the signature of lines of one form.
func draft(of []Confirmed, lines [][]string, since string, taken map[string]int) (Draft, error) {
	pattern, title := patternOf(lines, of[0].Names)
	id := nameOf(lines[0], of[0].Names)
	if taken[id]++; taken[id] > 1 {
		id = fmt.Sprintf("%s-%d", id, taken[id])
	}
	category, _ := signature.CategoryOf(of[0].Category)
	s := signature.Signature{
		ID: id, Title: title, Since: since, Category: category.Slug, Role: signature.Root, Kinds: []signature.Kind{of[0].Kind},
		Pattern: pattern, Domain: category.Owner, Retry: signature.RetryUnknown,
		Proves:       "What a match proves, with facts: say it here.",
		DoesNotProve: "That nothing else came before it: a model named it, the rules found nothing against it, and " + times(len(of)) + " somebody confirmed it.",
		Remedy:       "One step a line, imperative.",
	}
	if _, err := signature.New(&s); err != nil {
		return Draft{}, fmt.Errorf("the line has too few words of its own for a signature: %w", err)
	}
	text, err := yaml.Marshal(s)
	if err != nil {
		return Draft{}, fmt.Errorf("write signature %s: %w", id, err)
	}
	d := Draft{ID: id, YAML: text, Fixtures: fixtures(regexp.MustCompile(pattern), lines)}
	for _, c := range of {
		d.Jobs = append(d.Jobs, c.Job)
	}
	return d, nil
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// fixtures are the lines themselves, and beginnings and ends of them, which look alike and are not it.
func fixtures(pattern *regexp.Regexp, lines [][]string) []byte {
	var b strings.Builder
	seen := map[string]bool{}
	put := func(section, text string) {
		if text != "" && !seen[text] {
			seen[text] = true
			b.WriteString("-- " + section + " --\n" + text + "\n")
		}
	}
	if n := len(lines) - mostMatches; n > 0 {
		fmt.Fprintf(&b, "%s of this form %s confirmed, too.\n", words.Count(n, "more line", "more lines"), words.Was(n))
	}
	for _, line := range lines[:min(len(lines), mostMatches)] {
		put("match", strings.Join(line, " "))
	}
	first := lines[0]
	for _, part := range [][]string{first[:len(first)/2], first[(len(first)+1)/2:]} {
		if text := strings.Join(part, " "); !pattern.MatchString(text) {
			put("other", text)
		}
	}
	return []byte(b.String())
}

// stands says that a word stands for any: it has a digit, or is a name of the job.
func stands(word string, names []string) bool {
	return strings.ContainsFunc(word, unicode.IsDigit) || slices.ContainsFunc(names, func(n string) bool { return n != "" && strings.Contains(word, n) })
}

// form is equal for lines that differ by what stands for any.
func form(words, names []string) string {
	out := slices.Clone(words)
	for i, w := range out {
		if stands(w, names) {
			out[i] = "#"
		}
	}
	return strings.Join(out, " ")
}

// patternOf is the regular expression of lines with as many words each, and how people read it.
func patternOf(lines [][]string, names []string) (pattern, title string) {
	var parts, read []string
	free := 0
	for _, w := range lines[0] {
		if !stands(w, names) {
			parts, read = append(parts, regexp.QuoteMeta(w)), append(read, w)
			continue
		}
		free++
		parts, read = append(parts, fmt.Sprintf(`(?P<what%d>\S+)`, free)), append(read, "…")
	}
	return strings.Join(parts, `\s+`), strings.Join(read, " ")
}

var letters = regexp.MustCompile(`[a-z]+`)

// nameOf is a name from the first words that are none of the job's.
func nameOf(words, names []string) string {
	const most = 5
	var out []string
	for _, w := range words {
		if stands(w, names) {
			continue
		}
		for _, part := range letters.FindAllString(strings.ToLower(w), -1) {
			if len(part) > 2 && len(out) < most {
				out = append(out, part)
			}
		}
	}
	if len(out) == 0 {
		return "learned"
	}
	return strings.Join(out, "-")
}

// bodyOf is a line without what stands before its message.
func bodyOf(line string) string {
	body := ""
	// Text does not fail to be read.
	_, _ = reduce.Read(strings.NewReader(line), reduce.Options{
		Budget: 1, Suspect: func(string) bool { return false }, Watch: func(l *reduce.Line) { body = l.Body() },
	})
	return strings.TrimSpace(body)
}
