package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// diagnosisDocument is the JSON of a diagnosis, signalbox.dev/diagnosis/v1. Its names are
// promises.
type diagnosisDocument struct {
	Schema   string            `json:"schema"`
	Job      jobRef            `json:"job"`
	Healthy  string            `json:"healthy"` // Yes, No or Unknown
	Verdict  diagnose.Verdict  `json:"verdict"`
	Category string            `json:"category"`
	Waiting  string            `json:"waiting,omitempty"`
	Error    string            `json:"error"`
	Analysis string            `json:"analysis"`
	Solution []string          `json:"solution"`
	Root     *causeDocument    `json:"root"`
	Effects  []effectDocument  `json:"effects"`
	Evidence []evidence.Item   `json:"evidence"`
	Coverage diagnose.Coverage `json:"coverage"`
	Observed time.Time         `json:"observedAt,omitzero"`
	Story    *storyDocument    `json:"story"`
}

type jobRef struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
}

type causeDocument struct {
	Signature  string            `json:"signature"`
	Title      string            `json:"title"`
	Category   string            `json:"category"`
	Standing   diagnose.Standing `json:"standing"`
	Owner      string            `json:"owner"`
	Retry      string            `json:"retry"`
	Pod        string            `json:"pod"`
	Container  string            `json:"container"`
	Role       string            `json:"role"`
	Rank       *int              `json:"rank"` // null: not known
	Node       string            `json:"node"`
	At         time.Time         `json:"at,omitzero"`
	Line       string            `json:"line"`
	File       string            `json:"file"`
	LineNumber int               `json:"lineNumber"` // 0: not a line of a log
	Facts      map[string]string `json:"facts"`
	Cites      []evidence.ID     `json:"cites"`
}

type effectDocument struct {
	Signature string        `json:"signature"`
	Category  string        `json:"category"`
	Pod       string        `json:"pod"`
	Rank      *int          `json:"rank"`
	At        time.Time     `json:"at,omitzero"`
	Line      string        `json:"line"`
	Cites     []evidence.ID `json:"cites"`
}

type storyDocument struct {
	Text    string        `json:"text"`
	Model   string        `json:"model"`
	Cites   []evidence.ID `json:"cites"`
	Dropped int           `json:"dropped"`
}

func documentOf(r diagnose.Result) diagnosisDocument {
	d := diagnosisDocument{
		Schema:  "signalbox.dev/diagnosis/v1",
		Job:     jobRef{r.Job.APIVersion, r.Job.Kind, r.Job.Namespace, r.Job.Name, r.Job.UID},
		Healthy: healthy(r.Verdict), Verdict: r.Verdict, Category: r.Category, Waiting: r.Waiting,
		Error: r.Error, Analysis: r.Analysis, Solution: append([]string{}, r.Solution...),
		Effects: []effectDocument{}, Evidence: append([]evidence.Item{}, r.Evidence...),
		Coverage: r.Coverage, Observed: r.Observed.UTC().Truncate(time.Second),
	}
	d.Coverage.Missing = append([]string{}, r.Coverage.Missing...)
	if c := r.Root; c != nil {
		facts := map[string]string{}
		maps.Copy(facts, c.Facts)
		d.Root = &causeDocument{
			Signature: c.Signature, Title: c.Title, Category: c.Category, Standing: c.Standing,
			Owner: string(c.Owner), Retry: string(c.Retry),
			Pod: c.Source.Pod, Container: c.Source.Container, Role: c.Source.Role, Rank: rankOf(c.Source), Node: c.Source.Node,
			At: c.At, Line: c.Line, File: c.Source.File, LineNumber: c.Source.Line, Facts: facts, Cites: append([]evidence.ID{}, c.Cites...),
		}
	}
	for _, e := range r.Effects {
		d.Effects = append(d.Effects, effectDocument{e.Signature, e.Category, e.Source.Pod, rankOf(e.Source), e.At, e.Line, append([]evidence.ID{}, e.Cites...)})
	}
	if s := r.Story; s != nil {
		d.Story = &storyDocument{s.Text, s.Model, append([]evidence.ID{}, s.Cites...), s.Dropped}
	}
	return d
}

func rankOf(s evidence.Source) *int {
	if s.Rank < 0 {
		return nil
	}
	return &s.Rank
}

