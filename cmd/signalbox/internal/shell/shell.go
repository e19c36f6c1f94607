// Package shell is what every command shares: standard input and output, exit codes and errors with one, signals, flags
// with a few values, files that are written whole. It knows no command and no cluster. Start reading at Shell.
package shell

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/browser"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/build"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// Shell is what a command may touch of the world around it.
type Shell struct {
	Name     string // how we were called: signalbox, or kubectl signalbox
	In       io.Reader
	Out, Err io.Writer
	Now      func() time.Time
	Typed    []string      // the arguments of this command line
	Patience time.Duration // with a model; 0: patience
}

// Tell writes one line to stderr. That nobody may be listening there changes nothing.
func (sh *Shell) Tell(format string, args ...any) {
	text := strings.TrimPrefix(fmt.Sprintf(format, args...), cmp.Or(sh.Name, "signalbox")+" ") // the command's path: its first word stands there already
	_, _ = io.WriteString(sh.Err, "signalbox: "+words.VisibleLine(text)+"\n")
}

// Notes tells what is of note, a line each.
func (sh *Shell) Notes(all []string) {
	for _, n := range all {
		sh.Tell("note: %s", terminal.OneLine(n))
	}
}

// WriteHTML writes sections as one file for a browser.
func (sh *Shell) WriteHTML(title string, sections ...browser.Section) error {
	return browser.Write(sh.Out, browser.Page{Title: title, Version: build.Read().Version, Made: sh.Now(), Sections: sections})
}
