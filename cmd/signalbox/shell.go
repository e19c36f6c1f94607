package main

import (
	"fmt"
	"io"
	"time"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/browser"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/build"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
)

// shell is what a command may touch of the world around it.
type shell struct {
	name     string // how we were called: signalbox, or kubectl signalbox
	in       io.Reader
	out, err io.Writer
	now      func() time.Time
	typed    []string      // the arguments of this command line
	patience time.Duration // with a model; 0: patience
}

// tell writes one line to stderr. That nobody may be listening there changes nothing.
func (sh *shell) tell(format string, args ...any) {
	_, _ = io.WriteString(sh.err, "signalbox: "+terminal.VisibleLine(fmt.Sprintf(format, args...))+"\n")
}

// notes tells what is of note, a line each.
func (sh *shell) notes(all []string) {
	for _, n := range all {
		sh.tell("note: %s", terminal.OneLine(n))
	}
}

// writeHTML writes sections as one file for a browser.
func (sh *shell) writeHTML(title string, sections ...browser.Section) error {
	return browser.Write(sh.out, browser.Page{Title: title, Version: build.Read().Version, Made: sh.now(), Sections: sections})
}
