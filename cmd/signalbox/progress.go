package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
)

// progress writes one changing line to stderr, and only where a person watches.
type progress struct {
	to   io.Writer
	last int
}

func (sh *shell) progress() *progress {
	if !terminal.Is(sh.err) {
		return &progress{}
	}
	return &progress{to: sh.err}
}

func (p *progress) step(format string, args ...any) {
	if p.to == nil {
		return
	}
	line := fmt.Sprintf(format, args...)
	_, _ = fmt.Fprintf(p.to, "\r%s%s", line, strings.Repeat(" ", max(0, p.last-len(line))))
	p.last = len(line)
}

func (p *progress) done() {
	if p.to != nil && p.last > 0 {
		_, _ = fmt.Fprintf(p.to, "\r%s\r", strings.Repeat(" ", p.last))
		p.last = 0
	}
}
