package shell

import (
	"fmt"
	"io"
	"strings"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
)

// Progress writes one changing line to stderr, and only where a person watches.
type Progress struct {
	To   io.Writer
	last int
}

// Progress is a line on standard error; where no person watches, nothing is written.
func (sh *Shell) Progress() *Progress {
	if !terminal.Is(sh.Err) {
		return &Progress{}
	}
	return &Progress{To: sh.Err}
}

// Step writes the line anew.
func (p *Progress) Step(format string, args ...any) {
	if p.To == nil {
		return
	}
	line := fmt.Sprintf(format, args...)
	_, _ = fmt.Fprintf(p.To, "\r%s%s", line, strings.Repeat(" ", max(0, p.last-len(line))))
	p.last = len(line)
}

// Done wipes the line.
func (p *Progress) Done() {
	if p.To != nil && p.last > 0 {
		_, _ = fmt.Fprintf(p.To, "\r%s\r", strings.Repeat(" ", p.last))
		p.last = 0
	}
}
