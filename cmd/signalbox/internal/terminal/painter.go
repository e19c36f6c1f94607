package terminal

import (
	"io"
	"os"

	"github.com/fatih/color"
	"github.com/mattn/go-isatty"
)

// Painter colours words on terminals. NO_COLOR (https://no-color.org) and --color decide.
type Painter struct{ On bool }

// NewPainter colours as --color says: always, never, or where a person watches.
func NewPainter(when string, out io.Writer) Painter {
	switch when {
	case "always":
		return Painter{true}
	case "never":
		return Painter{false}
	}
	return Painter{os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && Is(out)}
}

// Word is a word in its colour.
func (p Painter) Word(word string) string { return p.As(word, word) }

// As colours a text like a word that has a colour.
func (p Painter) As(word, text string) string {
	if !p.On {
		return text
	}
	by := map[string]color.Attribute{
		"error": color.FgRed, "deny": color.FgRed, "denied": color.FgRed, "too-big": color.FgRed, "No": color.FgRed,
		"no-queue": color.FgRed, "queue-closed": color.FgRed, "over-queue": color.FgRed, "over-quota": color.FgRed,
		"forbidden": color.FgRed, "min-member-unmet": color.FgRed, "node-pool-limit": color.FgRed, "no-devices": color.FgRed, "no-volume": color.FgRed,
		"warning": color.FgYellow, "warn": color.FgYellow, "warned": color.FgYellow, "full": color.FgYellow, "fragmented": color.FgYellow,
		"allowed": color.FgGreen, "fits": color.FgGreen, "Yes": color.FgGreen,
		"bold": color.Bold, "dim": color.Faint,
	}
	attribute, known := by[word]
	if !known {
		return text
	}
	c := color.New(attribute)
	c.EnableColor()
	return c.Sprint(text)
}

// Is says whether an output, or an input, is a terminal.
func Is(w any) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}
