// Package ground decides what of a model's text may be shown: sentences that cite evidence
// which was shown to the model, and quote nothing else. Everything else is dropped and counted.
//
// It does not judge whether a sentence is true, and nothing that it keeps can change a finding:
// the rules' fields are not among its values. Start reading at Keep.
package ground

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// Kept is what remains of an answer.
type Kept struct {
	Error, Analysis, Solution string        // sentences with their citations; empty where none is left
	Cites                     []evidence.ID // in the order they are first cited
	Dropped                   int           // sentences that cited nothing shown, or quoted what nobody said
}

// MaxText is how many bytes of each part are kept; annotations hold 8 KiB in all.
const MaxText = 1200

// Keep holds the parsed answer against what the model was shown. known is other text it was
// shown without an ID (the finding of the rules): it may be quoted, not cited.
func Keep(a Answer, shown []evidence.Item, known string) Kept {
	g := grounds{items: map[evidence.ID]bool{}}
	var all strings.Builder
	for _, item := range shown {
		g.items[item.ID] = true
		all.WriteString(Clean(item.Text))
		all.WriteByte('\n')
	}
	g.text = squeeze(all.String() + Clean(known))
	return Kept{
		Error:    g.part(a.Error),
		Analysis: g.part(a.Analysis),
		Solution: g.part(a.Solution),
		Cites:    g.cites,
		Dropped:  g.dropped,
	}
}

// Text is the kept answer in lines, for people.
func (k Kept) Text() string {
	var lines []string
	for _, part := range []struct{ name, text string }{{"Error: ", k.Error}, {"Analysis: ", k.Analysis}, {"Solution: ", k.Solution}} {
		if part.text != "" {
			lines = append(lines, part.name+part.text)
		}
	}
	return strings.Join(lines, "\n")
}

type grounds struct {
	items   map[evidence.ID]bool
	text    string // all that was shown, white space squeezed
	cites   []evidence.ID
	dropped int
}

func (g *grounds) part(text string) string {
	var kept []string
	room := MaxText
	for _, s := range sentences(text) {
		cites, ok := g.supports(s)
		if !ok || len(s)+1 > room {
			g.dropped++
			continue
		}
		room -= len(s) + 1
		kept = append(kept, s)
		for _, id := range cites {
			if !slices.Contains(g.cites, id) {
				g.cites = append(g.cites, id)
			}
		}
	}
	return strings.Join(kept, " ")
}

var (
	brackets  = regexp.MustCompile(`\[([^\[\]\n]+)\]`)
	idShape   = regexp.MustCompile(`^[a-z]+/\S+$`)
	quotation = regexp.MustCompile("\"([^\"\n]{3,})\"|`([^`\n]{2,})`|“([^”\n]{3,})”")
	address   = regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]{1,10}://[^\s\]"'<>]+`)
)

// supports says which evidence a sentence cites. A sentence is refused when it cites nothing,
// cites something that was not shown, or quotes or links to what was not in the prompt.
func (g *grounds) supports(s string) ([]evidence.ID, bool) {
	var cites []evidence.ID
	for _, m := range brackets.FindAllStringSubmatch(s, -1) {
		for _, id := range cited(m[1]) {
			switch {
			case g.items[evidence.ID(id)]:
				cites = append(cites, evidence.ID(id))
			case idShape.MatchString(id):
				return nil, false
			}
		}
	}
	for _, m := range quotation.FindAllStringSubmatch(s, -1) {
		if !strings.Contains(g.text, squeeze(m[1]+m[2]+m[3])) {
			return nil, false
		}
	}
	for _, u := range address.FindAllString(s, -1) {
		if !strings.Contains(g.text, strings.TrimRight(u, ".,;)")) {
			return nil, false
		}
	}
	return cites, len(cites) > 0
}

// cited are the words in one pair of brackets.
func cited(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(",;，、", r) || unicode.IsSpace(r) })
}

// sentences cuts a text at line ends and after . ! ? and their full-width kin. A citation that
// follows the mark belongs to the sentence before it; marks inside brackets, quotation marks,
// numbers and names do not end one, and the number of a list item stays with its sentence.
func sentences(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimLeft(line, " \t>*-•"))
		for line != "" {
			n := sentenceEnd(line)
			if s := strings.TrimSpace(line[:n]); strings.IndexFunc(s, unicode.IsLetter) >= 0 {
				out = append(out, s)
			}
			line = strings.TrimSpace(line[n:])
		}
	}
	return out
}

func sentenceEnd(s string) int {
	depth, quoted := 0, false
	for i, r := range s {
		next := i + utf8.RuneLen(r)
		switch {
		case r == '[':
			depth++
		case r == ']' && depth > 0:
			depth--
		case r == '"' || r == '`':
			quoted = !quoted
		case depth > 0 || quoted:
		case strings.ContainsRune("。！？", r):
			return trailing(s, next)
		case strings.ContainsRune(".!?", r) && ends(s, i, next):
			return trailing(s, next)
		}
	}
	return len(s)
}

// ends says whether the mark at i closes a sentence: white space and no small letter follow,
// and it is not the number of a list item or a short form.
func ends(s string, i, next int) bool {
	if next < len(s) && s[next] != ' ' && s[next] != '\t' {
		return false
	}
	word := s[strings.LastIndexAny(s[:i], " \t(")+1 : i]
	if word == "e.g" || word == "i.e" || word == "etc" || word == "vs" || word == "approx" {
		return false
	}
	return strings.IndexFunc(s[:i], unicode.IsLetter) >= 0 // "1." opens an item
}

// trailing moves the end behind citations that stand after the full stop.
func trailing(s string, end int) int {
	for {
		rest := strings.TrimLeft(s[end:], " \t")
		m := brackets.FindStringSubmatchIndex(rest)
		if m == nil || m[0] != 0 || !slices.ContainsFunc(cited(rest[m[2]:m[3]]), idShape.MatchString) {
			return end
		}
		end = len(s) - len(rest) + m[1]
		if end < len(s) && strings.ContainsRune(".!?", rune(s[end])) {
			end++
		}
	}
}

// squeeze makes any run of white space one space, so that a quotation may be wrapped.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }
