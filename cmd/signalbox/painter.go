package main

import (
	"io"
	"os"

	"github.com/fatih/color"
	"github.com/mattn/go-isatty"
)

// painter colours words on terminals. NO_COLOR (https://no-color.org) and --color decide.
type painter struct{ on bool }

func newPainter(when string, out io.Writer) painter {
	switch when {
	case "always":
		return painter{true}
	case "never":
		return painter{false}
	}
	return painter{os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && terminal(out)}
}

func (p painter) word(word string) string { return p.as(word, word) }

// as colours a text like a word that has a colour.
func (p painter) as(word, text string) string {
	if !p.on {
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

func terminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}
