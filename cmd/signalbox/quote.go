package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

// maxQuoted bounds the files whose lines are quoted, and widestQuote the part of a line; on a page that is narrower than
// narrowestQuote it runs over.
const (
	maxQuoted      = 8 << 20
	widestQuote    = 100
	narrowestQuote = 20
)

// quotes are the lines of the files that findings point at; each file is read once.
type quotes struct {
	mu    sync.Mutex
	lines map[string][][]byte
	held  map[string][]byte // what came through a pipe or from an address
	alias string            // the file that a pipe goes by; empty: none
	width int               // of the page; 0: it has no end
}

// text is a whole file; ok is false where it cannot be read as text.
func (q *quotes) text(file string) ([]byte, bool) {
	if q == nil {
		return nil, false
	}
	q.line(file, 1)
	q.mu.Lock()
	defer q.mu.Unlock()
	lines := q.lines[file]
	return bytes.Join(lines, []byte("\n")), len(lines) > 0
}

// foreign says whether a text that goes by the name of a file is not known to be what stands there: helm and kustomize
// write other lines than a template has.
func (q *quotes) foreign(file string) bool {
	if q == nil || q.alias == "" || file != q.alias {
		return false
	}
	text, held := q.held[file]
	if !held {
		return false
	}
	stands, err := os.ReadFile(file)
	return err != nil || text == nil || !bytes.Equal(stands, text)
}

// line is a line of a file, from 1; ok is false where it cannot be read as text.
func (q *quotes) line(file string, n int) (string, bool) {
	if q == nil {
		return "", false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	lines, known := q.lines[file]
	if !known {
		text, held := q.held[file]
		if at, err := os.Stat(file); !held && err == nil && at.Mode().IsRegular() && at.Size() <= maxQuoted {
			text, _ = os.ReadFile(file) // what cannot be read now is not quoted
		}
		if utf8.Valid(text) && !bytes.Contains(text, []byte{0}) {
			lines = bytes.Split(text, []byte("\n"))
		}
		if q.lines == nil {
			q.lines = map[string][][]byte{}
		}
		q.lines[file] = lines
	}
	if n < 1 || n > len(lines) {
		return "", false
	}
	return strings.TrimRight(string(lines[n-1]), "\r "), true
}

// quote is the line that a finding is about, with a mark below what it is about; empty where the
// line cannot be shown.
func (r reviewed) quote(f finding.Finding, paint terminal.Painter) string {
	n, column, word := r.from.Place(f.Path)
	if key, _ := r.from.Spots(f.Path); f.Named && key.Line > 0 {
		n, column, word = key.Line, key.Column, key.Word
	}
	called, written, inScript := r.inScript(f.Path)
	if inScript {
		n = called
	}
	line, ok := r.quotes.line(r.from.Source, n)
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
	if r.quotes.width > 0 {
		room = max(narrowestQuote, min(room, r.quotes.width-len(number)-9)) // what stands before it, and the … of a cut
	}
	if begin := from - room/3; from+length > room && begin > 0 { // the page shows what is around it
		text, from = append([]rune{'…'}, text[begin+1:]...), from-begin
	}
	length = min(length, room-from)
	if len(text) > room {
		text = append(text[:room:room], '…')
	}
	mark := strings.Repeat(" ", from) + paint.As("error", strings.Repeat("^", length))
	return fmt.Sprintf("    %s%s\n    %s%s\n", paint.As("dim", number+" │ "), terminal.VisibleLine(string(text)),
		paint.As("dim", strings.Repeat(" ", len(number))+" │ "), mark)
}
