package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// citation is an ID in a text.
var citation = regexp.MustCompile(` ?\[((?:[a-zA-Z]+)/[^\[\]\n]+)\]`)

// numbers gives the evidence that texts cite short numbers, in the order in which it is cited.
type numbers struct {
	known map[evidence.ID]*evidence.Item // nil: the ID is evidence, and its item is not kept
	order []evidence.ID
	shown evidence.ID // whose words stand above already
}

func numbersOf(r *Report) *numbers {
	n := &numbers{known: map[evidence.ID]*evidence.Item{}}
	know := func(ids ...evidence.ID) {
		for _, id := range ids {
			n.known[id] = nil
		}
	}
	if r.Root != nil {
		know(r.Root.Cites...)
		n.shown = r.Root.Cites[0]
	}
	for i := range r.Effects {
		know(r.Effects[i].Cites...)
	}
	for i := range r.Hypotheses {
		know(r.Hypotheses[i].Cites...)
	}
	for i := range r.Candidates {
		c := &r.Candidates[i]
		n.known[c.Item.ID] = &c.Item
		for _, reason := range c.Because {
			know(reason.Cites...)
		}
	}
	for i := range r.Ending.Lines {
		know(r.Ending.Item(i).ID)
	}
	if r.Story != nil {
		know(r.Story.Cites...)
	}
	for i := range r.Evidence {
		n.known[r.Evidence[i].ID] = &r.Evidence[i]
	}
	return n
}

// short is a text with numbers in place of IDs.
func (n *numbers) short(text string) string {
	return citation.ReplaceAllStringFunc(text, func(m string) string {
		space := m[:strings.IndexByte(m, '[')]
		id := evidence.ID(m[len(space)+1 : len(m)-1])
		if _, ok := n.known[id]; !ok {
			return m
		}
		return fmt.Sprintf("%s[%d]", space, n.of(id))
	})
}

func (n *numbers) of(id evidence.ID) int {
	at := slices.Index(n.order, id)
	if at < 0 {
		at = len(n.order)
		n.order = append(n.order, id)
	}
	return at + 1
}

// widestCited is how much of a line is shown beside its number.
const widestCited = 100

// resolved says what each number stands for: where it is, and what it says.
func (n *numbers) resolved() []string {
	var out []string
	for i, id := range n.order {
		item, place := n.known[id], where(id)
		if item != nil && item.Kind != evidence.Log && item.Source.File != "" { // an object that was read out of a text
			place = fmt.Sprintf("%s:%d", item.Source.File, item.Source.Line)
		}
		line := fmt.Sprintf("[%d] %s", i+1, place)
		if item != nil && item.Text != "" && id != n.shown {
			text := strings.Join(strings.Fields(item.Text), " ")
			if item.Kind != evidence.Log {
				text = whole(text)
			} else if len(text) > widestCited {
				text = strings.ToValidUTF8(text[:widestCited], "") + "…"
			}
			line += "  " + text
		}
		out = append(out, line)
	}
	return out
}

// where is an ID as people look it up: a file and its line, a pod and its line, an object.
func where(id evidence.ID) string {
	name := string(id)
	if file, ok := strings.CutPrefix(name, "log/"); ok {
		if at := strings.LastIndexByte(file, '#'); at >= 0 {
			return file[:at] + ":" + file[at+1:]
		}
		return file
	}
	return name
}

// Analysis is why, with short numbers, and what they stand for.
func Analysis(r Report) (text string, cited []string) {
	n := numbersOf(&r)
	text = n.short(r.Analysis)
	return text, n.resolved()
}