// healthy is the verdict in the word that people read.
func healthy(v diagnose.Verdict) string {
	switch v {
	case diagnose.Healthy:
		return "Yes"
	case diagnose.Diagnosed, diagnose.Inconclusive:
		return "No"
	default:
		return "Unknown"
	}
}

func renderDiagnosis(to io.Writer, format string, r diagnose.Result, paint painter) error {
	if format != "text" {
		return renderDocument(to, format, documentOf(r))
	}
	var b strings.Builder
	name := "These files"
	if r.Job.Name != "" {
		name = r.Job.String()
	}
	fmt.Fprintf(&b, "%s: healthy: %s", name, paint.word(healthy(r.Verdict)))
	if r.Category != "" {
		fmt.Fprintf(&b, " (%s: %s)", r.Verdict, r.Category)
	} else {
		fmt.Fprintf(&b, " (%s)", r.Verdict)
	}
	b.WriteString("\n")
	paragraph(&b, "Waiting", r.Waiting)
	paragraph(&b, "Error", r.Error)
	paragraph(&b, "Analysis", r.Analysis)
	for i, step := range r.Solution {
		paragraph(&b, map[bool]string{true: "Solution"}[i == 0], fmt.Sprintf("%d. %s", i+1, step))
	}
	if c := r.Root; c != nil {
		rootText(&b, *c)
	}
	effectsText(&b, r.Effects)
	coverageText(&b, r.Coverage)
	if r.Story != nil {
		paragraph(&b, "Story", r.Story.Text+" ("+r.Story.Model+")")
	}
	_, err := io.WriteString(to, b.String())
	return err
}

func rootText(b *strings.Builder, c diagnose.Cause) {
	paragraph(b, "Seen", strings.TrimSuffix(whereOf(c.Source)+": "+c.Line, ": "))
	words := []string{string(c.Standing), "to act: " + string(c.Owner), "running it again unchanged: " + string(c.Retry)}
	paragraph(b, "", c.Signature+" ("+strings.Join(words, "; ")+")")
}

// whereOf is where something was observed, as far as that is known.
func whereOf(s evidence.Source) string {
	var parts []string
	switch {
	case s.Pod != "" && s.Container != "":
		parts = append(parts, "pod "+s.Pod+"/"+s.Container)
	case s.Pod != "":
		parts = append(parts, "pod "+s.Pod)
	}
	if s.Rank >= 0 && (s.Pod == "" || s.Role == "") {
		parts = append(parts, fmt.Sprintf("rank %d", s.Rank))
	}
	if s.File != "" && s.Line > 0 {
		parts = append(parts, fmt.Sprintf("%s:%d", s.File, s.Line))
	} else if s.Line > 0 {
		parts = append(parts, fmt.Sprintf("line %d", s.Line))
	}
	if s.Node != "" {
		parts = append(parts, "on "+s.Node)
	}
	return strings.Join(parts, ", ")
}

// mostEffects is how many effects the text names; JSON has all.
const mostEffects = 5

func effectsText(b *strings.Builder, effects []diagnose.Cause) {
	for i, e := range effects {
		if i == mostEffects {
			paragraph(b, "", fmt.Sprintf("and %d more (-o json shows all)", len(effects)-i))
			return
		}
		paragraph(b, map[bool]string{true: "Followed"}[i == 0], strings.TrimPrefix(whereOf(e.Source)+": ", ": ")+e.Signature)
	}
}

func coverageText(b *strings.Builder, c diagnose.Coverage) {
	var parts []string
	if c.PodsExpected > 0 || c.PodsSeen > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d pods, logs of %d", c.PodsSeen, max(c.PodsExpected, c.PodsSeen), c.PodsRead))
	}
	parts = append(parts, fmt.Sprintf("%d bytes of logs", c.BytesRead))
	paragraph(b, "Read", strings.Join(parts, "; "))
	missing := slices.Clone(c.Missing)
	for i, m := range missing {
		if i == 5 {
			paragraph(b, "", fmt.Sprintf("and %d more (-o json shows all)", len(missing)-i))
			return
		}
		paragraph(b, map[bool]string{true: "Not read"}[i == 0], m)
	}
}

// paragraph writes a labelled text; further lines hang below the first.
func paragraph(b *strings.Builder, label, text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	fmt.Fprintf(b, "  %-9s %s\n", label, strings.ReplaceAll(text, "\n", "\n            "))
}
