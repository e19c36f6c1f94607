package main

import (
	"io"
	"os"
	"regexp"
	"runtime"
	"strings"
	"time"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
)

// widestPicture bounds a timeline: beyond it the eye loses the row.
const widestPicture = 160

// renderTimeline draws the pods below the text, as wide as the terminal, or COLUMNS says.
func renderTimeline(to io.Writer, r diagnose.Result, paint painter) error {
	p := diagnose.Picture{Width: min(screen(to), widestPicture), ASCII: !speaksUTF8(runtime.GOOS, os.Getenv), Paint: paint.as}
	picture := diagnose.Timeline(r, p)
	if picture == "" {
		picture = "no timeline: nothing that was read says when it happened\n"
	}
	title, rest, _ := strings.Cut(picture, "\n")
	_, err := io.WriteString(to, "\n"+fold(title, p.Width)+"\n"+rest)
	return err
}

// renderDiagnosis writes a diagnosis in one of the documented formats.
func renderDiagnosis(to io.Writer, format string, r diagnose.Result, paint painter) error {
	switch format {
	case "text":
		text := diagnose.Text(r)
		if when := whenOf(r, time.Local); when != "" {
			text += "when: " + when + "\n"
		}
		if r.Runbook != "" {
			text += "runbook: " + r.Runbook + "\n"
		}
		if r.Why {
			text += "\n" + diagnose.Why(r)
		}
		p := newPage(to).quoting()
		p.folds = diagnose.OfObject(r)
		return p.write(painted(text, paint))
	case "md":
		text := diagnosisMarkdown(r)
		if r.Runbook != "" {
			text += "\nRunbook: <" + r.Runbook + ">\n"
		}
		if r.Why {
			text += "\n```\n" + diagnose.Why(r) + "```\n"
		}
		return page{to: to}.write(text)
	case "aegis":
		return page{to: to}.write(visible(controller.FourLines(r)))
	}
	text, err := diagnose.JSON(r)
	if err != nil {
		return err
	}
	if format == "yaml" {
		if text, err = asYAML(text); err != nil {
			return err
		}
	}
	_, err = to.Write(escapeHidden(text, inJSON))
	return err
}

// citation is the number of a piece of evidence that a text names: [2].
var citation = regexp.MustCompile(`\[\d+\]`)

// painted is the text of a diagnosis with its first line and headings bold, the decisive line red,
// and what stands around it, and citations, dim.
func painted(text string, paint painter) string {
	if !paint.on {
		return text
	}
	var b strings.Builder
	first := true
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch name, health, ok := strings.Cut(line, ": "); {
		case first && ok && strings.HasPrefix(health, "healthy"):
			line = paint.as("bold", name) + ": " + paint.as("allowed", health)
		case first && ok && strings.HasPrefix(health, "not healthy"):
			line = paint.as("bold", name) + ": " + paint.as("error", health)
		case first:
			line = paint.as("bold", line)
		case strings.HasPrefix(line, "  > "):
			line = paint.as("error", line)
		case strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "missing: "):
			line = paint.as("dim", line)
		case strings.HasPrefix(line, "what to do") || line == "why" || line == "after it" || line == "evidence":
			line = paint.as("bold", line)
		default:
			line = citation.ReplaceAllStringFunc(line, func(c string) string { return paint.as("dim", c) })
		}
		first = false
		b.WriteString(line + "\n")
	}
	return b.String()
}
