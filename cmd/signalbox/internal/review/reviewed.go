package review

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/kustomize/api/konfig"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/input"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// Reviewed is one job, where it was written, and what the review found.
type Reviewed struct {
	preflight.Report
	From     manifest.Document
	ours     []string      // what was not checked through a fault of ours
	quotes   *input.Quotes // the lines of its file; nil: they are not quoted
	Who      *WhoAnswer    // whose end lets it start; nil: not asked
	Cures    []Cure        // exact remedies, where the format has a place for them
	Hidden   int           // findings that are not shown
	Off      []string      // checks that a file with settings leaves out
	Disabled []string      // checks that --disable leaves out
	By       string        // that file
	deaf     bool          // the cluster that was to be asked did not answer
	roomy    bool          // whether there is room now is not to count: the check that says so is not wanted
}

// Word is what people read of the decision: without the cluster that was to be asked nothing is allowed.
func (r Reviewed) Word() string {
	if r.deaf && r.Decision == preflight.Allowed {
		return "unknown"
	}
	return string(r.Decision)
}

// Line is where a finding's path is written: "job.yaml:27".
func (r Reviewed) Line(f finding.Finding) int {
	if n, _, ok := r.inScript(f.Path); ok {
		return n
	}
	return r.From.Position(f.Path)
}

// inScript is the line on which a script calls the launcher that a finding is about, and what is written on it: a
// script is one value, and where it begins says little.
func (r Reviewed) inScript(at job.Path) (line int, written string, ok bool) {
	if r.Gang == nil || at == "" {
		return 0, "", false
	}
	for i := range r.Gang.Groups {
		l := r.Gang.Groups[i].Launch
		if l == nil || l.Line == 0 || !slices.Contains([]job.Path{l.Path, l.Script, l.NodesPath, l.ProcsPath, l.RendezvousPath}, at) {
			continue
		}
		if line, text, ok := r.From.Inside(l.Script, l.Line); ok {
			return line, strings.Fields(text)[0], true
		}
	}
	return 0, "", false
}

// Landing is where a forge shows what is found in a line. What -k builds is in no file, and its folder's kustomization is
// the place that a change has; of what only goes by the name of a file the lines are not the file's.
func (r Reviewed) Landing(line int) (file string, at int) {
	source := r.From.Source
	if r.quotes.Foreign(source) {
		return source, 1
	}
	dir, built := strings.CutPrefix(source, input.BuiltFrom)
	if !built {
		return source, line
	}
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if file := filepath.Join(dir, name); shell.FileThere(file) {
			return file, 1
		}
	}
	return source, line
}

// Cure is what a finding's own line, or another one, would have to say.
type Cure struct {
	Of    finding.Finding
	Words []Replacement
}

// Replacement is what stands in a line, and what is to stand there. Columns count characters from 1.
type Replacement struct {
	Line, Column int
	Was, With    string
}

// CureOf is what would have to be written that a finding is no more; nil: nothing exact is known.
func (r Reviewed) CureOf(f finding.Finding) []Replacement {
	i := slices.IndexFunc(r.Cures, func(c Cure) bool { return c.Of.Check == f.Check && c.Of.Path == f.Path && c.Of.Message == f.Message })
	if i < 0 {
		return nil
	}
	return r.Cures[i].Words
}

// widestQuote bounds the part of a line that is quoted; on a page that is narrower than narrowestQuote it runs over.
const (
	widestQuote    = 100
	narrowestQuote = 20
)

// Quote is the line that a finding is about, with a mark below what it is about; empty where the
// line cannot be shown.
func (r Reviewed) Quote(f finding.Finding, paint terminal.Painter) string {
	n, column, word := r.From.Place(f.Path)
	if key, _ := r.From.Spots(f.Path); f.Named && key.Line > 0 {
		n, column, word = key.Line, key.Column, key.Word
	}
	called, written, inScript := r.inScript(f.Path)
	if inScript {
		n = called
	}
	line, ok := r.quotes.Line(r.From.Source, n)
	if before, _, there := strings.Cut(line, written); inScript && there {
		column, word = utf8.RuneCountInString(before)+1, written
	}
	text := []rune(strings.ReplaceAll(line, "\t", " "))
	if !ok || column == 0 || column > len(text) || strings.TrimSpace(line) == "" {
		return ""
	}
	from, length := column-1, utf8.RuneCountInString(word)
	if rest := string(text[from:]); strings.HasPrefix(rest, `"`) || strings.HasPrefix(rest, "'") {
		length += 2 // written between quotes
	} else if !strings.HasPrefix(rest, word) {
		length = 1
	}
	length = max(1, min(length, len(text)-from))
	number, room := fmt.Sprint(n), widestQuote
	if r.quotes.Width > 0 {
		room = max(narrowestQuote, min(room, r.quotes.Width-len(number)-9)) // what stands before it, and the … of a cut
	}
	if begin := from - room/3; from+length > room && begin > 0 { // the page shows what is around it
		text, from = append([]rune{'…'}, text[begin+1:]...), from-begin
	}
	length = min(length, room-from)
	if len(text) > room {
		text = append(text[:room:room], '…')
	}
	mark := strings.Repeat(" ", from) + paint.As("error", strings.Repeat("^", length))
	return fmt.Sprintf("    %s%s\n    %s%s\n", paint.As("dim", number+" │ "), words.VisibleLine(string(text)),
		paint.As("dim", strings.Repeat(" ", len(number))+" │ "), mark)
}
