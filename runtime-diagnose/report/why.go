package report

import (
	"fmt"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/attribute"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// mostWhy is how many candidates are shown with their points.
const mostWhy = 8

// Why is the table behind an answer: what could be the cause, the points of each and what they are made of.
// Nothing in it is obeyed by a terminal.
func Why(r Report) string {
	n := numbersOf(&r)
	var b strings.Builder
	b.WriteString(n.short(why(r)))
	for _, line := range n.resolved() {
		b.WriteString(line + "\n")
	}
	return words.Visible(b.String())
}

func why(r Report) string {
	var b strings.Builder
	b.WriteString("points of what could be the cause\n")
	if len(r.Candidates) == 0 {
		b.WriteString("  nothing that was read could be one\n")
		return b.String()
	}
	for i := range r.Candidates[:min(len(r.Candidates), mostWhy)] {
		c := &r.Candidates[i]
		fmt.Fprintf(&b, "%3d. %5d  %s (%s) [%s]\n", i+1, c.Score, c.Signature.Title, c.Signature.ID, c.Item.ID)
		for _, reason := range c.Because {
			if reason.Points == 0 {
				continue
			}
			fmt.Fprintf(&b, "     %+5d  %s: %s%s\n", reason.Points, reason.Feature, reason.Feature.Doc(), citesText(reason, c.Item.ID))
		}
		if c.Veto != "" {
			fmt.Fprintf(&b, "        no  %s\n", c.Veto)
		}
	}
	if n := len(r.Candidates) - mostWhy; n > 0 {
		fmt.Fprintf(&b, "  and %d more\n", n)
	}
	if r.Root != nil {
		fmt.Fprintf(&b, "%s: %s\n", r.Root.Standing, confidenceText(r.Confidence))
	}
	return b.String()
}

func citesText(reason attribute.Reason, own evidence.ID) string {
	var b strings.Builder
	for _, id := range reason.Cites {
		if id != own {
			fmt.Fprintf(&b, " [%s]", id)
		}
	}
	if reason.More > 0 {
		fmt.Fprintf(&b, " and %d more", reason.More)
	}
	return b.String()
}

func confidenceText(c attribute.Confidence) string {
	text := "one source says so"
	if c.Sources > 1 {
		text = "the platform says so, or two sources that do not depend on each other"
	}
	if c.Margin == attribute.NoOther {
		return text + "; no other member names another cause that may have come first"
	}
	return fmt.Sprintf("%s; the next cause that another member names is %d points behind", text, c.Margin)
}

type jsonCandidate struct {
	Signature  string       `json:"signature"`
	Category   string       `json:"category"`
	Pod        string       `json:"pod"`
	Container  string       `json:"container"`
	File       string       `json:"file"`
	LineNumber int          `json:"lineNumber"`
	Line       string       `json:"line"`
	Points     int          `json:"points"`
	Veto       string       `json:"veto,omitempty"`
	Because    []jsonReason `json:"because"`
}

type jsonReason struct {
	Feature string        `json:"feature"`
	Points  int           `json:"points"`
	Cites   []evidence.ID `json:"cites"`
	More    int           `json:"more,omitempty"` // that it rests on as well
}

type jsonConfidence struct {
	Standing Standing `json:"standing"`
	Margin   *int     `json:"margin"` // null: nothing to be ahead of
	Sources  int      `json:"sources"`
}

func candidatesJSON(r Report) []jsonCandidate {
	out := []jsonCandidate{}
	for i := range r.Candidates {
		c := &r.Candidates[i]
		one := jsonCandidate{
			c.Signature.ID, c.Category, c.Item.Source.Pod, c.Item.Source.Container, c.Item.Source.File, c.Item.Source.Line, c.Line, c.Score, c.Veto, []jsonReason{},
		}
		for _, reason := range c.Because {
			one.Because = append(one.Because, jsonReason{reason.Feature.String(), reason.Points, notNil(reason.Cites), reason.More})
		}
		out = append(out, one)
	}
	return out
}

type jsonGuess struct {
	Signature  string        `json:"signature"`
	Title      string        `json:"title"`
	Category   string        `json:"category"`
	Pod        string        `json:"pod"`
	Container  string        `json:"container"`
	File       string        `json:"file"`
	LineNumber int           `json:"lineNumber"`
	Line       string        `json:"line"`
	Points     int           `json:"points"`
	Decides    string        `json:"decides"`
	Command    string        `json:"command,omitempty"`
	Cites      []evidence.ID `json:"cites"`
}

func guessesJSON(all []Guess) []jsonGuess {
	var out []jsonGuess
	for _, g := range all {
		out = append(out, jsonGuess{
			g.Signature, g.Title, g.Category, g.Source.Pod, g.Source.Container, g.Source.File, g.Source.Line, g.Line, g.Points, g.Decides, g.Command, notNil(g.Cites),
		})
	}
	return out
}
