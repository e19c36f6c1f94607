package diagnose

import (
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight/words"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
)

// widestPicture bounds a timeline: beyond it the eye loses the row.
const widestPicture = 160

// renderTimeline draws the pods below the text, as wide as the terminal, or COLUMNS says.
func renderTimeline(to io.Writer, r diagnose.Result, paint terminal.Painter) error {
	p := diagnose.Picture{Width: min(terminal.Width(to), widestPicture), ASCII: !terminal.SpeaksUTF8(runtime.GOOS, os.Getenv), Paint: paint.As}
	picture := diagnose.Timeline(r, p)
	if picture == "" {
		picture = "no timeline: nothing that was read says when it happened\n"
	}
	title, rest, _ := strings.Cut(picture, "\n")
	_, err := io.WriteString(to, "\n"+terminal.Fold(title, p.Width)+"\n"+rest)
	return err
}

// renderDiagnosis writes a diagnosis in one of the documented formats.
func renderDiagnosis(to io.Writer, format string, r diagnose.Result, paint terminal.Painter) error {
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
		p := terminal.NewPage(to).Quoting()
		p.Folds = diagnose.OfObject(r)
		return p.Write(painted(text, paint))
	case "md":
		text := diagnosisMarkdown(r)
		if r.Runbook != "" {
			text += "\nRunbook: <" + r.Runbook + ">\n"
		}
		if r.Why {
			text += "\n```\n" + diagnose.Why(r) + "```\n"
		}
		return terminal.Page{To: to}.Write(text)
	case "aegis":
		return terminal.Page{To: to}.Write(words.Visible(controller.FourLines(r)))
	}
	text, err := diagnose.JSON(r)
	if err != nil {
		return err
	}
	return shell.RenderJSON(to, format, text)
}

// citation is the number of a piece of evidence that a text names: [2].
var citation = regexp.MustCompile(`\[\d+\]`)

// headings are the lines of a diagnosis that stand above others.
var headings = []string{"why", "after it", "the others", "attempts that failed", "evidence", "points of what could be the cause"}

// painted is the text of a diagnosis with its first line and headings bold, the decisive line red,
// and what stands around it, and citations, dim.
func painted(text string, paint terminal.Painter) string {
	if !paint.On {
		return text
	}
	var b strings.Builder
	first := true
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch name, health, ok := strings.Cut(line, ": "); {
		case first && ok && strings.HasPrefix(health, "healthy"):
			line = paint.As("bold", name) + ": " + paint.As("allowed", health)
		case first && ok && strings.HasPrefix(health, "not healthy"):
			line = paint.As("bold", name) + ": " + paint.As("error", health)
		case first:
			line = paint.As("bold", line)
		case strings.HasPrefix(line, "  > "):
			line = paint.As("error", line)
		case strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "missing: "):
			line = paint.As("dim", line)
		case strings.HasPrefix(line, "what to do") || slices.Contains(headings, line):
			line = paint.As("bold", line)
		default:
			line = citation.ReplaceAllStringFunc(line, func(c string) string { return paint.As("dim", c) })
		}
		first = false
		b.WriteString(line + "\n")
	}
	return b.String()
}
